//! Folders made on the way to a new name, and taken away again when it comes to nothing, or later by whoever
//! takes that name back.

use std::{ffi::OsString, io, path::Path};

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Mode},
    io::Errno,
};

use crate::{
    Durability, SafePath,
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

impl SafePath {
    /// The number of folders on the way to this name that were not there when it was opened.
    pub fn missing_folders(&self) -> usize {
        self.place.parent.as_ref().map_or(0, |parent| parent.missing.len())
    }

    /// The name of the folder so many steps above this name; 0 is the one it is in. Never the root's.
    pub fn folder_above(&self, steps: usize) -> Option<String> {
        self.on_the_way(steps).map(|folder| self.spelled(folder))
    }

    /// Removes that folder if it is empty. False if it stays.
    pub fn remove_folder_above(&self, steps: usize, durability: Durability) -> bool {
        let remove = || {
            let folder = self.on_the_way(steps)?;
            let (above, name) = (folder.parent()?, folder.file_name()?);
            if self.changeable().is_err() || self.hides(above, name) {
                return None;
            }
            let above = self.folder(above).ok()?;
            rustix::fs::unlinkat(&above, name, AtFlags::REMOVEDIR).ok()?;
            if durability == Durability::Full {
                // It is gone already; at worst an empty folder is back after the power failed.
                let _ = rustix::fs::fsync(&above);
            }
            Some(())
        };
        remove().is_some()
    }

    fn on_the_way(&self, steps: usize) -> Option<&Path> {
        self.place.real.ancestors().skip(1).nth(steps).filter(|folder| folder.file_name().is_some())
    }
}
