//! Private copies of changed files, for git to compare. Git opens files by name, and a name can
//! come to mean another file between two system calls; the copies are read through the granted
//! handles, so whatever git shows of the work tree came through the gate.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::OpenOptionsExt,
    },
    path::Path,
};

use parking_lot::Mutex;
use rustix::fs::{Mode, OFlags};
use tectum_core::{
    Fault,
    security::{Flow, Kind, SafePath},
};

use super::changes::{ChangedName, NowKind};
use crate::run::Leash;

/// Bytes copied for one comparison. A larger change is rather looked at file by file.
const MOST: u64 = 256 * 1024 * 1024;
/// The largest file that is copied; no reply could show much of it.
const LARGEST: u64 = 64 * 1024 * 1024;
/// The bytes that are copied between two looks at the call.
const STEP: usize = 1024 * 1024;

/// The reason why a changed name is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// It is a symbolic link now.
    Link,
    /// It is another repository.
    Submodule,
    /// It could not be read, or is another name of a protected file.
    Unreadable,
    /// It has too many bytes.
    TooLarge,
}

/// A directory with copies, removed when it is dropped.
#[derive(Debug)]
pub(super) struct Copies {
    folder: tempfile::TempDir,
    handle: OwnedFd,
    left: Vec<(ChangedName, Why)>,
}

impl Copies {
    /// Copies every changed file that is there, and takes out of `changes` what has no copy.
    pub(super) fn make(
        path: &SafePath,
        changes: &mut Vec<ChangedName>,
        leash: &Leash<'_>,
    ) -> Result<Self, Fault> {
        let folder = tempfile::Builder::new().prefix("tectum-diff-").tempdir().map_err(broken)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(folder.path(), flags, Mode::empty());
        let handle = handle.map_err(|errno| broken(errno.into()))?;
        let mut copies = Self { folder, handle, left: Vec::new() };
        let mut copier = Copier { to: copies.folder.path().to_owned(), room: MOST, leash };
        let mut kept = Vec::with_capacity(changes.len());
        let mut settle = |change: ChangedName, done: Result<(), Why>| match done {
            Ok(()) => kept.push(change),
            Err(why) => copies.left.push((change, why)),
        };
        let all = std::mem::take(changes);
        if path.kind() == Some(Kind::Directory) {
            let shared = Mutex::new((copier, Vec::new(), Ok(())));
            path.walk(1, (), |folder| {
                let mut shared = shared.lock();
                let (copier, done, ended) = &mut *shared;
                for change in &all {
                    let copied = copier.copy(change, || folder.open_below(&change.below));
                    match copied {
                        Ok(copied) => done.push(copied),
                        Err(fault) => {
                            *ended = Err(fault);
                            break;
                        }
                    }
                }
                Flow::Stop
            })?;
            let (_, done, ended) = shared.into_inner();
            ended?;
            all.into_iter().zip(done).for_each(|(change, done)| settle(change, done));
        } else {
            for change in all {
                let open = || {
                    let file = path.file().ok().filter(|_| change.below.as_os_str().is_empty())?;
                    Some((file.handle().try_clone().ok()?, file.size()))
                };
                let done = copier.copy(&change, open)?;
                settle(change, done);
            }
        }
        *changes = kept;
        Ok(copies)
    }

    /// The folder of the copies, which have their names from the root of the work tree.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The same directory, opened.
    pub(super) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// Changed, but without a copy.
    pub(super) fn left(&self) -> &[(ChangedName, Why)] {
        &self.left
    }
}

struct Copier<'l> {
    to: std::path::PathBuf,
    room: u64,
    leash: &'l Leash<'l>,
}

impl Copier<'_> {
    /// Copies one file. The inner result says why there is no copy of it.
    fn copy(
        &mut self,
        change: &ChangedName,
        open: impl FnOnce() -> Option<(File, u64)>,
    ) -> Result<Result<(), Why>, Fault> {
        self.leash.check()?;
        let executable = match change.now {
            NowKind::Gone => return Ok(Ok(())),
            NowKind::Link => return Ok(Err(Why::Link)),
            NowKind::Submodule => return Ok(Err(Why::Submodule)),
            NowKind::File { executable } => executable,
        };
        let Some((from, size)) = open() else { return Ok(Err(Why::Unreadable)) };
        if size > LARGEST || size > self.room {
            return Ok(Err(Why::TooLarge));
        }
        let Ok(to) = create(&self.to.join(&change.name), executable) else { return Ok(Err(Why::Unreadable)) };
        match self.pour(from, to, size)? {
            Ok(copied) => {
                self.room -= copied;
                Ok(Ok(()))
            }
            Err(_) => Ok(Err(Why::Unreadable)),
        }
    }

    /// Copies as many bytes as the file had when it was opened, so that one that grows has an end.
    fn pour(&self, from: File, mut to: File, size: u64) -> Result<io::Result<u64>, Fault> {
        let mut from = from.take(size);
        let mut buffer = vec![0; STEP.min(usize::try_from(size).unwrap_or(STEP)).max(1)];
        let mut copied = 0;
        loop {
            self.leash.check()?;
            let step = from.read(&mut buffer).and_then(|read| to.write_all(&buffer[..read]).map(|()| read));
            match step {
                Ok(0) => return Ok(Ok(copied)),
                Ok(read) => copied += read as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Ok(Err(error)),
            }
        }
    }
}

/// A new file of ours, with the folders it needs.
#[expect(
    clippy::disallowed_methods,
    reason = "the name lies in a private directory made a moment ago; no agent's path is opened"
)]
fn create(path: &Path, executable: bool) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mode = if executable { 0o700 } else { 0o600 };
    File::options().write(true).create_new(true).mode(mode).open(path)
}

fn broken(error: io::Error) -> Fault {
    let mut fault = Fault::conflict("no temporary directory could be made for the comparison")
        .hint("compare two revisions, or what is staged; neither needs one");
    fault.source = Some(error.into());
    fault
}
