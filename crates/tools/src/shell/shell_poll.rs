//! `shell_poll`: what a session said since the last look, and whether it has ended.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use tectum_core::{Card, Ctx, Effect, Fault, Reply, Subject, Tool, Wants};
use tectum_shell::Session;

use super::{
    engine::Shells,
    report::{CommandReport, CommandState},
    run_shell::MOST_YIELD,
};
use crate::cards::SESSION;

/// The time a look waits for the end unless it says otherwise.
const USUAL_YIELD: u64 = 5_000;
/// Left for the words around a page.
const WORDS: usize = 256;

/// Looks at sessions.
#[derive(Clone, Debug)]
pub struct ShellPoll {
    shells: Arc<Shells>,
}

impl ShellPoll {
    /// In this engine.
    pub fn new(shells: Arc<Shells>) -> Self {
        Self { shells }
    }
}

/// New output of a session of run_shell; waits for its end.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    session: String,
    /// Wait at most this long (5000).
    #[serde(default)]
    #[schemars(with = "u64")]
    yield_ms: Option<u64>,
    /// Read all output from this byte on.
    #[serde(default)]
    #[schemars(with = "u64")]
    from: Option<u64>,
    /// That of stderr.
    #[serde(default)]
    stderr: bool,
}

impl Tool for ShellPoll {
    type Args = Args;
    type Output = CommandReport;
    const CARD: Card =
        Card { name: "shell_poll", title: "Look at a session", effect: Effect::Read, ..SESSION };

    fn wants(&self, args: &Args) -> Wants {
        Wants { subject: Subject::Text(args.session.clone()), paths: Vec::new() }
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<CommandReport>, Fault> {
        let session = self.shells.session(ctx, &args.session)?;
        if let Some(from) = args.from {
            return ctx.blocking(move |ctx| page(&session, from, args.stderr, ctx.max_output)).await;
        }
        let yields = Duration::from_millis(args.yield_ms.unwrap_or(USUAL_YIELD).min(MOST_YIELD));
        session.wait(yields).await;
        Ok(report(ctx, &session))
    }
}

/// The new output of a session, which counts as told then.
pub(super) fn report(ctx: &Ctx, session: &Session) -> Reply<CommandReport> {
    // The end first: what was said before it is there by then.
    let end = session.ended();
    let standing = CommandState {
        stdout: &session.stdout,
        stderr: &session.stderr,
        told: session.told(None),
        end,
        name: &session.name,
        took: session.began.elapsed(),
    };
    let told = standing.told(ctx.max_output);
    session.told(Some(told.next()));
    let (text, report) = standing.report(told, Some(&session.id));
    Reply::new(text, report)
}

/// A page of all that was said on one stream.
fn page(session: &Session, from: u64, stderr: bool, most: usize) -> Result<Reply<CommandReport>, Fault> {
    let output = if stderr { &session.stderr } else { &session.stdout };
    let most = most.saturating_sub(WORDS);
    let total = output.total();
    let text = match output.kept() {
        Some(kept) => kept.read(from, most).map_err(|error| {
            Fault::not_found(format!("the output of {} cannot be read: {error}", session.id))
        })?,
        None => output.shown(from, most).text(None),
    };
    let next = from + text.len() as u64;
    let note = if next < total && !text.is_empty() {
        format!("[bytes {from} to {next} of {total}; continue with from={next}]")
    } else {
        format!("[bytes {from} to {next} of {total}]")
    };
    let said = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    let report = CommandReport {
        session: Some(session.id.clone()),
        running: session.ended().is_none(),
        omitted: total.saturating_sub(next),
        duration_ms: session.began.elapsed().as_millis() as u64,
        ..CommandReport::default()
    };
    let shown = format!("{text}{said}{note}");
    let report = if stderr {
        CommandReport { stderr: text, ..report }
    } else {
        CommandReport { stdout: text, ..report }
    };
    Ok(Reply::new(shown, report))
}
