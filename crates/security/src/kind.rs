//! The facts that the system has of a name: its kind, its size, and the stamp that tells one state of a
//! file from another.

use std::{ffi::OsStr, fmt};

use rustix::fs::{FileType, Stat};

use crate::platform;

/// The kind of thing that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link, not followed.
    Link,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A character or block device.
    Device,
}

impl Kind {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self::from(FileType::from_raw_mode(stat.st_mode))
    }
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            FileType::Fifo => Self::Fifo,
            FileType::Socket => Self::Socket,
            FileType::CharacterDevice | FileType::BlockDevice => Self::Device,
            _ => Self::File,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Directory => "directory",
            Self::File => "file",
            Self::Link => "symbolic link",
            Self::Fifo => "named pipe",
            Self::Socket => "socket",
            Self::Device => "device",
        })
    }
}

/// The facts that tell one state of a file from another without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Device and inode.
    pub identity: (u64, u64),
    /// Size in bytes.
    pub size: u64,
    /// The time its content was written, in seconds and nanoseconds.
    pub written: (i64, i64),
    /// The time anything about it changed.
    pub changed: (i64, i64),
    /// How many names it has. With more than one it can change unseen by a watch.
    pub links: u64,
}

impl Stamp {
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            identity: platform::identity(stat),
            size: size(stat),
            written: platform::written(stat),
            changed: platform::changed(stat),
            links: stat.st_nlink as u64,
        }
    }
}

pub(crate) fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

pub(crate) fn plain_name(entry: &rustix::fs::DirEntry) -> Option<&OsStr> {
    use std::os::unix::ffi::OsStrExt;
    let bytes = entry.file_name().to_bytes();
    (bytes != b"." && bytes != b"..").then(|| OsStr::from_bytes(bytes))
}
