//! `bd_list`: all beads.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{Card, Ctx, Effect, Fault, Reply, Tool, ToolRole, Wants, World};

use super::{
    Beads, bead, beside,
    page::{BeadList, Listed},
    reads,
    workspace::OWN,
};

/// Lists beads.
#[derive(Clone, Debug)]
pub struct BdList {
    beads: Arc<Beads>,
}

impl BdList {
    /// With this access to beads.
    pub fn new(beads: Arc<Beads>) -> Self {
        Self { beads }
    }
}

/// List all beads (issues, tickets, tasks) of the project's .beads.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Only these.
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    from: Option<usize>,
}

impl Tool for BdList {
    type Args = Args;
    type Output = BeadList;
    const CARD: Card = Card {
        name: "bd_list",
        title: "List beads",
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
        ctx.blocking(move |ctx| list(&beads, ctx, args)).await
    }
}

fn list(beads: &Beads, ctx: &Ctx, args: Args) -> Result<Reply<BeadList>, Fault> {
    if let Some(status) = &args.status {
        bead::check_word(status)?;
    }
    let workspace = beads.open(ctx)?;
    let mut listed = match beads.owner(&workspace) {
        Some(program) => {
            let words = ["list", "--json", "--all", "--limit=0"].map(str::to_owned);
            let found = program.run(ctx, &workspace, &words, false)?;
            Listed::new(program.name, &found, beside(&workspace, &program)?)
        }
        None => {
            let loaded = workspace.load()?;
            Listed::new(OWN, &loaded.all, loaded.notes)
        }
    };
    let what = args.status.map(|status| {
        listed.rows.retain(|row| row.status == status);
        format!(" {status}")
    });
    listed.page(args.from, &what.unwrap_or_default(), ctx.max_output)
}
