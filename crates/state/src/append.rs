//! Files that grow. Their owner defines the content; records that must be whole are kept in a
//! [`Log`](crate::Log).

use std::{
    fs::{File, OpenOptions, Permissions},
    io,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

use crate::folder::make_folder;

/// Opens a log to append to it; creates it for its owner alone if it does not exist.
pub fn append(path: &Path) -> io::Result<File> {
    make_folder(path)?;
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    // Otherwise a file that existed before keeps its mode.
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Creates a log; an error of the kind `AlreadyExists` if there is one.
pub fn create(path: &Path) -> io::Result<File> {
    make_folder(path)?;
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)
}

/// Takes room on the disk beyond the end of a file, which keeps its size: later writes up to there need
/// no more. An error means that there is none; a file system that knows no such thing has it.
pub fn reserve(file: &File, offset: u64, length: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::KEEP_SIZE, offset, length) {
        Ok(()) | Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
        Err(error) => return Err(error.into()),
    }
    let _ = (file, offset, length);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write as _};

    use super::*;

    #[test]
    fn a_log_grows_and_is_for_its_owner() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("sub/log");
        create(&path).expect("made").write_all(b"one\n").expect("written");
        assert_eq!(create(&path).expect_err("there").kind(), io::ErrorKind::AlreadyExists);
        fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("changes");
        append(&path).expect("opened").write_all(b"two\n").expect("written");
        assert_eq!(fs::read_to_string(&path).expect("there"), "one\ntwo\n");
        assert_eq!(path.metadata().expect("there").permissions().mode() & 0o777, 0o600);
    }
}
