//! Changing files: all or nothing, old or new, never between.
//!
//! A [`Batch`] locks the folders of its files, reads what is there, and commits new content
//! through temporary files in the same folders, renamed into place. A kill at any moment
//! leaves each file whole: as it was, or as it should become.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Write},
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, Dir, Gid, Mode, OFlags, RenameFlags, Stat, Uid},
    io::Errno,
};

use crate::{
    PathError, SafePath,
    lock::{self, WriteGuard},
    safe::{Kind, Parent, plain_name, read_all, size, system_error},
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

/// What a batch does with one of its files.
#[derive(Debug)]
pub enum Change {
    /// Leaves it alone.
    Keep,
    /// Gives it this content.
    Write(Vec<u8>),
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
    path: &'a SafePath,
    parent: &'a Parent,
    current: Option<(Vec<u8>, Stat)>,
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
        for (_, path, parent) in folders {
            guards.push(path.policy.locks.take(&parent.dir).map_err(|errno| match errno {
                Errno::WOULDBLOCK => PathError::Busy(path.name()),
                errno => path.error(errno),
            })?);
            sweep(path, parent);
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
        debug_assert_eq!(changes.len(), self.slots.len());
        let mut staged = Vec::new();
        for (slot, change) in self.slots.iter().zip(changes) {
            staged.push(Staged::prepare(slot, change, durability)?);
        }
        for done in 0..staged.len() {
            if let Err(error) = staged[done].apply(durability) {
                for before in staged[..done].iter().rev() {
                    before.take_back(durability);
                }
                return Err(error);
            }
        }
        Ok(())
    }
}

impl<'a> Slot<'a> {
    /// The path.
    pub fn path(&self) -> &'a SafePath {
        self.path
    }

    /// The content now, or nothing.
    pub fn current(&self) -> Option<&[u8]> {
        self.current.as_ref().map(|(bytes, _)| bytes.as_slice())
    }

    fn open(path: &'a SafePath, limit: u64) -> Result<Self, PathError> {
        let parent = path.parent()?;
        if !parent.missing.is_empty() {
            return Ok(Self { path, parent, current: None });
        }
        let object = match parent.open_name() {
            Ok(object) => object,
            Err(Errno::NOENT) => return Ok(Self { path, parent, current: None }),
            // It was a file when the gate judged it.
            Err(Errno::LOOP) => return Err(PathError::Changed(path.name())),
            Err(Errno::NXIO) => return Err(PathError::NotAFile { path: path.name(), kind: Kind::Socket }),
            Err(errno) => return Err(path.error(errno)),
        };
        let stat = rustix::fs::fstat(&object).map_err(|errno| path.error(errno))?;
        match Kind::of(&stat) {
            Kind::File => {}
            kind => return Err(PathError::NotAFile { path: path.name(), kind }),
        }
        let too_large = |size| PathError::TooLarge { path: path.name(), size, limit };
        if size(&stat) > limit {
            return Err(too_large(size(&stat)));
        }
        let bytes = read_all(&File::from(object), size(&stat), limit)
            .map_err(|source| PathError::Io { path: path.name(), source })?
            .ok_or_else(|| too_large(limit + 1))?;
        Ok(Self { path, parent, current: Some((bytes, stat)) })
    }

    fn fail(&self, error: io::Error) -> PathError {
        match Errno::from_io_error(&error) {
            Some(errno) => self.path.error(errno),
            None => PathError::Io { path: self.path.name(), source: error },
        }
    }
}

/// One change, prepared so that only a rename or an unlink is left.
struct Staged<'s, 'a> {
    slot: &'s Slot<'a>,
    /// The folder the file is in; made on the way where it was missing.
    folder: OwnedFd,
    made: Vec<(OwnedFd, OsString)>,
    step: Step,
}

enum Step {
    Nothing,
    Rename(Temporary),
    Unlink,
}

/// A temporary file; removed again unless it was renamed into place.
struct Temporary {
    folder: OwnedFd,
    name: OsString,
}

