//! The knowledge of git about a granted path. Git is run, never trusted: nothing a repository's own
//! configuration says may start a program, every name is judged before its content is asked for, and
//! git reads no file of the project whose content it would show (see `copies`).

mod changes;
mod configuration;
mod copies;
mod parts;
mod program;
mod repository;
mod revision;

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    time::Instant,
};

use tectum_core::{Fault, security::SafePath};

use crate::run::{Leash, Ran};

use changes::ChangedName;
pub(super) use changes::Counts;
pub(super) use copies::Why;
use program::GIT;
pub(crate) use program::Git;

use copies::Copies;
use repository::Repository;
use revision::{RightSide, Sides};

/// Bytes of names in one command line. The system takes far more; a chunk is kept small because
/// the environment shares the room.
const CHUNK: usize = 64 * 1024;
/// The most that rename detection compares: beyond it, names are shown as added and deleted.
const RENAMES: &str = "-l400";

/// The two sides to compare.
#[derive(Debug)]
pub(super) struct DiffRequest {
    pub(super) base: Option<String>,
    pub(super) head: Option<String>,
    pub(super) staged: bool,
    /// Only counts, no patch.
    pub(super) stat: bool,
    /// Lines around each change.
    pub(super) context: usize,
}

/// The findings.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) base: String,
    pub(super) head: String,
    /// The files that changed, in git's order.
    pub(super) files: Vec<Differing>,
    /// True when nothing of the path is known to git.
    pub(super) untracked: bool,
    /// Names a rule hides.
    pub(super) hidden: usize,
    /// Changed, but not shown.
    pub(super) left: Vec<(String, Why)>,
    /// The patch, as far as it was asked for.
    pub(super) patch: Vec<u8>,
    /// True when there is more of it.
    pub(super) cut: bool,
}

/// One file that differs, with the names replies use.
#[derive(Debug)]
pub(super) struct Differing {
    pub(super) path: String,
    /// Its earlier name, where the patch shows it as renamed.
    pub(super) from: Option<String>,
    /// Git's letter.
    pub(super) status: char,
    pub(super) counts: Counts,
}

/// Compares what the path stands for, giving at most `most` bytes of patch.
pub(super) fn compare(
    git: &Git,
    path: &SafePath,
    asked: &DiffRequest,
    stop: &(dyn Fn() -> bool + Sync),
    until: Instant,
    most: usize,
) -> Result<Comparison, Fault> {
    let wanted =
        revision::WantedRevisions::parse(asked.base.as_deref(), asked.head.as_deref(), asked.staged)?;
    let leash = Leash { who: GIT, slow: "ask for a single file or a smaller directory", stop, until };
    let repository = Repository::find(path, git, leash)?;
    let granted = path.absolute();
    let below = repository.below(&granted)?;
    let sides = wanted.resolve(&repository)?;
    let mut listed = changes::list(&repository, path, &below, &sides)?;
    let names = DiffNames::new(path, &granted, repository.top());
    let spelled = |name: &OsStr| names.spell(&repository.top().join(name));
    let named = |change: &ChangedName| spelled(&change.name);
    let copies = match sides.head {
        RightSide::WorkTree => Some(Copies::make(path, &mut listed.changes, &leash)?),
        RightSide::Index | RightSide::Commit { .. } => None,
    };
    let left = copies.as_ref().map(|copies| copies.left()).unwrap_or_default();
    let left = left.iter().map(|(change, why)| (named(change), *why)).collect();
    let ask = SidesQuery { repository: &repository, tree: copies.as_ref(), sides: &sides };
    let mut files = Vec::new();
    for chunk in chunks(&listed.changes) {
        let counts = ask.counts(chunk)?;
        let counted = |change: &ChangedName| {
            let changes::NamedCounts { counts, from } = counts.get(&change.name)?;
            let status = if from.is_some() { 'R' } else { change.status };
            let from = from.as_deref().map(spelled);
            Some(Differing { path: named(change), from, status, counts: *counts })
        };
        // What only looked different, such as a file that was touched, has no counts, and the
        // old name of what was renamed has none of its own.
        files.extend(chunk.iter().filter_map(counted));
    }
    let nothing = listed.changes.is_empty() && listed.hidden == 0;
    let now = matches!(sides.head, RightSide::WorkTree | RightSide::Index);
    let mut found = Comparison {
        untracked: nothing && now && path.kind().is_some() && !repository.tracks(&below)?,
        base: sides.base_label(),
        head: sides.head_label(),
        files,
        hidden: listed.hidden,
        left,
        patch: Vec::new(),
        cut: false,
    };
    if !asked.stat {
        let flags = names.flags(asked.context);
        for chunk in chunks(&listed.changes) {
            let ran = ask.run(&flags, chunk, most - found.patch.len())?;
            found.patch.extend_from_slice(&ran.out);
            found.cut = ran.cut;
            if found.cut {
                break;
            }
        }
    }
    repository.check_again(path, git)?;
    Ok(found)
}

