//! One change of a batch: prepared beside the file, applied by changing names, taken back by
//! changing them again. Nothing is written once the first name has changed, so a full disk
//! cannot stop the way back.

use std::ffi::OsStr;

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, RenameFlags, Stat},
    io::Errno,
};

use crate::{
    Change, Durability, PathError, Slot,
    parents::{self, Made},
    platform,
    safe::size,
    temporary::{Facts, Temporary, Unmade},
    write::Current,
};

/// The folder a change is made in.
pub(crate) enum Ground<'s> {
    /// It stood there.
    Found(&'s OwnedFd),
    /// It was made for the change.
    Laid(OwnedFd, Made),
}

impl<'s> Ground<'s> {
    /// The folder of a slot; for a file to be written it is made where it is missing.
    pub(crate) fn find(
        slot: &'s Slot<'_>,
        change: &Change,
        durability: Durability,
    ) -> Result<Self, PathError> {
        let writes = matches!(change, Change::Write(_) | Change::Create { .. });
        if slot.parent.missing.is_empty() || !writes {
            return Ok(Self::Found(&slot.parent.dir));
        }
        let (folder, made) = parents::make(&slot.parent.dir, &slot.parent.missing, durability)
            .map_err(|error| slot.path.fail(error))?;
        Ok(Self::Laid(folder, made))
    }

    /// Takes away what was made.
    pub(crate) fn undo(&self) {
        if let Self::Laid(_, made) = self {
            made.undo();
        }
    }

    fn folder(&self) -> &OwnedFd {
        match self {
            Self::Found(folder) => folder,
            Self::Laid(folder, _) => folder,
        }
    }
}

/// A change on its way.
pub(crate) struct Staged<'s, 'a> {
    slot: &'s Slot<'a>,
    folder: &'s OwnedFd,
    step: Step<'s>,
}

