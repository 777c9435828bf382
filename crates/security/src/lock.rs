//! One writer per directory, among our threads and among our processes.

use std::{
    collections::HashSet,
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

use rustix::{
    fd::OwnedFd,
    fs::{FlockOperation, Mode, OFlags},
    io::Errno,
};

use crate::platform;

/// How long another process may keep us waiting.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long we sleep between two looks at another process's lock.
const NAP: Duration = Duration::from_millis(2);

/// The directories being written in by this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteLocks {
    inner: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    held: Mutex<HashSet<Folder>>,
    /// Folders already cleared of what killed processes left behind.
    swept: Mutex<HashSet<Folder>>,
    freed: Condvar,
}

/// A directory's identity: device and inode.
pub(crate) type Folder = (u64, u64);

/// Held while a directory's files are read, computed and replaced.
#[derive(Debug)]
pub(crate) struct WriteGuard {
    shared: Arc<Shared>,
    folder: Folder,
    /// Carries the lock other processes see; closing it lets go.
    _handle: Option<OwnedFd>,
}

/// The identity of an open directory.
pub(crate) fn folder(dir: &OwnedFd) -> Result<Folder, Errno> {
    Ok(platform::identity(&rustix::fs::fstat(dir)?))
}

impl WriteLocks {
    /// Waits for the directory. `Errno::WOULDBLOCK` when another process keeps it.
    pub(crate) fn take(&self, dir: &OwnedFd, folder: Folder) -> Result<WriteGuard, Errno> {
        let mut held = self.inner.held.lock().unwrap_or_else(|broken| broken.into_inner());
        while !held.insert(folder) {
            held = self.inner.freed.wait(held).unwrap_or_else(|broken| broken.into_inner());
        }
        drop(held);
        // From here on the guard gives the directory back, whatever happens.
        let mut guard = WriteGuard { shared: self.inner.clone(), folder, _handle: None };
        guard._handle = lock_for_processes(dir)?;
        Ok(guard)
    }

    /// True the first time a folder is written in. Forgetting is harmless, so the memory is bounded.
    pub(crate) fn first_visit(&self, folder: Folder) -> bool {
        const MOST: usize = 4096;
        let mut swept = self.inner.swept.lock().unwrap_or_else(|broken| broken.into_inner());
        if swept.len() >= MOST {
            swept.clear();
        }
        swept.insert(folder)
    }
}

fn lock_for_processes(dir: &OwnedFd) -> Result<Option<OwnedFd>, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let own = rustix::fs::openat(dir, ".", flags, Mode::empty())?;
    let until = Instant::now() + PATIENCE;
    loop {
        match rustix::fs::flock(&own, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(own)),
            Err(Errno::WOULDBLOCK) if Instant::now() < until => std::thread::sleep(NAP),
            Err(Errno::WOULDBLOCK) => return Err(Errno::WOULDBLOCK),
            // A file system without such locks: our own threads are still kept apart.
            Err(_) => return Ok(None),
        }
    }
}

impl Drop for WriteGuard {
    fn drop(&mut self) {
        self.shared.held.lock().unwrap_or_else(|broken| broken.into_inner()).remove(&self.folder);
        self.shared.freed.notify_all();
    }
}
