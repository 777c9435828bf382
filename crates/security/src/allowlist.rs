//! Layer 1: what may be reached at all.
//!
//! An [`Allowlist`] is an immutable snapshot: tracked files, base directories, the primary
//! base and the deny lists, with every root held open. A new configuration is a new snapshot,
//! so parallel calls never see half of one.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    ControlFiles, DenyList, beneath,
    built_in::{BuiltInNames, OURS, READ_ONLY},
    closed::ClosedIndex,
    links::LinkIndex,
    lock::WriteLocks,
    policy::{Links, Policy},
    root::Root,
};

/// The reach of a tracked file outside the base directories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrackedOpens {
    /// Itself only.
    #[default]
    File,
    /// The whole directory it lies in.
    Directory,
}

/// The paths that an agent may reach. Cheap to share, never changed.
#[derive(Debug)]
pub struct Allowlist {
    pub(crate) bases: Vec<Arc<Root>>,
    pub(crate) tracked: Vec<Tracked>,
    pub(crate) primary: Arc<Root>,
    pub(crate) anchor: Arc<Root>,
    pub(crate) policy: Arc<Policy>,
}

/// One tracked file: a root that opens a single name.
#[derive(Debug)]
pub(crate) struct Tracked {
    pub(crate) root: Arc<Root>,
    pub(crate) name: PathBuf,
}

impl Allowlist {
    /// Starts a snapshot.
    pub fn builder() -> AllowlistBuilder {
        AllowlistBuilder::default()
    }

    /// The directories a refusal names.
    pub fn base_directories(&self) -> &[PathBuf] {
        &self.policy.roots
    }

    /// The full paths of all protected names beneath the base directories that are there now; of a
    /// protected directory its own.
    pub fn closed(&self) -> io::Result<Vec<PathBuf>> {
        self.policy.closed_in_roots()
    }

    /// The files that configure Tectum and are closed to changes.
    pub fn control_files(&self) -> &Arc<ControlFiles> {
        &self.policy.control
    }

    /// The directory relative paths start from.
    pub fn primary(&self) -> &Path {
        &self.primary.path
    }
}

/// Collects what a snapshot is made of.
#[derive(Debug, Default)]
pub struct AllowlistBuilder {
    control: Arc<ControlFiles>,
    hide_roots: bool,
    bases: Vec<PathBuf>,
    anchors: Vec<PathBuf>,
    tracked: Vec<PathBuf>,
    working_directory: Option<PathBuf>,
    deny: Vec<String>,
    read_only: Vec<String>,
    links: Links,
    tracked_opens: TrackedOpens,
    hard_links: bool,
    open: Vec<String>,
}

impl AllowlistBuilder {
    /// Adds a base directory; the first one is the primary base.
    pub fn base(mut self, directory: impl Into<PathBuf>) -> Self {
        self.bases.push(directory.into());
        self
    }

    /// Adds a directory that opens nothing. Patterns are read from it as from a base, so that what
    /// they protect below it stays protected when only a part of it is a base. The first anchor
    /// is where [`Allowlist::anchored`] spells names from.
    pub fn anchor(mut self, directory: impl Into<PathBuf>) -> Self {
        self.anchors.push(directory.into());
        self
    }

    /// Adds a tracked file.
    pub fn tracked(mut self, file: impl Into<PathBuf>) -> Self {
        self.tracked.push(file.into());
        self
    }

