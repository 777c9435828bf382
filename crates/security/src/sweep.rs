//! How the temporary files of killed processes go away.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, Dir, OFlags},
    io::Errno,
};

use crate::{
    Abandoned, Access, Allowlist, Kind,
    beneath::{self, Follow},
    kind::plain_name,
    lock,
    root::Root,
    temporary::owner,
    tree,
};

/// Entries looked at in one sweep of all roots. A folder beyond that is swept when it is next
/// written in.
const MOST_ENTRIES: usize = 200_000;

impl Allowlist {
    /// Removes the temporary files that killed processes left beneath the roots, the upper folders
    /// first, and says how many there were. It takes its time, so it is for a thread of its own.
    pub fn sweep(&self) -> usize {
        let mut removed = 0;
        let mut entries = 0;
        for root in &self.bases {
            let mut folders = VecDeque::from([PathBuf::new()]);
            while let Some(path) = folders.pop_front() {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY;
                let Ok(dir) = beneath::open(root.dir.as_fd(), &path, flags, Follow::No) else { continue };
                if self.look(root, &dir, &path, &mut folders, &mut entries) {
                    removed += self.sweep_locked(&dir);
                }
                if entries > MOST_ENTRIES {
                    return removed;
                }
            }
        }
        removed
    }

    /// Notes the folders in a folder, and says whether a leftover is there, too.
    fn look(
        &self,
        root: &Arc<Root>,
        dir: &OwnedFd,
        path: &Path,
        folders: &mut VecDeque<PathBuf>,
        entries: &mut usize,
    ) -> bool {
        let mut found = false;
        let Ok(names) = Dir::read_from(dir) else { return false };
        for entry in names.flatten() {
            *entries += 1;
            let Some(name) = plain_name(&entry) else { continue };
            found |= owner(name).is_some();
            let kind = tree::kind(dir.as_fd(), name, entry.file_type());
            let below = path.join(name);
            // Nothing of ours is written where nothing may be changed.
            let closed = || self.policy.protects(root, &below, Access::Write).is_some();
            if matches!(kind, Ok(Some(Kind::Directory))) && !closed() {
                folders.push_back(below);
            }
        }
        found
    }

    /// Whoever is writing there now sweeps it himself.
    fn sweep_locked(&self, dir: &OwnedFd) -> usize {
        let at_once = Abandoned::new(|| true);
        let guard = lock::folder(dir).and_then(|id| self.policy.locks.take(dir, id, Some(&at_once)));
        if guard.is_ok() { folder(dir) } else { 0 }
    }
}

/// Removes the temporary files of dead processes from a folder that is locked.
pub(crate) fn folder(dir: &OwnedFd) -> usize {
    let Ok(entries) = Dir::read_from(dir) else { return 0 };
    let mut removed = 0;
    for entry in entries.flatten() {
        let Some(name) = plain_name(&entry) else { continue };
        if let Some(owner) = owner(name)
            && rustix::process::test_kill_process(owner) == Err(Errno::SRCH)
        {
            removed += usize::from(rustix::fs::unlinkat(dir, name, AtFlags::empty()).is_ok());
        }
    }
    removed
}
