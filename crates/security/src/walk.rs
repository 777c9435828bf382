//! Walking a tree by handles: each folder is opened from its parent's handle, links are never
//! followed, protected names never show.

mod names;
mod queue;

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    path::{Component, Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, Mode, OFlags, Stat},
    io::Errno,
};

use self::queue::Queue;
use crate::{
    Kind, PathError, SafePath, Stamp,
    above::open_plain,
    kind::size,
    policy::Policy,
    root::Root,
    tree::{self, MAX_DEPTH},
    watch::Watch,
};

/// The next step of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop everywhere.
    Stop,
}

/// The entries that the walk itself left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalkReport {
    /// Names a rule hides.
    pub denied: usize,
    /// Folders that could not be read, or lie too deep.
    pub unreadable: usize,
    /// How many of these lie more than [`MAX_DEPTH`] levels below the start.
    pub too_deep: usize,
    /// The first of those by its name, below the start.
    pub too_deep_at: Option<PathBuf>,
}

/// One folder, shown to the visitor with everything in it.
#[derive(Debug)]
pub struct Folder<'w, S> {
    /// Its path below the start of the walk; empty for the start.
    pub path: &'w Path,
    /// How deep it lies; the start is 0.
    pub depth: usize,
    /// The state that the visitor attached to it.
    pub state: &'w S,
    /// Its entries, in no order.
    pub entries: Vec<WalkEntry>,
    dir: &'w OwnedFd,
    real: &'w Path,
    root: &'w Arc<Root>,
    policy: &'w Policy,
    descend: Vec<(OsString, S)>,
    parts: Vec<(Vec<WalkEntry>, S)>,
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkEntry {
    /// The name.
    pub name: OsString,
    /// Its kind.
    pub kind: Kind,
}

impl<S> Folder<'_, S> {
    /// Opens one of the folder's files for reading. `None` for what is no plain file (any
    /// more), cannot be read, or is another name of a protected file.
    pub fn open(&self, name: &OsStr) -> Option<(File, u64)> {
        self.open_file(name).map(|(file, stat)| (file, size(&stat)))
    }

    /// The same with what tells one state of the file from another.
    pub fn open_stamped(&self, name: &OsStr) -> Option<(File, Stamp)> {
        self.open_file(name).map(|(file, stat)| (file, Stamp::of(&stat)))
    }

    fn open_file(&self, name: &OsStr) -> Option<(File, Stat)> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(self.dir, entry_name(name)?, flags, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&file).ok()?;
        if Kind::of(&stat) != Kind::File || self.policy.protected_alias(self.root, &stat) {
            return None;
        }
        Some((file.into(), stat))
    }

    /// Opens a file further below by its plain path, no link followed; `None` as for
    /// [`Folder::open`].
    pub fn open_below(&self, relative: &Path) -> Option<(File, u64)> {
        let (file, stat) = open_plain(self.dir.as_fd(), self.real, relative, self.root, self.policy)?;
        Some((file, size(&stat)))
    }

    /// The size of one of the folder's files.
    pub fn size(&self, name: &OsStr) -> Option<u64> {
        let stat = rustix::fs::statat(self.dir, entry_name(name)?, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(size(&stat))
    }

    /// The stamp of a file of this folder.
    pub fn stamp(&self, name: &OsStr) -> Option<Stamp> {
        let stat = rustix::fs::statat(self.dir, entry_name(name)?, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(Stamp::of(&stat))
    }

    /// Asks for a folder below this one to be visited, with its own state.
    pub fn descend(&mut self, name: &OsStr, state: S) {
        self.descend.extend(entry_name(name).map(|name| (name.to_owned(), state)));
    }

    /// Hands some of this folder's entries to another visit, which may run on another
    /// thread, so that one large folder does not keep the others waiting.
    pub fn hand_over(&mut self, entries: Vec<WalkEntry>, state: S) {
        self.parts.push((entries, state));
    }
}

/// A single name: what has a slash in it, or is only dots, would lead out of the folder.
fn entry_name(name: &OsStr) -> Option<&OsStr> {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(only)), None) if only == name)
        .then_some(name)
}

/// A folder waiting to be visited.
struct Job<S> {
    at: At,
    path: PathBuf,
    depth: usize,
    state: S,
}

/// The place of a folder.
enum At {
    /// Beneath this one, not opened yet.
    Below(Arc<OwnedFd>, OsString),
    /// Open and read before; these entries of it are left.
    Open(Arc<OwnedFd>, Vec<WalkEntry>),
}

struct WalkState<'w, S> {
    /// Looks after every folder before it is read.
    watch: Option<&'w Watch>,
    queue: Queue<Job<S>>,
    denied: AtomicUsize,
    unreadable: AtomicUsize,
    too_deep: Mutex<(usize, Option<PathBuf>)>,
}

impl<S> WalkState<'_, S> {
    /// Counts folders that lie too deep, and keeps the first of them, in whatever order they come.
    fn leave_out(&self, folders: impl Iterator<Item = PathBuf>) {
        let mut too_deep = self.too_deep.lock();
        for folder in folders {
            too_deep.0 += 1;
            if too_deep.1.as_ref().is_none_or(|first| folder < *first) {
                too_deep.1 = Some(folder);
            }
        }
    }
}

