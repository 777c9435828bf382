//! The ground of a walk: each folder's rules and paths, and what is to be seen of its entries.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use tectum_core::security::{Folder, Kind, SafePath};

use super::{
    ignores::{Ignores, Word},
    spelling,
};

/// The directory a walk starts from, with the ignore rules that reach it from above.
#[derive(Debug)]
pub(crate) struct Ground {
    /// The rules at the start.
    pub(crate) start: Ignores,
    honour: bool,
    /// The start's path from its root.
    prefix: PathBuf,
    /// The start's name as the caller can use it; empty for the primary base itself.
    name: String,
}

/// The state of an entry before anything else is asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// To be seen.
    Shown,
    /// An ignore rule leaves it out.
    Ignored,
    /// Its name starts with a dot, and no rule asks for it.
    Hidden,
}

/// One folder on the way, with room to spell the paths of its entries.
#[derive(Debug)]
pub(crate) struct Here {
    /// The rules inside this folder; what lies below it inherits them.
    pub(crate) ignores: Ignores,
    path: Vec<u8>,
    folder: usize,
    start: usize,
}

impl Ground {
    /// Looks at a directory. A start that is itself ignored, or all it holds, was asked for by name:
    /// then the rules above it do not count.
    pub(crate) fn look(path: &SafePath, honour_ignores: bool) -> Self {
        let name = path.name();
        let name = if name == "." { String::new() } else { name };
        let above = path.above();
        let prefix = above.first().map(|root| root.below.clone()).unwrap_or_default();
        let mut start = Ignores::default();
        if honour_ignores {
            for folder in &above {
                let from_root = prefix.as_os_str().len() - folder.below.as_os_str().len();
                start = start.enter_above(folder, from_root);
                let child = folder.below.components().next().map_or(0, |part| part.as_os_str().len());
                if start.word(&prefix.as_os_str().as_bytes()[..from_root + child], true) == Word::Ignore {
                    start = Ignores::default();
                    break;
                }
            }
            if !prefix.as_os_str().is_empty() && start.empties(prefix.as_os_str().as_bytes()) {
                start = Ignores::default();
            }
        }
        Self { start, honour: honour_ignores, prefix, name }
    }

    /// Enters a folder of the walk, whose inherited rules are `ignores`, and reads its own.
    pub(crate) fn enter<S>(&self, folder: &Folder<'_, S>, ignores: &Ignores) -> Here {
        let mut here = self.inside(folder, ignores);
        if self.honour {
            here.ignores = ignores.enter(folder, here.folder);
        }
        here
    }

    /// The same for a folder whose rules `ignores` holds already.
    pub(crate) fn inside<S>(&self, folder: &Folder<'_, S>, ignores: &Ignores) -> Here {
        self.at(folder.path, ignores)
    }

    /// The same for a folder that is not being walked, by its path below the start.
    pub(crate) fn at(&self, folder: &Path, ignores: &Ignores) -> Here {
        let mut path = Vec::with_capacity(256);
        push_folder(&mut path, &self.prefix);
        let start = path.len();
        push_folder(&mut path, folder);
        Here { ignores: ignores.clone(), folder: path.len(), start, path }
    }

    /// A path below the start with the start before it, in the bytes it really has.
    pub(crate) fn raw(&self, below: &Path) -> Vec<u8> {
        let mut path = Vec::with_capacity(self.name.len() + 1 + below.as_os_str().len());
        push_folder(&mut path, Path::new(&self.name));
        path.extend_from_slice(below.as_os_str().as_bytes());
        path
    }

    /// A path below the start, as the caller can use it in another call.
    pub(crate) fn spell(&self, below: &Path) -> String {
        let below = spelling::spell(below.as_os_str());
        if self.name.is_empty() { below.into_owned() } else { format!("{}/{below}", self.name) }
    }
}

impl Here {
    /// Says how an entry stands.
    pub(crate) fn judge(&mut self, name: &OsStr, kind: Kind) -> Standing {
        let word = if self.ignores.none() { Word::Nothing } else { self.word(name, kind) };
        match word {
            Word::Ignore => Standing::Ignored,
            Word::Nothing if name.as_bytes().first() == Some(&b'.') => Standing::Hidden,
            Word::Keep | Word::Nothing => Standing::Shown,
        }
    }

    /// An entry's path below the start of the walk.
    pub(crate) fn below(&mut self, name: &OsStr) -> &Path {
        self.spell(name);
        Path::new(OsStr::from_bytes(&self.path[self.start..]))
    }

    fn word(&mut self, name: &OsStr, kind: Kind) -> Word {
        self.spell(name);
        self.ignores.word(&self.path, kind == Kind::Directory)
    }

    fn spell(&mut self, name: &OsStr) {
        self.path.truncate(self.folder);
        self.path.extend_from_slice(name.as_bytes());
    }
}

fn push_folder(path: &mut Vec<u8>, folder: &Path) {
    if !folder.as_os_str().is_empty() {
        path.extend_from_slice(folder.as_os_str().as_bytes());
        path.push(b'/');
    }
}
