//! `bd_ready`: the beads that nothing stands in the way of.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{Card, Ctx, Effect, Fault, Reply, Tool, ToolRole, Wants, World};

use super::{
    Beads, beside,
    graph::Graph,
    page::{BeadList, Listed},
    reads,
    workspace::OWN,
};

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
    const CARD: Card = Card {
        name: "bd_ready",
        title: "Ready beads",
        effect: Effect::Read,
        world: World::Open,
        idempotent: true,
        primary: "",
        deadline: Duration::from_secs(45),
        max_output: 256 * 1024,
        role: ToolRole::Alias,
    };

    fn wants(&self, _: &Args) -> Wants {
        reads()
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<BeadList>, Fault> {
        let beads = self.beads.clone();
        ctx.blocking(move |ctx| ready(&beads, ctx, args)).await
    }
}

fn ready(beads: &Beads, ctx: &Ctx, args: Args) -> Result<Reply<BeadList>, Fault> {
    let workspace = beads.open(ctx)?;
    let listed = match beads.owner(&workspace) {
        Some(program) => {
            let words = ["ready", "--json", "--limit=0"].map(str::to_owned);
            let found = program.run(ctx, &workspace, &words, false)?;
            Listed::new(program.name, &found, beside(&workspace, &program)?)
        }
        None => {
            let loaded = workspace.load()?;
            Listed::new(OWN, Graph::new(&loaded.all).ready(&loaded.all), loaded.notes)
        }
    };
    listed.page(args.from, " ready", ctx.max_output)
}
