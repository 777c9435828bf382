//! `shell_kill`: ends a session with everything it started.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{Card, Ctx, Fault, Reply, Subject, Tool, Wants};

use super::{engine::Shells, report::CommandReport, shell_poll};
use crate::cards::SESSION;

/// Ends sessions.
#[derive(Clone, Debug)]
pub struct ShellKill {
    shells: Arc<Shells>,
}

impl ShellKill {
    /// In this engine.
    pub fn new(shells: Arc<Shells>) -> Self {
        Self { shells }
    }
}

/// End a session of run_shell and every process it started.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    session: String,
}

impl Tool for ShellKill {
    type Args = Args;
    type Output = CommandReport;
    const CARD: Card = Card {
        name: "shell_kill",
        title: "End a session",
        idempotent: true,
        deadline: Duration::from_secs(30),
        ..SESSION
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants { subject: Subject::Text(args.session.clone()), paths: Vec::new() }
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<CommandReport>, Fault> {
        let session = self.shells.session(ctx, &args.session)?;
        session.stop().await;
        Ok(shell_poll::report(ctx, &session))
    }
}
