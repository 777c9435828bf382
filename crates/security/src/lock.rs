//! One writer per directory, among our threads and among our processes.
//!
//! A thread that waits is a thread that nobody else can use. Behind our own writers that is short.
//! Behind another process it may last, so only a few threads wait there and the rest are refused.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex, MutexGuard};
use rustix::{
    fd::OwnedFd,
    fs::{FlockOperation, Mode, OFlags},
    io::Errno,
};

use crate::{Abandoned, platform};

/// How long another process may keep us waiting.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long we sleep between two looks at another process's lock.
const NAP: Duration = Duration::from_millis(2);
/// How long another process works in a directory, usually: so long everybody waits for it.
const BRIEF: Duration = Duration::from_millis(250);
/// How long a waiting thread sleeps before it asks whether its call was abandoned.
const LOOK: Duration = Duration::from_millis(50);
/// Threads that may wait behind other processes, for all directories together.
const MOST_WAITING: usize = 16;

/// The directories being written in by this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteLocks {
    inner: Arc<LockTable>,
}

#[derive(Debug, Default)]
struct LockTable {
    held: Mutex<Held>,
    /// Folders already cleared of what killed processes left behind.
    swept: Mutex<HashSet<FolderId>>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct Held {
    /// The holder of each directory.
    folders: HashMap<FolderId, Holder>,
    /// Threads behind directories that another process has.
    waiting: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// A thread of ours, which works.
    Us,
    /// Another process; a thread of ours waits for it first of all.
    Others,
}

/// A directory's identity: device and inode.
pub(crate) type FolderId = (u64, u64);

/// Held while a directory's files are read, computed and replaced.
#[derive(Debug)]
pub(crate) struct WriteGuard {
    table: Arc<LockTable>,
    folder: FolderId,
    /// Carries the lock other processes see; closing it lets go.
    _handle: Option<OwnedFd>,
}

/// The identity of an open directory.
pub(crate) fn folder(dir: &OwnedFd) -> Result<FolderId, Errno> {
    Ok(platform::identity(&rustix::fs::fstat(dir)?))
}

impl WriteLocks {
    /// Waits for the directory. `Errno::WOULDBLOCK` when another process keeps it, and
    /// `Errno::CANCELED` when the call was cancelled.
    pub(crate) fn take(
        &self,
        dir: &OwnedFd,
        folder: FolderId,
        abandoned: Option<&Abandoned>,
    ) -> Result<WriteGuard, Errno> {
        let wait = Wait { table: &self.inner, folder, abandoned, until: Instant::now() + PATIENCE };
        wait.for_our_turn()?;
        // From here on the guard gives the directory back, whatever happens.
        let mut guard = WriteGuard { table: self.inner.clone(), folder, _handle: None };
        guard._handle = wait.for_other_processes(dir)?;
        Ok(guard)
    }

    /// True the first time a folder is written in. Forgetting is harmless, so the memory is bounded.
    pub(crate) fn first_visit(&self, folder: FolderId) -> bool {
        const MOST: usize = 4096;
        let mut swept = self.inner.swept.lock();
        if swept.len() >= MOST {
            swept.clear();
        }
        swept.insert(folder)
    }
}

/// One thread's wait for one directory.
struct Wait<'w> {
    table: &'w Arc<LockTable>,
    folder: FolderId,
    abandoned: Option<&'w Abandoned>,
    until: Instant,
}

impl Wait<'_> {
    fn for_our_turn(&self) -> Result<(), Errno> {
        let mut held = self.table.held.lock();
        loop {
            match held.folders.get(&self.folder) {
                None => {
                    held.folders.insert(self.folder, Holder::Us);
                    return Ok(());
                }
                Some(Holder::Others) => {
                    if held.waiting >= MOST_WAITING || Instant::now() >= self.until {
                        return Err(Errno::WOULDBLOCK);
                    }
                    held.waiting += 1;
                    self.sleep(&mut held);
                    held.waiting -= 1;
                }
                Some(Holder::Us) => self.sleep(&mut held),
            }
            self.check()?;
        }
    }

    fn for_other_processes(&self, dir: &OwnedFd) -> Result<Option<OwnedFd>, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let own = rustix::fs::openat(dir, ".", flags, Mode::empty())?;
        let locked = match self.nap(&own, Instant::now() + BRIEF) {
            Err(Errno::WOULDBLOCK) => {
                self.make_way()?;
                let locked = self.nap(&own, self.until);
                self.take_over();
                locked
            }
            early => early,
        };
        Ok(locked?.then_some(own))
    }

    /// Tries until then. False where the file system has no such locks: our own threads are still
    /// kept apart.
    fn nap(&self, own: &OwnedFd, until: Instant) -> Result<bool, Errno> {
        loop {
            match rustix::fs::flock(own, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(true),
                Err(Errno::WOULDBLOCK) if Instant::now() >= until => return Err(Errno::WOULDBLOCK),
                Err(Errno::WOULDBLOCK) => self.check()?,
                Err(_) => return Ok(false),
            }
            std::thread::sleep(NAP);
        }
    }

    /// Tells the threads behind us that another process has the directory.
    fn make_way(&self) -> Result<(), Errno> {
        let mut held = self.table.held.lock();
        if held.waiting >= MOST_WAITING {
            return Err(Errno::WOULDBLOCK);
        }
        held.waiting += 1;
        held.folders.insert(self.folder, Holder::Others);
        self.table.freed.notify_all();
        Ok(())
    }

    fn take_over(&self) {
        let mut held = self.table.held.lock();
        held.waiting -= 1;
        held.folders.insert(self.folder, Holder::Us);
    }

    fn sleep(&self, held: &mut MutexGuard<'_, Held>) {
        self.table.freed.wait_for(held, LOOK);
    }

    fn check(&self) -> Result<(), Errno> {
        if self.abandoned.is_some_and(Abandoned::now) { Err(Errno::CANCELED) } else { Ok(()) }
    }
}

impl Drop for WriteGuard {
    fn drop(&mut self) {
        self.table.held.lock().folders.remove(&self.folder);
        self.table.freed.notify_all();
    }
}
