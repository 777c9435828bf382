//! Temporary files beside the ones they will replace.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Write},
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Gid, Mode, OFlags, RawMode, Uid},
    io::Errno,
};

use crate::{Durability, rename::rename_new, slot::Current};

/// A temporary name in a folder; what stands there is removed unless it is kept.
#[derive(Debug)]
pub(crate) struct Temporary<'f> {
    folder: &'f OwnedFd,
    pub(crate) name: OsString,
}

/// The properties of a new file besides its content.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Facts<'c> {
    /// The mode that the user's umask gives to any new file.
    Usual,
    /// These permission bits.
    Mode(u32),
    /// Owner, mode and attributes of the file it will replace.
    Of(&'c Current),
}

/// Why a file could not be made.
#[derive(Debug)]
pub(crate) enum Unmade {
    /// It would not have the owner or the group of the file it is to replace.
    OwnerLost { user: u32, group: u32 },
    /// The system said no.
    System(io::Error),
}

impl From<io::Error> for Unmade {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

impl From<Errno> for Unmade {
    fn from(errno: Errno) -> Self {
        Self::System(errno.into())
    }
}

impl<'f> Temporary<'f> {
    /// A name nothing stands at yet.
    pub(crate) fn name_in(folder: &'f OwnedFd) -> Self {
        Self { folder, name: fresh_name() }
    }

    /// A file with this content and these facts.
    pub(crate) fn write(
        folder: &'f OwnedFd,
        bytes: &[u8],
        facts: Facts<'_>,
        durability: Durability,
    ) -> Result<Self, Unmade> {
        let temporary = Self::name_in(folder);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // What gets a mode stays private until then.
        let mode = Mode::from_raw_mode(if matches!(facts, Facts::Usual) { 0o666 } else { 0o600 });
        let mut file = File::from(rustix::fs::openat(folder, &temporary.name, flags, mode)?);
        file.write_all(bytes)?;
        match facts {
            Facts::Usual => {}
            Facts::Mode(mode) => rustix::fs::fchmod(&file, permissions(mode))?,
            Facts::Of(current) => keep_facts(&file, current)?,
        }
        if durability == Durability::Full {
            rustix::fs::fsync(&file)?;
        }
        Ok(temporary)
    }

    /// Leaves what stands at the name for a person, under a name that is never swept; says which.
    /// Where even that fails it stays where it is.
    pub(crate) fn keep_for_good(self, original: &OsStr) -> OsString {
        /// Leaves room for what is added, within the longest name there is.
        const MOST: usize = 200;
        let original = original.to_string_lossy();
        let end = (0..=MOST.min(original.len())).rev().find(|end| original.is_char_boundary(*end));
        let name = OsString::from(format!("{}.kept-{}", &original[..end.unwrap_or(0)], salt()));
        let kept = match rename_new(self.folder, &self.name, self.folder, &name) {
            Ok(()) => name,
            Err(_) => self.name.clone(),
        };
        self.keep();
        kept
    }

    /// Leaves alone what stands at the name, or no longer does.
    pub(crate) fn keep(mut self) {
        self.name.clear();
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            let _ = rustix::fs::unlinkat(self.folder, &self.name, AtFlags::empty());
        }
    }
}

/// Bits that run a program as somebody else are not among them: its owner may be another now.
#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
fn permissions(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o777) as RawMode)
}

/// Owner, mode and extended attributes of the file that is about to be replaced.
fn keep_facts(file: &File, Current { stat, attributes, .. }: &Current) -> Result<(), Unmade> {
    let own = rustix::fs::fstat(file)?;
    let (user, group) = (stat.st_uid, stat.st_gid);
    if (own.st_uid, own.st_gid) != (user, group) {
        match rustix::fs::fchown(file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group))) {
            // A container answers INVAL for a number that it has no name for.
            Err(Errno::PERM | Errno::INVAL) => return Err(Unmade::OwnerLost { user, group }),
            answer => answer?,
        }
    }
    // Attributes before the mode: nobody may set them on a file he may not write.
    attributes.give(file);
    rustix::fs::fchmod(file, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
    Ok(())
}

fn fresh_name() -> OsString {
    format!(".tectum-{}-{}.tmp", std::process::id(), salt()).into()
}

/// Differs from call to call and from process to process.
fn salt() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    // O_EXCL decides who owns the name; the rest only keeps two tries apart.
    let salt = clock.map_or(0, |time| time.as_nanos() as u64) ^ (NEXT.fetch_add(1, Ordering::Relaxed) << 48);
    format!("{salt:016x}")
}

/// The process whose temporary file this is.
pub(crate) fn owner(name: &OsStr) -> Option<rustix::process::Pid> {
    let rest = name.to_str()?.strip_prefix(".tectum-")?.strip_suffix(".tmp")?;
    rustix::process::Pid::from_raw(rest.split_once('-')?.0.parse().ok()?)
}
