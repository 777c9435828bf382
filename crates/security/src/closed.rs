//! Where the protected names beneath the roots are: for programs that are held by the kernel and not
//! by this crate, which must be told each of them.
//!
//! A directory is read once. After that it is read again only when its stamp says that a name came or
//! went, so that asking before every command costs a look at each directory and none at its files.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use rustix::{
    fs::{AtFlags, Dir, Mode, OFlags},
    io::Errno,
};

use crate::{
    Kind,
    kind::plain_name,
    platform::{identity, written},
    root::Root,
    tree,
};

/// A name that comes within the same tick as a reading leaves the stamp as it was. Longer than the
/// ticks of the kernel and the stamps of common file systems.
const TICK: Duration = Duration::from_secs(2);

/// The directories of each root that were read, by their paths below it.
#[derive(Debug, Default)]
pub(crate) struct ClosedIndex(Mutex<HashMap<PathBuf, HashMap<PathBuf, Known>>>);

#[derive(Debug)]
struct Known {
    identity: (u64, u64),
    written: (i64, i64),
    /// It was quiet for a while when it was read.
    settled: bool,
    closed: Vec<OsString>,
    folders: Vec<OsString>,
}

impl ClosedIndex {
    /// The full paths of all protected names beneath these roots; of a protected directory its own.
    pub(crate) fn below(
        &self,
        roots: &[Arc<Root>],
        hides: &dyn Fn(&Root, &Path, &OsStr) -> bool,
    ) -> io::Result<Vec<PathBuf>> {
        let mut index = self.0.lock();
        let mut closed = Vec::new();
        for root in roots {
            let before = index.remove(&root.path).unwrap_or_default();
            let mut survey = Survey { hides, root, before, now: HashMap::new(), closed: Vec::new() };
            survey.look()?;
            closed.append(&mut survey.closed);
            index.insert(root.path.clone(), survey.now);
        }
        Ok(closed)
    }
}

struct Survey<'p> {
    hides: &'p dyn Fn(&Root, &Path, &OsStr) -> bool,
    root: &'p Root,
    before: HashMap<PathBuf, Known>,
    now: HashMap<PathBuf, Known>,
    closed: Vec<PathBuf>,
}

impl Survey<'_> {
    fn look(&mut self) -> io::Result<()> {
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            // What cannot be opened by us cannot be opened by a command of ours.
            let known = match self.known(&folder) {
                Ok(known) => known,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => continue,
                Err(errno) => return Err(errno.into()),
            };
            self.closed.extend(known.closed.iter().map(|name| self.root.path.join(&folder).join(name)));
            open.extend(known.folders.iter().map(|name| folder.join(name)));
            self.now.insert(folder, known);
        }
        Ok(())
    }

    fn known(&mut self, folder: &Path) -> Result<Known, Errno> {
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let stat = rustix::fs::statat(&self.root.dir, here, AtFlags::SYMLINK_NOFOLLOW)?;
        if let Some(known) = self.before.remove(folder)
            && known.settled
            && (known.identity, known.written) == (identity(&stat), written(&stat))
        {
            return Ok(known);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&self.root.dir, here, flags, Mode::empty())?;
        let (stat, now) = (rustix::fs::fstat(&handle)?, SystemTime::now());
        let mut known = Known {
            identity: identity(&stat),
            written: written(&stat),
            settled: is_quiet(written(&stat), now),
            closed: Vec::new(),
            folders: Vec::new(),
        };
        let mut dir = Dir::new(handle)?;
        while let Some(entry) = dir.read() {
            let entry = entry?;
            let Some(name) = plain_name(&entry) else { continue };
            if (self.hides)(self.root, folder, name) {
                known.closed.push(name.to_owned());
            } else if tree::kind(dir.fd()?, name, entry.file_type())? == Some(Kind::Directory) {
                known.folders.push(name.to_owned());
            }
        }
        Ok(known)
    }
}

fn is_quiet((seconds, nanoseconds): (i64, i64), now: SystemTime) -> bool {
    let written = Duration::new(seconds.try_into().unwrap_or(0), nanoseconds.try_into().unwrap_or(0));
    now.duration_since(UNIX_EPOCH).is_ok_and(|now| written + TICK < now)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test makes the files that are looked for")]
mod tests {
    use std::fs;

    use super::*;
    use crate::Allowlist;

    #[test]
    fn protected_names_are_found_and_found_again_when_they_change() {
        let scratch = tempfile::tempdir().expect("a directory");
        let root = scratch.path().canonicalize().expect("there");
        let write = |path: &str| {
            fs::create_dir_all(root.join(path).parent().expect("a folder")).expect("made");
            fs::write(root.join(path), "x").expect("written");
        };
        for path in ["src/main.rs", "a/b/.env", "keys/x.pem", "a/.ssh/id", "own/note", ".git/hooks/x"] {
            write(path);
        }
        // As if it had been quiet for long.
        let old = SystemTime::now() - Duration::from_secs(3600);
        for folder in ["", "a", "a/b", "a/.ssh", "keys", "own", "src"] {
            fs::File::open(root.join(folder)).and_then(|file| file.set_modified(old)).expect("set");
        }
        let list = Allowlist::builder().base(&root).deny(["own/**"]).build().expect("built");
        let closed = || {
            let mut closed = list.closed().expect("looked");
            closed.sort();
            let below = |path: &PathBuf| path.strip_prefix(&root).expect("below").display().to_string();
            closed.iter().map(below).collect::<Vec<_>>()
        };
        let first = ["a/.ssh", "a/b/.env", "keys/x.pem", "own"];
        assert_eq!(closed(), first);
        assert_eq!(closed(), first, "of what is kept");
        write("src/.env.local");
        write("new/deep/.env");
        fs::remove_file(root.join("keys/x.pem")).expect("removed");
        assert_eq!(closed(), ["a/.ssh", "a/b/.env", "new/deep/.env", "own", "src/.env.local"]);
        // A folder that was exchanged for another with the same stamp.
        fs::rename(root.join("a"), root.join("z")).expect("renamed");
        assert_eq!(closed(), ["new/deep/.env", "own", "src/.env.local", "z/.ssh", "z/b/.env"]);
    }
}
