//! Hard links: finding out whether a file with several names has a protected one.
//!
//! A file's other names cannot be asked for, so the protected names beneath the roots are
//! looked up once and kept for a moment. Only files with more than one link pay for it.

use std::{
    collections::HashSet,
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use rustix::fs::{AtFlags, Stat};

use crate::{
    Kind,
    platform::{changed, identity},
    root::Root,
    tree,
};

/// How long a look at the tree stays good.
const FRESH: Duration = Duration::from_secs(2);
/// How far a file system's clock may lie behind ours: one tick of the slowest kernel timer.
const TICK: Duration = Duration::from_millis(20);
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
    /// The same moment by the clock files are stamped with.
    stamp: Duration,
    /// `None` when not every name could be seen.
    protected: Option<HashSet<(u64, u64)>>,
}

impl LinkIndex {
    /// True when one of the file's names below any root is protected, or not all names could be seen.
    pub(crate) fn holds<'r>(
        &self,
        roots: impl Iterator<Item = &'r Arc<Root>>,
        root: &'r Arc<Root>,
        hides: impl Fn(&Root, &Path, &OsStr) -> bool,
        stat: &Stat,
    ) -> bool {
        let mut seen = self.seen.lock();
        let mut roots: Vec<&Arc<Root>> = roots.collect();
        if !roots.iter().any(|base| base.path == root.path) {
            roots.push(root);
        }
        // A new link or a new name stamps the file, so an older look knows nothing of it.
        let (seconds, nanoseconds) = changed(stat);
        let changed = Duration::new(seconds.try_into().unwrap_or(0), nanoseconds.try_into().unwrap_or(0));
        seen.retain(|one| one.at.elapsed() < FRESH && changed + TICK < one.stamp);
        roots.iter().any(|root| {
            let known = seen.iter().position(|one| one.root == root.path).unwrap_or_else(|| {
                seen.push(Seen::now(root, &hides));
                seen.len() - 1
            });
            seen[known].protected.as_ref().is_none_or(|protected| protected.contains(&identity(stat)))
        })
    }
}

impl Seen {
    fn now(root: &Root, hides: &impl Fn(&Root, &Path, &OsStr) -> bool) -> Self {
        let stamp = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = Instant::now();
        Self { root: root.path.clone(), at, stamp, protected: survey(root, hides).ok() }
    }
}

fn survey(root: &Root, hides: &impl Fn(&Root, &Path, &OsStr) -> bool) -> io::Result<HashSet<(u64, u64)>> {
    let mut protected = HashSet::new();
    let mut entries = 0;
    let start = tree::open_child(&root.dir, ".".as_ref())?;
    tree::look(start, false, |found, denied| {
        entries += 1;
        if entries > MAX_ENTRIES {
            return Err(io::Error::other("too many entries"));
        }
        let denied = *denied || hides(root, found.folder, found.name);
        if denied
            && found.kind != Kind::Directory
            && let Ok(stat) = rustix::fs::statat(found.dir, found.name, AtFlags::SYMLINK_NOFOLLOW)
        {
            protected.insert(identity(&stat));
        }
        Ok(denied)
    })?;
    Ok(protected)
}
