//! What a path becomes once all three layers agreed: an open handle and what can be done with it.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    fs::File,
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, OFlags, SeekFrom, Stat},
    io::Errno,
};

use crate::{
    Abandoned, Access, Denied, Hide, Layer, Missing, OpenFile, PathError, RawPath, Reason,
    allowlist::Root,
    beneath::{self, Follow},
    policy::Policy,
};

/// A capability: this object, beneath this root. Only [`Candidate::resolve`](crate::Candidate::resolve) makes one.
#[derive(Debug)]
pub struct SafePath {
    pub(crate) root: Arc<Root>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) raw: RawPath,
    /// What it was opened for.
    pub(crate) access: Access,
    pub(crate) place: Place,
    pub(crate) hide: Option<Hide>,
    pub(crate) abandoned: Option<Abandoned>,
}

/// Where a path led.
#[derive(Debug)]
pub(crate) struct Place {
    /// The true name below the root.
    pub(crate) real: PathBuf,
    /// The folder's handle, for anything that changes a name.
    pub(crate) parent: Option<Parent>,
    /// The object, opened for reading, or why it could not be; `None` when there is none.
    pub(crate) object: Option<Result<Object, Errno>>,
}

/// Something opened for reading, and what the system said of it at that moment.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) handle: Arc<File>,
    pub(crate) stat: Stat,
}

impl Object {
    pub(crate) fn new(handle: OwnedFd) -> Result<Self, Errno> {
        let stat = rustix::fs::fstat(&handle)?;
        Ok(Self { handle: Arc::new(handle.into()), stat })
    }
}

/// A name in an open folder, with the folders that must be made first.
#[derive(Debug)]
pub(crate) struct Parent {
    pub(crate) dir: OwnedFd,
    pub(crate) real: PathBuf,
    pub(crate) missing: Vec<OsString>,
    pub(crate) name: OsString,
}

impl Parent {
    /// The true name of the target below the root.
    pub(crate) fn target(&self) -> PathBuf {
        let folder = self.missing.iter().fold(self.real.clone(), |path, part| path.join(part));
        folder.join(&self.name)
    }

    /// What stands at the name now, a link itself and not its target.
    pub(crate) fn look(&self) -> Option<Stat> {
        let there = self.missing.is_empty();
        there.then(|| rustix::fs::statat(&self.dir, &self.name, AtFlags::SYMLINK_NOFOLLOW).ok()).flatten()
    }

    /// Opens the name itself; a link there is an error, never followed.
    pub(crate) fn open_name(&self) -> Result<OwnedFd, Errno> {
        beneath::open(self.dir.as_fd(), Path::new(&self.name), OFlags::RDONLY | OFlags::NOFOLLOW, Follow::No)
    }
}

/// What kind of thing a name stands for.
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

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name, lossy where it is not Unicode.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Size in bytes, of files.
    pub size: u64,
}

/// A directory's entries, without the protected ones.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// What may be shown, in no order.
    pub entries: Vec<Entry>,
    /// How many names a rule hides.
    pub denied: usize,
    /// Entries left unread because the limit was reached.
    pub cut: bool,
}

impl SafePath {
    pub(crate) fn new(
        root: Arc<Root>,
        policy: Arc<Policy>,
        raw: RawPath,
        access: Access,
        place: Place,
    ) -> Self {
        Self { root, policy, raw, access, place, hide: None, abandoned: None }
    }

    /// What the agent typed.
    pub fn raw(&self) -> &RawPath {
        &self.raw
    }

    /// The true name: relative to the primary base, absolute outside it.
    pub fn name(&self) -> String {
        self.spelled(&self.place.real)
    }

    /// A true name below the root, spelled the same way.
    pub(crate) fn spelled(&self, real: &Path) -> String {
        let full = self.root.path.join(real);
        let shown = full.strip_prefix(&self.policy.primary).unwrap_or(&full);
        if shown.as_os_str().is_empty() { ".".into() } else { shown.to_string_lossy().into_owned() }
    }

    /// The full true name, for a stable identity.
    pub fn absolute(&self) -> PathBuf {
        self.root.path.join(&self.place.real)
    }

    /// What the path stands for now; `None` when there is nothing.
    pub fn kind(&self) -> Option<Kind> {
        if let Some(Ok(object)) = &self.place.object {
            return Some(Kind::of(&object.stat));
        }
        Some(Kind::of(&self.place.parent.as_ref()?.look()?))
    }

