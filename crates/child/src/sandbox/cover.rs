//! Closed paths inside of places that may be written: each is covered by a mount that nobody can open,
//! in a mount namespace of the guard and its tree. A process under Landlock can change no mount.

use std::{io, path::PathBuf};

use rustix::{
    mount::{MountFlags, MountPropagationFlags, mount, mount_bind, mount_change, mount_remount},
    process::{getegid, geteuid},
    thread::UnshareFlags,
};

/// Covers these paths, those that are there.
pub(super) fn cover(paths: &[PathBuf]) -> io::Result<()> {
    let there: Vec<_> = paths.iter().filter_map(|path| Some((path, path.symlink_metadata().ok()?))).collect();
    let Some((first, _)) = there.first() else { return Ok(()) };
    own_mounts().map_err(|error| {
        io::Error::new(
            error.kind(),
            format!(
                "{} is closed and lies in a directory that commands may change, and this system gives no \
                 namespace to cover it ({error}): move it out, open it in `[workspace] open`, allow user \
                 namespaces, or set `sandbox = \"off\"` under [shell] in your own configuration",
                first.display()
            ),
        )
    })?;
    let shut = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    for (path, metadata) in there {
        let covered = if metadata.is_dir() {
            mount("tmpfs", path, "tmpfs", shut, c"mode=000,size=4k,nr_inodes=1")
        } else {
            // A device on a mount without devices: not even an administrator opens it, and unlike an
            // empty file nobody takes it for the content.
            mount_bind("/dev/null", path).and_then(|()| mount_remount(path, shut | MountFlags::BIND, c""))
        };
        covered.map_err(|error| {
            io::Error::new(error.kind(), format!("{} could not be covered: {error}", path.display()))
        })?;
    }
    Ok(())
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
