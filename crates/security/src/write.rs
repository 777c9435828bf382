//! Changing files: all or nothing, old or new, never between.
//!
//! A [`Batch`] locks the folders of its files, reads what is there, and commits new content
//! through temporary files in the same folders, renamed into place. A kill at any moment
//! leaves each file whole: as it was, or as it should become.
//!
//! The folders are the ones the gate opened. One that is moved or replaced in the meantime is
//! still written in: it was judged, and what stands at its old name now was not.

use std::io;

use rustix::io::Errno;

use crate::{
    Change, Durability, PathError, SafePath, Slot,
    lock::{self, FolderId, WriteGuard},
    place::Parent,
    stage::{Ground, Staged, take_back},
    sweep,
};

/// The disk's confirmation of a change that was made.
#[must_use]
#[derive(Debug)]
pub enum Settled {
    /// Confirmed, or no confirmation was asked for.
    Confirmed,
    /// The change is made, and may be lost when the power fails.
    Unconfirmed(io::Error),
}

/// Files locked together, to be changed together.
#[derive(Debug)]
pub struct Batch<'a> {
    slots: Vec<Slot<'a>>,
    _guards: Vec<WriteGuard>,
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

impl SafePath {
    pub(crate) fn lock(&self, parent: &Parent) -> Result<WriteGuard, PathError> {
        self.lock_folder(parent, lock::folder(&parent.dir).map_err(|errno| self.error(errno))?)
    }

    fn lock_folder(&self, parent: &Parent, folder: FolderId) -> Result<WriteGuard, PathError> {
        let guard = self.policy.locks.take(&parent.dir, folder, self.abandoned.as_ref());
        guard.map_err(|errno| match errno {
            Errno::WOULDBLOCK => PathError::Busy(self.name()),
            Errno::CANCELED => PathError::Abandoned(self.name()),
            errno => self.error(errno),
        })
    }
}