    /// The device and inode of what the path stands for now, a link itself and not its target:
    /// what was moved away and what stands in its place differ in them.
    pub fn identity(&self) -> Option<(u64, u64)> {
        let stat = match &self.place.object {
            Some(Ok(object)) => object.stat,
            _ => self.place.parent.as_ref()?.look()?,
        };
        #[allow(clippy::unnecessary_cast, reason = "the widths differ between systems")]
        Some((stat.st_dev as u64, stat.st_ino as u64))
    }

    /// The file, ready to be read. Anything else is an error that says what it is.
    pub fn file(&self) -> Result<OpenFile, PathError> {
        let object = self.object()?;
        let kind = Kind::of(&object.stat);
        if kind != Kind::File {
            return Err(PathError::NotAFile { path: self.name(), kind });
        }
        // The holders of a handle share their place in the file.
        rustix::fs::seek(&*object.handle, SeekFrom::Start(0)).map_err(|errno| self.error(errno))?;
        Ok(OpenFile { file: object.handle.clone(), size: size(&object.stat), name: self.name() })
    }

    /// Up to `limit` entries of the directory, without protected names.
    pub fn list(&self, limit: usize) -> Result<Listing, PathError> {
        let dir = self.directory()?;
        let mut listing = Listing::default();
        for entry in Dir::read_from(dir).map_err(|errno| self.error(errno))? {
            let entry = entry.map_err(|errno| self.error(errno))?;
            let Some(name) = plain_name(&entry) else { continue };
            if self.hides(&self.place.real, name) {
                listing.denied += 1;
                continue;
            }
            if listing.entries.len() == limit {
                listing.cut = true;
                break;
            }
            listing.entries.push(describe(dir, name, entry.file_type()));
        }
        Ok(listing)
    }

    /// True for a path below this directory that is not to be shown: it, or a folder on the
    /// way, is protected or hidden by a rule. What does not lie below is not shown either. It
    /// is judged by its words alone, so it need not exist.
    pub fn hides_below(&self, relative: &Path) -> bool {
        let mut folder = self.place.real.clone();
        for part in relative.components() {
            match part {
                Component::Normal(name) if self.hides(&folder, name) => return true,
                Component::Normal(name) => folder.push(name),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return true,
            }
        }
        false
    }

    pub(crate) fn directory(&self) -> Result<&File, PathError> {
        let object = self.object()?;
        if Kind::of(&object.stat) != Kind::Directory {
            return Err(PathError::NotADirectory(self.name()));
        }
        Ok(&object.handle)
    }

    fn object(&self) -> Result<&Object, PathError> {
        match &self.place.object {
            Some(Ok(object)) => Ok(object),
            Some(Err(errno)) => Err(self.error(*errno)),
            None => Err(PathError::NotFound(self.missing())),
        }
    }

    pub(crate) fn error(&self, errno: Errno) -> PathError {
        match errno {
            Errno::NOENT => PathError::NotFound(self.missing()),
            errno => system_error(self.name(), errno),
        }
    }

    pub(crate) fn fail(&self, error: io::Error) -> PathError {
        match Errno::from_io_error(&error) {
            Some(errno) => self.error(errno),
            None => PathError::Io { path: self.name(), source: error },
        }
    }

    /// A refusal that only showed on opening.
    pub(crate) fn denied(&self, reason: Reason) -> Denied {
        Denied {
            layer: Layer::Resolve,
            reason,
            path: self.raw.clone(),
            bases: self.policy.shown_roots.clone(),
        }
    }
}

/// A system error as a sentence about a path.
pub(crate) fn system_error(path: String, errno: Errno) -> PathError {
    match errno {
        Errno::NOENT => PathError::NotFound(Missing::plain(path)),
        Errno::EXIST => PathError::Exists(path),
        Errno::NOTDIR => PathError::NotADirectory(path),
        Errno::NOTEMPTY => PathError::NotEmpty(path),
        Errno::ISDIR => PathError::NotAFile { path, kind: Kind::Directory },
        // What opening a socket says, on one system or another.
        Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP => PathError::NotAFile { path, kind: Kind::Socket },
        errno => PathError::Io { path, source: errno.into() },
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

fn describe(dir: &File, name: &OsStr, hint: FileType) -> Entry {
    let mut kind = Kind::from(hint);
    let mut bytes = 0;
    // Directories have no size worth a system call.
    if hint != FileType::Directory
        && let Ok(stat) = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
    {
        kind = Kind::of(&stat);
        bytes = size(&stat);
    }
    Entry { name: name.to_string_lossy().into_owned(), kind, size: bytes }
}
