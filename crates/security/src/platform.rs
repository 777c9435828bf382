//! The few facts only the operating system can tell about an open handle.

use std::path::PathBuf;

use rustix::{
    fd::{AsFd, AsRawFd},
    fs::Stat,
    io::Errno,
};

/// The identity of a file: device and inode.
#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
pub(crate) fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

/// The time its content was last written, in seconds and nanoseconds.
#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
pub(crate) fn written(stat: &Stat) -> (i64, i64) {
    (stat.st_mtime as i64, stat.st_mtime_nsec as i64)
}

/// The time it last changed in any way: content, mode, owner, number of names.
#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
pub(crate) fn changed(stat: &Stat) -> (i64, i64) {
    (stat.st_ctime as i64, stat.st_ctime_nsec as i64)
}

/// The name the system knows an open file by, with every link resolved.
#[cfg(target_os = "linux")]
pub(crate) fn real_name(handle: impl AsFd) -> Result<PathBuf, Errno> {
    use std::os::unix::ffi::OsStringExt;
    let link = format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd());
    let mut name = rustix::fs::readlink(link, Vec::new())?.into_bytes();
    // A file that lost its last name is shown with a mark; the judgement needs the name itself.
    if let Some(kept) = name.strip_suffix(b" (deleted)")
        && rustix::fs::fstat(handle)?.st_nlink == 0
    {
        name.truncate(kept.len());
    }
    Ok(PathBuf::from(std::ffi::OsString::from_vec(name)))
}

/// The same through `F_GETPATH`.
#[cfg(target_vendor = "apple")]
pub(crate) fn real_name(handle: impl AsFd) -> Result<PathBuf, Errno> {
    use std::os::unix::ffi::OsStringExt;
    let name = rustix::fs::getpath(handle)?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(name.into_bytes())))
}
