//! `shell_write`: input for the terminal of a session.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{Card, Ctx, Fault, Reply, Subject, Tool, Wants, World};

use super::{engine::Shells, report::CommandReport, run_shell::MOST_YIELD, shell_poll};
use crate::cards::SESSION;

/// The time a program gets to answer unless the call says otherwise.
const USUAL_YIELD: u64 = 500;

/// Writes to sessions.
#[derive(Clone, Debug)]
pub struct ShellWrite {
    shells: Arc<Shells>,
}

impl ShellWrite {
    /// In this engine.
    pub fn new(shells: Arc<Shells>) -> Self {
        Self { shells }
    }
}

/// Type into a session that has a pty; \u0003 is Ctrl-C, \u0004 ends input.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    session: String,
    /// With \n for Enter.
    text: String,
    /// Wait for output (500).
    #[serde(default)]
    #[schemars(with = "u64")]
    yield_ms: Option<u64>,
}

impl Tool for ShellWrite {
    type Args = Args;
    type Output = CommandReport;
    const CARD: Card = Card {
        name: "shell_write",
        title: "Type into a session",
        world: World::Open,
        primary: "text",
        ..SESSION
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants { subject: Subject::Text(args.text.clone()), paths: Vec::new() }
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<CommandReport>, Fault> {
        let session = self.shells.session(ctx, &args.session)?;
        if session.ended().is_some() {
            return Err(Fault::conflict(format!("session {} has ended", session.id))
                .hint("shell_poll tells what it said"));
        }
        if !session.write(&args.text).await {
            return Err(Fault::invalid(format!("session {} takes no input", session.id))
                .hint("start it with run_shell and pty=true to write to it"));
        }
        let yields = Duration::from_millis(args.yield_ms.unwrap_or(USUAL_YIELD).min(MOST_YIELD));
        session.wait(yields).await;
        Ok(shell_poll::report(ctx, &session))
    }
}
