//! The parts of a repository: git directory, common directory, work tree, object stores, included
//! configuration. Each is opened once, whatever name led to it, and judged by where it lies; git is
//! given what was opened and judged, and nothing else.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use tectum_core::{
    Fault, FaultKind,
    security::{Kind, Part, SafePath, Standing},
};

use super::configuration::Configuration;

/// A file that names another one, such as `.git`, `commondir` or `gitdir`.
const POINTER: u64 = 16 * 1024;
/// A list of object stores.
const ALTERNATES: u64 = 64 * 1024;
/// Object stores of one repository.
const MOST_STORES: usize = 50;
/// Files of configuration that include each other.
const MOST_INCLUDED: usize = 20;

/// A repository that may be read.
#[derive(Debug)]
pub(super) struct Parts {
    /// The root of the work tree.
    pub(super) top: Part,
    /// The nearest directory of the granted path.
    pub(super) folder: Part,
    /// The git directory.
    pub(super) dir: Part,
    /// The git directory that worktrees share; the same where there is but one.
    pub(super) common: Part,
    /// Object stores and included files of configuration.
    pub(super) others: Vec<Part>,
    /// The content of the repository's files of configuration.
    pub(super) configuration: Configuration,
}

/// Reads one file of configuration.
pub(super) type Reads<'f> = dyn Fn(&Part) -> Result<Configuration, Fault> + 'f;

/// Finds the parts of the repository that a granted path belongs to.
pub(super) struct Finder<'f> {
    pub(super) path: &'f SafePath,
    /// Places outside of the base directories that the user allows.
    pub(super) allowed: &'f [PathBuf],
    pub(super) read: &'f Reads<'f>,
}

impl Parts {
    /// True if the same objects were found again.
    pub(super) fn is(&self, other: &Self) -> bool {
        let all = |parts: &Self| {
            let fixed = [&parts.top, &parts.dir, &parts.common].map(Part::identity);
            fixed.into_iter().chain(parts.others.iter().map(Part::identity)).collect::<Vec<_>>()
        };
        all(self) == all(other)
    }
}

impl Finder<'_> {
    /// Climbs from the path to the first directory that has a repository.
    pub(super) fn find(&self) -> Result<Parts, Fault> {
        let mut folders = self.path.folders().into_iter();
        let Some(folder) = folders.next() else { return Err(no_repository()) };
        let mut top = self.open(&folder, ".".as_ref())?;
        loop {
            if let Some(dir) = self.git_directory(&top)? {
                return self.judge(folder, top, dir);
            }
            top = folders.next().ok_or_else(no_repository)?;
        }
    }

    fn open(&self, from: &Part, name: &Path) -> Result<Part, Fault> {
        self.path.part(from, name).map_err(moved)
    }

    /// The target of a name, if anything is there.
    fn look(&self, from: &Part, name: &Path) -> Option<Part> {
        self.path.part(from, name).ok()
    }

    fn git_directory(&self, top: &Part) -> Result<Option<Part>, Fault> {
        if top.kind_below(".git").is_none() {
            return Ok(None);
        }
        let Some(mut dir) = self.look(top, ".git".as_ref()) else { return Ok(None) };
        if dir.kind() == Kind::File {
            let text = dir.read(POINTER).map_err(moved)?;
            let Some(named) = text.strip_prefix(b"gitdir: ") else {
                return Err(Fault::conflict("the `.git` file here does not name a git directory"));
            };
            dir = self.look(top, pointed(named)).ok_or_else(|| {
                Fault::not_found("the `.git` file here names a git directory that is not there")
                    .hint("`git worktree repair` or `git submodule update` mends it")
            })?;
        }
        Ok((dir.kind() == Kind::Directory && dir.kind_below("HEAD").is_some()).then_some(dir))
    }

    fn judge(&self, folder: Part, top: Part, dir: Part) -> Result<Parts, Fault> {
        if folder.name().starts_with(dir.name()) {
            return Err(Fault::invalid("this lies in git's own directory; there is no work tree")
                .hint("name a path in the work tree"));
        }
        let common = match self.look(&dir, "commondir".as_ref()) {
            Some(file) => {
                let text = file.read(POINTER).map_err(moved)?;
                self.open(&dir, pointed(&text))?
            }
            None => self.open(&dir, ".".as_ref())?,
        };
        let single = dir.identity() == common.identity();
        let config = self.look(&common, "config".as_ref());
        let mut configuration = config.as_ref().map_or_else(|| Ok(Configuration::default()), self.read)?;
        let named = configuration.value("core.worktree").filter(|_| single);
        let named_here = named.map(|named| self.names(&dir, Path::new(OsStr::from_bytes(named)), &top));
        let paired = dir.standing() == Standing::Outside
            && (named_here == Some(true) || self.is_worktree(&top, &dir, &common));
        let judged = Judged { finder: self, own: paired.then_some(&common) };
        judged.admit("git directory", &dir)?;
        judged.admit("common git directory", &common)?;
        if named_here == Some(false) {
            return Err(Fault::new(
                FaultKind::Permission,
                "the repository's work tree is elsewhere: `core.worktree` in its configuration names another",
            )
            .hint("name a path in that work tree, or remove the setting"));
        }
        if !self.is_allowed(&dir) {
            judged.admit("work tree", &top)?;
        }
        let mut others = judged.stores(&common)?;
        let worktree = self.look(&dir, "config.worktree".as_ref());
        for file in config.iter().chain(&worktree) {
            judged.admit("configuration", file)?;
        }
        if let Some(file) = &worktree {
            configuration.add((self.read)(file)?);
        }
        let included = judged.included(&common, &mut configuration)?;
        others.extend(config.into_iter().chain(worktree).chain(included));
        Ok(Parts { top, folder, dir, common, others, configuration })
    }

    /// True if a path in the git directory leads to the work tree that was found.
    fn names(&self, dir: &Part, named: &Path, top: &Part) -> bool {
        self.look(dir, named).is_some_and(|named| named.identity() == top.identity())
    }

    /// True if the other side says that this folder is a worktree of it.
    fn is_worktree(&self, top: &Part, dir: &Part, common: &Part) -> bool {
        let back = || {
            let text = self.look(dir, "gitdir".as_ref())?.read(POINTER).ok()?;
            let named = self.look(dir, pointed(&text))?;
            let above = self.look(dir, "../..".as_ref())?;
            let here = self.look(top, ".git".as_ref())?;
            Some(named.identity() == here.identity() && above.identity() == common.identity())
        };
        common.standing() == Standing::Outside && back().unwrap_or(false)
    }

    fn is_allowed(&self, part: &Part) -> bool {
        self.allowed.iter().any(|allowed| part.name().starts_with(allowed))
    }
}

