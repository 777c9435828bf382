//! The four tiers of a track, as tiers of the engine: orchestrator, tech lead, worker, QA.

use std::path::Path;

use tectum_core::{Tectum, tool::Effect};
use tectum_engine::{Tier, Tiers};

/// Tier 1: proposes tracks.
pub const ORCHESTRATOR: &str = "orchestrator";
/// Tier 2: works on tickets that decide how others are done.
pub const TECH_LEAD: &str = "tech_lead";
/// Tier 3: works on one ticket and knows no other.
pub const WORKER: &str = "worker";
/// Tier 4: says why a ticket failed, and calls no tool.
pub const QA: &str = "qa";

/// The names of the tiers, the first one first.
pub const NAMES: [&str; 4] = [ORCHESTRATOR, TECH_LEAD, WORKER, QA];

/// The word with which a worker says that it cannot do its work.
pub(crate) const BLOCKED: &str = "BLOCKED:";

/// The tiers for a project, with the tools that its house has now. Those of the operator take the
/// place of ours; one without a prompt keeps ours.
pub fn of(directory: &Path, house: &Tectum, own: Option<Tiers>) -> Tiers {
    let place = format!("You work on the project in {}.", directory.display());
    let ends = format!(
        "Look before you change anything, change only what the ticket needs, and check what you changed. \
         When a call fails, read why and do something else. When it is done, say in a few sentences what you \
         did. If it cannot be done, end with a line `{BLOCKED} the reason`."
    );
    let tier = |prompt: String, tools: Vec<String>| Tier { prompt, tools, ..Tier::default() };
    let every = || vec!["*".to_owned()];
    let all = [
        (ORCHESTRATOR, tier(format!("{place} You plan: you look at it, and propose tickets that others work on."), readers(house))),
        (TECH_LEAD, tier(format!("{place} You are the tech lead: your ticket decides how others are done. {ends}"), every())),
        (WORKER, tier(format!("{place} You work on one ticket, and on nothing else. {ends}"), every())),
        (QA, tier("You find out why a ticket failed. Answer in about 20 words: the cause, and what to try next.".into(), Vec::new())),
    ];
    let mut tiers = Tiers {
        default: WORKER.into(),
        tiers: all.into_iter().map(|(name, tier)| (name.to_owned(), tier)).collect(),
    };
    for (name, mut tier) in own.into_iter().flat_map(|own| own.tiers) {
        if tier.prompt.is_empty()
            && let Some(ours) = tiers.tiers.get(&name)
        {
            tier.prompt.clone_from(&ours.prompt);
        }
        // Analysis only, whoever wrote the tier.
        if name == QA {
            tier.tools.clear();
        }
        tiers.tiers.insert(name, tier);
    }
    tiers
}

/// The tools that only read.
fn readers(house: &Tectum) -> Vec<String> {
    let snapshot = house.registry().snapshot();
    snapshot.tools().filter(|info| info.effect == Effect::Read).map(|info| info.name.to_string()).collect()
}
