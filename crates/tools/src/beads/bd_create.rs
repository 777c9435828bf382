//! `bd_create`: one bead more.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{Card, Ctx, Effect, Fault, FaultKind, Reply};
use tectum_native::NativeTool;

use super::{
    BeadRow, Beads,
    bead::{Bead, check_id, check_words},
    store::NewBead,
    unknown,
    workspace::{OWN, Workspace},
    writes,
};
use crate::cards::BEADS;

/// Create a bead (issue, ticket, task).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    title: String,
    #[serde(default)]
    description: String,
    /// Ids to close before it.
    #[serde(default)]
    depends_on: Vec<String>,
    /// Id.
    parent: Option<String>,
}

/// A bead after it was made or changed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// Who keeps it.
    source: String,
    /// The bead.
    #[serde(flatten)]
    bead: BeadRow,
}

impl Output {
    pub(super) fn reply(what: &str, source: &str, bead: &Bead) -> Reply<Self> {
        let output = Self { source: source.into(), bead: bead.row() };
        Reply::new(format!("{what} {} ({source})", output.bead), output)
    }
}

/// Makes beads.
pub fn bd_create(beads: Arc<Beads>) -> NativeTool {
    let card = Card {
        name: "bd_create",
        title: "Create bead",
        effect: Effect::Add,
        idempotent: false,
        primary: "title",
        max_output: 64 * 1024,
        ..BEADS
    };
    let wants = |args: &Args| writes(&args.title);
    NativeTool::row(card, "", wants, move |ctx, args| create(&beads, ctx, args))
}

fn create(beads: &Beads, ctx: &Ctx, mut args: Args) -> Result<Reply<Output>, Fault> {
    check_words(&args.title, &args.description)?;
    args.parent = args.parent.filter(|parent| !parent.is_empty());
    for id in args.depends_on.iter().chain(&args.parent) {
        check_id(id)?;
    }
    args.depends_on.sort();
    args.depends_on.dedup();
    let workspace = beads.open(ctx)?;
    let Some(program) = beads.owner(&workspace) else { return own(beads, ctx, &workspace, args) };
    let mut words = vec!["create".into(), "--json".into(), format!("--title={}", args.title)];
    if !args.description.is_empty() {
        words.push(format!("--description={}", args.description));
    }
    words.extend(args.parent.map(|parent| format!("--parent={parent}")));
    if !args.depends_on.is_empty() {
        words.push(format!("--deps={}", args.depends_on.join(",")));
    }
    ctx.begin_change()?;
    match program.run(ctx, &workspace, &words, true)?.first() {
        Some(bead) => Ok(Output::reply("Created", program.name, bead)),
        None => Err(Fault::new(FaultKind::Upstream, format!("{} did not say what it created", program.name))
            .hint("look with bd_list before you try again")),
    }
}

fn own(beads: &Beads, ctx: &Ctx, workspace: &Workspace<'_>, args: Args) -> Result<Reply<Output>, Fault> {
    let (others, _) = workspace.others()?;
    let bead = beads.change(ctx, |store| {
        for id in args.depends_on.iter().chain(&args.parent) {
            if !store.beads.iter().chain(&others).any(|bead| bead.id == *id) {
                return Err(unknown(id));
            }
        }
        let Args { title, description, depends_on, parent } = args;
        let (bytes, bead) = store.with_new(&others, NewBead { title, description, parent, depends_on })?;
        Ok((Some(bytes), bead))
    })?;
    Ok(Output::reply("Created", OWN, &bead))
}