/// Questions about the same two sides.
struct SidesQuery<'a> {
    repository: &'a Repository<'a>,
    tree: Option<&'a Copies>,
    sides: &'a Sides,
}

impl SidesQuery<'_> {
    fn counts(&self, chunk: &[ChangedName]) -> Result<changes::ByName, Fault> {
        // Renames are found as in the patch, so that both speak of the same files.
        let flags = ["--numstat", "-z", "--find-renames", RENAMES].map(OsString::from);
        let ran = self.run(&flags, chunk, changes::MOST_NAMES)?;
        Ok(changes::parse_counts(&ran.out))
    }

    fn run(&self, flags: &[OsString], chunk: &[ChangedName], most: usize) -> Result<Ran, Fault> {
        let mut args: Vec<OsString> = repository::DIFF.iter().map(OsString::from).collect();
        args.extend_from_slice(flags);
        args.extend(self.sides.args());
        args.push("--".into());
        args.extend(chunk.iter().map(|change| change.name.clone()));
        let tree = self.tree.map(|copies| (copies.handle(), copies.folder()));
        self.repository.git(tree, args, most)?.checked(GIT)
    }
}

/// The changes in parts whose names fit on a command line.
fn chunks(changes: &[ChangedName]) -> Vec<&[ChangedName]> {
    let mut chunks = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, change) in changes.iter().enumerate() {
        if bytes + change.name.len() > CHUNK && at > start {
            chunks.push(&changes[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += change.name.len() + 1;
    }
    if start < changes.len() {
        chunks.push(&changes[start..]);
    }
    chunks
}

/// The spelling of names: as every other tool takes them, wherever the repository's root is.
struct DiffNames {
    /// The directory that relative names start from, when the path lies below it.
    base: Option<PathBuf>,
    top: PathBuf,
}

impl DiffNames {
    fn new(path: &SafePath, granted: &Path, top: &Path) -> Self {
        let name = path.name();
        let name = Path::new(&name);
        let depth = name.components().filter(|part| *part != std::path::Component::CurDir).count();
        let base = if name.is_absolute() { None } else { granted.ancestors().nth(depth).map(Path::to_owned) };
        Self { base, top: top.to_owned() }
    }

    fn spell(&self, full: &Path) -> String {
        let shown = self.base.as_ref().and_then(|base| full.strip_prefix(base).ok()).unwrap_or(full);
        tectum_core::security::RawPath::new(shown.to_string_lossy()).to_string()
    }

    /// The flags that make git spell names so, and show a patch.
    fn flags(&self, context: usize) -> Vec<OsString> {
        let mut flags: Vec<OsString> =
            ["--patch", "--find-renames", RENAMES].into_iter().map(OsString::from).collect();
        flags.push(format!("--unified={context}").into());
        let joined = |parts: &[&OsStr]| parts.iter().copied().collect::<OsString>();
        let within = self.base.as_ref().and_then(|base| base.strip_prefix(&self.top).ok());
        let beyond = match &self.base {
            Some(base) => self.top.strip_prefix(base).ok(),
            None => self.top.strip_prefix("/").ok(),
        };
        let (mut source, mut target) = (OsString::from("a/"), OsString::from("b/"));
        match (within, beyond) {
            (Some(within), _) if !within.as_os_str().is_empty() => {
                flags.push(joined(&["--relative=".as_ref(), within.as_os_str(), "/".as_ref()]));
            }
            (_, Some(beyond)) if !beyond.as_os_str().is_empty() => {
                source = joined(&["a/".as_ref(), beyond.as_os_str(), "/".as_ref()]);
                target = joined(&["b/".as_ref(), beyond.as_os_str(), "/".as_ref()]);
            }
            _ => {}
        }
        flags.push(joined(&["--src-prefix=".as_ref(), &source]));
        flags.push(joined(&["--dst-prefix=".as_ref(), &target]));
        flags
    }
}