impl SafePath {
    /// Visits the directory and all below it that `visit` asks for, on `threads` threads.
    pub fn walk<S: Send>(
        &self,
        threads: usize,
        start: S,
        visit: impl Fn(&mut Folder<'_, S>) -> Flow + Sync,
    ) -> Result<WalkReport, PathError> {
        self.walk_watched(threads, start, None, visit)
    }

    /// The same, with each visited folder watched before its entries are read, so that a later
    /// change of them is known.
    pub fn walk_watched<S: Send>(
        &self,
        threads: usize,
        start: S,
        watch: Option<&Watch>,
        visit: impl Fn(&mut Folder<'_, S>) -> Flow + Sync,
    ) -> Result<WalkReport, PathError> {
        let dir = self.directory()?;
        let own = rustix::io::fcntl_dupfd_cloexec(dir, 0).map_err(|errno| self.error(errno))?;
        let parent = Arc::new(own);
        let first = Job { at: At::Below(parent, ".".into()), path: PathBuf::new(), depth: 0, state: start };
        let shared = WalkState {
            watch,
            queue: Queue::new(first),
            denied: AtomicUsize::new(0),
            unreadable: AtomicUsize::new(0),
            too_deep: Mutex::default(),
        };
        std::thread::scope(|scope| {
            // A small tree ends before a second thread would have started, so helpers come
            // when there is more than one folder to visit.
            while shared.queue.open() == 1
                && let Some(only) = shared.queue.take()
            {
                turn(self, &shared, only, &visit);
            }
            if shared.queue.open() > 1 {
                for _ in 1..threads.max(1) {
                    scope.spawn(|| work(self, &shared, &visit));
                }
            }
            work(self, &shared, &visit);
        });
        let (too_deep, too_deep_at) = shared.too_deep.into_inner();
        Ok(WalkReport {
            denied: shared.denied.load(Ordering::Relaxed),
            unreadable: shared.unreadable.load(Ordering::Relaxed) + too_deep,
            too_deep,
            too_deep_at,
        })
    }
}

fn work<S: Send>(
    from: &SafePath,
    shared: &WalkState<'_, S>,
    visit: &(impl Fn(&mut Folder<'_, S>) -> Flow + Sync),
) {
    while let Some(job) = shared.queue.take() {
        turn(from, shared, job, visit);
    }
}

/// Visits one folder and queues what is to be visited below it.
fn turn<S>(
    from: &SafePath,
    shared: &WalkState<'_, S>,
    job: Job<S>,
    visit: &impl Fn(&mut Folder<'_, S>) -> Flow,
) {
    let _ending = Ending(shared);
    let below = step(from, shared, job, visit);
    shared.queue.done(below);
}

/// A visitor that panics ends the walk: the other threads would wait for its folder for ever.
struct Ending<'w, S>(&'w WalkState<'w, S>);

impl<S> Drop for Ending<'_, S> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.queue.stop();
        }
    }
}

/// Visits one folder and returns the ones to visit below it.
fn step<S>(
    from: &SafePath,
    shared: &WalkState<'_, S>,
    job: Job<S>,
    visit: &impl Fn(&mut Folder<'_, S>) -> Flow,
) -> Vec<Job<S>> {
    let real = from.place.real.join(&job.path);
    let mut denied = 0;
    let read = match job.at {
        At::Open(dir, entries) => Ok((dir, entries)),
        At::Below(parent, name) => tree::open_child(&parent, &name).and_then(|dir| {
            if let Some(watch) = shared.watch {
                watch.add(&dir, &job.path);
            }
            let entries = entries(&dir, &real, from, &mut denied)?;
            Ok((Arc::new(dir), entries))
        }),
    };
    let Ok((dir, entries)) = read else {
        shared.unreadable.fetch_add(1, Ordering::Relaxed);
        return Vec::new();
    };
    shared.denied.fetch_add(denied, Ordering::Relaxed);
    let mut folder = Folder {
        path: &job.path,
        depth: job.depth,
        state: &job.state,
        entries,
        dir: &dir,
        real: &real,
        root: &from.root,
        policy: &from.policy,
        descend: Vec::new(),
        parts: Vec::new(),
    };
    if visit(&mut folder) == Flow::Stop {
        shared.queue.stop();
        return Vec::new();
    }
    let mut wanted = std::mem::take(&mut folder.descend);
    let parts = std::mem::take(&mut folder.parts);
    if job.depth == MAX_DEPTH {
        shared.leave_out(wanted.drain(..).map(|(name, _)| job.path.join(name)));
    }
    let deeper = |(name, state): (OsString, S)| Job {
        path: job.path.join(&name),
        at: At::Below(dir.clone(), name),
        depth: job.depth + 1,
        state,
    };
    let again = |(entries, state)| Job {
        at: At::Open(dir.clone(), entries),
        path: job.path.clone(),
        depth: job.depth,
        state,
    };
    wanted.into_iter().map(deeper).chain(parts.into_iter().map(again)).collect()
}

fn entries(dir: &OwnedFd, real: &Path, from: &SafePath, denied: &mut usize) -> Result<Vec<WalkEntry>, Errno> {
    let mut entries = Vec::new();
    names::each(dir, |name, hint| {
        if from.hides(real, name) {
            *denied += 1;
        } else if let Some(kind) = tree::kind(dir.as_fd(), name, hint)? {
            entries.push(WalkEntry { name: name.to_owned(), kind });
        }
        Ok(())
    })?;
    Ok(entries)
}
