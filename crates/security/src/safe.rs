//! A path on which all three layers agreed: an open handle and what can be done with it.

use std::{
    ffi::OsStr,
    fs::File,
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, OFlags, SeekFrom},
    io::Errno,
};

use crate::{
    Abandoned, Access, Denied, Hide, Kind, Layer, MAX_DEPTH, Missing, OpenFile, PathError, RawPath, Reason,
    beneath::{self, Follow},
    kind::{plain_name, size},
    place::{Object, Parent, Place},
    platform,
    policy::Policy,
    root::Root,
};

/// Names beside a missing one that are looked at for a suggestion.
const MOST_NAMES: usize = 1_000;

/// A capability: this object, beneath this root. Only [`Candidate::resolve`](crate::Candidate::resolve) makes one.
#[derive(Debug)]
pub struct SafePath {
    pub(crate) root: Arc<Root>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) raw: RawPath,
    /// The use it was opened for.
    pub(crate) access: Access,
    pub(crate) place: Place,
    pub(crate) hide: Option<Hide>,
    pub(crate) abandoned: Option<Abandoned>,
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name, lossy where it is not Unicode.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// Size in bytes, of files.
    pub size: u64,
}

/// A directory's entries, without the protected ones.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The entries that may be shown, in no order.
    pub entries: Vec<Entry>,
    /// How many names a rule hides.
    pub denied: usize,
    /// Entries left unread because the limit was reached.
    pub cut: bool,
}

impl SafePath {
    /// The full paths of all protected names beneath the base directories of the snapshot that gave this
    /// path; see [`Allowlist::closed`](crate::Allowlist::closed).
    pub fn closed_in_roots(&self) -> io::Result<Vec<PathBuf>> {
        self.policy.closed_in_roots()
    }

    pub(crate) fn new(
        root: Arc<Root>,
        policy: Arc<Policy>,
        raw: RawPath,
        access: Access,
        place: Place,
    ) -> Self {
        Self { root, policy, raw, access, place, hide: None, abandoned: None }
    }

    /// The path as the agent typed it.
    pub fn raw(&self) -> &RawPath {
        &self.raw
    }

    /// The true name: relative to the primary base, absolute outside it.
    pub fn name(&self) -> String {
        self.spelled(&self.place.real)
    }

    /// A true name below the root, spelled the same way.
    pub(crate) fn spelled(&self, real: &Path) -> String {
        let full = self.root.path.join(real);
        let shown = full.strip_prefix(&self.policy.primary).unwrap_or(&full);
        if shown.as_os_str().is_empty() { ".".into() } else { shown.to_string_lossy().into_owned() }
    }

    /// The full true name, for a stable identity.
    pub fn absolute(&self) -> PathBuf {
        self.root.path.join(&self.place.real)
    }

    /// The kind of the object at the path now; `None` when there is nothing.
    pub fn kind(&self) -> Option<Kind> {
        if let Some(Ok(object)) = &self.place.object {
            return Some(Kind::of(&object.stat));
        }
        Some(Kind::of(&self.place.parent.as_ref()?.look()?))
    }

    /// The device and inode of what the path stands for now, a link itself and not its target:
    /// what was moved away and what stands in its place differ in them.
    pub fn identity(&self) -> Option<(u64, u64)> {
        let stat = match &self.place.object {
            Some(Ok(object)) => object.stat,
            _ => self.place.parent.as_ref()?.look()?,
        };
        Some(platform::identity(&stat))
    }

    /// The file, ready to be read. Anything else is an error that says what it is.
    pub fn file(&self) -> Result<OpenFile, PathError> {
        let object = self.object()?;
        let kind = Kind::of(&object.stat);
        if kind != Kind::File {
            return Err(PathError::NotAFile { path: self.name(), kind });
        }
        // The holders of a handle share their place in the file.
        rustix::fs::seek(&*object.handle, SeekFrom::Start(0)).map_err(|errno| self.error(errno))?;
        Ok(OpenFile { file: object.handle.clone(), size: size(&object.stat), name: self.name() })
    }

    /// Up to `limit` entries of the directory, without protected names.
    pub fn list(&self, limit: usize) -> Result<Listing, PathError> {
        let dir = self.directory()?;
        let mut listing = Listing::default();
        for entry in Dir::read_from(dir).map_err(|errno| self.error(errno))? {
            let entry = entry.map_err(|errno| self.error(errno))?;
            let Some(name) = plain_name(&entry) else { continue };
            if self.hides(&self.place.real, name) {
                listing.denied += 1;
                continue;
            }
            if listing.entries.len() == limit {
                listing.cut = true;
                break;
            }
            listing.entries.push(describe(dir, name, entry.file_type()));
        }
        Ok(listing)
    }

    /// True for a path below this directory that is not to be shown: it, or a folder on the
    /// way, is protected or hidden by a rule. What does not lie below is not shown either. It
    /// is judged by its words alone, so it need not exist.
    pub fn hides_below(&self, relative: &Path) -> bool {
        let mut folder = self.place.real.clone();
        for part in relative.components() {
            match part {
                Component::Normal(name) if self.hides(&folder, name) => return true,
                Component::Normal(name) => folder.push(name),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => return true,
            }
        }
        false
    }

