//! Layer 3: from judged words to an open handle, and the opened object judged again.
//!
//! A path without links or `..` is opened with links forbidden, so its words are its name.
//! Any other is opened beneath the root with links followed, and then the name the system
//! gives the opened object is judged by the same rules as the words were.

use std::path::{Component, Path, PathBuf};

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::OFlags,
    io::Errno,
};

use crate::{
    Access, Candidate, Denied, Kind, Layer, Links, Reason, SafePath,
    beneath::{self, Follow},
    place::{Object, Parent, Place},
    platform,
    tree::MAX_DEPTH,
};

/// How often a name that changes under us is looked at again.
const ATTEMPTS: usize = 8;

impl Candidate {
    /// Opens what the path leads to, or its parent for something yet to be made.
    pub fn resolve(self) -> Result<SafePath, Denied> {
        // Components tell neither `name/` nor `name/.` from `name`, but the kernel takes both for a
        // directory only.
        let last = self.raw.as_str().rsplit('/').next().unwrap_or_default();
        let directory = matches!(last, "" | ".");
        let makes = matches!(self.access, Access::Write | Access::Place);
        let path = self.resolve_any()?;
        let unopened = matches!(path.place.object, Some(Err(_)));
        match path.kind() {
            Some(kind) if directory && kind != Kind::Directory => Err(path.denied(Reason::Slash)),
            None if directory && makes && !unopened => Err(path.denied(Reason::Slash)),
            _ => Ok(path),
        }
    }

    fn resolve_any(self) -> Result<SafePath, Denied> {
        match self.access {
            Access::Read => self.resolve_object(),
            Access::Write => self.resolve_written(),
            Access::Place | Access::Remove => match self.open_parent(&self.relative)? {
                Ok(parent) => self.safe(Place { real: parent.target(), parent: Some(parent), object: None }),
                Err(errno) => self.unopened(errno),
            },
        }
    }

    fn resolve_object(self) -> Result<SafePath, Denied> {
        match self.open(&self.relative, OFlags::RDONLY)? {
            Ok((handle, real)) => {
                let object = Object::new(handle);
                if let Ok(object) = &object
                    && self.policy.protected_alias(&self.root, &object.stat)
                {
                    return Err(self.denied(Layer::Resolve, Reason::ProtectedAlias));
                }
                self.safe(Place { real, parent: None, object: Some(object) })
            }
            Err(Errno::NOENT) => self.resolve_absent(),
            Err(errno) => self.unopened(errno),
        }
    }

    /// What is not there is judged like what is, so that nobody learns which protected names
    /// exist by asking for them through a link.
    fn resolve_absent(self) -> Result<SafePath, Denied> {
        match self.open_parent(&self.relative) {
            Ok(Ok(parent)) => {
                self.safe(Place { real: parent.target(), parent: None, object: Some(Err(Errno::NOENT)) })
            }
            Err(denied) if matches!(denied.reason, Reason::Protected { .. }) => Err(denied),
            _ => self.unopened(Errno::NOENT),
        }
    }

    /// The words were fine, the system said no: the tool explains it.
    fn unopened(self, errno: Errno) -> Result<SafePath, Denied> {
        let real = clean(&self.relative);
        self.safe(Place { real, parent: None, object: Some(Err(errno)) })
    }

    /// A file to be written is known by its parent's handle and its name; a link in the last
    /// place is replaced by what it points to, so that writing goes through it.
    fn resolve_written(self) -> Result<SafePath, Denied> {
        let mut relative = self.relative.clone();
        for _ in 0..ATTEMPTS {
            let parent = match self.open_parent(&relative)? {
                Ok(parent) => parent,
                Err(errno) => return self.unopened(errno),
            };
            let object = if parent.missing.is_empty() { parent.open_name() } else { Err(Errno::NOENT) };
            let object = match object {
                Err(Errno::LOOP) => match self.open(&relative, OFlags::RDONLY)? {
                    Ok((_, target)) => {
                        relative = target;
                        continue;
                    }
                    // A dangling link could only be written through by guessing where it leads.
                    Err(Errno::NOENT) => return Err(self.denied(Layer::Resolve, Reason::Dangling)),
                    Err(errno) => return self.unopened(errno),
                },
                Err(Errno::NOENT) => None,
                other => Some(other.and_then(Object::new)),
            };
            if let Some(Ok(object)) = &object {
                self.refuse_shared(object)?;
            }
            return self.safe(Place { real: parent.target(), parent: Some(parent), object });
        }
        Err(self.denied(Layer::Resolve, Reason::Unstable))
    }

