//! Taking names away and giving new ones. A tree that holds a protected or ruled name keeps
//! its place, and no tree is moved to where a name in it would be protected.

use std::path::Path;

use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Dir, Stat},
    io::Errno,
};

use crate::{
    Access, Durability, Kind, PathError, Reason, SafePath, Settled,
    kind::plain_name,
    lock, parents,
    place::Parent,
    rename::rename_new,
    tree::{self, MAX_DEPTH, open_child, too_deep},
};

impl SafePath {
    /// Takes the name away: a file, a link, or a directory (with all it holds, if `recursive`).
    /// A tree that holds a protected name is left as it is.
    pub fn remove(&self, recursive: bool, durability: Durability) -> Result<Settled, PathError> {
        let parent = self.parent()?;
        let _guard = self.lock(parent)?;
        let stat = self.stat(self.changeable()?)?;
        let unlink =
            |flags| rustix::fs::unlinkat(&parent.dir, &parent.name, flags).map_err(|errno| self.error(errno));
        if Kind::of(&stat) == Kind::Directory {
            let mut gone = 0;
            if recursive {
                refuse_protected_inside(self, parent, &[self])?;
                self.empty(parent, &mut gone).map_err(|cause| halfway(cause, gone))?;
            }
            unlink(AtFlags::REMOVEDIR).map_err(|cause| halfway(cause, gone))?;
        } else {
            unlink(AtFlags::empty())?;
        }
        Ok(settle([&parent.dir], durability))
    }

    /// Gives this object the other name, making missing folders. `replace` lets a file that
    /// stands there go.
    pub fn rename_to(
        &self,
        target: &SafePath,
        replace: bool,
        durability: Durability,
    ) -> Result<Settled, PathError> {
        let (from, to) = (self.parent()?, target.parent()?);
        let folder =
            |path: &SafePath, parent: &Parent| lock::folder(&parent.dir).map_err(|errno| path.error(errno));
        let mut order = [(folder(self, from)?, self, from), (folder(target, to)?, target, to)];
        order.sort_by_key(|(folder, ..)| *folder);
        let _first = order[0].1.lock(order[0].2)?;
        let _second = if order[0].0 == order[1].0 { None } else { Some(order[1].1.lock(order[1].2)?) };
        self.changeable()?;
        target.changeable()?;
        let directory = Kind::of(&self.stat(from)?) == Kind::Directory;
        if directory {
            refuse_protected_inside(self, from, &[self, target])?;
            if target.absolute().starts_with(self.absolute()) && target.absolute() != self.absolute() {
                return Err(self.inside_itself(target));
            }
        }
        let (folder, made) =
            parents::make(&to.dir, &to.missing, durability).map_err(|error| target.fail(error))?;
        let renamed = if replace {
            rustix::fs::renameat(&from.dir, &from.name, &folder, &to.name)
        } else {
            rename_new(&from.dir, &from.name, &folder, &to.name)
        };
        renamed.map_err(|errno| {
            made.undo();
            match errno {
                Errno::NOENT => self.error(errno),
                Errno::INVAL if directory => self.inside_itself(target),
                Errno::NOTDIR if directory => {
                    PathError::OverFile { path: self.name(), target: target.name() }
                }
                errno => target.error(errno),
            }
        })?;
        Ok(settle([&folder, &from.dir], durability))
    }

    fn inside_itself(&self, target: &SafePath) -> PathError {
        PathError::IntoItself { path: self.name(), target: target.name() }
    }

    fn stat(&self, parent: &Parent) -> Result<Stat, PathError> {
        if !parent.missing.is_empty() {
            return Err(PathError::NotFound(self.missing()));
        }
        rustix::fs::statat(&parent.dir, &parent.name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| self.error(errno))
    }

    /// Removes everything below a folder, by handles, following nothing. Counts what is gone.
    fn empty(&self, parent: &Parent, gone: &mut usize) -> Result<(), PathError> {
        let system = |errno| self.error(errno);
        let top = open_child(&parent.dir, &parent.name).and_then(Dir::new).map_err(system)?;
        let mut stack = vec![(top, self.place.real.clone())];
        while let Some((dir, folder)) = stack.last_mut() {
            let Some(entry) = dir.read() else {
                if let (Some((_, path)), Some((above, _))) = (stack.pop(), stack.last()) {
                    let name = path.file_name().unwrap_or_default();
                    let above = above.fd().map_err(system)?;
                    rustix::fs::unlinkat(above, name, AtFlags::REMOVEDIR).map_err(system)?;
                    *gone += 1;
                }
                continue;
            };
            let entry = entry.map_err(system)?;
            let Some(name) = plain_name(&entry) else { continue };
            let path = folder.join(name);
            // It may have come since the tree was looked through.
            self.keeps(&path, Access::Remove)?;
            let dir = dir.fd().map_err(system)?;
            match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
                Ok(()) => *gone += 1,
                Err(Errno::NOENT) => {}
                Err(Errno::ISDIR | Errno::PERM) => {
                    let child = open_child(dir, name).and_then(Dir::new).map_err(system)?;
                    if stack.len() == MAX_DEPTH {
                        return Err(self.fail(too_deep()));
                    }
                    stack.push((child, path));
                }
                Err(errno) => return Err(system(errno)),
            }
        }
        Ok(())
    }

    fn keeps(&self, path: &Path, access: Access) -> Result<(), PathError> {
        match self.policy.protects(&self.root, path, access).or_else(|| self.ruled(path)) {
            Some(reason) => Err(self.denied_inside(path, reason)),
            None => Ok(()),
        }
    }

    fn denied_inside(&self, path: &Path, reason: Reason) -> PathError {
        let mut denied = self.denied(reason);
        denied.path = crate::RawPath::new(path.to_string_lossy());
        denied.into()
    }
}

/// Asks the disk to confirm what was changed in these folders. The change itself is made.
fn settle<const N: usize>(folders: [&OwnedFd; N], durability: Durability) -> Settled {
    if durability == Durability::Rename {
        return Settled::Confirmed;
    }
    // Every folder is asked, whatever became of the one before.
    folders.into_iter().fold(Settled::Confirmed, |settled, folder| match rustix::fs::fsync(folder) {
        Ok(()) => settled,
        Err(errno) => Settled::Unconfirmed(errno.into()),
    })
}

fn halfway(cause: PathError, gone: usize) -> PathError {
    if gone == 0 {
        return cause;
    }
    let left = format!("{gone} of the entries in it were deleted before that");
    PathError::Unfinished { cause: Box::new(cause), left }
}

/// Looks for a protected name in a tree, under each of the names the tree has or will have.
fn refuse_protected_inside(tree: &SafePath, parent: &Parent, names: &[&SafePath]) -> Result<(), PathError> {
    let start = open_child(&parent.dir, &parent.name).map_err(|errno| tree.error(errno))?;
    let mut protected = None;
    let looked = tree::look(start, (), |found, ()| {
        let below = found.folder.join(found.name);
        protected =
            names.iter().find_map(|name| name.keeps(&name.place.real.join(&below), Access::Remove).err());
        match protected {
            Some(_) => Err(Errno::ACCESS.into()),
            None => Ok(()),
        }
    });
    match protected {
        Some(error) => Err(error),
        None => looked.map_err(|error| tree.fail(error)),
    }
}