    pub(crate) fn directory(&self) -> Result<&File, PathError> {
        let object = self.object()?;
        if Kind::of(&object.stat) != Kind::Directory {
            return Err(PathError::NotADirectory(self.name()));
        }
        Ok(&object.handle)
    }

    fn object(&self) -> Result<&Object, PathError> {
        match &self.place.object {
            Some(Ok(object)) => Ok(object),
            Some(Err(errno)) => Err(self.error(*errno)),
            None => Err(PathError::NotFound(self.missing())),
        }
    }

    pub(crate) fn error(&self, errno: Errno) -> PathError {
        match errno {
            Errno::NOENT => PathError::NotFound(self.missing()),
            errno => PathError::from_errno(self.name(), errno),
        }
    }

    pub(crate) fn fail(&self, error: io::Error) -> PathError {
        match Errno::from_io_error(&error) {
            Some(errno) => self.error(errno),
            None => PathError::Io { path: self.name(), source: error },
        }
    }

    /// A refusal that only showed on opening.
    pub(crate) fn denied(&self, reason: Reason) -> Denied {
        Denied {
            layer: Layer::Resolve,
            reason,
            path: self.raw.clone(),
            bases: self.policy.shown_roots.clone(),
        }
    }

    /// The same capability, which stops waiting for its folder when the call is abandoned.
    pub fn unless_abandoned(mut self, abandoned: Abandoned) -> Self {
        self.abandoned = Some(abandoned);
        self
    }

    /// The same capability without the names below it that the filter hides: they are not
    /// listed, not walked into, and a directory that holds one keeps its name and place.
    pub fn hiding(mut self, hide: Hide) -> Self {
        self.hide = Some(hide);
        self
    }

    /// Why a rule hides a path below the root, if one does.
    pub(crate) fn ruled(&self, real: &Path) -> Option<Reason> {
        self.rule(&self.spelled(real)).map(|rule| Reason::Ruled { rule })
    }

    /// The rule that hides a name, spelled as [`SafePath::name`] spells it.
    pub(crate) fn rule(&self, spelled: &str) -> Option<String> {
        self.hide.as_ref()?.rule(spelled)
    }

    /// True for a name of a folder below the root that is not to be shown.
    pub(crate) fn hides(&self, folder: &Path, name: &OsStr) -> bool {
        self.policy.hides(&self.root, folder, name).is_some()
            || (self.hide.is_some() && self.ruled(&folder.join(name)).is_some())
    }

    pub(crate) fn parent(&self) -> Result<&Parent, PathError> {
        match (&self.place.parent, &self.place.object) {
            (Some(parent), _) => Ok(parent),
            (None, Some(Err(errno))) => Err(self.error(*errno)),
            (None, _) => Err(self.fail(io::Error::other("opened for reading only"))),
        }
    }

    /// The same where something is about to be changed: what configures us is looked for again,
    /// since the gate judged what stood here then.
    pub(crate) fn changeable(&self) -> Result<&Parent, PathError> {
        let parent = self.parent()?;
        match self.policy.refuses_control(parent, self.access) {
            Some(reason) => Err(self.denied(reason).into()),
            None => Ok(parent),
        }
    }

    /// The report that nothing stands at this path.
    pub fn missing(&self) -> Missing {
        self.looked_for().unwrap_or_else(|| Missing::plain(self.name()))
    }

    fn looked_for(&self) -> Option<Missing> {
        let real = &self.place.real;
        // A root that is there for single files shows nothing else of its folder.
        let open = self.policy.bases.iter().any(|base| base.path == self.root.path);
        if !open || !real.components().all(|part| matches!(part, Component::Normal(_))) {
            return None;
        }
        let mut way = real.as_path();
        let mut folder = way.parent()?;
        let mut dir = self.folder(folder);
        for _ in 0..MAX_DEPTH {
            if !matches!(dir, Err(Errno::NOENT)) {
                break;
            }
            way = folder;
            folder = way.parent()?;
            dir = self.folder(folder);
        }
        let (dir, name) = (dir.ok()?, way.file_name()?);
        let stat = rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW);
        let dangling = way == real.as_path() && stat.is_ok_and(|stat| Kind::of(&stat) == Kind::Link);
        let shown = |entry: rustix::fs::DirEntry| {
            let name = plain_name(&entry).filter(|name| !self.hides(folder, name))?.to_str()?;
            (!name.contains(char::is_control)).then(|| name.to_owned())
        };
        let entries = Dir::read_from(&dir).ok()?.take(MOST_NAMES);
        Some(Missing {
            path: self.name(),
            dangling,
            name: name.to_string_lossy().into_owned(),
            folder: self.spelled(folder),
            beside: entries.filter_map(|entry| shown(entry.ok()?)).collect(),
        })
    }

    pub(crate) fn folder(&self, folder: &Path) -> Result<OwnedFd, Errno> {
        beneath::open(self.root.dir.as_fd(), folder, OFlags::RDONLY | OFlags::DIRECTORY, Follow::No)
    }
}

fn describe(dir: &File, name: &OsStr, hint: FileType) -> Entry {
    let mut kind = Kind::from(hint);
    let mut bytes = 0;
    // Directories have no size worth a system call.
    if hint != FileType::Directory
        && let Ok(stat) = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
    {
        kind = Kind::of(&stat);
        bytes = size(&stat);
    }
    Entry { name: name.to_string_lossy().into_owned(), kind, size: bytes }
}
