//! The folders of sockets: the user's runtime directory, and the user's state where there is none.

use std::{
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

/// The folders where houses of a user may have their sockets. A new one goes to the first that can be used.
pub fn folders(runtime: Option<&Path>, state: Option<&Path>) -> Vec<PathBuf> {
    let state = state.map(|state| state.join("houses"));
    runtime.map(Path::to_owned).into_iter().chain(state).collect()
}

/// Makes the folder if it is absent, and refuses one that others may enter.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    tectum_state::make_folder(&folder.join("socket"))?;
    check(folder)
}

/// Refuses a folder that others may enter or own.
#[expect(clippy::disallowed_methods, reason = "the folder of our own sockets")]
pub(super) fn check(folder: &Path) -> io::Result<()> {
    let about = std::fs::symlink_metadata(folder)?;
    let ours = about.is_dir() && about.uid() == rustix::process::geteuid().as_raw();
    if ours && about.mode() & 0o077 == 0 {
        return Ok(());
    }
    let why = format!("{} is not a directory for this user alone (mode 700)", folder.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// The names in a folder that end like this; none where there is no such folder, or it is not ours alone.
#[expect(clippy::disallowed_methods, reason = "the folder of our own sockets")]
pub(super) fn sockets(folder: &Path, ending: &str) -> Vec<PathBuf> {
    if check(folder).is_err() {
        return Vec::new();
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|known| known == ending)).collect();
    found.sort();
    found
}