/// The judgement of one repository's parts.
struct Judged<'j, 'f> {
    finder: &'j Finder<'f>,
    /// A git directory outside that belongs to this very work tree.
    own: Option<&'j Part>,
}

impl Judged<'_, '_> {
    fn admit(&self, what: &str, part: &Part) -> Result<(), Fault> {
        let own = self.own.is_some_and(|own| part.name().starts_with(own.name()));
        let place = part.name().display();
        let lies = format!("the repository's {what} lies at {place}");
        let refusal = |why: &str| Fault::new(FaultKind::Permission, format!("{lies}, {why}"));
        match part.standing() {
            Standing::Inside => Ok(()),
            Standing::Protected => Err(refusal("which a rule protects")),
            Standing::Outside if own || self.finder.is_allowed(part) => Ok(()),
            Standing::Outside => Err(refusal("outside of the served directories").hint(format!(
                "if it should be read, write `[workspace] git_dirs = [\"{place}\"]` in your own tectum.toml; \
                 a project's is not asked"
            ))),
        }
    }

    /// Every object store: the repository's own, and those that stores name as alternates.
    fn stores(&self, common: &Part) -> Result<Vec<Part>, Fault> {
        let Some(own) = self.finder.look(common, "objects".as_ref()) else { return Ok(Vec::new()) };
        let mut stores = vec![own];
        let mut next = 0;
        while let Some(store) = stores.get(next) {
            self.admit("object store", store)?;
            let listed = match self.finder.look(store, "info/alternates".as_ref()) {
                Some(file) => {
                    self.admit("list of alternates", &file)?;
                    file.read(ALTERNATES).map_err(moved)?
                }
                None => Vec::new(),
            };
            let mut found = Vec::new();
            for line in listed.split(|byte| *byte == b'\n') {
                match line {
                    [] | [b'#', ..] => {}
                    [b'"', ..] => {
                        return Err(Fault::conflict("a quoted name among the alternates is not read"));
                    }
                    line => found.extend(self.finder.look(store, Path::new(OsStr::from_bytes(line)))),
                }
            }
            for store in found {
                if stores.iter().all(|known| known.identity() != store.identity()) {
                    stores.push(store);
                }
            }
            if stores.len() > MOST_STORES {
                return Err(Fault::new(FaultKind::TooLarge, "the repository has too many object stores"));
            }
            next += 1;
        }
        Ok(stores)
    }

    /// Every file of configuration that another one includes, with what it says.
    fn included(&self, common: &Part, configuration: &mut Configuration) -> Result<Vec<Part>, Fault> {
        let mut found = Vec::new();
        let mut waiting: Vec<(Part, PathBuf)> = Vec::new();
        for name in configuration.included() {
            waiting.push((self.finder.open(common, ".".as_ref())?, name));
        }
        while let Some((from, name)) = waiting.pop() {
            // One that is not there is passed over, by git as well.
            let Some(file) = self.finder.look(&from, &name) else { continue };
            self.admit("included configuration", &file)?;
            if file.kind() == Kind::File {
                let said = (self.finder.read)(&file)?;
                for deeper in said.included() {
                    let folder = Path::new(".").join(name.parent().unwrap_or(Path::new("")));
                    let folder = self.finder.open(&from, &folder)?;
                    waiting.push((folder, deeper));
                }
                configuration.add(said);
            }
            found.push(file);
            if found.len() > MOST_INCLUDED {
                return Err(Fault::new(FaultKind::TooLarge, "too many files of configuration are included"));
            }
        }
        Ok(found)
    }
}

/// The path in a file that names another one.
fn pointed(text: &[u8]) -> &Path {
    let end = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |last| last + 1);
    Path::new(OsStr::from_bytes(&text[..end]))
}

fn no_repository() -> Fault {
    Fault::not_found("this is not in a git repository")
        .hint("name a path inside one; list_directory shows where a .git is")
}

fn moved(error: std::io::Error) -> Fault {
    let mut fault = Fault::conflict("a part of the repository could not be opened").hint("try again");
    fault.source = Some(error.into());
    fault
}
