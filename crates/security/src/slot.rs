//! One file of a batch: as it stands, what is to become of it, and what a success promises.

use std::fs::File;

use rustix::{
    fs::{AtFlags, Stat, XattrFlags},
    io::Errno,
};

use crate::{Kind, PathError, SafePath, kind::size, open_file::read_all, place::Parent};

/// The promise of a successful write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// File and folder are on the disk before success is reported.
    #[default]
    Full,
    /// Atomic against crashes of programs, not of the machine: no sync.
    Rename,
}

/// A change of one file of a batch.
#[derive(Debug)]
pub enum Change {
    /// Leaves it alone.
    Keep,
    /// Gives it this content. A file that stands there keeps its mode and owner, a new one
    /// has those of any new file.
    Write(Vec<u8>),
    /// The same, but a new file gets these permission bits.
    Create {
        /// The content.
        bytes: Vec<u8>,
        /// The permission bits: read, write and execute for owner, group and others.
        mode: u32,
    },
    /// Takes it away.
    Delete,
}

/// One file of a batch, as it is now.
#[derive(Debug)]
pub struct Slot<'a> {
    pub(crate) path: &'a SafePath,
    pub(crate) parent: &'a Parent,
    pub(crate) current: Option<Current>,
}

/// The content of a file, and what else a new file in its place must keep.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) bytes: Vec<u8>,
    pub(crate) stat: Stat,
    pub(crate) attributes: Attributes,
}

impl<'a> Slot<'a> {
    /// The path.
    pub fn path(&self) -> &'a SafePath {
        self.path
    }

    /// The content now, or nothing.
    pub fn current(&self) -> Option<&[u8]> {
        self.current.as_ref().map(|current| current.bytes.as_slice())
    }

    /// The permission bits now, or nothing.
    #[allow(clippy::useless_conversion, reason = "the types differ between systems")]
    pub fn mode(&self) -> Option<u32> {
        self.current.as_ref().map(|current| u32::from(current.stat.st_mode) & 0o777)
    }

    /// Refuses to write a file that its permissions protect from us. Exchanging names would get
    /// round them: that asks the folder alone.
    pub fn check_writable(&self) -> Result<(), PathError> {
        if self.current.is_none() {
            return Ok(());
        }
        let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
        let asked =
            rustix::fs::accessat(&self.parent.dir, &self.parent.name, rustix::fs::Access::WRITE_OK, flags);
        match asked {
            Err(Errno::ACCESS | Errno::PERM) => Err(PathError::WriteProtected(self.path.name())),
            // No permission of the file would help.
            Err(Errno::ROFS) => Err(self.path.error(Errno::ROFS)),
            // What has gone meanwhile is noticed when names are exchanged; a system that cannot
            // answer has said nothing against it.
            _ => Ok(()),
        }
    }

    pub(crate) fn open(path: &'a SafePath, limit: u64) -> Result<Self, PathError> {
        let parent = path.changeable()?;
        if !parent.missing.is_empty() {
            return Ok(Self { path, parent, current: None });
        }
        let object = match parent.open_name() {
            Ok(object) => object,
            Err(Errno::NOENT) => return Ok(Self { path, parent, current: None }),
            // It was a file when the gate judged it.
            Err(Errno::LOOP) => return Err(PathError::Changed(path.name())),
            Err(errno) => return Err(path.error(errno)),
        };
        let stat = rustix::fs::fstat(&object).map_err(|errno| path.error(errno))?;
        match Kind::of(&stat) {
            Kind::File => {}
            kind => return Err(PathError::NotAFile { path: path.name(), kind }),
        }
        // The gate judged what stood here then; this is what is read now.
        if let Some(reason) = path.policy.refuses_shared(&path.root, &stat) {
            return Err(path.denied(reason).into());
        }
        let too_large = |size| PathError::TooLarge { path: path.name(), size, limit };
        if size(&stat) > limit {
            return Err(too_large(size(&stat)));
        }
        let file = File::from(object);
        let bytes = read_all(&file, size(&stat), limit)
            .map_err(|source| PathError::Io { path: path.name(), source })?
            .ok_or_else(|| too_large(limit.saturating_add(1)))?;
        let attributes = Attributes::read(&file);
        Ok(Self { path, parent, current: Some(Current { bytes, stat, attributes }) })
    }
}

/// The extended attributes of a file, by name. Almost every file has none.
#[derive(Debug, Default)]
pub(crate) struct Attributes(Vec<(Vec<u8>, Vec<u8>)>);

impl Attributes {
    /// Those that can be read.
    fn read(file: &File) -> Self {
        /// The kernel's own limit, for a list of names and for a value.
        const MOST: usize = 64 * 1024;
        // Nothing is set aside for a file without any.
        if !matches!(rustix::fs::flistxattr_query(file), Ok(1..)) {
            return Self::default();
        }
        let (mut names, mut value) = (vec![0_u8; MOST], vec![0_u8; MOST]);
        let Ok(length) = rustix::fs::flistxattr(file, &mut names[..]) else { return Self::default() };
        let names = names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let value_of = |name: &[u8]| {
            let length = rustix::fs::fgetxattr(file, name, &mut value[..]).ok()?;
            Some((name.to_vec(), value[..length].to_vec()))
        };
        Self(names.filter_map(value_of).collect())
    }

    pub(crate) fn give(&self, file: &File) {
        for (name, value) in &self.0 {
            let _ = rustix::fs::fsetxattr(file, name.as_slice(), value, XattrFlags::empty());
        }
    }
}
