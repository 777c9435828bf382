//! Hard links: finding out whether a file with several names has a protected one.
//!
//! A file's other names cannot be asked for, so the protected names beneath the root are
//! looked up once and kept for a moment. Only files with more than one link pay for it.

use std::{
    collections::HashSet,
    path::PathBuf,
    sync::Mutex,
    time::{Duration, Instant},
};

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat},
};

use crate::{
    allowlist::{Policy, Root},
    safe::plain_name,
};

/// How long a look at the tree stays good.
const FRESH: Duration = Duration::from_secs(2);
/// Entries looked at before giving up; beyond it a file with several names is refused.
const MAX_ENTRIES: usize = 2_000_000;

/// The protected files of each root, by device and inode.
#[derive(Debug, Default)]
pub(crate) struct LinkIndex {
    seen: Mutex<Vec<Seen>>,
}

#[derive(Debug)]
struct Seen {
    root: PathBuf,
    at: Instant,
    /// `None` when the tree was too large to know.
    protected: Option<HashSet<(u64, u64)>>,
}

impl LinkIndex {
    /// True when one of the file's names is protected, or nobody can tell.
    pub(crate) fn holds(&self, root: &Root, policy: &Policy, stat: &Stat) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(|broken| broken.into_inner());
        seen.retain(|one| one.at.elapsed() < FRESH);
        if !seen.iter().any(|one| one.root == root.path) {
            let protected = survey(root, policy);
            seen.push(Seen { root: root.path.clone(), at: Instant::now(), protected });
        }
        let known = seen.iter().find(|one| one.root == root.path).and_then(|one| one.protected.as_ref());
        known.is_none_or(|protected| protected.contains(&identity(stat)))
    }
}

fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

fn survey(root: &Root, policy: &Policy) -> Option<HashSet<(u64, u64)>> {
    let mut protected = HashSet::new();
    let mut entries = 0;
    let start = rustix::fs::openat(&root.dir, ".", FOLDER, Mode::empty()).ok()?;
    let mut stack = vec![(start, PathBuf::new(), false)];
    while let Some((dir, folder, denied)) = stack.pop() {
        let Ok(list) = Dir::read_from(&dir) else { continue };
        for entry in list.flatten() {
            let Some(name) = plain_name(&entry) else { continue };
            entries += 1;
            if entries > MAX_ENTRIES {
                return None;
            }
            let denied = denied || policy.deny.matches_entry(&folder, name).is_some();
            match entry.file_type() {
                FileType::Directory => {
                    if let Ok(child) = open_folder(&dir, name) {
                        stack.push((child, folder.join(name), denied));
                    }
                }
                _ if denied => {
                    if let Ok(stat) = rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                        protected.insert(identity(&stat));
                    }
                }
                _ => {}
            }
        }
    }
    Some(protected)
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn open_folder(dir: &OwnedFd, name: &std::ffi::OsStr) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(dir.as_fd(), name, FOLDER, Mode::empty())
}
