//! Layer 2: the words of a path, judged before anything is touched.
//!
//! The order is fixed: blacklist, tracked files, working directory, base directories, no.

use std::{
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use crate::{
    Access, Allowlist, Denied, Layer, RawPath, Reason, Stamp, allowlist::Tracked, policy::Policy, root::Root,
};

/// The longest path the kernel takes.
const MAX_PATH: usize = 4096;
/// The longest single name.
const MAX_NAME: usize = 255;

/// A path that passed layers 1 and 2 and waits to be resolved.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub(crate) root: Arc<Root>,
    pub(crate) relative: PathBuf,
    pub(crate) access: Access,
    pub(crate) raw: RawPath,
    pub(crate) policy: Arc<Policy>,
}

impl Candidate {
    /// What tells the file's state from another one, without opening it: for asking often whether
    /// anything changed. Whoever wants to know more resolves it.
    pub fn stamp(&self) -> Option<Stamp> {
        let stat = rustix::fs::statat(&self.root.dir, &self.relative, rustix::fs::AtFlags::empty()).ok()?;
        Some(Stamp::of(&stat))
    }
}

impl Allowlist {
    /// Judges the words of a path: layers 1 and 2.
    pub fn admit(&self, raw: &RawPath, access: Access) -> Result<Candidate, Denied> {
        let deny = |layer, reason| self.refusal(raw, layer, reason);
        let path = lex(raw.as_str()).map_err(|reason| deny(Layer::Validate, reason))?;
        let place = self.locate(&path);
        // The blacklist speaks first, also about what lies outside every root. A path with `..`
        // is judged by all the names it mentions and by the name it comes to.
        let reason = match &place {
            Ok((root, relative)) => {
                let protects = |name: &Path| self.policy.protects(root, name, access);
                let plain = relative.components().all(|part| part != Component::ParentDir);
                let detour = || if plain { None } else { protects(&taken_back(relative)?) };
                protects(&names(relative)).or_else(detour)
            }
            Err(_) => {
                path.file_name().and_then(|name| self.policy.protects(&self.primary, name.as_ref(), access))
            }
        };
        if let Some(reason) = reason {
            return Err(deny(Layer::Validate, reason));
        }
        let (root, relative) = place.map_err(|(layer, reason)| deny(layer, reason))?;
        Ok(Candidate { root, relative, access, raw: raw.clone(), policy: self.policy.clone() })
    }

    /// The root that covers a path, and what remains below it: tracked files first, then the
    /// bases (the working directory stands among them when there was no other).
    fn locate(&self, path: &Path) -> Result<(Arc<Root>, PathBuf), (Layer, Reason)> {
        if let Some(tracked) = self.tracked.iter().find(|tracked| tracked.is(path, &self.primary)) {
            return Ok((tracked.root.clone(), tracked.name.clone()));
        }
        let (root, relative) = if path.is_relative() {
            // A primary base that exists only to hold tracked files opens nothing else.
            let opens = self.bases.iter().any(|base| Arc::ptr_eq(base, &self.primary));
            (opens.then_some(&self.primary), path)
        } else {
            // The deepest root wins, so a nested root is opened beneath its own handle; but not
            // when `..` leads from there into the root around it.
            let below = self.bases.iter().filter_map(|base| Some((base, base.strip(path)?)));
            match below.min_by_key(|(_, relative)| (climbs_out(relative), relative.components().count())) {
                Some((base, relative)) => (Some(base), relative),
                None => (None, path),
            }
        };
        let root = root.ok_or((Layer::Allowlist, Reason::Outside))?;
        if climbs_out(relative) {
            return Err((Layer::Validate, Reason::Traversal));
        }
        Ok((root.clone(), relative.to_owned()))
    }

    /// The words a permission rule is matched against: relative to the primary base, without
    /// `.` and with `..` taken back, so that one file has one spelling. `None` where a path
    /// cannot be spelled that way; such a path is refused by [`Allowlist::admit`] anyway.
    pub fn subject(&self, raw: &RawPath) -> Option<String> {
        let path = lex(raw.as_str()).ok()?;
        let below = if path.is_absolute() { self.primary.strip(&path).unwrap_or(&path) } else { &path };
        Some(taken_back(below)?.to_str()?.to_owned())
    }

    /// True when names are spelled differently from the anchor.
    pub fn is_moved(&self) -> bool {
        self.anchor.path != self.primary.path
    }

    /// A name as [`Allowlist::subject`] and [`SafePath::name`](crate::SafePath::name) spell it, spelled
    /// from the anchor: rules that were written for that directory mean it wherever the first base is.
    pub fn anchored(&self, name: &str) -> String {
        let here = matches!(name, "" | ".");
        let full = if here { self.primary.path.clone() } else { self.primary.path.join(name) };
        let below = self.anchor.strip(&full).unwrap_or(&full);
        if below.as_os_str().is_empty() { ".".into() } else { below.to_string_lossy().into_owned() }
    }

    fn refusal(&self, raw: &RawPath, layer: Layer, reason: Reason) -> Denied {
        Denied { layer, reason, path: raw.clone(), bases: self.policy.shown_roots.clone() }
    }
}

impl Tracked {
    fn is(&self, path: &Path, primary: &Root) -> bool {
        if path.is_absolute() {
            return self.root.strip(path) == Some(self.name.as_path());
        }
        primary.path.join(path) == self.root.path.join(&self.name)
    }
}

/// The path's text as a path, or why it cannot be one.
fn lex(text: &str) -> Result<PathBuf, Reason> {
    if text.is_empty() {
        return Err(Reason::Empty);
    }
    if text.chars().any(char::is_control) {
        return Err(Reason::ControlCharacter);
    }
    if text.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("file://")) {
        return Err(Reason::Url);
    }
    let bytes = text.as_bytes();
    let drive = bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    let drive = drive && matches!(bytes.get(2), None | Some(b'/' | b'\\'));
    if drive || text.starts_with(r"\\") || text.starts_with("//") {
        return Err(Reason::ForeignForm);
    }
    if text.len() >= MAX_PATH || text.split('/').any(|name| name.len() > MAX_NAME) {
        return Err(Reason::TooLong { limit: MAX_PATH - 1 });
    }
    Ok(text.into())
}

/// The names of a path, without root and dots, for matching deny patterns.
fn names(path: &Path) -> PathBuf {
    path.components().filter(|part| matches!(part, Component::Normal(_))).collect()
}

/// The path with each `..` taken back by the name before it; `None` when there is no such name.
fn taken_back(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop().then_some(())?),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    Some(plain)
}

/// True when `..` outnumber the names before them somewhere.
fn climbs_out(relative: &Path) -> bool {
    let mut depth = 0_i32;
    for part in relative.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::ParentDir => depth -= 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return true,
        }
        if depth < 0 {
            return true;
        }
    }
    false
}
