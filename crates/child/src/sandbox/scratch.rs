//! A private temporary directory: for its owner only, and gone with whoever made it.

use std::{
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use crate::mark;

/// A temporary directory for one command or one session of it; `TMPDIR` should name it.
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
