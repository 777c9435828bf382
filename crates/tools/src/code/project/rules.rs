//! The ignore rules a listing was made under, by the stamps of the files that hold them.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use tectum_core::security::{SafePath, Stamp};

/// The rule files of any folder.
const FILES: [&str; 3] = [".ignore", ".gitignore", ".git/info/exclude"];

/// Rule files that the watch over the tree does not reach: those above its start, and those
/// inside repositories' own directories.
#[derive(Debug)]
pub(super) struct Rules {
    above: Vec<Option<Stamp>>,
    /// The repositories that begin above the start. Their directories change all the time.
    repositories: Vec<Option<(u64, u64)>>,
    excludes: Vec<(PathBuf, Option<Stamp>)>,
}

impl Rules {
    /// As they are now above the start.
    pub(super) fn above(start: &SafePath) -> Self {
        let repositories = start.stamps_above(&[Path::new(".git")]);
        Self {
            above: start.stamps_above(&FILES.map(Path::new)),
            repositories: repositories.iter().map(|stamp| stamp.map(|stamp| stamp.identity)).collect(),
            excludes: Vec::new(),
        }
    }

    /// With those of the repositories below the start, each by its path and by its stamp before
    /// it was read.
    pub(super) fn and(mut self, excludes: Vec<(PathBuf, Option<Stamp>)>) -> Self {
        self.excludes = excludes;
        self
    }

    /// True if they are still the same.
    pub(super) fn hold(&self, start: &SafePath) -> bool {
        let now = Self::above(start);
        self.above == now.above
            && self.repositories == now.repositories
            && self.excludes.iter().all(|(path, stamp)| start.stamp_below(path) == *stamp)
    }

    /// True if a name in a folder holds rules, or begins a repository.
    pub(super) fn is_one(name: &OsStr) -> bool {
        name == ".ignore" || name == ".gitignore" || name == ".git"
    }
}