    /// The deepest existing folder on the way, and what is missing below it.
    fn open_parent(&self, relative: &Path) -> Result<Result<Parent, Errno>, Denied> {
        let nameless = || self.denied(Layer::Resolve, Reason::Nameless);
        let Some(Component::Normal(name)) = relative.components().next_back() else { return Err(nameless()) };
        let name = name.to_owned();
        let mut folder = relative.parent().unwrap_or(Path::new("")).to_owned();
        let mut missing = Vec::new();
        loop {
            match self.open(&folder, OFlags::RDONLY | OFlags::DIRECTORY)? {
                Ok((dir, real)) => {
                    missing.reverse();
                    return Ok(Ok(Parent { dir, real, missing, name }));
                }
                Err(Errno::NOENT) => {
                    // What does not exist yet has no links; `..` in it has no meaning.
                    let Some(Component::Normal(part)) = folder.components().next_back() else {
                        return Err(nameless());
                    };
                    missing.push(part.to_owned());
                    folder.pop();
                    // So many folders at once nobody makes; each step back costs a look.
                    if missing.len() > MAX_DEPTH {
                        return Ok(Err(Errno::NAMETOOLONG));
                    }
                }
                Err(errno) => return Ok(Err(errno)),
            }
        }
    }

    /// Opens beneath the root and returns the handle with its true name below the root.
    /// The outer error is a refusal; the inner one is the system's and the tool's to explain.
    fn open(&self, relative: &Path, flags: OFlags) -> Result<Result<(OwnedFd, PathBuf), Errno>, Denied> {
        let refuse = |reason| self.denied(Layer::Resolve, reason);
        let plain = relative.components().all(|part| part != Component::ParentDir);
        if plain {
            match beneath::open(self.root.dir.as_fd(), relative, flags, Follow::No) {
                Ok(handle) => return Ok(Ok((handle, clean(relative)))),
                Err(Errno::LOOP) if self.policy.links == Links::Never => return Err(refuse(Reason::Link)),
                Err(Errno::LOOP) => {}
                Err(errno) => return self.system(errno),
            }
        }
        let follow = if self.policy.links == Links::Never { Follow::No } else { Follow::Inside };
        let handle = match beneath::open(self.root.dir.as_fd(), relative, flags, follow) {
            Ok(handle) => handle,
            Err(errno) => return self.system(errno),
        };
        let real = self.name_below_root(&handle)?;
        if let Some(reason) = self.policy.protects(&self.root, &real, self.access) {
            return Err(refuse(reason));
        }
        Ok(Ok((handle, real)))
    }

    fn system<T>(&self, errno: Errno) -> Result<Result<T, Errno>, Denied> {
        let reason = match errno {
            Errno::XDEV => Reason::Escapes,
            Errno::LOOP if self.policy.links == Links::Never => Reason::Link,
            Errno::LOOP => Reason::Loop,
            Errno::AGAIN => Reason::Unstable,
            Errno::NAMETOOLONG => Reason::TooLong { limit: 4095 },
            other => return Ok(Err(other)),
        };
        Err(self.denied(Layer::Resolve, reason))
    }

    fn name_below_root(&self, handle: &OwnedFd) -> Result<PathBuf, Denied> {
        let refuse = |reason| self.denied(Layer::Resolve, reason);
        let ask = |handle: &OwnedFd| {
            platform::real_name(handle).map_err(|errno| match errno {
                Errno::NAMETOOLONG => refuse(Reason::TooLong { limit: 4095 }),
                _ => refuse(Reason::Unstable),
            })
        };
        for _ in 0..ATTEMPTS {
            // The root may have been renamed since the snapshot was made, or between these two
            // questions; only a name below the root's present name says where the file lies.
            let (root, name) = (ask(&self.root.dir)?, ask(handle)?);
            if let Ok(below) = name.strip_prefix(&root) {
                return Ok(below.to_owned());
            }
        }
        Err(refuse(Reason::Escapes))
    }

    fn refuse_shared(&self, object: &Object) -> Result<(), Denied> {
        match self.policy.refuses_shared(&self.root, &object.stat) {
            Some(reason) => Err(self.denied(Layer::Resolve, reason)),
            None => Ok(()),
        }
    }

    fn safe(self, place: Place) -> Result<SafePath, Denied> {
        // Where the words are the name, layer 2 has judged it already.
        if place.real != clean(&self.relative)
            && let Some(reason) = self.policy.protects(&self.root, &place.real, self.access)
        {
            return Err(self.denied(Layer::Resolve, reason));
        }
        let closed = place.parent.as_ref().and_then(|want| {
            let root = || self.policy.refuses_root(want, self.access);
            self.policy.refuses_control(want, self.access).or_else(root)
        });
        if let Some(reason) = closed {
            return Err(self.denied(Layer::Resolve, reason));
        }
        Ok(SafePath::new(self.root, self.policy, self.raw, self.access, place))
    }

    fn denied(&self, layer: Layer, reason: Reason) -> Denied {
        Denied { layer, reason, path: self.raw.clone(), bases: self.policy.shown_roots.clone() }
    }
}

/// The same path without `.` parts.
fn clean(relative: &Path) -> PathBuf {
    relative.components().filter(|part| *part != Component::CurDir).collect()
}
