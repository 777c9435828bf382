//! Beads: what is to do in a project, kept in the `.beads` directory of its primary root. Where `bd` or
//! `br` is installed that program keeps them; otherwise we do, in a file of our own.

mod bd_create;
mod bd_list;
mod bd_ready;
mod bd_update;
mod bead;
mod foreign;
mod graph;
mod page;
mod store;
mod tracker;
mod workspace;

use std::{path::PathBuf, sync::OnceLock};

use tectum_core::{
    Ctx, Fault, Subject, Wants, World,
    security::{Access, Batch, Change, Durability, RawPath},
};

pub use bd_create::bd_create;
pub use bd_list::bd_list;
pub use bd_ready::bd_ready;
pub use bd_update::bd_update;
pub use bead::BeadRow;
pub use page::BeadList;

use bead::Bead;
use page::Listed;
use store::Store;
use tracker::{Tracker, Trackers};
use workspace::{OWN, Workspace};

use crate::Settings;

/// The state that the beads tools share.
#[derive(Debug)]
pub struct Beads {
    durability: Durability,
    max_file: u64,
    served: Vec<PathBuf>,
    programs: bool,
    found: OnceLock<Option<Trackers>>,
}

impl Beads {
    /// With these settings.
    pub fn new(settings: &Settings) -> Self {
        Self {
            durability: settings.durability,
            max_file: settings.max_file,
            served: settings.servers.roots.clone(),
            programs: settings.beads_programs,
            found: OnceLock::new(),
        }
    }

    /// The world that a call touches. A program runs hooks of the project and follows its settings, so
    /// that whoever has one is asked; our own store is a file of the project.
    pub fn world(&self) -> World {
        if self.programs().is_some() { World::Open } else { World::Project }
    }

    /// The programs, looked for once: a call is judged by what was found, and must not find more.
    fn programs(&self) -> Option<&Trackers> {
        self.found.get_or_init(|| self.programs.then(|| Trackers::find(&self.served)).flatten()).as_ref()
    }

    fn owner(&self, workspace: &Workspace<'_>) -> Option<Tracker> {
        self.programs()?.owner(workspace)
    }

    fn open<'c>(&self, ctx: &'c Ctx) -> Result<Workspace<'c>, Fault> {
        Workspace::open(ctx, self.max_file)
    }

    /// The beads that their program lists for these words, or those that `own` chooses of our store.
    fn listed(
        &self,
        ctx: &Ctx,
        words: &[&str],
        own: impl FnOnce(&[Bead]) -> Vec<&Bead>,
    ) -> Result<Listed, Fault> {
        let workspace = self.open(ctx)?;
        if let Some(program) = self.owner(&workspace) {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            let found = program.run(ctx, &workspace, &words, false)?;
            return Ok(Listed::new(program.name, &found, beside(&workspace, &program)?));
        }
        let loaded = workspace.load()?;
        Ok(Listed::new(OWN, own(&loaded.all), loaded.notes))
    }

    /// Changes our own store: it is read and replaced under the lock of its folder, so that nobody's
    /// change is lost.
    fn change<T>(
        &self,
        ctx: &Ctx,
        work: impl FnOnce(&Store) -> Result<(Option<Vec<u8>>, T), Fault>,
    ) -> Result<T, Fault> {
        let batch = Batch::open(&[ctx.path(1)?], self.max_file)?;
        let store = Store::parse(batch.slots()[0].current().unwrap_or_default().to_vec());
        let (bytes, done) = work(&store)?;
        if let Some(bytes) = bytes {
            ctx.begin_change()?;
            batch.commit(vec![Change::Write(bytes)], self.durability)?;
        }
        Ok(done)
    }
}

/// The wants of a look at the beads: the root, in which they are looked for.
fn reads() -> Wants {
    Wants { subject: Subject::None, paths: vec![(RawPath::new("."), Access::Read)] }
}

/// The wants of a change beside it: the file of our own store.
fn writes(subject: &str) -> Wants {
    let paths = vec![(RawPath::new("."), Access::Read), (RawPath::new(OWN), Access::Write)];
    Wants { subject: Subject::Text(subject.to_owned()), paths }
}

/// Refuses a bead that there is not, or that is the one which would depend on it.
fn check_other(beads: &[Bead], id: &str, other: &str) -> Result<(), Fault> {
    if id == other {
        return Err(Fault::conflict(format!("{id} cannot depend on itself")).hint("name another bead"));
    }
    if !beads.iter().any(|bead| bead.id == other) {
        return Err(unknown(other));
    }
    Ok(())
}

fn unknown(id: &str) -> Fault {
    Fault::not_found(format!("there is no bead {id}")).hint("bd_list shows the ids that there are")
}

/// The notes for a project where a program keeps beads and our own store has some as well.
fn beside(workspace: &Workspace<'_>, program: &Tracker) -> Result<Vec<String>, Fault> {
    Ok(match workspace.own_beside()? {
        0 => Vec::new(),
        count => vec![format!(
            "{count} more beads are in {OWN}, which {} does not read; beads.program = \"none\" shows them",
            program.name
        )],
    })
}
