//! `bd_ready`: the beads that nothing stands in the way of.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{Card, Ctx, Fault, Reply, Tool, Wants};

use super::{Beads, graph::Graph, page::BeadList, reads};
use crate::cards::BEADS;

/// Lists beads that can be worked on.
#[derive(Clone, Debug)]
pub struct BdReady {
    beads: Arc<Beads>,
}

impl BdReady {
    /// With this access to beads.
    pub fn new(beads: Arc<Beads>) -> Self {
        Self { beads }
    }
}

/// List beads that are ready to work on: open, every dependency closed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    #[serde(default)]
    from: Option<usize>,
}

impl Tool for BdReady {
    type Args = Args;
    type Output = BeadList;
    const CARD: Card = Card { name: "bd_ready", title: "Ready beads", ..BEADS };

    fn wants(&self, _: &Args) -> Wants {
        reads()
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<BeadList>, Fault> {
        let beads = self.beads.clone();
        ctx.blocking(move |ctx| ready(&beads, ctx, args)).await
    }
}

fn ready(beads: &Beads, ctx: &Ctx, args: Args) -> Result<Reply<BeadList>, Fault> {
    let words = ["ready", "--json", "--limit=0"];
    let listed = beads.listed(ctx, &words, |all| Graph::new(all).ready(all))?;
    listed.page(args.from, " ready", ctx.max_output)
}
