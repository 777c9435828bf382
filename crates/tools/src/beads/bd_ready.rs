//! `bd_ready`: the beads that nothing stands in the way of.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{Card, Ctx, Fault, Reply};
use tectum_native::NativeTool;

use super::{Beads, graph::Graph, page::BeadList, reads};
use crate::cards::BEADS;

/// List beads that are ready to work on: open, every dependency closed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    from: Option<usize>,
}

/// Lists beads that can be worked on.
pub fn bd_ready(beads: Arc<Beads>) -> NativeTool {
    let card = Card { name: "bd_ready", title: "Ready beads", ..BEADS };
    NativeTool::row(card, "", |_: &Args| reads(), move |ctx, args: Args| ready(&beads, ctx, args.from))
}

fn ready(beads: &Beads, ctx: &Ctx, from: Option<usize>) -> Result<Reply<BeadList>, Fault> {
    let words = ["ready", "--json", "--limit=0"];
    let listed = beads.listed(ctx, &words, |all| Graph::new(all).ready(all))?;
    listed.page(from, " ready", ctx.max_output)
}
