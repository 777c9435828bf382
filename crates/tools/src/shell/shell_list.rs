//! `shell_list`: the sessions of this client.

use std::{fmt::Write as _, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{Card, Ctx, Effect, Fault, Reply, Subject, Tool, ToolRole, Wants, World};
use tectum_shell::{CommandEnd, Session};

use super::engine::Shells;

/// Of a command; a list is for choosing.
const MOST_COMMAND: usize = 120;

/// Lists sessions.
#[derive(Clone, Debug)]
pub struct ShellList {
    shells: Arc<Shells>,
}

impl ShellList {
    /// In this engine.
    pub fn new(shells: Arc<Shells>) -> Self {
        Self { shells }
    }
}

/// The sessions of run_shell that run; all of them with those that ended.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    #[serde(default)]
    all: bool,
}

/// All of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The oldest first.
    pub sessions: Vec<SessionRow>,
}

/// One session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionRow {
    /// Its name.
    pub session: String,
    /// The command, or its beginning.
    pub command: String,
    /// Where it runs.
    pub cwd: String,
    /// `running`, `exited N`, `timed out` or `ended`.
    pub state: String,
    /// Since its start.
    pub seconds: u64,
}

impl Tool for ShellList {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card {
        name: "shell_list",
        title: "List sessions",
        effect: Effect::Read,
        world: World::Project,
        idempotent: true,
        primary: "",
        deadline: Duration::from_secs(10),
        max_output: 48 * 1024,
        role: ToolRole::Alias,
    };

    fn wants(&self, _: &Args) -> Wants {
        Wants { subject: Subject::None, paths: Vec::new() }
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        let sessions = self.shells.sessions(ctx);
        let shown = sessions.iter().filter(|session| args.all || session.ended().is_none());
        let sessions: Vec<SessionRow> = shown.map(|session| row(session)).collect();
        let mut text = String::new();
        for SessionRow { session, command, cwd, state, seconds } in &sessions {
            let _ = writeln!(text, "{session}  {state}  {seconds} s  {cwd}  {command}");
        }
        if sessions.is_empty() {
            text.push_str("No sessions.");
        }
        Ok(Reply::new(text, Output { sessions }))
    }
}

fn row(session: &Session) -> SessionRow {
    let line = session.command.split_whitespace().collect::<Vec<_>>().join(" ");
    SessionRow {
        session: session.id.clone(),
        command: line.chars().take(MOST_COMMAND).collect(),
        cwd: session.directory.clone(),
        state: match session.ended() {
            None => "running".into(),
            Some(CommandEnd::Exited(code)) => format!("exited {code}"),
            Some(CommandEnd::TimedOut(_)) => "timed out".into(),
            Some(CommandEnd::Stopped) => "ended".into(),
        },
        seconds: session.began.elapsed().as_secs(),
    }
}
