//! `bd_update`: another status of a bead, or other dependencies.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{Card, Ctx, Effect, Fault, FaultKind, Reply};
use tectum_native::NativeTool;

use super::{
    Beads,
    bd_create::Output,
    bead::{Bead, check_id, check_status, check_word},
    check_other,
    graph::Graph,
    tracker::Tracker,
    unknown,
    workspace::{OWN, Workspace},
    writes,
};
use crate::cards::BEADS;

/// Change a bead's status (close, claim, reopen) or dependencies.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Like bd-a1b2.
    bead_id: String,
    /// open, in_progress, blocked, closed or deferred.
    status: Option<String>,
    /// Ids.
    #[serde(default)]
    add_depends_on: Vec<String>,
    /// Ids.
    #[serde(default)]
    remove_depends_on: Vec<String>,
}

/// Changes beads.
pub fn bd_update(beads: Arc<Beads>) -> NativeTool {
    let card = Card {
        name: "bd_update",
        title: "Update bead",
        effect: Effect::Change,
        primary: "bead_id",
        // Each dependency that a program is told of is a run of its own.
        deadline: Duration::from_secs(120),
        max_output: 64 * 1024,
        ..BEADS
    };
    let wants = |args: &Args| writes(&args.bead_id);
    NativeTool::row(card, "", wants, move |ctx, args| update(&beads, ctx, &args))
}

fn update(beads: &Beads, ctx: &Ctx, args: &Args) -> Result<Reply<Output>, Fault> {
    let dependencies = || args.add_depends_on.iter().chain(&args.remove_depends_on);
    for id in dependencies().chain([&args.bead_id]) {
        check_id(id)?;
    }
    if let Some(status) = &args.status {
        check_word(status)?;
    } else if dependencies().next().is_none() {
        return Err(Fault::invalid("nothing is to be changed")
            .hint("give `status`, `add_depends_on` or `remove_depends_on`"));
    }
    let workspace = beads.open(ctx)?;
    match beads.owner(&workspace) {
        Some(program) => by_program(ctx, &workspace, &program, args),
        None => own(beads, ctx, &workspace, args),
    }
}

/// Dependencies first: if one is refused the status is still what it was.
fn by_program(
    ctx: &Ctx,
    workspace: &Workspace<'_>,
    program: &Tracker,
    args: &Args,
) -> Result<Reply<Output>, Fault> {
    let id = &args.bead_id;
    let mut runs: Vec<Vec<String>> = Vec::new();
    for (word, others) in [("remove", &args.remove_depends_on), ("add", &args.add_depends_on)] {
        let run = |other: &String| {
            vec!["dep".into(), word.into(), "--json".into(), "--".into(), id.clone(), other.clone()]
        };
        runs.extend(others.iter().map(run));
    }
    let last = match &args.status {
        Some(status) => {
            vec!["update".into(), "--json".into(), format!("--status={status}"), "--".into(), id.clone()]
        }
        None => vec!["show".into(), "--json".into(), "--".into(), id.clone()],
    };
    runs.push(last);
    ctx.begin_change()?;
    let (count, mut shown) = (runs.len(), Vec::new());
    for (done, run) in runs.into_iter().enumerate() {
        let is_last = done + 1 == count;
        match program.run(ctx, workspace, &run, true) {
            Ok(beads) => shown = beads,
            // What a change of dependencies prints is no list of beads.
            Err(fault) if !is_last && fault.message.contains("gave no list") => {}
            Err(mut fault) if done > 0 => {
                fault.message.push_str(&format!(" ({done} of {count} steps were done before)"));
                return Err(fault);
            }
            Err(fault) => return Err(fault),
        }
    }
    let shown = shown.iter().find(|bead| bead.id == *id).or(shown.first());
    let shown = shown.ok_or_else(|| {
        Fault::new(FaultKind::Upstream, format!("{} changed {id} and did not show it", program.name))
            .hint("bd_list shows what it is now")
    })?;
    Ok(Output::reply("Updated", program.name, shown))
}

fn own(beads: &Beads, ctx: &Ctx, workspace: &Workspace<'_>, args: &Args) -> Result<Reply<Output>, Fault> {
    let (others, _) = workspace.others()?;
    let id = &args.bead_id;
    if let Some(status) = &args.status {
        check_status(status)?;
    }
    let (what, bead) = beads.change(ctx, |store| {
        let Some(index) = store.beads.iter().position(|bead| bead.id == *id) else {
            return Err(if others.iter().any(|bead| bead.id == *id) { not_ours(id) } else { unknown(id) });
        };
        let all: Vec<Bead> = store.beads.iter().chain(&others).cloned().collect();
        let mut depends_on = store.beads[index].depends_on.clone();
        for other in &args.remove_depends_on {
            let Some(at) = depends_on.iter().position(|one| one == other) else {
                return Err(Fault::not_found(format!("{id} does not depend on {other}"))
                    .hint("leave it out of `remove_depends_on`"));
            };
            depends_on.remove(at);
        }
        let graph = Graph::new(&all);
        for other in &args.add_depends_on {
            check_other(&all, id, other)?;
            if let Some(way) = graph.way(other, id) {
                return Err(Fault::conflict(format!("a circle: {id} > {}", way.join(" > ")))
                    .hint("each of them would wait for the next; remove one of these dependencies first"));
            }
            if !depends_on.contains(other) {
                depends_on.push(other.clone());
            }
        }
        Ok(match store.with_changed(index, args.status.as_deref(), &depends_on)? {
            Some((bytes, bead)) => (Some(bytes), ("Updated", bead)),
            None => (None, ("Unchanged", store.beads[index].clone())),
        })
    })?;
    Ok(Output::reply(what, OWN, &bead))
}

fn not_ours(id: &str) -> Fault {
    Fault::conflict(format!("{id} is of .beads/issues.jsonl, which bd or br writes; neither is installed"))
        .hint("install bd or br, then try again")
}
