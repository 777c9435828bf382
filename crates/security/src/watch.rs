//! A watch over a walked tree: what changed in it since somebody last asked, and the stamps
//! that tell one state of a file from another.
//!
//! The watch is the kernel's (`inotify`), read by no thread and through no other crate: the
//! kernel queues an event at the moment of the change, and a question empties the queue
//! before it looks at anything. So an answer knows every change that came before its question,
//! without waiting for a reader to catch up, which a watch read by a thread cannot promise.
//! Each folder is watched before its entries are read and through its open handle, so that no
//! change falls between the two and no name is resolved again.
//!
//! What the kernel does not tell is not promised: writes through a shared memory map, changes
//! through another name of a file (its stamp has more than one link: look at it each time),
//! and changes made by other machines (such file systems are not watched). Where there is no
//! watch, callers compare stamps.

use std::{
    collections::{BTreeSet, HashMap},
    ffi::OsStr,
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::Mutex;
use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, OFlags},
};

use crate::{
    Hide, PathError, SafePath, Stamp,
    above::open_plain,
    beneath::{self, Follow},
    platform,
    policy::Policy,
    root::Root,
};

/// Folders one watch looks after. The kernel keeps about a kilobyte for each, and shares its
/// number among all programs of a user.
const MOST_FOLDERS: usize = 20_000;
/// Names told one by one; with more, looking at everything again is cheaper.
const MOST_CHANGES: usize = 4_000;

/// The changes since the last question. Paths are below the start of the walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changes {
    /// Too much happened, or the start itself went: nothing known before counts any more.
    Lost,
    /// Exactly this.
    Known {
        /// Folders that came, went or changed their mode.
        folders: BTreeSet<PathBuf>,
        /// Other names that came, went or changed.
        files: BTreeSet<PathBuf>,
    },
}

/// A directory as one policy and one set of hiding rules show it. It keeps them alive, so that
/// an equal address is the same object.
#[derive(Debug)]
pub struct View {
    root: Arc<Root>,
    policy: Arc<Policy>,
    hide: Option<Hide>,
    real: PathBuf,
    identity: Option<(u64, u64)>,
}

impl View {
    /// The view that a path has.
    pub fn of(path: &SafePath) -> Self {
        Self {
            root: path.root.clone(),
            policy: path.policy.clone(),
            hide: path.hide.clone(),
            real: path.place.real.clone(),
            identity: path.identity(),
        }
    }

    /// True if what was learned in this view is what the path would show: the same directory,
    /// the same policy and the same hiding rules.
    pub fn serves(&self, path: &SafePath) -> bool {
        let hiding = match (&self.hide, &path.hide) {
            (None, None) => true,
            (Some(ours), Some(theirs)) => ours.is(theirs),
            _ => false,
        };
        hiding && self.is_at(path) && self.identity == path.identity()
    }

    /// True if this view of the path's place will hardly be asked for again once the path is:
    /// its hiding rules were those of one call, or another directory stands there now.
    pub fn yields_to(&self, path: &SafePath) -> bool {
        self.is_at(path) && (self.hide.is_some() || self.identity != path.identity())
    }

    fn is_at(&self, path: &SafePath) -> bool {
        Arc::ptr_eq(&self.root, &path.root)
            && Arc::ptr_eq(&self.policy, &path.policy)
            && self.real == path.place.real
    }
}

/// A watch over one tree, in one view.
#[derive(Debug)]
pub struct Watch {
    view: View,
    /// Every folder of the walk is watched.
    whole: AtomicBool,
    folders: Mutex<HashMap<i32, PathBuf>>,
    #[cfg(target_os = "linux")]
    queue: OwnedFd,
}

impl Watch {
    /// True if what was learned under this watch is what the path would show.
    pub fn serves(&self, path: &SafePath) -> bool {
        self.view.serves(path)
    }

    /// True if the whole tree is watched. If not, changes must be found by stamps.
    pub fn whole(&self) -> bool {
        self.whole.load(Ordering::Relaxed)
    }
}

#[cfg(target_os = "linux")]
impl Watch {
    /// A watch that looks after nothing yet; [`SafePath::walk_watched`] gives it folders. It is
    /// not [whole](Self::whole) where the system cannot watch the directory.
    pub fn new(path: &SafePath) -> Option<Self> {
        use rustix::fs::inotify::{CreateFlags, init};
        let queue = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        let whole = AtomicBool::new(path.directory().is_ok_and(|dir| !remote(dir)));
        Some(Self { view: View::of(path), whole, folders: Mutex::default(), queue })
    }

    /// Looks after a folder from now on.
    pub(crate) fn add(&self, dir: &OwnedFd, path: &Path) {
        use rustix::{
            fd::AsRawFd,
            fs::inotify::{WatchFlags, add_watch},
        };
        if !self.whole() {
            return;
        }
        let flags = WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::MOVE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::EXCL_UNLINK;
        let handle = format!("/proc/self/fd/{}", dir.as_raw_fd());
        // The kernel is asked outside the lock, which other threads wait for. Nobody asks for
        // changes before the walk ends, so that no event meets a folder without a name.
        let Ok(id) = add_watch(&self.queue, handle, flags) else {
            return self.whole.store(false, Ordering::Relaxed);
        };
        let another = rustix::fs::fstat(dir).is_ok_and(|stat| {
            Some(platform::identity(&stat).0) != self.view.identity.map(|(device, _)| device)
        });
        let mut folders = self.folders.lock();
        if folders.len() >= MOST_FOLDERS || (another && remote(dir)) {
            return self.whole.store(false, Ordering::Relaxed);
        }
        folders.insert(id, path.to_owned());
    }

