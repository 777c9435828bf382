//! Locks among processes. A lock file is never removed: whoever opened a removed one would hold a
//! lock that the next does not see.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use crate::folder::make_folder;

/// The lock file at this path, not locked yet.
pub fn lock_file(path: &Path) -> io::Result<File> {
    make_folder(path)?;
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}

/// Waits until nobody else, in this process or another, holds this lock. It ends when the file is
/// dropped.
pub fn lock(path: &Path) -> io::Result<File> {
    let file = lock_file(path)?;
    file.lock()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_a_lock_at_a_time() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("folder/lock");
        let held = lock(&path).expect("locked");
        assert!(lock_file(&path).expect("opened").try_lock().is_err());
        drop(held);
        lock_file(&path).expect("opened").try_lock().expect("free again");
    }
}
