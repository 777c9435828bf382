//! The rules that travel with every handle: one verdict for a file, whichever root it is
//! reached from.

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::fs::Stat;

use crate::{
    Access, ControlFiles, DenyList, Kind, Reason, built_in::BuiltInNames, closed::ClosedIndex,
    links::LinkIndex, lock::WriteLocks, place::Parent, platform::identity, root::Root,
};

/// The treatment of symbolic links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Followed while they stay beneath their root.
    #[default]
    Inside,
    /// Any link on the way is a refusal.
    Never,
}

/// The rules of a snapshot about names and links.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) built_in: BuiltInNames,
    pub(crate) deny: DenyList,
    pub(crate) read_only: DenyList,
    pub(crate) control: Arc<ControlFiles>,
    pub(crate) links: Links,
    pub(crate) hard_links: bool,
    pub(crate) index: LinkIndex,
    pub(crate) closed: ClosedIndex,
    pub(crate) locks: WriteLocks,
    /// Every base directory, for what one of them says about a file of another.
    pub(crate) bases: Vec<Arc<Root>>,
    /// Directories around them that open nothing; their protected names count all the same.
    pub(crate) anchors: Vec<Arc<Root>>,
    pub(crate) roots: Vec<PathBuf>,
    /// The roots as far as a refusal names them.
    pub(crate) shown_roots: Vec<PathBuf>,
    pub(crate) primary: PathBuf,
}

impl Policy {
    /// Why a path below a root may not be used so, if it may not.
    pub(crate) fn protects(&self, root: &Root, relative: &Path, access: Access) -> Option<Reason> {
        if let Some(rule) = self.denies(root, relative) {
            return Some(Reason::Protected { rule: rule.to_owned() });
        }
        if !access.changes() {
            return None;
        }
        let rule = spelled(root, relative, |path| self.read_only.matches(path));
        rule.map(|rule| Reason::ReadOnly { rule: rule.to_owned() })
    }

    /// The rule that protects a path below a root, if one does.
    pub(crate) fn denies(&self, root: &Root, relative: &Path) -> Option<&str> {
        spelled(root, relative, |path| self.deny.matches(path).or_else(|| self.built_in.matches(path)))
    }

    /// The same for the last name of a path whose folder was judged before.
    pub(crate) fn hides(&self, root: &Root, folder: &Path, name: &OsStr) -> Option<&str> {
        let near = self.deny.matches_entry(folder, name);
        let near = near.or_else(|| self.built_in.matches_entry(folder, name));
        if near.is_some() || root.spellings.is_empty() { near } else { self.denies(root, &folder.join(name)) }
    }

    /// The full paths of all protected names beneath the base directories that are there now.
    pub(crate) fn closed_in_roots(&self) -> io::Result<Vec<PathBuf>> {
        self.closed.below(&self.bases, &|root: &Root, folder: &Path, name: &OsStr| {
            self.hides(root, folder, name).is_some()
        })
    }

    /// Why a name must not be changed that has a part in our own configuration.
    pub(crate) fn refuses_control(&self, want: &Parent, access: Access) -> Option<Reason> {
        self.control.closes(want, access).then_some(Reason::Configures)
    }

    /// Why an entry must not be changed that is an allowed directory itself, whichever root leads to it.
    pub(crate) fn refuses_root(&self, want: &Parent, access: Access) -> Option<Reason> {
        let stat = want.look().filter(|stat| access.changes() && Kind::of(stat) == Kind::Directory)?;
        let is_it = |root: &Arc<Root>| {
            rustix::fs::fstat(&root.dir).is_ok_and(|own| identity(&own) == identity(&stat))
        };
        self.bases.iter().chain(&self.anchors).any(is_it).then_some(Reason::Nameless)
    }

    /// True for a file one of whose other names is protected.
    pub(crate) fn protected_alias(&self, root: &Arc<Root>, stat: &Stat) -> bool {
        let roots = self.bases.iter().chain(&self.anchors);
        let hides = |root: &Root, folder: &Path, name: &OsStr| self.hides(root, folder, name).is_some();
        stat.st_nlink > 1 && Kind::of(stat) == Kind::File && self.index.holds(roots, root, hides, stat)
    }

    /// Why a file with several names may not be changed, if it may not.
    pub(crate) fn refuses_shared(&self, root: &Arc<Root>, stat: &Stat) -> Option<Reason> {
        if stat.st_nlink < 2 || Kind::of(stat) != Kind::File {
            return None;
        }
        if !self.hard_links {
            return Some(Reason::HardLinked);
        }
        self.protected_alias(root, stat).then_some(Reason::ProtectedAlias)
    }
}

fn spelled<'a>(root: &Root, relative: &Path, judge: impl Fn(&Path) -> Option<&'a str>) -> Option<&'a str> {
    judge(relative).or_else(|| root.spellings.iter().find_map(|spelling| judge(&spelling.spell(relative)?)))
}