/// How far the change has come.
enum Step<'s> {
    Nothing,
    /// The new content waits under a temporary name.
    Write(Temporary<'s>),
    Delete,
    /// The old file waits under a temporary name, the new one stands in its place.
    Exchanged(Temporary<'s>),
    /// The old file waits under a temporary name, nothing stands in its place.
    SetAside(Temporary<'s>),
    /// The old file is gone: its file system cannot exchange names.
    Replaced,
    /// A file stands where none was.
    Created,
}

impl<'s, 'a> Staged<'s, 'a> {
    /// Does everything but change a name.
    pub(crate) fn prepare(
        slot: &'s Slot<'a>,
        ground: &'s Ground<'s>,
        change: Change,
        durability: Durability,
    ) -> Result<Self, PathError> {
        let folder = ground.folder();
        let write = |bytes: &[u8], new| {
            slot.check_writable()?;
            let facts = slot.current.as_ref().map_or(new, Facts::Of);
            let temporary = Temporary::write(folder, bytes, facts, durability);
            temporary.map(Step::Write).map_err(|unmade| match unmade {
                Unmade::OwnerLost { user, group } => {
                    PathError::OwnedByOthers { path: slot.path.name(), user, group }
                }
                Unmade::System(error) => slot.path.fail(error),
            })
        };
        let step = match change {
            Change::Delete if slot.current.is_some() => Step::Delete,
            Change::Keep | Change::Delete => Step::Nothing,
            Change::Write(bytes) => write(&bytes, Facts::Usual)?,
            Change::Create { bytes, mode } => write(&bytes, Facts::Mode(mode))?,
        };
        Ok(Self { slot, folder, step })
    }

    /// Changes the name, unless somebody who does not take our locks has changed the file.
    pub(crate) fn apply(&mut self, durability: Durability) -> Result<(), PathError> {
        self.step = match std::mem::replace(&mut self.step, Step::Nothing) {
            Step::Write(temporary) if self.slot.current.is_some() => self.replace(temporary)?,
            Step::Write(temporary) => self.create(temporary)?,
            Step::Delete => self.set_aside()?,
            other => {
                self.step = other;
                return Ok(());
            }
        };
        match durability {
            Durability::Full => rustix::fs::fsync(self.folder).map_err(|errno| self.fail(errno)),
            Durability::Rename => Ok(()),
        }
    }

    fn replace(&self, temporary: Temporary<'s>) -> Result<Step<'s>, PathError> {
        let name = &self.slot.parent.name;
        self.look(name, Look::Before)?;
        match exchange(self.folder, &temporary.name, name) {
            Ok(()) => {}
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                let renamed = rustix::fs::renameat(self.folder, &temporary.name, self.folder, name);
                renamed.map_err(|errno| self.fail(errno))?;
                temporary.keep();
                return Ok(Step::Replaced);
            }
            Err(errno) => return Err(self.fail(errno)),
        }
        // What came out must be what was read, or an outsider's write would be lost.
        if let Err(changed) = self.look(&temporary.name, Look::After) {
            if exchange(self.folder, &temporary.name, name).is_err() {
                temporary.keep();
            }
            return Err(changed);
        }
        Ok(Step::Exchanged(temporary))
    }

    fn create(&self, temporary: Temporary<'s>) -> Result<Step<'s>, PathError> {
        let name = &self.slot.parent.name;
        rename_new(self.folder, &temporary.name, self.folder, name).map_err(|errno| self.fail(errno))?;
        temporary.keep();
        Ok(Step::Created)
    }

    fn set_aside(&self) -> Result<Step<'s>, PathError> {
        let name = &self.slot.parent.name;
        self.look(name, Look::Before)?;
        let aside = Temporary::name_in(self.folder);
        rename_new(self.folder, name, self.folder, &aside.name).map_err(|errno| self.fail(errno))?;
        if let Err(changed) = self.look(&aside.name, Look::After) {
            let _ = rename_new(self.folder, &aside.name, self.folder, name);
            aside.keep();
            return Err(changed);
        }
        Ok(Step::SetAside(aside))
    }

    /// Compares what stands at a name with what the batch read.
    fn look(&self, name: &OsStr, when: Look) -> Result<(), PathError> {
        let now = rustix::fs::statat(self.folder, name, AtFlags::SYMLINK_NOFOLLOW);
        match (&self.slot.current, now) {
            (Some(Current { stat: was, .. }), Ok(now))
                if fingerprint(was, when) == fingerprint(&now, when) =>
            {
                Ok(())
            }
            _ => Err(PathError::Changed(self.slot.path.name())),
        }
    }

    fn fail(&self, errno: Errno) -> PathError {
        match errno {
            // Something stood here when we looked, or nothing did; that is no longer so.
            Errno::EXIST | Errno::NOENT => PathError::Changed(self.slot.path.name()),
            errno => self.slot.path.error(errno),
        }
    }

    /// Puts back what stood there before a later change of the batch failed.
    fn take_back(&mut self, durability: Durability) {
        let name = &self.slot.parent.name;
        match std::mem::replace(&mut self.step, Step::Nothing) {
            Step::Nothing | Step::Write(_) | Step::Delete => return,
            Step::Exchanged(old) => {
                if exchange(self.folder, &old.name, name).is_err() {
                    let _ = rename_new(self.folder, &old.name, self.folder, name);
                    // Where neither worked, the old file under a strange name beats none.
                    old.keep();
                }
            }
            Step::SetAside(old) => {
                let _ = rename_new(self.folder, &old.name, self.folder, name);
                old.keep();
            }
            Step::Replaced => self.write_back(durability),
            Step::Created => drop(rustix::fs::unlinkat(self.folder, name, AtFlags::empty())),
        }
        if durability == Durability::Full {
            let _ = rustix::fs::fsync(self.folder);
        }
    }

    fn write_back(&self, durability: Durability) {
        let Some(current) = &self.slot.current else { return };
        let Ok(old) = Temporary::write(self.folder, &current.bytes, Facts::Of(current), durability) else {
            return;
        };
        if rustix::fs::renameat(self.folder, &old.name, self.folder, &self.slot.parent.name).is_ok() {
            old.keep();
        }
    }
}

/// Takes back what was applied, the last first.
pub(crate) fn take_back(mut staged: Vec<Staged<'_, '_>>, durability: Durability) {
    for one in staged.iter_mut().rev() {
        one.take_back(durability);
    }
}

/// When a file is compared with what was read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Before,
    /// Its name has changed, and with it the stamp that says so.
    After,
}

type Fingerprint = ((u64, u64), u64, (i64, i64), Option<(i64, i64)>);

fn fingerprint(stat: &Stat, when: Look) -> Fingerprint {
    let changed = (when == Look::Before).then(|| platform::changed(stat));
    (platform::identity(stat), size(stat), platform::written(stat), changed)
}

fn exchange(folder: &OwnedFd, one: &OsStr, other: &OsStr) -> Result<(), Errno> {
    rustix::fs::renameat_with(folder, one, folder, other, RenameFlags::EXCHANGE)
}

/// Renames to a name that nothing stands at.
pub(crate) fn rename_new(
    from_dir: &OwnedFd,
    from: &OsStr,
    to_dir: &OwnedFd,
    to: &OsStr,
) -> Result<(), Errno> {
    match rustix::fs::renameat_with(from_dir, from, to_dir, to, RenameFlags::NOREPLACE) {
        // The file system cannot promise it, so a look just before is all there is.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            match rustix::fs::statat(to_dir, to, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => Err(Errno::EXIST),
                Err(Errno::NOENT) => rustix::fs::renameat(from_dir, from, to_dir, to),
                Err(errno) => Err(errno),
            }
        }
        other => other,
    }
}
