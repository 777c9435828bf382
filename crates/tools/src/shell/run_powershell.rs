//! `run_powershell`: a script in PowerShell, with an analysis of what went wrong where one is set up.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{
    Card, Ctx, Effect, Fault, FaultKind, Reply, Tool, ToolRole, Wants, World,
    security::{Access, RawPath},
};
use tectum_shell::{CommandEnd, powershell};

use super::{
    engine::{self, Shells, Wanted},
    report::{CommandReport, CommandState},
    subject::unsplit,
};

/// The time a script may run.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The time an analysis may take.
const QA_TIMEOUT: Duration = Duration::from_secs(30);
/// The bytes that are shown of an analysis.
const MOST_QA: usize = 16 * 1024;

/// Runs scripts.
#[derive(Clone, Debug)]
pub struct RunPowershell {
    shells: Arc<Shells>,
}

impl RunPowershell {
    /// In this engine.
    pub fn new(shells: Arc<Shells>) -> Self {
        Self { shells }
    }
}

/// Run a PowerShell script in the project, within 60 s.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    script: String,
}

impl Tool for RunPowershell {
    type Args = Args;
    type Output = CommandReport;
    const CARD: Card = Card {
        name: "run_powershell",
        title: "Run a PowerShell script",
        effect: Effect::Change,
        world: World::Open,
        idempotent: false,
        primary: "script",
        deadline: Duration::from_secs(100),
        max_output: 200_000,
        role: ToolRole::Alias,
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants { subject: unsplit(&args.script, "PowerShell"), paths: vec![(RawPath::new("."), Access::Read)] }
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<CommandReport>, Fault> {
        let (_, directory) = engine::directory(ctx)?;
        let program =
            engine::first_installed(self.shells.installed(), powershell::PROGRAMS).map_err(|why| {
                let text = match why {
                    tectum_child::NotInstalled::Nowhere => "PowerShell not found".to_owned(),
                    of_project => of_project.describe("PowerShell"),
                };
                Fault::new(FaultKind::Upstream, text).hint("use run_shell, which runs commands in bash or sh")
            })?;
        let wanted = Wanted {
            program,
            args: powershell::arguments(&args.script, &directory),
            stdin: None,
            terminal: false,
            deadline: TIMEOUT,
            held: true,
        };
        let (mut running, holds) = self.shells.start(ctx, wanted, &directory).await?;
        let end = running.ended().await;
        if let CommandEnd::TimedOut(limit) = end {
            return Err(Fault::new(FaultKind::Timeout, format!("timed out after {}s", limit.as_secs())));
        }
        let standing = CommandState {
            stdout: &running.stdout,
            stderr: &running.stderr,
            told: (0, 0),
            end: Some(end),
            name: &ctx.call.to_string(),
            took: running.began.elapsed(),
        };
        let told = standing.told(ctx.max_output - MOST_QA.min(ctx.max_output / 4));
        let (mut text, report) = standing.report(told, None);
        let report = CommandReport { sandbox: Some(holds.word().into()), ..report };
        if end != CommandEnd::Exited(0)
            && !report.stderr.is_empty()
            && let Some(analysis) = self.analysis(ctx, &report.stderr, &directory).await
        {
            text.push_str(&format!("\nQA ANALYSIS:\n{analysis}"));
        }
        Ok(Reply::new(text, report))
    }
}

impl RunPowershell {
    /// The output of the configured command about these errors; its own failure is one line.
    async fn analysis(&self, ctx: &Ctx, stderr: &str, directory: &std::path::Path) -> Option<String> {
        let (program, args) = self.shells.settings.qa.split_first()?;
        let said = async {
            let found = self.shells.installed().find(program).map_err(|why| why.describe(program))?;
            let wanted = Wanted {
                program: found.to_string_lossy().into_owned(),
                args: args.to_vec(),
                stdin: Some(stderr.to_owned()),
                terminal: false,
                deadline: QA_TIMEOUT,
                held: false,
            };
            let (mut running, _) =
                self.shells.start(ctx, wanted, directory).await.map_err(|fault| fault.message)?;
            match running.ended().await {
                CommandEnd::Exited(0) => {
                    Ok(running.stdout.shown(0, MOST_QA.min(ctx.max_output / 4)).text(None))
                }
                CommandEnd::Exited(code) => Err(format!("it ended with exit code {code}")),
                CommandEnd::TimedOut(limit) => Err(format!("it took longer than {} s", limit.as_secs())),
                CommandEnd::Stopped => Err("it was ended".to_owned()),
            }
        };
        let said: Result<String, String> = said.await;
        Some(match said {
            Ok(text) => text.trim_end().to_owned(),
            Err(why) => format!("(the QA command gave none: {})", why.replace('\n', " ")),
        })
    }
}
