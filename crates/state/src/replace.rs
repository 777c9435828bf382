//! Replacing a file as a whole: a reader sees the old one or the new one, after a crash too.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use crate::{
    folder::{make_folder, sync_folder},
    unique,
};

/// The mode of a file for its owner only.
const PRIVATE: u32 = 0o600;

/// The failures that a replaced file must survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// A power cut: when the call returns, the new file is on the disk. It waits for the disk.
    PowerCut,
    /// The end of the process; the file is worthless after a power cut, so nobody waits for the disk.
    Process,
}

/// Replaces a file, or creates it for its owner alone.
pub fn replace(path: &Path, bytes: &[u8], lasts: Lasts) -> io::Result<()> {
    put(path, bytes, PRIVATE, lasts)
}

/// Replaces a file of the operator's, or creates it with this mode. It survives a power cut.
pub fn replace_with_mode(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    put(path, bytes, mode, Lasts::PowerCut)
}

/// Creates a file for its owner alone, whole or not at all; an error of the kind `AlreadyExists` if
/// there is one. It survives a power cut.
pub fn create_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    make_folder(path)?;
    let fresh = beside(path);
    let made = write(&fresh, bytes, PRIVATE, Lasts::PowerCut).and_then(|()| fs::hard_link(&fresh, path));
    // By now the file has its own name too, or was not created: the temporary name can go.
    let _ = fs::remove_file(&fresh);
    made.and_then(|()| sync_folder(path))
}

/// Replaces the target of a link, not the link; an existing file keeps its mode.
fn put(path: &Path, bytes: &[u8], mode: u32, lasts: Lasts) -> io::Result<()> {
    let target = if path.is_symlink() { fs::canonicalize(path)? } else { path.to_owned() };
    make_folder(&target)?;
    let mode = target.metadata().map_or(mode, |held| held.permissions().mode() & 0o7777);
    let fresh = beside(&target);
    let written = write(&fresh, bytes, mode, lasts).and_then(|()| fs::rename(&fresh, &target));
    if written.is_err() {
        // A partial file helps nobody; the error says what happened.
        let _ = fs::remove_file(&fresh);
    }
    written?;
    match lasts {
        Lasts::PowerCut => sync_folder(&target),
        Lasts::Process => Ok(()),
    }
}

fn write(path: &Path, bytes: &[u8], mode: u32, lasts: Lasts) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(path)?;
    // The umask applies to the mode above, but not here.
    file.set_permissions(Permissions::from_mode(mode))?;
    file.write_all(bytes)?;
    match lasts {
        Lasts::PowerCut => file.sync_all(),
        Lasts::Process => Ok(()),
    }
}

/// A hidden name in the same folder.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.new", unique()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().expect("there").permissions().mode() & 0o777
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("folder/kept.json");
        replace(&path, b"one", Lasts::PowerCut).expect("written");
        replace(&path, b"two", Lasts::Process).expect("written");
        assert_eq!(fs::read(&path).expect("there"), b"two");
        assert_eq!((mode(&path), mode(path.parent().expect("a folder"))), (0o600, 0o700));
        assert_eq!(path.parent().expect("a folder").read_dir().expect("there").count(), 1);
    }

    #[test]
    fn a_link_stays_a_link_and_a_mode_stays() {
        let home = tempfile::tempdir().expect("a directory");
        let (real, link) = (home.path().join("real"), home.path().join("link"));
        replace_with_mode(&real, b"one", 0o644).expect("written");
        assert_eq!(mode(&real), 0o644);
        fs::set_permissions(&real, Permissions::from_mode(0o640)).expect("changes");
        std::os::unix::fs::symlink("real", &link).expect("made");
        replace(&link, b"two", Lasts::PowerCut).expect("written");
        assert!(link.is_symlink());
        assert_eq!((mode(&real), fs::read(&real).expect("there")), (0o640, b"two".to_vec()));
    }

    #[test]
    fn of_many_that_make_a_file_one_does() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("token");
        let made: Vec<bool> = std::thread::scope(|scope| {
            let path = &path;
            let all: Vec<_> = (0..8)
                .map(|n| scope.spawn(move || create_private(path, format!("{n}").as_bytes()).is_ok()))
                .collect();
            all.into_iter().map(|one| one.join().expect("ends")).collect()
        });
        assert_eq!(made.iter().filter(|made| **made).count(), 1);
        assert_eq!(home.path().read_dir().expect("there").count(), 1);
        assert_eq!(mode(&path), 0o600);
    }
}
