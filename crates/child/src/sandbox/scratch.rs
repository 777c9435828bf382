//! A private temporary directory: for its owner only, and gone with whoever made it.

use std::{
    io,
    os::{fd::OwnedFd, unix::fs::DirBuilderExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::mark;

/// A temporary directory for the commands of one house; `TMPDIR` should name it.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes one where the system keeps temporary files.
    pub fn new() -> io::Result<Self> {
        let place = std::env::temp_dir().canonicalize()?;
        let path = place.join(format!("tectum-{}", mark()?));
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    /// Links in it are removed, not followed. What a command made unremovable stays.
    #[expect(clippy::disallowed_methods, reason = "a directory of our own, with a name nobody guesses")]
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The temporary directory as a fork server removes it, if Tectum was killed. In the server's mounts it is a
/// mount of its own, and all around it is read-only; so the directory around it is opened before these are
/// made.
#[derive(Debug)]
pub(crate) struct Abandoned {
    around: OwnedFd,
    scratch: PathBuf,
}

impl Abandoned {
    pub(crate) fn new(scratch: PathBuf) -> Option<Self> {
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Some(Self { around: rustix::fs::open(scratch.parent()?, how, Mode::empty()).ok()?, scratch })
    }

    pub(crate) fn is_there(&self) -> bool {
        self.scratch.exists()
    }

    pub(crate) fn remove(self) {
        let Self { around, scratch } = self;
        let name = scratch.file_name().map(ToOwned::to_owned).unwrap_or_default();
        drop(Scratch(scratch.clone()));
        #[cfg(target_os = "linux")]
        let _ = rustix::mount::unmount(&scratch, rustix::mount::UnmountFlags::DETACH);
        let _ = rustix::fs::unlinkat(&around, name, AtFlags::REMOVEDIR);
    }
}
