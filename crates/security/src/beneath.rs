//! Resolution and opening in one step, beneath a directory handle.
//!
//! On Linux the kernel does it (`openat2`). Where it cannot (an old kernel, another Unix),
//! cap-std's checked walk does, component by component.

use std::{
    ffi::OsStr,
    io,
    path::{Component, Path},
};

use rustix::{
    fd::{BorrowedFd, OwnedFd},
    fs::{AtFlags, FileType, Mode, OFlags},
    io::Errno,
};

/// How often an open is tried again when renames interfere with `..`.
const RETRIES: usize = 16;

/// The treatment of links on the way (always beneath the root).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follow {
    Inside,
    No,
}

/// Opens a root once, when the allowlist is made.
pub(crate) fn open_root(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Opens `relative` beneath `root`. Never blocks: a FIFO without a writer opens at once.
pub(crate) fn open(
    root: BorrowedFd<'_>,
    relative: &Path,
    flags: OFlags,
    follow: Follow,
) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let relative = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
    for _ in 0..RETRIES {
        match step(root, relative, flags, follow) {
            // The kernel saw a rename while it walked `..` and cannot vouch for the result.
            Err(Errno::AGAIN) => {}
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

#[cfg(target_os = "linux")]
fn step(root: BorrowedFd<'_>, relative: &Path, flags: OFlags, follow: Follow) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;
    let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    if follow == Follow::No {
        resolve |= ResolveFlags::NO_SYMLINKS;
    }
    match rustix::fs::openat2(root, relative, flags, Mode::empty(), resolve) {
        Err(Errno::NOSYS | Errno::PERM) => checked_walk(root, relative, flags, follow),
        other => other,
    }
}

#[cfg(not(target_os = "linux"))]
fn step(root: BorrowedFd<'_>, relative: &Path, flags: OFlags, follow: Follow) -> Result<OwnedFd, Errno> {
    checked_walk(root, relative, flags, follow)
}

/// The portable door: cap-std resolves links itself and opens each component from its parent.
fn checked_walk(
    root: BorrowedFd<'_>,
    relative: &Path,
    flags: OFlags,
    follow: Follow,
) -> Result<OwnedFd, Errno> {
    use cap_primitives::fs::{FollowSymlinks, OpenOptions, OpenOptionsExt};
    let start = rustix::io::fcntl_dupfd_cloexec(root, 0)?;
    if follow == Follow::No {
        return no_links(start, relative, flags);
    }
    let mut options = OpenOptions::new();
    options.read(true);
    options._cap_fs_ext_follow(FollowSymlinks::Yes);
    let custom = flags & (OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::NOCTTY);
    options.custom_flags(custom.bits() as i32);
    match cap_primitives::fs::open(&start.into(), relative, &options) {
        Ok(file) => Ok(file.into()),
        // cap-std reports an escape as a permission error without a system code.
        Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::XDEV)),
    }
}

/// Without links the walk needs no resolver: each name is opened from the one before, and
/// `..` goes back to the handle it came from.
fn no_links(start: OwnedFd, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    let mut way = vec![start];
    let mut parts = relative.components().filter(|part| *part != Component::CurDir).peekable();
    while let Some(part) = parts.next() {
        let at = way.last().ok_or(Errno::XDEV)?;
        match part {
            Component::Normal(name) if parts.peek().is_none() => {
                return rustix::fs::openat(at, name, flags | OFlags::NOFOLLOW, Mode::empty());
            }
            Component::Normal(name) => {
                let next = rustix::fs::openat(at, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
                way.push(next.map_err(|errno| if is_link(at, name) { Errno::LOOP } else { errno })?);
            }
            Component::ParentDir if way.len() > 1 => drop(way.pop()),
            _ => return Err(Errno::XDEV),
        }
    }
    rustix::fs::openat(way.last().ok_or(Errno::XDEV)?, ".", flags, Mode::empty())
}

/// A link where a folder was wanted is reported as no folder; the caller needs the difference.
fn is_link(at: &OwnedFd, name: &OsStr) -> bool {
    let stat = rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW);
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
}

#[cfg(test)]
mod tests {
    use rustix::fd::AsFd;

    use super::*;

    type Open = fn(BorrowedFd<'_>, &Path, OFlags, Follow) -> Result<OwnedFd, Errno>;

    /// The kernel's door and the portable one must agree, case by case.
    #[expect(clippy::disallowed_methods, reason = "a tree made for this test")]
    fn check(relative: &str, follow: Follow, expect: Result<(), Errno>) {
        let tree = tempfile::tempdir().expect("scratch");
        let root = tree.path().join("root");
        std::fs::create_dir_all(root.join("sub")).expect("made");
        std::fs::write(root.join("sub/file"), "in").expect("made");
        std::fs::write(tree.path().join("outside"), "out").expect("made");
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, root.join(at)).expect("made");
        link("sub/file", "inner");
        link("../outside", "outer");
        link("/etc/passwd", "absolute");
        link("loop", "loop");
        link("sub", "folder");
        let dir = open_root(&root).expect("opens");
        for (name, open) in [("kernel", step as Open), ("portable", checked_walk as Open)] {
            let got = open(dir.as_fd(), Path::new(relative), OFlags::RDONLY, follow).map(drop);
            assert_eq!(got.is_ok(), expect.is_ok(), "{name} {relative} {follow:?}: {got:?}");
            if let (Err(got), Err(expect)) = (got, expect) {
                assert_eq!(got, expect, "{name} {relative} {follow:?}");
            }
        }
    }

    #[test]
    fn both_doors_open_what_lies_inside() {
        check("sub/file", Follow::No, Ok(()));
        check("sub/file", Follow::Inside, Ok(()));
        check("inner", Follow::Inside, Ok(()));
        check("folder/file", Follow::Inside, Ok(()));
        check("sub/../sub/file", Follow::Inside, Ok(()));
        check("sub/../sub/file", Follow::No, Ok(()));
        check("sub/..", Follow::No, Ok(()));
    }

    #[test]
    fn both_doors_refuse_what_leads_out() {
        check("../outside", Follow::Inside, Err(Errno::XDEV));
        check("outer", Follow::Inside, Err(Errno::XDEV));
        check("absolute", Follow::Inside, Err(Errno::XDEV));
        check("sub/../../outside", Follow::Inside, Err(Errno::XDEV));
        check("sub/../../outside", Follow::No, Err(Errno::XDEV));
        check("inner", Follow::No, Err(Errno::LOOP));
        check("folder/file", Follow::No, Err(Errno::LOOP));
        check("loop", Follow::Inside, Err(Errno::LOOP));
        check("missing", Follow::Inside, Err(Errno::NOENT));
    }
}