impl<'s, 'a> Staged<'s, 'a> {
    fn prepare(slot: &'s Slot<'a>, change: Change, durability: Durability) -> Result<Self, PathError> {
        let mut made = Vec::new();
        let writes = matches!(change, Change::Write(_));
        let missing = if writes { slot.parent.missing.as_slice() } else { &[] };
        let folder = open_folders(&slot.parent.dir, missing, &mut made, durability)
            .map_err(|errno| {
                remove_made(&made);
                slot.path.error(errno)
            })?;
        let step = match change {
            Change::Keep => Step::Nothing,
            Change::Delete if slot.current.is_none() => Step::Nothing,
            Change::Delete => Step::Unlink,
            Change::Write(bytes) => {
                let old = slot.current.as_ref().map(|(_, stat)| stat);
                match Temporary::write(&folder, &bytes, old.map(|stat| (stat, slot.parent)), durability) {
                    Ok(temporary) => Step::Rename(temporary),
                    Err(error) => {
                        remove_made(&made);
                        return Err(slot.fail(error));
                    }
                }
            }
        };
        Ok(Self { slot, folder, made, step })
    }

    fn apply(&mut self, durability: Durability) -> Result<(), PathError> {
        let result = self.try_apply(durability);
        if result.is_err() {
            remove_made(&self.made);
        }
        result
    }

    fn try_apply(&mut self, durability: Durability) -> Result<(), PathError> {
        let name = &self.slot.parent.name;
        let fail = |errno| match errno {
            // Nothing stood here when we looked.
            Errno::EXIST => PathError::Changed(self.slot.path.name()),
            errno => self.slot.path.error(errno),
        };
        match &mut self.step {
            Step::Nothing => return Ok(()),
            Step::Rename(temporary) => {
                unchanged(self.slot, &self.folder)?;
                match self.slot.current {
                    Some(_) => rustix::fs::renameat(&self.folder, &temporary.name, &self.folder, name),
                    None => rename_new(&self.folder, &temporary.name, &self.folder, name),
                }
                .map_err(fail)?;
                temporary.name.clear();
            }
            Step::Unlink => {
                unchanged(self.slot, &self.folder)?;
                rustix::fs::unlinkat(&self.folder, name, AtFlags::empty()).map_err(fail)?;
            }
        }
        if durability == Durability::Full {
            rustix::fs::fsync(&self.folder).map_err(fail)?;
        }
        Ok(())
    }

    /// Puts back what stood there before a later change of the batch failed.
    fn take_back(&self, durability: Durability) {
        if matches!(self.step, Step::Nothing) {
            return;
        }
        let name = &self.slot.parent.name;
        match &self.slot.current {
            Some((bytes, stat)) => {
                let old = Some((stat, self.slot.parent));
                if let Ok(mut temporary) = Temporary::write(&self.folder, bytes, old, durability)
                    && rustix::fs::renameat(&self.folder, &temporary.name, &self.folder, name).is_ok()
                {
                    temporary.name.clear();
                }
            }
            None => {
                let _ = rustix::fs::unlinkat(&self.folder, name, AtFlags::empty());
                remove_made(&self.made);
            }
        }
    }
}

impl Temporary {
    fn write(
        folder: &OwnedFd,
        bytes: &[u8],
        old: Option<(&Stat, &Parent)>,
        durability: Durability,
    ) -> io::Result<Self> {
        let name = temporary_name();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // A new file takes the user's umask; a replacement stays private until its mode is copied.
        let mode = Mode::from_raw_mode(if old.is_some() { 0o600 } else { 0o666 });
        let file = rustix::fs::openat(folder, &name, flags, mode)?;
        let temporary = Self { folder: rustix::io::fcntl_dupfd_cloexec(folder, 0)?, name };
        let mut file = File::from(file);
        file.write_all(bytes)?;
        if let Some((stat, parent)) = old {
            keep_facts(&file, stat, parent)?;
        }
        if durability == Durability::Full {
            rustix::fs::fsync(&file)?;
        }
        Ok(temporary)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            let _ = rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::empty());
        }
    }
}

/// Owner, mode and extended attributes of the file that is about to be replaced.
fn keep_facts(file: &File, stat: &Stat, parent: &Parent) -> io::Result<()> {
    let own = rustix::fs::fstat(file)?;
    if (own.st_uid, own.st_gid) != (stat.st_uid, stat.st_gid) {
        rustix::fs::fchown(file, Some(Uid::from_raw(stat.st_uid)), Some(Gid::from_raw(stat.st_gid)))?;
    }
    rustix::fs::fchmod(file, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
    if let Ok(old) = parent.open_name() {
        copy_attributes(&old, file);
    }
    Ok(())
}

fn copy_attributes(from: &OwnedFd, to: &File) {
    /// Attribute lists and values are small by nature; larger ones are left behind.
    const MOST: usize = 64 * 1024;
    let mut names = [0_u8; 4096];
    let Ok(length) = rustix::fs::flistxattr(from, &mut names) else { return };
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let mut value = vec![0_u8; MOST];
        if let Ok(length) = rustix::fs::fgetxattr(from, name, &mut value) {
            let _ = rustix::fs::fsetxattr(to, name, &value[..length], rustix::fs::XattrFlags::empty());
        }
    }
}

