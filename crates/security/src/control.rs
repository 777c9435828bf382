//! Files that configure Tectum: no tool changes one of them, whatever name leads to it.
//!
//! Each is followed from its configured name at the moment a change is judged, folder by folder
//! and link by link. Every entry on that way is closed: the file, the links, the folders that
//! hold them, and the names that are not there yet. What was opened is compared by device and
//! inode, so spelling, letter case, links and renamed folders make no difference.

use std::{
    collections::{HashMap, VecDeque},
    ffi::{OsStr, OsString},
    path::{Component, Path, PathBuf},
};

use parking_lot::RwLock;
use rustix::fs::Stat;

use crate::{
    Access, Kind,
    fold::same_name,
    lock,
    place::Parent,
    platform::{self, identity},
};

/// Links followed from one configured name; the kernel follows as many.
const MOST_LINKS: usize = 40;

/// The files that configure Tectum. Shared, since more of them may be found while it runs.
#[derive(Debug, Default)]
pub struct ControlFiles {
    names: RwLock<Vec<Control>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Control {
    name: PathBuf,
    /// True for a folder that is closed with everything in it.
    tree: bool,
}

impl ControlFiles {
    /// Closes these files, whether they exist or not. Relative names are left out.
    pub fn close_files(&self, files: impl IntoIterator<Item = PathBuf>) {
        self.close(files, false);
    }

    /// Closes these folders with everything in them.
    pub fn close_folders(&self, folders: impl IntoIterator<Item = PathBuf>) {
        self.close(folders, true);
    }

    fn close(&self, names: impl IntoIterator<Item = PathBuf>, tree: bool) {
        let mut known = self.names.write();
        for name in names.into_iter().filter(|name| name.is_absolute()) {
            let control = Control { name, tree };
            if !known.contains(&control) {
                known.push(control);
            }
        }
    }

    /// True when changing this name would change which configuration is read, or what it says.
    pub(crate) fn closes(&self, want: &Parent, access: Access) -> bool {
        let names = self.names.read();
        if names.is_empty() || !access.changes() {
            return false;
        }
        // A folder that cannot be asked cannot be told from one on the way.
        let Ok(folder) = lock::folder(&want.dir) else { return true };
        let tail: Vec<&OsStr> =
            want.missing.iter().chain([&want.name]).map(|part| part.as_os_str()).collect();
        let object = want.look().filter(|stat| Kind::of(stat) == Kind::File).map(|stat| identity(&stat));
        let kernel_name = platform::real_name(&want.dir).ok();
        let mut disk = Disk::default();
        names.iter().any(|control| {
            let trail = Trail::follow(control, folder, &tail, &mut disk);
            // Where nothing stands there is nothing to take away.
            let met = trail.met && (access != Access::Remove || trail.present);
            let same_file = object.is_some() && trail.file == object;
            let inside =
                || kernel_name.as_deref().zip(trail.tree.as_deref()).is_some_and(|(a, b)| a.starts_with(b));
            met || same_file || inside()
        })
    }
}

/// The way from a configured name to its file, beside the way to a name that is to be changed.
#[derive(Debug, Default)]
struct Trail {
    /// True when both go through the same entry.
    met: bool,
    /// The file at the end, by device and inode.
    file: Option<(u64, u64)>,
    /// The true name of a closed folder.
    tree: Option<PathBuf>,
    /// True when something stands at the configured name, if only a link to nothing.
    present: bool,
}

impl Trail {
    /// Follows a configured name; `tail` are the names to be changed or made below `folder`.
    fn follow(control: &Control, folder: (u64, u64), tail: &[&OsStr], disk: &mut Disk) -> Self {
        let mut trail = Self::default();
        let mut rest: VecDeque<OsString> = parts(&control.name).collect();
        let mut at = PathBuf::from("/");
        let mut links = 0;
        while let Some(part) = rest.front() {
            if part == ".." {
                at.pop();
                rest.pop_front();
                continue;
            }
            let Some(stat) = disk.stat(&at) else { return trail };
            if identity(&stat) == folder {
                let along = rest.iter().zip(tail).all(|(one, other)| same_name(one, other));
                trail.met |= along && (tail.len() <= rest.len() || control.tree);
            }
            let here = at.join(part);
            rest.pop_front();
            let Some(stat) = disk.stat(&here) else { return trail };
            match Kind::of(&stat) {
                Kind::Directory => at = here,
                Kind::Link => {
                    trail.present |= rest.is_empty();
                    links += 1;
                    let target = disk.target(&here).filter(|_| links <= MOST_LINKS);
                    let Some(target) = target else { return trail };
                    if target.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                        rest.push_front(part);
                    }
                }
                _ => {
                    trail.present |= rest.is_empty();
                    trail.file = rest.is_empty().then(|| identity(&stat));
                    return trail;
                }
            }
        }
        if control.tree {
            trail.present = true;
            trail.tree = Some(at);
        }
        trail
    }
}

/// The answers of the system about names, each asked once for one judgement.
#[derive(Debug, Default)]
struct Disk {
    stats: HashMap<PathBuf, Option<Stat>>,
}

impl Disk {
    fn stat(&mut self, path: &Path) -> Option<Stat> {
        if let Some(known) = self.stats.get(path) {
            return *known;
        }
        let stat = rustix::fs::lstat(path).ok();
        self.stats.insert(path.to_owned(), stat);
        stat
    }

    fn target(&self, path: &Path) -> Option<PathBuf> {
        use std::os::unix::ffi::OsStringExt;
        let target = rustix::fs::readlink(path, Vec::new()).ok()?;
        Some(OsString::from_vec(target.into_bytes()).into())
    }
}

/// The names of a path and its `..`, without its root.
fn parts(path: &Path) -> impl Iterator<Item = OsString> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}
