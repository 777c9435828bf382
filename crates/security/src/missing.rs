//! What is said of a name that is not there: whether it is a link to nothing, and which names
//! stand beside it, for whoever misspelled it. Names that are hidden stay so.

use std::{
    fmt,
    path::{Component, Path},
};

use rustix::{
    fd::AsFd,
    fs::{AtFlags, Dir, OFlags},
    io::Errno,
};

use crate::{
    SafePath,
    beneath::{self, Follow},
    safe::{Kind, plain_name},
    tree::MAX_DEPTH,
};

/// Names looked at; in a larger folder the right one may not be among them.
const MOST_NAMES: usize = 1_000;

/// A name that is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// The whole path.
    pub path: String,
    /// True for a link that is there and leads to nothing.
    pub dangling: bool,
    /// The first name on the way that is not there.
    pub name: String,
    /// The folder it was looked for in, as other calls take it.
    pub folder: String,
    /// What stands in that folder, in no order.
    pub beside: Vec<String>,
}

impl Missing {
    /// Only the path, where nothing else is known.
    pub(crate) fn plain(path: String) -> Self {
        Self { path, ..Self::default() }
    }

    /// A name of the folder as other calls take it.
    pub fn spelled(&self, name: &str) -> String {
        match self.folder.as_str() {
            "" | "." => name.to_owned(),
            folder => format!("{}/{name}", folder.trim_end_matches('/')),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dangling {
            write!(f, "{} is a symbolic link to something that does not exist", self.path)
        } else {
            write!(f, "file not found: {}", self.path)
        }
    }
}

impl SafePath {
    /// What is to be said where nothing stands at this path.
    pub fn missing(&self) -> Missing {
        self.looked_for().unwrap_or_else(|| Missing::plain(self.name()))
    }

    fn looked_for(&self) -> Option<Missing> {
        let real = &self.place.real;
        // A root that is there for single files shows nothing else of its folder.
        let open = self.policy.bases.iter().any(|base| base.path == self.root.path);
        if !open || !real.components().all(|part| matches!(part, Component::Normal(_))) {
            return None;
        }
        let mut way = real.as_path();
        let mut folder = way.parent()?;
        let mut dir = self.folder(folder);
        for _ in 0..MAX_DEPTH {
            if !matches!(dir, Err(Errno::NOENT)) {
                break;
            }
            way = folder;
            folder = way.parent()?;
            dir = self.folder(folder);
        }
        let (dir, name) = (dir.ok()?, way.file_name()?);
        let stat = rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW);
        let dangling = way == real.as_path() && stat.is_ok_and(|stat| Kind::of(&stat) == Kind::Link);
        let shown = |entry: rustix::fs::DirEntry| {
            let name = plain_name(&entry).filter(|name| !self.hides(folder, name))?.to_str()?;
            (!name.contains(char::is_control)).then(|| name.to_owned())
        };
        let entries = Dir::read_from(&dir).ok()?.take(MOST_NAMES);
        Some(Missing {
            path: self.name(),
            dangling,
            name: name.to_string_lossy().into_owned(),
            folder: self.spelled(folder),
            beside: entries.filter_map(|entry| shown(entry.ok()?)).collect(),
        })
    }

    fn folder(&self, folder: &Path) -> Result<rustix::fd::OwnedFd, Errno> {
        beneath::open(self.root.dir.as_fd(), folder, OFlags::RDONLY | OFlags::DIRECTORY, Follow::No)
    }
}
