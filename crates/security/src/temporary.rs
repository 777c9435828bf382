//! Temporary files beside the ones they will replace: how they are made, and how the ones a
//! killed process left behind go away.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Write},
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Dir, Gid, Mode, OFlags, Stat, Uid, XattrFlags},
    io::Errno,
};

use crate::{
    Durability,
    safe::{Parent, plain_name},
};

/// A temporary name in a folder; what stands there is removed unless it is kept.
#[derive(Debug)]
pub(crate) struct Temporary {
    folder: OwnedFd,
    pub(crate) name: OsString,
}

impl Temporary {
    /// A name nothing stands at yet.
    pub(crate) fn name_in(folder: &OwnedFd) -> io::Result<Self> {
        Ok(Self { folder: rustix::io::fcntl_dupfd_cloexec(folder, 0)?, name: fresh_name() })
    }

    /// A file with this content, and with the facts of the one it will replace.
    pub(crate) fn write(
        folder: &OwnedFd,
        bytes: &[u8],
        old: Option<(&Stat, &Parent)>,
        durability: Durability,
    ) -> io::Result<Self> {
        let temporary = Self::name_in(folder)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // A new file takes the user's umask; a replacement stays private until its mode is copied.
        let mode = Mode::from_raw_mode(if old.is_some() { 0o600 } else { 0o666 });
        let mut file = File::from(rustix::fs::openat(folder, &temporary.name, flags, mode)?);
        file.write_all(bytes)?;
        if let Some((stat, parent)) = old {
            keep_facts(&file, stat, parent)?;
        }
        if durability == Durability::Full {
            rustix::fs::fsync(&file)?;
        }
        Ok(temporary)
    }

    /// Leaves alone what stands at the name, or no longer does.
    pub(crate) fn keep(mut self) {
        self.name.clear();
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
    // Attributes before the mode: nobody may set them on a file he may not write.
    if let Ok(old) = parent.open_name() {
        copy_attributes(&old, file);
    }
    rustix::fs::fchmod(file, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
    Ok(())
}

fn copy_attributes(from: &OwnedFd, to: &File) {
    /// The kernel's own limit, for a list of names and for a value.
    const MOST: usize = 64 * 1024;
    // Almost every file has none, and then nothing is set aside for them.
    if !matches!(rustix::fs::flistxattr_query(from), Ok(1..)) {
        return;
    }
    let (mut names, mut value) = (vec![0_u8; MOST], vec![0_u8; MOST]);
    let Ok(length) = rustix::fs::flistxattr(from, &mut names[..]) else { return };
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if let Ok(length) = rustix::fs::fgetxattr(from, name, &mut value[..]) {
            let _ = rustix::fs::fsetxattr(to, name, &value[..length], XattrFlags::empty());
        }
    }
}

fn fresh_name() -> OsString {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    // O_EXCL decides who owns the name; the rest only keeps two tries apart.
    let salt = clock.map_or(0, |time| time.as_nanos() as u64) ^ (NEXT.fetch_add(1, Ordering::Relaxed) << 48);
    format!(".tectum-{}-{salt:016x}.tmp", std::process::id()).into()
}

/// Removes the temporary files of processes that were killed.
pub(crate) fn sweep(folder: &OwnedFd) {
    let Ok(entries) = Dir::read_from(folder) else { return };
    for entry in entries.flatten() {
        let Some(name) = plain_name(&entry) else { continue };
        if let Some(owner) = owner(name)
            && rustix::process::test_kill_process(owner) == Err(Errno::SRCH)
        {
            let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
        }
    }
}

fn owner(name: &OsStr) -> Option<rustix::process::Pid> {
    let rest = name.to_str()?.strip_prefix(".tectum-")?.strip_suffix(".tmp")?;
    rustix::process::Pid::from_raw(rest.split_once('-')?.0.parse().ok()?)
}
