//! Files of our own that outlive us: for their owner only, and replaced as a whole.

use std::{
    fs::{DirBuilder, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::Path,
};

/// Makes the directory of a file of ours, which only its owner may enter.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => DirBuilder::new().recursive(true).mode(0o700).create(folder),
        None => Ok(()),
    }
}

/// Replaces a file of ours: a reader sees the old one or the new one.
#[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    make_folder(path)?;
    let aside = path.with_extension(format!("json.{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
    file.write_all(bytes)?;
    std::fs::rename(&aside, path)
}
