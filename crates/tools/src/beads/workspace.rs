//! The `.beads` directory of the primary root: whether there is one, whose it is, what it holds.

use std::path::Path;

use tectum_core::{
    Ctx, Fault, FaultKind,
    security::{Kind, Part, SafePath, Standing},
};
use tectum_state::Moment;

use super::{bead::Bead, foreign::Export, store::Store, store::told};

/// The directory.
pub(super) const FOLDER: &str = ".beads";
/// Our own store.
pub(super) const OWN: &str = ".beads/beads.jsonl";
/// The export of `bd` and `br`.
const EXPORT: &str = ".beads/issues.jsonl";
/// The names under which `bd` keeps its database.
const DOLT: [&str; 2] = ["embeddeddolt", "dolt"];
/// The name under which `br` and older versions of `bd` keep theirs.
const SQLITE: &str = "beads.db";

/// The directory, open.
#[derive(Debug)]
pub(super) struct Workspace<'c> {
    top: &'c SafePath,
    pub(super) root: Part,
    pub(super) folder: Part,
    limit: u64,
}

/// All beads that are read without a program.
#[derive(Debug)]
pub(super) struct Loaded {
    /// All of them, our own first.
    pub(super) all: Vec<Bead>,
    pub(super) notes: Vec<String>,
}

impl<'c> Workspace<'c> {
    /// Opens it. The call must have declared the primary root first.
    pub(super) fn open(ctx: &'c Ctx, limit: u64) -> Result<Self, Fault> {
        let top = ctx.path(0)?;
        let root = top.folders().into_iter().next().ok_or_else(none)?;
        let folder = top.part(&root, Path::new(FOLDER)).map_err(|_| none())?;
        if folder.kind() != Kind::Directory || folder.standing() != Standing::Inside {
            return Err(none());
        }
        Ok(Self { top, root, folder, limit })
    }

    /// True if the program of this name is the one whose data this is, if it is installed; both are
    /// asked for where nothing tells.
    pub(super) fn prefers_br(&self) -> bool {
        self.has(SQLITE) && !DOLT.iter().any(|name| self.has(name))
    }

    /// True if all that is here is our own store: then no program owns anything.
    pub(super) fn is_own(&self) -> bool {
        let theirs = ["issues.jsonl", "metadata.json", "config.yaml", "redirect", SQLITE];
        self.has("beads.jsonl") && !theirs.iter().chain(&DOLT).any(|name| self.has(name))
    }

    fn has(&self, name: &str) -> bool {
        self.folder.kind_below(name).is_some()
    }

    /// Our own store, and what stands in the export beside it.
    pub(super) fn load(&self) -> Result<Loaded, Fault> {
        let store = Store::parse(self.read(OWN)?.unwrap_or_default());
        let mut notes: Vec<String> = told(OWN, &store.broken).into_iter().collect();
        let (others, more) = self.others()?;
        notes.extend(more);
        let mut all = store.beads;
        all.extend(others);
        Ok(Loaded { all, notes })
    }

    /// The beads of the export, and what is to be said of it.
    pub(super) fn others(&self) -> Result<(Vec<Bead>, Vec<String>), Fault> {
        let mut notes = Vec::new();
        let Some(bytes) = self.read(EXPORT)? else {
            if DOLT.iter().chain([&SQLITE]).any(|name| self.has(name)) {
                notes.push(format!(
                    "{FOLDER} holds a database that only bd or br reads, and neither is installed; its beads \
                     are not among these"
                ));
            }
            return Ok((Vec::new(), notes));
        };
        let export = Export::parse(&bytes);
        let of = match export.newest {
            Some(newest) => format!("its newest change is {} old ({newest})", newest.age(Moment::now())),
            None => "it does not say how old it is".to_owned(),
        };
        notes.push(format!(
            "{} beads are of {EXPORT}, an export of bd or br that may lag behind: {of}; they are read only",
            export.beads.len()
        ));
        notes.extend(told(EXPORT, &export.broken));
        Ok((export.beads, notes))
    }

    /// The number of beads in our own store that a program knows nothing of.
    pub(super) fn own_beside(&self) -> Result<usize, Fault> {
        Ok(self.read(OWN)?.map_or(0, |bytes| Store::parse(bytes).beads.len()))
    }

    /// A file of the directory; `None` when it is not there.
    fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Fault> {
        let name = path.trim_start_matches(FOLDER).trim_start_matches('/');
        if !self.has(name) {
            return Ok(None);
        }
        let failed = |error: std::io::Error| {
            Fault::conflict(format!("{path} could not be read: {}", error.kind()))
                .hint("look at what stands there")
        };
        let part = self.top.part(&self.folder, Path::new(name)).map_err(failed)?;
        if part.standing() != Standing::Inside {
            let why = format!("{path} is closed by a rule, or leads out of the project");
            return Err(
                Fault::new(FaultKind::Permission, why).hint("`tectum policy test` explains the rules")
            );
        }
        let bytes = part.read(self.limit.saturating_add(1)).map_err(failed)?;
        if bytes.len() as u64 > self.limit {
            let why = format!("{path} is larger than {} bytes", self.limit);
            return Err(Fault::new(FaultKind::TooLarge, why).hint("raise files.max_file, or install bd"));
        }
        Ok(Some(bytes))
    }
}

/// There is no workspace. The words are a promise to whoever looks for them.
fn none() -> Fault {
    Fault::not_found("no active workspace to run beads tools.")
        .hint("`mkdir .beads` in the project's root begins one; so does `bd init` where bd is installed")
}
