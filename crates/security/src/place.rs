//! The end of a path: the open object, and the open folder in which its name can be changed.

use std::{
    ffi::OsString,
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, OFlags, Stat},
    io::Errno,
};

use crate::beneath::{self, Follow};

/// The end of a path.
#[derive(Debug)]
pub(crate) struct Place {
    /// The true name below the root.
    pub(crate) real: PathBuf,
    /// The folder's handle, for anything that changes a name.
    pub(crate) parent: Option<Parent>,
    /// The object, opened for reading, or why it could not be; `None` when there is none.
    pub(crate) object: Option<Result<Object, Errno>>,
}

/// Something opened for reading, and what the system said of it at that moment.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) handle: Arc<File>,
    pub(crate) stat: Stat,
}

impl Object {
    pub(crate) fn new(handle: OwnedFd) -> Result<Self, Errno> {
        let stat = rustix::fs::fstat(&handle)?;
        Ok(Self { handle: Arc::new(handle.into()), stat })
    }
}

/// A name in an open folder, with the folders that must be made first.
#[derive(Debug)]
pub(crate) struct Parent {
    pub(crate) dir: OwnedFd,
    pub(crate) real: PathBuf,
    pub(crate) missing: Vec<OsString>,
    pub(crate) name: OsString,
}

impl Parent {
    /// The true name of the target below the root.
    pub(crate) fn target(&self) -> PathBuf {
        let folder = self.missing.iter().fold(self.real.clone(), |path, part| path.join(part));
        folder.join(&self.name)
    }

    /// The object at the name now, a link itself and not its target.
    pub(crate) fn look(&self) -> Option<Stat> {
        let there = self.missing.is_empty();
        there.then(|| rustix::fs::statat(&self.dir, &self.name, AtFlags::SYMLINK_NOFOLLOW).ok()).flatten()
    }

    /// Opens the name itself; a link there is an error, never followed.
    pub(crate) fn open_name(&self) -> Result<OwnedFd, Errno> {
        beneath::open(self.dir.as_fd(), Path::new(&self.name), OFlags::RDONLY | OFlags::NOFOLLOW, Follow::No)
    }
}
