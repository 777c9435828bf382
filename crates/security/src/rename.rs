//! The two renames that never let a file go unseen.

use std::ffi::OsStr;

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, RenameFlags},
    io::Errno,
};

/// Two names of a folder change places, in one step.
pub(crate) fn exchange(folder: &OwnedFd, one: &OsStr, other: &OsStr) -> Result<(), Errno> {
    rustix::fs::renameat_with(folder, one, folder, other, RenameFlags::EXCHANGE)
}

/// Renames to a name that nothing stands at.
pub(crate) fn rename_new(
    from_dir: &OwnedFd,
    from: &OsStr,
    to_dir: &OwnedFd,
    to: &OsStr,
) -> Result<(), Errno> {
    match rustix::fs::renameat_with(from_dir, from, to_dir, to, RenameFlags::NOREPLACE) {
        // The file system cannot promise it, so a look just before is all there is.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            match rustix::fs::statat(to_dir, to, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => Err(Errno::EXIST),
                Err(Errno::NOENT) => rustix::fs::renameat(from_dir, from, to_dir, to),
                Err(errno) => Err(errno),
            }
        }
        other => other,
    }
}
