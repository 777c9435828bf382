//! Locks among processes. We never remove a lock file. If somebody else does, its lock no longer keeps
//! others out, so the name is checked again after locking.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::Path,
};

use crate::{folder::make_folder, is_absent};

/// Opens the lock file at this path, not locked yet.
fn lock_file(path: &Path) -> io::Result<File> {
    make_folder(path)?;
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}

/// Waits until nobody else, in this process or another, holds this lock. Dropping the file releases it.
pub fn lock(path: &Path) -> io::Result<File> {
    loop {
        let file = lock_file(path)?;
        file.lock()?;
        if is_named(&file, path)? {
            return Ok(file);
        }
    }
}

/// The lock, if nobody else holds it now.
pub fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = lock_file(path)?;
    match file.try_lock() {
        Ok(()) => Ok(is_named(&file, path)?.then_some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// True if the path still leads to this file.
fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let held = file.metadata()?;
    let named = match path.metadata() {
        Ok(named) => named,
        Err(error) if is_absent(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok((held.dev(), held.ino()) == (named.dev(), named.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_a_lock_at_a_time() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("folder/lock");
        let held = lock(&path).expect("locked");
        assert!(try_lock(&path).expect("opened").is_none());
        drop(held);
        assert!(try_lock(&path).expect("opened").is_some(), "free again");
    }

    #[test]
    fn a_lock_file_that_was_removed_locks_nobody_out_and_lets_nobody_in_beside() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("lock");
        let removed = lock(&path).expect("locked");
        let (telling, told) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let opened = lock_file(&path).expect("opened");
                telling.send(()).expect("heard");
                opened.lock().expect("locked");
                is_named(&opened, &path).expect("looked at")
            });
            told.recv().expect("opened");
            std::fs::remove_file(&path).expect("removed");
            let second = lock(&path).expect("the name is free");
            assert!(!is_named(&removed, &path).expect("looked at"));
            assert!(is_named(&second, &path).expect("looked at"));
            drop(removed);
            // The file it waited for is not the one that others lock now, so `lock` would try again.
            assert!(!waiting.join().expect("ends"));
            assert!(try_lock(&path).expect("opened").is_none());
        });
    }
}