    /// The directory that stands in when there is no base directory.
    pub fn working_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.working_directory = Some(directory.into());
        self
    }

    /// Protects names beyond the built-in ones.
    pub fn deny<S: Into<String>>(mut self, patterns: impl IntoIterator<Item = S>) -> Self {
        self.deny.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Makes names read-only beyond the built-in ones.
    pub fn read_only<S: Into<String>>(mut self, patterns: impl IntoIterator<Item = S>) -> Self {
        self.read_only.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Says how symbolic links are treated.
    pub fn links(mut self, links: Links) -> Self {
        self.links = links;
        self
    }

    /// Says what a tracked file opens.
    pub fn tracked_opens(mut self, opens: TrackedOpens) -> Self {
        self.tracked_opens = opens;
        self
    }

    /// Lets a file with other hard links be replaced (the other names keep the old content).
    pub fn break_hard_links(mut self, yes: bool) -> Self {
        self.hard_links = yes;
        self
    }

    /// Closes the files that configure Tectum to every change.
    pub fn control_files(mut self, control: Arc<ControlFiles>) -> Self {
        self.control = control;
        self
    }

    /// Says whether a refusal names the base directories.
    pub fn show_roots(mut self, yes: bool) -> Self {
        self.hide_roots = !yes;
        self
    }

    /// Opens built-in names again. Tectum's own files stay closed, and so does what [`Self::deny`] says.
    pub fn open<S: Into<String>>(mut self, patterns: impl IntoIterator<Item = S>) -> Self {
        self.open.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Opens every root and freezes the snapshot.
    pub fn build(self) -> Result<Allowlist, BuildError> {
        let mut bases = Vec::new();
        for path in &self.bases {
            add(&mut bases, open_root(path)?);
        }
        let mut tracked = Vec::new();
        for file in &self.tracked {
            let (root, name) = open_tracked(file)?;
            match self.tracked_opens {
                TrackedOpens::File => tracked.push((root, name)),
                TrackedOpens::Directory => add(&mut bases, root),
            }
        }
        // The seed's third rule: with no base directory, the working directory stands in.
        if let Some(directory) = &self.working_directory
            && bases.is_empty()
        {
            bases.push(open_root(directory)?);
        }
        // A tracked file below a base is reached through it, so that the base's rules hold.
        tracked.retain(|(root, _)| !bases.iter().any(|base| root.path.starts_with(&base.path)));
        let mut anchors = Vec::new();
        for path in &self.anchors {
            add(&mut anchors, open_root(path)?);
        }
        let first_anchor = anchors.first().map(|anchor| anchor.path.clone());
        anchors.retain(|anchor| !bases.iter().any(|base| base.path == anchor.path));

        let judging: Vec<PathBuf> = bases.iter().chain(&anchors).map(|root| root.path.clone()).collect();
        let seen = |root: Root| Arc::new(root.seen_from(&judging));
        let bases: Vec<_> = bases.into_iter().map(seen).collect();
        let anchors: Vec<_> = anchors.into_iter().map(seen).collect();
        let tracked: Vec<_> =
            tracked.into_iter().map(|(root, name)| Tracked { root: seen(root), name }).collect();
        let primary = bases.first().or(tracked.first().map(|tracked| &tracked.root)).or(anchors.first());
        let primary = primary.ok_or(BuildError::Empty)?.clone();
        let roots = || bases.iter().chain(&anchors);
        let anchor =
            roots().find(|root| Some(&root.path) == first_anchor.as_ref()).unwrap_or(&primary).clone();

        let deny = OURS.iter().map(|s| (*s).to_owned()).chain(self.deny);
        let read_only = READ_ONLY.iter().map(|s| (*s).to_owned()).chain(self.read_only);
        let served: Vec<PathBuf> = bases.iter().map(|root| root.path.clone()).collect();
        let policy = Policy {
            built_in: BuiltInNames::new(spelled(self.open, roots())).map_err(BuildError::Pattern)?,
            deny: compile(deny, roots())?,
            read_only: compile(read_only, roots())?,
            control: self.control,
            links: self.links,
            hard_links: self.hard_links,
            index: LinkIndex::default(),
            closed: ClosedIndex::default(),
            locks: WriteLocks::default(),
            shown_roots: if self.hide_roots { Vec::new() } else { served.clone() },
            roots: served,
            primary: primary.path.clone(),
            bases: bases.clone(),
            anchors,
        };
        Ok(Allowlist { bases, tracked, primary, anchor, policy: Arc::new(policy) })
    }
}

fn add(bases: &mut Vec<Root>, root: Root) {
    if !bases.iter().any(|base| base.path == root.path) {
        bases.push(root);
    }
}

fn compile<'r>(
    patterns: impl IntoIterator<Item = String>,
    roots: impl Iterator<Item = &'r Arc<Root>>,
) -> Result<DenyList, BuildError> {
    DenyList::new(spelled(patterns, roots)).map_err(BuildError::Pattern)
}

/// A pattern written with a root's full name means the same as one read from that root;
/// taken literally it would match nothing.
fn spelled<'r>(
    patterns: impl IntoIterator<Item = String>,
    roots: impl Iterator<Item = &'r Arc<Root>>,
) -> Vec<String> {
    let mut all = Vec::new();
    let names: Vec<&PathBuf> =
        roots.flat_map(|root| [Some(&root.path), root.alias.as_ref()]).flatten().collect();
    for pattern in patterns {
        for name in &names {
            let below = name.to_str().and_then(|name| pattern.strip_prefix(name));
            all.extend(below.filter(|below| below.starts_with('/')).map(str::to_owned));
        }
        all.push(pattern);
    }
    all
}

fn open_root(path: &Path) -> Result<Root, BuildError> {
    let broken = |source| BuildError::Open { path: path.to_owned(), source };
    let real = canonical(path).map_err(broken)?;
    let dir = beneath::open_root(&real).map_err(broken)?;
    let absolute = std::path::absolute(path).map_err(broken)?;
    let alias = (absolute != real).then_some(absolute);
    Ok(Root { dir, path: real, alias, spellings: Vec::new() })
}

fn open_tracked(file: &Path) -> Result<(Root, PathBuf), BuildError> {
    let broken = |source| BuildError::Open { path: file.to_owned(), source };
    let real = canonical(file).map_err(broken)?;
    let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(broken(io::Error::other("a tracked file needs a name")));
    };
    let name = PathBuf::from(name);
    Ok((open_root(parent)?, name))
}

#[expect(clippy::disallowed_methods, reason = "the operator's own configuration, not an agent's path")]
fn canonical(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// Why a snapshot could not be made. Nothing is served without one.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// No root at all.
    #[error("no base directory, no tracked file and no working directory: nothing could be reached")]
    Empty,
    /// A root that cannot be opened.
    #[error("cannot open {}: {source}", path.display())]
    Open {
        /// The root.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A pattern that does not compile.
    #[error("deny pattern: {0}")]
    Pattern(String),
}
