//! Folders made on the way to a new name, and taken away again when it comes to nothing.

use std::{ffi::OsString, io};

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Mode},
    io::Errno,
};

use crate::{
    Durability,
    tree::{MAX_DEPTH, open_child, too_deep},
};

/// The folders that were made, the uppermost first.
#[derive(Debug, Default)]
pub(crate) struct Made(Vec<(OwnedFd, OsString)>);

/// Walks down from an open folder, making what is missing. Nothing on the way is a link.
pub(crate) fn make(
    start: &OwnedFd,
    missing: &[OsString],
    durability: Durability,
) -> io::Result<(OwnedFd, Made)> {
    let mut made = Made::default();
    match made.down(start, missing, durability) {
        Ok(folder) => Ok((folder, made)),
        Err(error) => {
            made.undo();
            Err(error)
        }
    }
}

impl Made {
    fn down(&mut self, start: &OwnedFd, missing: &[OsString], durability: Durability) -> io::Result<OwnedFd> {
        if missing.len() > MAX_DEPTH {
            return Err(too_deep());
        }
        let mut at = rustix::io::fcntl_dupfd_cloexec(start, 0)?;
        for name in missing {
            let above = rustix::io::fcntl_dupfd_cloexec(&at, 0)?;
            match rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o777)) {
                Ok(()) => self.0.push((above, name.clone())),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
            if durability == Durability::Full {
                rustix::fs::fsync(&at)?;
            }
            at = open_child(&at, name)?;
        }
        Ok(at)
    }

    /// Removes the folders again, except those that are no longer empty.
    pub(crate) fn undo(&self) {
        for (folder, name) in self.0.iter().rev() {
            let _ = rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR);
        }
    }
}
