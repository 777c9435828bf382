//! A mount namespace of the fork server and all it starts, for what Landlock does not hold. A process under
//! Landlock can change no mount.
//!
//! Closed paths inside of places that may be written are each covered by a mount that nobody can open;
//! where that is impossible nothing is started. Where there is a namespace, modes, owners and times
//! outside of those places stay as they are, too, and shared memory is the commands' own.

use std::{
    collections::HashMap,
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustix::{
    mount::{
        MountFlags, MountPropagationFlags, mount, mount_bind, mount_bind_recursive, mount_change,
        mount_remount,
    },
    process::{getegid, geteuid},
    thread::UnshareFlags,
};

/// Where programs share memory, by names that are fixed.
const SHARED_MEMORY: &str = "/dev/shm";
/// File systems that keep files of people. Others have nothing to keep, or may not answer.
const KEEPING: &[&str] = &[
    "bcachefs", "btrfs", "ecryptfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "jfs", "ntfs3", "overlay",
    "tmpfs", "vfat", "virtiofs", "xfs", "zfs",
];

/// The mounts of one process and its descendants.
#[derive(Debug)]
pub(super) struct Mounts {
    /// Why there are none.
    failed: Option<io::Error>,
    /// What covers a path now, by device and inode. Another file of that name that came since is not
    /// covered: the kernel takes a cover away with the name below it.
    covers: HashMap<PathBuf, (u64, u64)>,
}

impl Mounts {
    /// Makes them, and adds to what is writable what is the commands' own now.
    pub(super) fn make(writable: &mut Vec<PathBuf>) -> Self {
        let failed = own_mounts().and_then(|()| keep_elsewhere(writable)).err();
        let own = MountFlags::NOSUID | MountFlags::NODEV;
        if failed.is_none() && mount("tmpfs", SHARED_MEMORY, "tmpfs", own, c"mode=1777").is_ok() {
            writable.push(SHARED_MEMORY.into());
        }
        Self { failed, covers: HashMap::new() }
    }

    /// Covers the closed paths that are there and are not covered yet.
    pub(super) fn cover(&mut self, closed: &[PathBuf]) -> io::Result<()> {
        let shut = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        for path in closed {
            let Ok(found) = path.symlink_metadata() else { continue };
            if self.covers.get(path) == Some(&(found.dev(), found.ino())) {
                continue;
            }
            if let Some(error) = &self.failed {
                return Err(refused(path, error));
            }
            let covered = if found.is_dir() {
                mount("tmpfs", path, "tmpfs", shut, c"mode=000,size=4k,nr_inodes=1")
            } else {
                // A device on a mount without devices: not even an administrator opens it, and unlike an
                // empty file nobody takes it for the content.
                mount_bind("/dev/null", path).and_then(|()| mount_remount(path, shut | MountFlags::BIND, c""))
            };
            covered.map_err(|error| refused(path, &error.into()))?;
            let cover = path.symlink_metadata()?;
            self.covers.insert(path.clone(), (cover.dev(), cover.ino()));
        }
        Ok(())
    }
}

fn refused(path: &Path, error: &io::Error) -> io::Error {
    let text = format!(
        "{} is closed and lies in a directory that commands may change, and it could not be covered, which \
         needs user namespaces ({error}): move it out, open its name with `[workspace] open`, let this user \
         have user namespaces, or set `sandbox = \"off\"` under [shell], all in your own configuration",
        path.display()
    );
    io::Error::new(error.kind(), text)
}

/// Makes mounts read-only but for what is writable. Landlock holds what is in files; this holds their
/// modes, owners and times. A mount that cannot be changed stays as it is.
#[expect(clippy::disallowed_methods, reason = "the kernel's table of mounts, not an agent's path")]
fn keep_elsewhere(writable: &[PathBuf]) -> io::Result<()> {
    let table = std::fs::read_to_string("/proc/self/mountinfo")?;
    for path in writable {
        mount_bind_recursive(path, path)?;
    }
    // Where we are is still what the new mount is on.
    std::env::set_current_dir(std::env::current_dir()?)?;
    for (path, flags) in table.lines().filter_map(kept) {
        if !writable.iter().any(|writable| path.starts_with(writable)) {
            let _ = mount_remount(&path, flags | MountFlags::BIND | MountFlags::RDONLY, c"");
        }
    }
    Ok(())
}

/// The place of a mount that is to be kept, and the flags that must stay.
fn kept(line: &str) -> Option<(PathBuf, MountFlags)> {
    let (mount, kind) = line.split_once(" - ")?;
    let fields: Vec<&str> = mount.split(' ').collect();
    // A place with a blank in its name is written with a backslash; few have one, and none is home.
    let is_kept = KEEPING.contains(&kind.split(' ').next()?) && !fields.get(4)?.contains('\\');
    let mut flags = MountFlags::empty();
    for option in fields.get(5)?.split(',') {
        match option {
            "ro" => return None,
            "nosuid" => flags |= MountFlags::NOSUID,
            "nodev" => flags |= MountFlags::NODEV,
            "noexec" => flags |= MountFlags::NOEXEC,
            _ => {}
        }
    }
    is_kept.then(|| (PathBuf::from(fields[4]), flags))
}

/// A mount namespace of our own; for who is not an administrator, in a user namespace with the same user.
fn own_mounts() -> io::Result<()> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    if unshare(UnshareFlags::NEWNS).is_err() {
        unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
        set("setgroups", "deny")?;
        set("uid_map", &format!("{user} {user} 1"))?;
        set("gid_map", &format!("{group} {group} 1"))?;
    }
    // What is mounted here stays here; what is unmounted elsewhere goes here as well.
    Ok(mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?)
}

#[expect(deprecated, reason = "only for FILES it is unsafe; the sound form needs `unsafe` of ours")]
fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    rustix::thread::unshare(flags)
}

#[expect(clippy::disallowed_methods, reason = "the kernel's table of processes, not an agent's path")]
fn set(name: &str, text: &str) -> io::Result<()> {
    std::fs::write(format!("/proc/self/{name}"), text)
}
