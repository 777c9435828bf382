//! Files of our own that outlive us: for their owner only, and replaced as a whole.
//!
//! A file that is absent is told from one that cannot be read: whoever keeps a decision of a person
//! must not take the second for the first.

use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// Makes the directory of a file of ours, which only its owner may enter.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => DirBuilder::new().recursive(true).mode(0o700).create(folder),
        None => Ok(()),
    }
}

/// Reads a file of ours; `None` when there is none.
#[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// True for the error of a file that is not there.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Replaces a file of ours durably: when this returns, a power cut leaves the new one; before, the
/// old one or the new one. It waits for the disk, so never call it on a thread that answers clients.
#[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    swap(path, bytes, true)?;
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Replaces a file of ours that is worth nothing after a power cut: a reader sees the old one or the
/// new one, and nobody waits for the disk.
pub fn replace_lightly(path: &Path, bytes: &[u8]) -> io::Result<()> {
    swap(path, bytes, false)
}

#[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
fn swap(path: &Path, bytes: &[u8], sync: bool) -> io::Result<()> {
    make_folder(path)?;
    let fresh = beside(path, "new");
    let written =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh).and_then(|mut file| {
            file.write_all(bytes)?;
            if sync {
                file.sync_all()?;
            }
            std::fs::rename(&fresh, path)
        });
    if written.is_err() {
        // Half a file helps nobody; the error tells what happened.
        let _ = std::fs::remove_file(&fresh);
    }
    written
}

/// Moves a file of ours out of the way, under a name that nothing else has. `None` when there is none.
#[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
pub fn set_aside(path: &Path, why: &str) -> io::Result<Option<PathBuf>> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    name.push(format!(".{why}-{}-{}", seconds.unwrap_or_default().as_secs(), unique()));
    let aside = path.with_file_name(name);
    match std::fs::rename(path, &aside) {
        Ok(()) => Ok(Some(aside)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A hidden name beside a file that no other writer uses, in this process or another.
fn beside(path: &Path, what: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.{what}", unique()))
}

fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// The lock file at this path, not locked yet. Nobody removes it: whoever opened a removed one would
/// hold a lock that the next does not see.
#[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
pub(crate) fn lock_file(path: &Path) -> io::Result<File> {
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
    fn absent_is_told_from_broken_and_nothing_is_left_beside_a_file() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let path = scratch.path().join("folder/kept.json");
        assert_eq!(read(&path).expect("absent"), None);
        replace(&path, b"one").expect("written");
        replace_lightly(&path, b"two").expect("written");
        assert_eq!(read(&path).expect("there").as_deref(), Some(&b"two"[..]));
        assert!(read(path.parent().expect("a folder")).is_err(), "a directory is not an absent file");
        let count = || path.parent().expect("a folder").read_dir().expect("there").count();
        assert_eq!(count(), 1);
        let aside = set_aside(&path, "broken").expect("moved").expect("there");
        assert!(
            aside.to_string_lossy().contains("kept.json.broken-") && read(&path).expect("gone").is_none()
        );
        assert_eq!((set_aside(&path, "broken").expect("absent"), count()), (None, 1));
    }
}
