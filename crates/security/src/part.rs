//! Files and directories that a program of ours is to read beside a granted path, such as the parts
//! of a repository. Whatever name leads to one, it is judged by the name the system gives what was
//! opened, and the program is then given that very object.

use std::{
    fs::File,
    io::{self, Read},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{AtFlags, Mode, OFlags, Stat},
};

use crate::{Kind, SafePath, platform};

/// Opens nothing that a device or a pipe would notice.
#[cfg(target_os = "linux")]
const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const LOOK: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// How deep a directory tree is climbed.
const MOST_FOLDERS: usize = 4096;
/// The directory whose own protection is not the point: its content is shown by git alone.
const GIT: &str = ".git";

/// An object that was opened, and where it lies.
#[derive(Debug)]
pub struct Part {
    handle: OwnedFd,
    name: PathBuf,
    stat: Stat,
    standing: Standing,
}

/// The answer of a granted path's rules to a program that reads an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It lies beneath a base directory.
    Inside,
    /// It lies beneath a base directory, where a rule protects it.
    Protected,
    /// It lies elsewhere.
    Outside,
}

impl SafePath {
    /// The base directories of the snapshot this path was granted under.
    pub fn base_directories(&self) -> &[PathBuf] {
        &self.policy.roots
    }

    /// The directories this path lies in, the nearest first and the path itself among them if it is
    /// one, up to the root of the file system.
    pub fn folders(&self) -> Vec<Part> {
        let own = self.directory().ok().and_then(|dir| self.opened(dir.as_fd(), Path::new(".")).ok());
        let above = self.above();
        let above = above.iter().rev().filter_map(|above| self.opened(above.as_fd(), Path::new(".")).ok());
        let mut folders: Vec<Part> = own.into_iter().chain(above).collect();
        while let Some(last) = folders.last()
            && folders.len() < MOST_FOLDERS
        {
            match self.opened(last.as_fd(), Path::new("..")) {
                Ok(parent) if parent.identity() != last.identity() => folders.push(parent),
                _ => break,
            }
        }
        folders
    }

    /// Opens a name from a directory, links followed wherever they lead, and says where it lies.
    pub fn part(&self, from: &Part, name: &Path) -> io::Result<Part> {
        self.opened(from.as_fd(), name)
    }

    fn opened(&self, from: BorrowedFd<'_>, name: &Path) -> io::Result<Part> {
        let handle = rustix::fs::openat(from, name, LOOK, Mode::empty())?;
        let stat = rustix::fs::fstat(&handle)?;
        let name = platform::real_name(&handle)?;
        let standing = self.standing(&name);
        Ok(Part { handle, name, stat, standing })
    }

    fn standing(&self, name: &Path) -> Standing {
        let beneath = |base: &PathBuf| name.strip_prefix(base).ok().map(Path::to_owned);
        let Some((base, below)) =
            self.policy.bases.iter().find_map(|base| Some((base, beneath(&base.path)?)))
        else {
            return Standing::Outside;
        };
        let judged: PathBuf =
            below.components().take_while(|part| *part != Component::Normal(GIT.as_ref())).collect();
        let spelled = base.path.join(&judged);
        let spelled = spelled.strip_prefix(&self.policy.primary).unwrap_or(&spelled);
        let hidden = !judged.as_os_str().is_empty()
            && (self.policy.denies(base, &judged).is_some()
                || self.rule(&spelled.to_string_lossy()).is_some());
        if hidden { Standing::Protected } else { Standing::Inside }
    }
}

impl Part {
    /// The name the system gave it when it was opened.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// The answer of the rules to a program that reads it.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        Kind::of(&self.stat)
    }

    /// Its device and inode.
    pub fn identity(&self) -> (u64, u64) {
        platform::identity(&self.stat)
    }

    /// The object under a name in this directory, a link itself and not its target.
    pub fn kind_below(&self, name: &str) -> Option<Kind> {
        let stat = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(Kind::of(&stat))
    }

    /// The content of a regular file, at most `limit` bytes of it.
    pub fn read(&self, limit: u64) -> io::Result<Vec<u8>> {
        if self.kind() != Kind::File {
            return Err(io::Error::from(io::ErrorKind::InvalidData));
        }
        let mut content = Vec::new();
        self.reopened()?.take(limit).read_to_end(&mut content)?;
        Ok(content)
    }

    #[cfg(target_os = "linux")]
    fn reopened(&self) -> io::Result<File> {
        use rustix::fd::AsRawFd as _;
        let again = format!("/proc/self/fd/{}", self.handle.as_raw_fd());
        Ok(rustix::fs::open(again, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?.into())
    }

    #[cfg(not(target_os = "linux"))]
    fn reopened(&self) -> io::Result<File> {
        Ok(self.handle.try_clone()?.into())
    }
}

impl AsFd for Part {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}
