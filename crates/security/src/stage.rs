//! One change of a batch: prepared beside the file, applied by changing names, taken back by
//! changing them again. Nothing is written once the first name has changed, so a full disk
//! cannot stop the way back.

use std::ffi::OsStr;

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Stat},
    io::Errno,
};

use crate::{
    Change, Durability, PathError, Slot,
    kind::size,
    parents::{self, Made},
    platform,
    rename::{exchange, rename_new},
    slot::Current,
    temporary::{Facts, Temporary, Unmade},
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
                let kept = temporary.keep_for_good(name);
                return Err(unfinished(changed, vec![self.holds_the_new(&kept)]));
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
            return match rename_new(self.folder, &aside.name, self.folder, name) {
                Ok(()) => {
                    aside.keep();
                    Err(changed)
                }
                Err(_) => {
                    let kept = aside.keep_for_good(name);
                    Err(unfinished(changed, vec![self.lost_its_name(&kept)]))
                }
            };
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

    /// Puts back what stood there before a later step of the batch failed. Says how things are
    /// where that fails, too.
    fn take_back(&mut self, durability: Durability) -> Option<String> {
        let name = &self.slot.parent.name;
        let put_back = |old: &Temporary<'_>| rename_new(self.folder, &old.name, self.folder, name);
        let left = match std::mem::replace(&mut self.step, Step::Nothing) {
            Step::Nothing | Step::Write(_) | Step::Delete => return None,
            Step::Exchanged(old) => match exchange(self.folder, &old.name, name) {
                Ok(()) => None,
                Err(_) if put_back(&old).is_ok() => {
                    old.keep();
                    None
                }
                Err(_) => Some(self.holds_the_new(&old.keep_for_good(name))),
            },
            Step::SetAside(old) => match put_back(&old) {
                Ok(()) => {
                    old.keep();
                    None
                }
                Err(_) => Some(self.lost_its_name(&old.keep_for_good(name))),
            },
            Step::Replaced => self.write_back(durability),
            Step::Created => match rustix::fs::unlinkat(self.folder, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => None,
                Err(_) => Some(format!("the new file {} is there all the same", self.slot.path.name())),
            },
        };
        if durability == Durability::Full {
            // What could not be confirmed before is not confirmed now; each file is whole either way.
            let _ = rustix::fs::fsync(self.folder);
        }
        left
    }

    fn write_back(&self, durability: Durability) -> Option<String> {
        let current = self.slot.current.as_ref()?;
        let name = &self.slot.parent.name;
        let Ok(old) = Temporary::write(self.folder, &current.bytes, Facts::Of(current), durability) else {
            return Some(format!("{} holds the new content all the same", self.slot.path.name()));
        };
        match rustix::fs::renameat(self.folder, &old.name, self.folder, name) {
            Ok(()) => {
                old.keep();
                None
            }
            Err(_) => Some(self.holds_the_new(&old.keep_for_good(name))),
        }
    }

    fn holds_the_new(&self, kept: &OsStr) -> String {
        let (path, kept) = (self.slot.path.name(), kept.display());
        format!("{path} holds the new content all the same; what it held before is kept beside it as {kept}")
    }

    fn lost_its_name(&self, kept: &OsStr) -> String {
        let (path, kept) = (self.slot.path.name(), kept.display());
        format!("{path} could not get its name back; it is kept beside it as {kept}")
    }
}

/// Takes back what was applied, the last first. What could not be taken back is added to the error.
pub(crate) fn take_back(
    mut staged: Vec<Staged<'_, '_>>,
    durability: Durability,
    cause: PathError,
) -> PathError {
    unfinished(cause, staged.iter_mut().rev().filter_map(|one| one.take_back(durability)).collect())
}

fn unfinished(cause: PathError, left: Vec<String>) -> PathError {
    if left.is_empty() {
        cause
    } else {
        PathError::Unfinished { cause: Box::new(cause), left: left.join("; ") }
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