/// Somebody who does not take our locks may have written in the meantime.
fn unchanged(slot: &Slot<'_>, folder: &OwnedFd) -> Result<(), PathError> {
    let now = rustix::fs::statat(folder, &slot.parent.name, AtFlags::SYMLINK_NOFOLLOW);
    let same = match (&slot.current, now) {
        (Some((_, was)), Ok(now)) => fingerprint(was) == fingerprint(&now),
        (None, Err(Errno::NOENT)) => true,
        _ => false,
    };
    if same { Ok(()) } else { Err(PathError::Changed(slot.path.name())) }
}

fn fingerprint(stat: &Stat) -> (u64, u64, i64, i64, i64) {
    (stat.st_dev as u64, stat.st_ino as u64, stat.st_size as i64, stat.st_mtime as i64, stat.st_mtime_nsec as i64)
}

fn rename_new(from_dir: &OwnedFd, from: &OsStr, to_dir: &OwnedFd, to: &OsStr) -> Result<(), Errno> {
    match rustix::fs::renameat_with(from_dir, from, to_dir, to, RenameFlags::NOREPLACE) {
        // The file system cannot promise it; the look a moment ago is all there is.
        Err(Errno::INVAL | Errno::NOSYS) => rustix::fs::renameat(from_dir, from, to_dir, to),
        other => other,
    }
}

/// Walks down from an open folder, making what is missing. Nothing on the way is a link.
fn open_folders(
    start: &OwnedFd,
    missing: &[OsString],
    made: &mut Vec<(OwnedFd, OsString)>,
    durability: Durability,
) -> Result<OwnedFd, Errno> {
    let mut at = rustix::io::fcntl_dupfd_cloexec(start, 0)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for name in missing {
        match rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => made.push((rustix::io::fcntl_dupfd_cloexec(&at, 0)?, name.clone())),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        if durability == Durability::Full {
            rustix::fs::fsync(&at)?;
        }
        at = rustix::fs::openat(&at, name, flags, Mode::empty())?;
    }
    Ok(at)
}

fn remove_made(made: &[(OwnedFd, OsString)]) {
    for (folder, name) in made.iter().rev() {
        let _ = rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR);
    }
}

fn temporary_name() -> OsString {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_nanos() as u64);
    // O_EXCL decides who owns the name; the rest only keeps two tries apart.
    let salt = clock ^ (NEXT.fetch_add(1, Ordering::Relaxed) << 48);
    format!(".tectum-{}-{salt:016x}.tmp", std::process::id()).into()
}

/// Removes temporary files of processes that were killed, once for each folder.
fn sweep(path: &SafePath, parent: &Parent) {
    if !path.policy.locks.first_visit(&parent.dir) {
        return;
    }
    let Ok(entries) = Dir::read_from(&parent.dir) else { return };
    for entry in entries.flatten() {
        let Some(name) = plain_name(&entry) else { continue };
        if let Some(owner) = temporary_owner(name)
            && rustix::process::test_kill_process(owner) == Err(Errno::SRCH)
        {
            let _ = rustix::fs::unlinkat(&parent.dir, name, AtFlags::empty());
        }
    }
}

fn temporary_owner(name: &OsStr) -> Option<rustix::process::Pid> {
    let rest = name.to_str()?.strip_prefix(".tectum-")?.strip_suffix(".tmp")?;
    rustix::process::Pid::from_raw(rest.split_once('-')?.0.parse().ok()?)
}

impl SafePath {
    pub(crate) fn parent(&self) -> Result<&Parent, PathError> {
        match (&self.place.parent, &self.place.object) {
            (Some(parent), _) => Ok(parent),
            (None, Some(Err(errno))) => Err(self.error(*errno)),
            (None, _) => Err(PathError::Io { path: self.name(), source: io::Error::other("opened for reading only") }),
        }
    }

    /// Takes the name away: a file, a link, or a directory (with all it holds, if `recursive`).
    /// A tree that holds a protected name is left as it is.
    pub fn remove(&self, recursive: bool, durability: Durability) -> Result<(), PathError> {
        let parent = self.parent()?;
        let _guard = self.lock(parent)?;
        let stat = self.stat(parent)?;
        if Kind::of(&stat) == Kind::Directory {
            if recursive {
                self.refuse_protected_inside(parent)?;
                empty(&parent.dir, &parent.name).map_err(|errno| self.error(errno))?;
            }
            rustix::fs::unlinkat(&parent.dir, &parent.name, AtFlags::REMOVEDIR)
        } else {
            rustix::fs::unlinkat(&parent.dir, &parent.name, AtFlags::empty())
        }
        .map_err(|errno| self.error(errno))?;
        self.settle(&parent.dir, durability)
    }

