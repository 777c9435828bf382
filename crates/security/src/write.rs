//! Changing files: all or nothing, old or new, never between.
//!
//! A [`Batch`] locks the folders of its files, reads what is there, and commits new content
//! through temporary files in the same folders, renamed into place. A kill at any moment
//! leaves each file whole: as it was, or as it should become.
//!
//! The folders are the ones the gate opened. One that is moved or replaced in the meantime is
//! still written in: it was judged, and what stands at its old name now was not.

use std::{fs::File, io};

use rustix::{
    fs::{AtFlags, Stat},
    io::Errno,
};

use crate::{
    PathError, SafePath,
    lock::{self, Folder, WriteGuard},
    open_file::read_all,
    safe::{Kind, Parent, size},
    stage::{Ground, Staged, take_back},
    sweep,
    temporary::Attributes,
};

/// What a success promises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// File and folder are on the disk before success is reported.
    #[default]
    Full,
    /// Atomic against crashes of programs, not of the machine: no sync.
    Rename,
}

/// Whether the disk confirmed a change that was made.
#[must_use]
#[derive(Debug)]
pub enum Settled {
    /// It did, or nobody asked it to.
    Confirmed,
    /// The change is made, and may be lost when the power fails.
    Unconfirmed(io::Error),
}

/// What a batch does with one of its files.
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

/// Files locked together, to be changed together.
#[derive(Debug)]
pub struct Batch<'a> {
    slots: Vec<Slot<'a>>,
    _guards: Vec<WriteGuard>,
}

/// One file of a batch, as it is now.
#[derive(Debug)]
pub struct Slot<'a> {
    pub(crate) path: &'a SafePath,
    pub(crate) parent: &'a Parent,
    pub(crate) current: Option<Current>,
}

/// What a file holds, and what else a new file in its place must keep.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) bytes: Vec<u8>,
    pub(crate) stat: Stat,
    pub(crate) attributes: Attributes,
}

impl<'a> Batch<'a> {
    /// Locks the folders (always in the same order, so two batches never wait for each other)
    /// and reads what stands there now. Files over `limit` bytes are refused.
    pub fn open(paths: &[&'a SafePath], limit: u64) -> Result<Self, PathError> {
        let mut folders = Vec::new();
        for path in paths {
            let parent = path.parent()?;
            folders.push((lock::folder(&parent.dir).map_err(|errno| path.error(errno))?, *path, parent));
        }
        folders.sort_by_key(|(folder, ..)| *folder);
        folders.dedup_by_key(|(folder, ..)| *folder);
        let mut guards = Vec::new();
        for (folder, path, parent) in folders {
            guards.push(path.lock_folder(parent, folder)?);
            if path.policy.locks.first_visit(folder) {
                sweep::folder(&parent.dir);
            }
        }
        let slots = paths.iter().map(|path| Slot::open(path, limit)).collect::<Result<_, _>>()?;
        Ok(Self { slots, _guards: guards })
    }

    /// The files, in the order they were given.
    pub fn slots(&self) -> &[Slot<'a>] {
        &self.slots
    }

    /// Makes the changes, one for each slot. On an error everything already done is taken back.
    pub fn commit(self, changes: Vec<Change>, durability: Durability) -> Result<(), PathError> {
        assert_eq!(changes.len(), self.slots.len(), "a batch takes one change for each of its files");
        let mut grounds = Vec::new();
        let done = self.stand(&changes, durability, &mut grounds).and_then(|()| {
            let mut staged = Vec::new();
            let done = self.stage_and_apply(&grounds, changes, durability, &mut staged);
            done.map_err(|cause| take_back(staged, durability, cause))
        });
        // Folders go last, when no temporary file is left in any of them.
        if done.is_err() {
            grounds.iter().rev().for_each(Ground::undo);
        }
        done
    }

    fn stand<'s>(
        &'s self,
        changes: &[Change],
        durability: Durability,
        grounds: &mut Vec<Ground<'s>>,
    ) -> Result<(), PathError> {
        for (slot, change) in self.slots.iter().zip(changes) {
            grounds.push(Ground::find(slot, change, durability)?);
        }
        Ok(())
    }

    fn stage_and_apply<'s>(
        &'s self,
        grounds: &'s [Ground<'s>],
        changes: Vec<Change>,
        durability: Durability,
        staged: &mut Vec<Staged<'s, 'a>>,
    ) -> Result<(), PathError> {
        for ((slot, ground), change) in self.slots.iter().zip(grounds).zip(changes) {
            staged.push(Staged::prepare(slot, ground, change, durability)?);
        }
        // Everything that needs room on the disk is done; what follows only changes names.
        staged.iter_mut().try_for_each(|one| one.apply(durability))
    }
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
            Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => {
                Err(PathError::WriteProtected(self.path.name()))
            }
            // What has gone meanwhile is noticed when names are exchanged; a system that cannot
            // answer has said nothing against it.
            _ => Ok(()),
        }
    }

    fn open(path: &'a SafePath, limit: u64) -> Result<Self, PathError> {
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
        let attributes = Attributes::of(&file);
        Ok(Self { path, parent, current: Some(Current { bytes, stat, attributes }) })
    }
}

impl SafePath {
    pub(crate) fn parent(&self) -> Result<&Parent, PathError> {
        match (&self.place.parent, &self.place.object) {
            (Some(parent), _) => Ok(parent),
            (None, Some(Err(errno))) => Err(self.error(*errno)),
            (None, _) => Err(self.fail(io::Error::other("opened for reading only"))),
        }
    }

    /// The same where something is about to be changed: what configures us is looked for again,
    /// since the gate judged what stood here then.
    pub(crate) fn changeable(&self) -> Result<&Parent, PathError> {
        let parent = self.parent()?;
        match self.policy.refuses_control(parent, self.access) {
            Some(reason) => Err(self.denied(reason).into()),
            None => Ok(parent),
        }
    }

    pub(crate) fn lock(&self, parent: &Parent) -> Result<WriteGuard, PathError> {
        self.lock_folder(parent, lock::folder(&parent.dir).map_err(|errno| self.error(errno))?)
    }

    fn lock_folder(&self, parent: &Parent, folder: Folder) -> Result<WriteGuard, PathError> {
        let guard = self.policy.locks.take(&parent.dir, folder, self.abandoned.as_ref());
        guard.map_err(|errno| match errno {
            Errno::WOULDBLOCK => PathError::Busy(self.name()),
            Errno::CANCELED => PathError::Abandoned(self.name()),
            errno => self.error(errno),
        })
    }
}
