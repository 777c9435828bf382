//! `bd_list`: all beads.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{Card, Ctx, Fault, Reply, Tool, Wants};

use super::{Beads, bead, page::BeadList, reads};
use crate::cards::BEADS;

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
    const CARD: Card = Card { name: "bd_list", title: "List beads", ..BEADS };

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
    let words = ["list", "--json", "--all", "--limit=0"];
    let mut listed = beads.listed(ctx, &words, |all| all.iter().collect())?;
    let what = args.status.map(|status| {
        listed.rows.retain(|row| row.status == status);
        format!(" {status}")
    });
    listed.page(args.from, &what.unwrap_or_default(), ctx.max_output)
}
