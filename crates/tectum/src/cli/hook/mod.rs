//! `tectum hook`: the rules before a coding agent's own tools. This file judges; the others write the
//! client's settings.

mod install;
mod kept;
mod named;
mod site;

use std::{
    io::{self, IsTerminal as _, Read as _},
    path::PathBuf,
    sync::mpsc,
    thread,
    time::Duration,
};

use clap::{Args, Subcommand};
use serde_json::Value;
use tectum::{
    Fault,
    client::BlockingApiHookClient,
    client_hooks::{HookCall, HookShape, MOST_REQUEST, denial, without_contents},
    state,
};

use self::named::shape;
pub(super) use self::site::{HookSite, Manner};
use super::{failure::Failure, options::Shared, screen::Screen};

/// The time for the judgement; a client that waits longer than its own patience goes on.
const PATIENCE: Duration = Duration::from_secs(20);
/// The exit code that every client takes as a denial, with the reason on standard error.
const BLOCKS: u8 = 2;

/// Judge a coding agent's own tools by the rules.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
A coding agent runs this before it uses a tool of its own, such as Bash or Edit: the request comes on
standard input, the answer goes to standard output, both in the agent's own JSON. The rules are those
of the Tectum that serves this directory; without one, everything is denied.

Examples:
  tectum hook install claude
  tectum hook remove claude")]
pub(crate) struct Hook {
    #[command(subcommand)]
    change: Option<HookChange>,
    /// Whose request it is: claude, codex, cursor or gemini; without it, the fields tell
    #[arg(long, value_name = "CLIENT", value_parser = shape)]
    client: Option<HookShape>,
}

#[derive(Debug, Subcommand)]
enum HookChange {
    /// Write the hook into a client's settings
    Install(install::InstallHook),
    /// Remove exactly what was written
    Remove(install::RemoveHook),
}

impl Hook {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        match self.change {
            Some(HookChange::Install(install)) => install.run(shared, screen),
            Some(HookChange::Remove(remove)) => remove.run(shared, screen),
            None => judge(self.client, shared, screen),
        }
    }
}

/// Answers one request. Whatever goes wrong is a denial.
fn judge(client: Option<HookShape>, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
    if io::stdin().is_terminal() {
        return Err(Fault::invalid("a hook's request comes on standard input, and that is a terminal")
            .hint("`tectum hook install CLIENT` makes a client send its requests")
            .into());
    }
    let (request, whole) = read();
    let denied = |why: String| denial(client, &request, &format!("Tectum denies this: {why}"));
    let answered = whole.map_err(denied).and_then(|()| {
        HookCall::read(client, &request)?;
        answered(client, &request, shared).map_err(denied)
    });
    match answered.or_else(|reply| reply.body.ok_or(reply.reason)) {
        Ok(answer) => screen.print_json(&answer),
        Err(reason) => {
            screen.tell(&reason);
            Err(Failure::Silent(BLOCKS))
        }
    }
}

/// The request, and why it is not whole. A client that never ends it is not waited for.
fn read() -> (Vec<u8>, Result<(), String>) {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut request = Vec::new();
        let read = io::stdin().lock().take(MOST_REQUEST as u64).read_to_end(&mut request);
        // Nobody waits any more.
        let _ = sender.send((request, read));
    });
    match receiver.recv_timeout(PATIENCE) {
        Ok((request, Ok(size))) if size < MOST_REQUEST => (request, Ok(())),
        Ok((request, Ok(_))) => {
            (request, Err(format!("the request is larger than {} MB", MOST_REQUEST >> 20)))
        }
        Ok((request, Err(error))) => (request, Err(format!("the request cannot be read: {error}"))),
        Err(_) => (Vec::new(), Err("the request does not end".into())),
    }
}

fn answered(client: Option<HookShape>, request: &[u8], shared: &Shared) -> Result<Value, String> {
    let directory = shared.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let house = BlockingApiHookClient::serving(&directory).map_err(|error| error.to_string())?;
    let house = house.ok_or_else(|| {
        let directory = state::canonical(&directory).display().to_string();
        format!("no Tectum serves {directory}, so nobody can judge it; a person starts one with: tectum up -C {directory}")
    })?;
    let answer = house.pre_tool_use(client.map(HookShape::name), without_contents(request), PATIENCE);
    answer.map_err(|fault| fault.text())
}
