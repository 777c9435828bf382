//! Ignore rules as git and ripgrep read them: `.gitignore`, `.ignore` and `.git/info/exclude`,
//! nested, the deepest word first.
//!
//! They hold in any directory, repository or not. Rules outside the allowed directories
//! (a user's global excludes) are not read.

use std::{ffi::OsStr, fs::File, io::Read, os::unix::ffi::OsStrExt, path::Path, sync::Arc};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder, Glob},
};
use tectum_core::security::{Above, Folder};

/// More of an ignore file than this is not read.
const MOST_RULES: u64 = 1024 * 1024;

/// The rules in force in one folder. Cheap to clone; folders without rules share their parent's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ignores(Option<Arc<Level>>);

/// The decision of the rules about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Leave it out.
    Ignore,
    /// A negated rule asks for it, even if it is hidden.
    Keep,
    /// Nothing.
    Nothing,
}

/// The rule files of one folder, below those of the folders above it.
#[derive(Debug)]
struct Level {
    above: Ignores,
    /// The bytes of a path from the root that lead to this folder, its slash included.
    base: usize,
    ignore: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    /// A repository begins here: git rules further up do not reach in.
    repository: bool,
}

impl Ignores {
    /// The rules in force inside a folder being walked. `base` is the length of its path from
    /// the root, its slash included.
    pub(crate) fn enter<S>(&self, folder: &Folder<'_, S>, base: usize) -> Self {
        let (mut ignore, mut git, mut repository) = (false, false, false);
        for entry in &folder.entries {
            match entry.name.as_bytes() {
                b".ignore" => ignore = true,
                b".gitignore" => git = true,
                b".git" => repository = true,
                _ => {}
            }
        }
        if !(ignore || git || repository) {
            return self.clone();
        }
        let read = |there: bool, name: &str| {
            if there { parse(folder.open_below(Path::new(name))) } else { Gitignore::empty() }
        };
        self.below(Level {
            above: self.clone(),
            base,
            ignore: read(ignore, ".ignore"),
            git: read(git, ".gitignore"),
            exclude: read(repository, ".git/info/exclude"),
            repository,
        })
    }

    /// The same for a folder above the start of the walk.
    pub(crate) fn enter_above(&self, folder: &Above<'_>, base: usize) -> Self {
        let read = |name: &str| parse(folder.open(Path::new(name)));
        let repository = folder.has(OsStr::new(".git"));
        self.below(Level {
            above: self.clone(),
            base,
            ignore: read(".ignore"),
            git: read(".gitignore"),
            exclude: if repository { read(".git/info/exclude") } else { Gitignore::empty() },
            repository,
        })
    }

    fn below(&self, level: Level) -> Self {
        let silent = level.ignore.is_empty() && level.git.is_empty() && level.exclude.is_empty();
        if silent && (self.0.is_none() || !level.repository) {
            self.clone()
        } else {
            Self(Some(Arc::new(level)))
        }
    }

    /// The decision of the rules about a path from the root. The folders above it were asked before.
    pub(crate) fn word(&self, path: &[u8], is_dir: bool) -> Word {
        match self.rule(path, is_dir) {
            Match::None => Word::Nothing,
            Match::Ignore(_) => Word::Ignore,
            Match::Whitelist(_) => Word::Keep,
        }
    }

    /// True if a rule leaves out all that a folder holds by naming it: `scripts/*`. The folder itself
    /// is not ignored then, but nothing in it can be seen.
    pub(crate) fn empties(&self, folder: &[u8]) -> bool {
        let inside = [folder, b"/\x7f"].concat();
        let Match::Ignore(rule) = self.rule(&inside, false) else { return false };
        let named = rule.original().trim_end_matches('*').strip_suffix('/').unwrap_or_default();
        named.contains(|c| !matches!(c, '*' | '/'))
    }

    fn rule(&self, path: &[u8], is_dir: bool) -> Match<&Glob> {
        let (mut git, mut exclude) = (Match::None, Match::None);
        let mut in_repository = true;
        let mut next = &self.0;
        // `.ignore` outranks `.gitignore`, which outranks the repository's excludes; within
        // each kind the deepest file speaks first.
        while let Some(level) = next {
            let relative = Path::new(OsStr::from_bytes(path.get(level.base..).unwrap_or_default()));
            let said = ask(&level.ignore, relative, is_dir);
            if !said.is_none() {
                return said;
            }
            if in_repository {
                if git.is_none() {
                    git = ask(&level.git, relative, is_dir);
                }
                if exclude.is_none() {
                    exclude = ask(&level.exclude, relative, is_dir);
                }
            }
            in_repository &= !level.repository;
            next = &level.above.0;
        }
        git.or(exclude)
    }

    /// True if there are any rules.
    pub(crate) fn none(&self) -> bool {
        self.0.is_none()
    }
}

fn ask<'r>(rules: &'r Gitignore, path: &Path, is_dir: bool) -> Match<&'r Glob> {
    if rules.is_empty() { Match::None } else { rules.matched(path, is_dir) }
}

/// Compiles a rule file. A line that is no rule is passed over, as git does.
fn parse(file: Option<(File, u64)>) -> Gitignore {
    let Some((file, _)) = file else { return Gitignore::empty() };
    let mut bytes = Vec::new();
    if file.take(MOST_RULES).read_to_end(&mut bytes).is_err() {
        return Gitignore::empty();
    }
    let text = String::from_utf8_lossy(&bytes);
    // Paths are handed over relative to the rules' folder, so the matcher has nothing to strip.
    let mut rules = GitignoreBuilder::new("");
    for line in text.trim_start_matches('\u{feff}').lines() {
        let _ = rules.add_line(None, line);
    }
    rules.build().unwrap_or_else(|_| Gitignore::empty())
}
