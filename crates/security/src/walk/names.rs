//! The names in an open folder, read through its handle.

use std::ffi::OsStr;

use rustix::{fd::OwnedFd, fs::FileType, io::Errno};

/// Shows every name in a folder that was just opened, but itself and its parent. The handle is
/// read from where it stands, so that this is done once with each.
#[cfg(target_os = "linux")]
pub(super) fn each(
    dir: &OwnedFd,
    mut show: impl FnMut(&OsStr, FileType) -> Result<(), Errno>,
) -> Result<(), Errno> {
    use std::mem::MaybeUninit;

    use rustix::fs::RawDir;
    /// Room for some hundred names at a time, and for any single one.
    const BUFFER: usize = 32 * 1024;
    let mut buffer = [MaybeUninit::uninit(); BUFFER];
    let mut names = RawDir::new(dir, &mut buffer);
    while let Some(entry) = names.next() {
        let entry = match entry {
            Err(Errno::INTR) => continue,
            entry => entry?,
        };
        if let Some(name) = plain(entry.file_name()) {
            show(name, entry.file_type())?;
        }
    }
    Ok(())
}

/// The same, where the system has no call for it.
#[cfg(not(target_os = "linux"))]
pub(super) fn each(
    dir: &OwnedFd,
    mut show: impl FnMut(&OsStr, FileType) -> Result<(), Errno>,
) -> Result<(), Errno> {
    for entry in rustix::fs::Dir::read_from(dir)? {
        let entry = entry?;
        if let Some(name) = plain(entry.file_name()) {
            show(name, entry.file_type())?;
        }
    }
    Ok(())
}

fn plain(name: &std::ffi::CStr) -> Option<&OsStr> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = name.to_bytes();
    (bytes != b"." && bytes != b"..").then(|| OsStr::from_bytes(bytes))
}
