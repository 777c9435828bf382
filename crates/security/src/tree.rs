//! Looking through a tree by handles: one open handle for each level and no more, links never
//! followed, nothing left out without saying so.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
};

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, Mode, OFlags},
    io::Errno,
};

use crate::{Kind, kind::plain_name};

/// Levels looked at. Every level costs a handle, and a process has about a thousand.
pub const MAX_DEPTH: usize = 256;

/// One entry on the way.
pub(crate) struct Found<'t> {
    pub(crate) dir: BorrowedFd<'t>,
    /// The folder's path below the start.
    pub(crate) folder: &'t Path,
    pub(crate) name: &'t OsStr,
    pub(crate) kind: Kind,
}

/// Shows every entry below `start` to `visit`, folders before what they hold. What `visit`
/// returns for a folder is shown with each of its entries. A folder that cannot be read ends
/// the look: half a look would pass for a whole one.
pub(crate) fn look<S>(
    start: OwnedFd,
    state: S,
    mut visit: impl FnMut(&Found<'_>, &S) -> io::Result<S>,
) -> io::Result<()> {
    let mut stack = vec![(Dir::new(start)?, PathBuf::new(), state)];
    while let Some((dir, folder, state)) = stack.last_mut() {
        let Some(entry) = dir.read() else {
            stack.pop();
            continue;
        };
        let entry = entry?;
        let Some(name) = plain_name(&entry) else { continue };
        let Some(kind) = kind(dir.fd()?, name, entry.file_type())? else { continue };
        let below = visit(&Found { dir: dir.fd()?, folder, name, kind }, state)?;
        if kind != Kind::Directory {
            continue;
        }
        let Some(child) = gone(open_child(dir.fd()?, name))? else { continue };
        let path = folder.join(name);
        if stack.len() == MAX_DEPTH {
            return Err(too_deep());
        }
        stack.push((Dir::new(child)?, path, below));
    }
    Ok(())
}

/// Opens a folder inside an open folder.
pub(crate) fn open_child(dir: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty())
}

pub(crate) fn too_deep() -> io::Error {
    io::Error::other(format!("folders are nested more than {MAX_DEPTH} deep"))
}

/// Some file systems do not say with the name what it stands for.
pub(crate) fn kind(dir: BorrowedFd<'_>, name: &OsStr, hint: FileType) -> Result<Option<Kind>, Errno> {
    if hint != FileType::Unknown {
        return Ok(Some(Kind::from(hint)));
    }
    let stat = gone(rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))?;
    Ok(stat.map(|stat| Kind::of(&stat)))
}

/// What went away between the reading of its name and the look at it is no failure.
fn gone<T>(result: Result<T, Errno>) -> Result<Option<T>, Errno> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(errno) => Err(errno),
    }
}
