//! `bd_list`: all beads.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{Card, Ctx, Fault, Reply};
use tectum_native::NativeTool;

use super::{Beads, bead, page::BeadList, reads};
use crate::cards::BEADS;

/// List all beads (issues, tickets, tasks) of the project's .beads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Only these.
    status: Option<String>,
    from: Option<usize>,
}

/// Lists beads.
pub fn bd_list(beads: Arc<Beads>) -> NativeTool {
    let card = Card { name: "bd_list", title: "List beads", ..BEADS };
    NativeTool::row(card, "", |_: &Args| reads(), move |ctx, args| list(&beads, ctx, args))
}

fn list(beads: &Beads, ctx: &Ctx, args: Args) -> Result<Reply<BeadList>, Fault> {
    if let Some(status) = &args.status {
        bead::check_word(status)?;
    }
    let words = ["list", "--json", "--all", "--limit=0"];
    let mut listed = beads.listed(ctx, &words, |all| all.iter().collect())?;
    let what = args.status.map(|status| {
        listed.rows.retain(|row| row.status == status);
        format!(" {status}")
    });
    listed.page(args.from, &what.unwrap_or_default(), ctx.max_output)
}