    /// The changes since the last call, or since the folders were added.
    pub fn changes(&self) -> Changes {
        use rustix::{
            fs::inotify::{ReadFlags, Reader},
            io::Errno,
        };
        /// Room for some hundred events at a time.
        const BUFFER: usize = 16 * 1024;
        if !self.whole() {
            return Changes::Lost;
        }
        let mut lost = false;
        let (mut folders, mut files) = (BTreeSet::new(), BTreeSet::new());
        let mut known = self.folders.lock();
        let mut buffer = [std::mem::MaybeUninit::uninit(); BUFFER];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    lost = true;
                    break;
                }
            };
            let flags = event.events();
            if flags.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
                lost = true;
                continue;
            }
            if flags.contains(ReadFlags::IGNORED) {
                lost |= known.remove(&event.wd()).is_some_and(|path| path.as_os_str().is_empty());
                continue;
            }
            // The queue is emptied to its end in any case: what is lost is told once.
            if lost || folders.len() + files.len() > MOST_CHANGES {
                lost = true;
                continue;
            }
            let Some(folder) = known.get(&event.wd()) else { continue };
            let Some(name) = event.file_name() else {
                // About the folder itself. Its parent tells the same, but the start has none.
                let gone = flags.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF);
                lost |= gone && folder.as_os_str().is_empty();
                folders.insert(folder.clone());
                continue;
            };
            use std::os::unix::ffi::OsStrExt;
            let path = folder.join(OsStr::from_bytes(name.to_bytes()));
            if flags.contains(ReadFlags::ISDIR) {
                folders.insert(path)
            } else {
                files.insert(path)
            };
        }
        if lost { Changes::Lost } else { Changes::Known { folders, files } }
    }
}

/// File systems on which other machines, or programs behind the kernel, make changes that it
/// does not tell: NFS, SMB, CIFS, Ceph, AFS, FUSE and 9P, by their numbers.
#[cfg(target_os = "linux")]
fn remote(dir: impl AsFd) -> bool {
    const NUMBERS: [u32; 8] =
        [0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x00c3_6400, 0x5346_414f, 0x6573_5546, 0x0102_1997];
    // The number has 32 bits; its type differs between systems.
    let number = |stat: rustix::fs::StatFs| stat.f_type as u32;
    rustix::fs::fstatfs(dir).map_or(true, |stat| NUMBERS.contains(&number(stat)))
}

#[cfg(not(target_os = "linux"))]
impl Watch {
    /// There is no watch here: callers compare stamps.
    pub fn new(_: &SafePath) -> Option<Self> {
        None
    }

    pub(crate) fn add(&self, _: &OwnedFd, _: &Path) {
        self.whole.store(false, Ordering::Relaxed);
    }

    /// Nothing is known.
    pub fn changes(&self) -> Changes {
        Changes::Lost
    }
}

impl SafePath {
    /// Opens a file below this directory by the plain path a walk gave, no link followed, and
    /// judges its name again. `None` for what a walk would not show or not open.
    pub fn open_below(&self, below: &Path) -> Option<(File, Stamp)> {
        if self.hide.is_some() {
            let mut real = self.place.real.clone();
            for part in below.components() {
                real.push(part);
                if self.ruled(&real).is_some() {
                    return None;
                }
            }
        }
        let dir = self.directory().ok()?;
        let (file, stat) = open_plain(dir.as_fd(), &self.place.real, below, &self.root, &self.policy)?;
        Some((file, Stamp::of(&stat)))
    }

    /// The stamp of a name below this directory, a link's own.
    pub fn stamp_below(&self, below: &Path) -> Option<Stamp> {
        stamp(self.directory().ok()?.as_fd(), below)
    }

    /// The stamps of these names in every folder above this one, the root's first. Equal lists
    /// mean that nothing changed there.
    pub fn stamps_above(&self, names: &[&Path]) -> Vec<Option<Stamp>> {
        let folders = self.place.real.ancestors().skip(1);
        let each = |folder: &Path| names.iter().map(|name| folder.join(name)).collect::<Vec<_>>();
        folders.flat_map(each).map(|path| stamp(self.root.dir.as_fd(), &path)).collect()
    }

    /// The stamp of the opened object itself.
    pub fn stamp(&self) -> Result<Stamp, PathError> {
        let file = self.file()?;
        let stat = rustix::fs::fstat(file.handle()).map_err(|errno| self.error(errno))?;
        Ok(Stamp::of(&stat))
    }
}

/// The stamp of a plain path beneath a directory; no folder on the way may be a link.
fn stamp(dir: rustix::fd::BorrowedFd<'_>, path: &Path) -> Option<Stamp> {
    let (folder, name) = (path.parent()?, path.file_name()?);
    if folder.as_os_str().is_empty() {
        return rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| Stamp::of(&stat));
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let folder = beneath::open(dir, folder, flags, Follow::No).ok()?;
    rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|stat| Stamp::of(&stat))
}
