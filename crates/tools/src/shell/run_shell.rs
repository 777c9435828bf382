//! `run_shell`: a command in bash or sh.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_child::{NotInstalled, sandbox::Sandboxed};
use tectum_core::{
    Card, Ctx, Effect, Fault, FaultKind, Reply, Tool, ToolRole, Wants, World,
    security::{Access, RawPath},
};

use super::{
    engine::{self, Shells, Staying, Wanted},
    report::{CommandReport, CommandState},
    subject::subject,
};

/// The time a command may run unless it says otherwise.
const USUAL_TIMEOUT: u64 = 600_000;
/// The longest: a day.
const MOST_TIMEOUT: u64 = 86_400_000;
/// The time a call waits unless it says otherwise: less than clients wait for an answer.
const USUAL_YIELD: u64 = 30_000;
/// The longest wait, below the call's own deadline.
pub(super) const MOST_YIELD: u64 = 600_000;
/// The bytes that are taken as input; more is a file.
const MOST_INPUT: usize = 8 * 1024 * 1024;

/// Runs commands.
#[derive(Clone, Debug)]
pub struct RunShell {
    shells: Arc<Shells>,
}

impl RunShell {
    /// In this engine.
    pub fn new(shells: Arc<Shells>) -> Self {
        Self { shells }
    }
}

/// Run a shell (bash) command: build, test, git, scripts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    command: String,
    #[serde(default = "here")]
    cwd: RawPath,
    /// Kill it after this (600000).
    #[serde(default)]
    #[schemars(with = "u64")]
    timeout_ms: Option<u64>,
    /// Return by then (30000); it goes on as a session.
    #[serde(default)]
    #[schemars(with = "u64")]
    yield_ms: Option<u64>,
    /// Its input; none if left out.
    #[serde(default)]
    #[schemars(with = "String")]
    stdin: Option<String>,
    /// Run in a terminal; shell_write can type.
    #[serde(default)]
    pty: bool,
    /// Keep running when the client leaves.
    #[serde(default)]
    keep: bool,
}

fn here() -> RawPath {
    RawPath::new(".")
}

impl Tool for RunShell {
    type Args = Args;
    type Output = CommandReport;
    const CARD: Card = Card {
        name: "run_shell",
        title: "Run a command",
        effect: Effect::Change,
        world: World::Open,
        idempotent: false,
        primary: "command",
        deadline: Duration::from_secs(620),
        max_output: 48 * 1024,
        role: ToolRole::Alias,
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants { subject: subject(&args.command, args.keep), paths: vec![(args.cwd.clone(), Access::Read)] }
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<CommandReport>, Fault> {
        let timeout = args.timeout_ms.unwrap_or(USUAL_TIMEOUT);
        let yields = args.yield_ms.unwrap_or(USUAL_YIELD);
        self.check(&args, timeout, yields)?;
        let (name, directory) = engine::directory(ctx)?;
        let shell = engine::first_installed(self.shells.installed(), &["bash", "sh"]).map_err(no_shell)?;
        let wanted = Wanted {
            program: shell,
            args: vec!["-c".into(), args.command.clone()],
            stdin: args.stdin,
            terminal: args.pty,
            deadline: Duration::from_millis(timeout),
            held: true,
        };
        let (mut running, holds) = self.shells.start(ctx, wanted, &directory).await?;
        let end = engine::until(&mut running, Duration::from_millis(yields)).await;
        let (stdout, stderr) = (running.stdout.clone(), running.stderr.clone());
        let standing = CommandState {
            stdout: &stdout,
            stderr: &stderr,
            told: (0, 0),
            end,
            name: &ctx.call.to_string(),
            took: running.began.elapsed(),
        };
        let told = standing.told(ctx.max_output);
        let session = (end.is_none() || told.is_cut()).then(|| {
            let stay =
                Staying { command: &args.command, directory: &name, keep: args.keep, told: told.next() };
            self.shells.keep(ctx, running, stay)
        });
        let (text, report) = standing.report(told, session.as_ref().map(|session| session.id.as_str()));
        let report = CommandReport { sandbox: Some(holds.word().into()), ..report };
        let text = match holds {
            Sandboxed::OptedOut => format!("{text}\n[sandbox: off]"),
            Sandboxed::Enforced { .. } => text,
        };
        let failed = report.exit_code.is_some_and(|code| code != 0);
        let note = self.shells.settings.env_held.as_ref().filter(|_| failed);
        let text = note.map_or(text.clone(), |note| format!("{text}\n[{note}]"));
        Ok(Reply::new(text, report))
    }
}

impl RunShell {
    fn check(&self, args: &Args, timeout: u64, yields: u64) -> Result<(), Fault> {
        if args.command.trim().is_empty() || args.command.contains('\0') {
            return Err(Fault::invalid("`command` is empty or has a zero byte").hint("write a command line"));
        }
        if !(1..=MOST_TIMEOUT).contains(&timeout) {
            return Err(Fault::invalid(format!("`timeout_ms` must be from 1 to {MOST_TIMEOUT}")));
        }
        if yields > MOST_YIELD {
            return Err(Fault::invalid(format!("`yield_ms` must be at most {MOST_YIELD}"))
                .hint("a command that runs longer goes on as a session: ask again with shell_poll"));
        }
        if args.stdin.as_ref().is_some_and(|text| text.len() > MOST_INPUT) {
            return Err(Fault::invalid(format!("`stdin` is longer than {MOST_INPUT} bytes"))
                .hint("write it to a file and redirect that"));
        }
        Ok(())
    }
}

fn no_shell(why: NotInstalled) -> Fault {
    Fault::new(FaultKind::Upstream, why.describe("neither bash nor sh"))
        .hint("install one outside of the project")
}
