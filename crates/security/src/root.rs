//! A directory held open, and how other roots spell what lies in it.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use rustix::fd::OwnedFd;

/// A directory held open: every file of a call is opened beneath such a handle.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) dir: OwnedFd,
    /// Its canonical name.
    pub(crate) path: PathBuf,
    /// The name the configuration used, where that differs (a linked project folder).
    pub(crate) alias: Option<PathBuf>,
    /// How the roots above and below this one spell its files.
    pub(crate) spellings: Vec<Spelling>,
}

impl Root {
    /// The same with the spellings of its files from these other roots.
    pub(crate) fn seen_from(mut self, others: &[PathBuf]) -> Self {
        self.spellings = others.iter().filter_map(|other| Spelling::between(&self.path, other)).collect();
        self
    }

    /// The rest of an absolute path below this root, compared name by name.
    pub(crate) fn strip<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        path.strip_prefix(&self.path)
            .ok()
            .or_else(|| self.alias.as_ref().and_then(|alias| path.strip_prefix(alias).ok()))
    }
}

/// How a path below one root is spelled from a root above or below it. A rule with a slash is
/// read from a root, so with nested roots a file has several spellings and each is judged.
#[derive(Debug)]
pub(crate) enum Spelling {
    /// From a root above: these names come first.
    Above(PathBuf),
    /// From a root below: these names fall away, or the path does not lie there.
    Below(PathBuf),
}

impl Spelling {
    /// How `other` sees what lies in `root`, when one of the two holds the other.
    pub(crate) fn between(root: &Path, other: &Path) -> Option<Self> {
        if root == other {
            return None;
        }
        let above = root.strip_prefix(other).map(|prefix| Self::Above(prefix.to_owned()));
        above.or_else(|_| other.strip_prefix(root).map(|prefix| Self::Below(prefix.to_owned()))).ok()
    }

    pub(crate) fn spell<'p>(&self, relative: &'p Path) -> Option<Cow<'p, Path>> {
        match self {
            // Joining nothing would add a slash, and no pattern has one at its end.
            Self::Above(prefix) if relative.as_os_str().is_empty() => Some(prefix.clone().into()),
            Self::Above(prefix) => Some(prefix.join(relative).into()),
            Self::Below(prefix) => relative.strip_prefix(prefix).ok().map(Cow::Borrowed),
        }
    }
}