    /// Gives this object the other name, making missing folders. `replace` lets a file that
    /// stands there go.
    pub fn rename_to(&self, target: &SafePath, replace: bool, durability: Durability) -> Result<(), PathError> {
        let (from, to) = (self.parent()?, target.parent()?);
        let stat = self.stat(from)?;
        if Kind::of(&stat) == Kind::Directory {
            self.refuse_protected_inside(from)?;
        }
        let mut order = [(lock::folder(&from.dir), self, from), (lock::folder(&to.dir), target, to)];
        order.sort_by_key(|(folder, ..)| *folder.as_ref().unwrap_or(&(0, 0)));
        let _first = order[0].1.lock(order[0].2)?;
        let _second = match order[0].0 == order[1].0 {
            true => None,
            false => Some(order[1].1.lock(order[1].2)?),
        };
        let mut made = Vec::new();
        let folder = open_folders(&to.dir, &to.missing, &mut made, durability).map_err(|errno| target.error(errno))?;
        let renamed = if replace {
            rustix::fs::renameat(&from.dir, &from.name, &folder, &to.name)
        } else {
            rename_new(&from.dir, &from.name, &folder, &to.name)
        };
        renamed.map_err(|errno| {
            remove_made(&made);
            match errno {
                Errno::NOENT => self.error(errno),
                errno => target.error(errno),
            }
        })?;
        self.settle(&folder, durability)?;
        self.settle(&from.dir, durability)
    }

    fn lock(&self, parent: &Parent) -> Result<WriteGuard, PathError> {
        self.policy.locks.take(&parent.dir).map_err(|errno| match errno {
            Errno::WOULDBLOCK => PathError::Busy(self.name()),
            errno => self.error(errno),
        })
    }

    fn stat(&self, parent: &Parent) -> Result<Stat, PathError> {
        if !parent.missing.is_empty() {
            return Err(PathError::NotFound(self.name()));
        }
        rustix::fs::statat(&parent.dir, &parent.name, AtFlags::SYMLINK_NOFOLLOW).map_err(|errno| self.error(errno))
    }

    fn settle(&self, folder: &OwnedFd, durability: Durability) -> Result<(), PathError> {
        match durability {
            Durability::Full => rustix::fs::fsync(folder).map_err(|errno| self.error(errno)),
            Durability::Rename => Ok(()),
        }
    }

    fn refuse_protected_inside(&self, parent: &Parent) -> Result<(), PathError> {
        let folder = open_child(&parent.dir, &parent.name).map_err(|errno| self.error(errno))?;
        let mut stack = vec![(folder, self.place.real.clone())];
        while let Some((folder, real)) = stack.pop() {
            let entries = Dir::read_from(&folder).map_err(|errno| self.error(errno))?;
            for entry in entries.flatten() {
                let Some(name) = plain_name(&entry) else { continue };
                let path = real.join(name);
                if let Some(reason) = self.policy.protects(&path, crate::Access::Remove) {
                    return Err(PathError::Denied(crate::Denied {
                        layer: crate::Layer::Resolve,
                        reason,
                        path: crate::RawPath::new(path.to_string_lossy()),
                        bases: self.policy.roots.clone(),
                    }));
                }
                if entry.file_type() == rustix::fs::FileType::Directory {
                    let child = open_child(&folder, name).map_err(|errno| system_error(self.name(), errno))?;
                    stack.push((child, path));
                }
            }
        }
        Ok(())
    }
}

fn open_child(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder.as_fd(), name, flags, Mode::empty())
}

/// Removes everything below a folder, by handles, following nothing.
fn empty(parent: &OwnedFd, name: &OsStr) -> Result<(), Errno> {
    let folder = open_child(parent, name)?;
    for entry in Dir::read_from(&folder)? {
        let entry = entry?;
        let Some(name) = plain_name(&entry) else { continue };
        match rustix::fs::unlinkat(&folder, name, AtFlags::empty()) {
            Err(Errno::ISDIR | Errno::PERM) => {
                empty(&folder, name)?;
                rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR)?;
            }
            other => other?,
        }
    }
    Ok(())
}
