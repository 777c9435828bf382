//! The folders above a granted directory, up to its root: there for the rules they hold
//! about what lies below (ignore files), and for nothing else.

use std::{
    ffi::OsStr,
    fs::File,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, OFlags, Stat},
};

use crate::{
    Kind, SafePath,
    beneath::{self, Follow},
    kind::size,
    policy::Policy,
    root::Root,
};

/// One folder between a root and a directory below it.
#[derive(Debug)]
pub struct Above<'p> {
    /// How the granted directory is called from here.
    pub below: PathBuf,
    dir: OwnedFd,
    real: PathBuf,
    granted: &'p SafePath,
}

impl SafePath {
    /// The folders above this one, the root first; none for a root itself. A folder that
    /// cannot be opened is left out.
    pub fn above(&self) -> Vec<Above<'_>> {
        let real = &self.place.real;
        let mut folders: Vec<&Path> = real.ancestors().skip(1).collect();
        folders.reverse();
        let open = |folder: &Path| {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY;
            let dir = beneath::open(self.root.dir.as_fd(), folder, flags, Follow::No).ok()?;
            let below = real.strip_prefix(folder).ok()?.to_owned();
            Some(Above { below, dir, real: folder.to_owned(), granted: self })
        };
        folders.into_iter().filter_map(open).collect()
    }
}

impl Above<'_> {
    /// Opens a file of this folder by its plain path, no link followed. `None` for what is
    /// not there, is no plain file or is protected.
    pub fn open(&self, relative: &Path) -> Option<(File, u64)> {
        let (root, policy) = (&self.granted.root, &self.granted.policy);
        let (file, stat) = open_plain(self.dir.as_fd(), &self.real, relative, root, policy)?;
        Some((file, size(&stat)))
    }

    /// True if a name stands in this folder.
    pub fn has(&self, name: &OsStr) -> bool {
        rustix::fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }
}

impl AsFd for Above<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }
}

/// Opens `relative` beneath a folder whose true name is `real`, judged like any other name, and
/// says what was opened.
pub(crate) fn open_plain(
    dir: BorrowedFd<'_>,
    real: &Path,
    relative: &Path,
    root: &Arc<Root>,
    policy: &Policy,
) -> Option<(File, Stat)> {
    // With `..` the words would not be the name that is opened.
    let plain = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !plain || policy.denies(root, &real.join(relative)).is_some() {
        return None;
    }
    let file = beneath::open(dir, relative, OFlags::RDONLY | OFlags::NOFOLLOW, Follow::No).ok()?;
    let stat = rustix::fs::fstat(&file).ok()?;
    if Kind::of(&stat) != Kind::File || policy.protected_alias(root, &stat) {
        return None;
    }
    Some((file.into(), stat))
}
