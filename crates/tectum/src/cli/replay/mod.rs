//! `tectum replay`: the calls of a session again, and what ends otherwise.

mod as_test;
mod files;
mod scratch;
mod versions;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, value_parser};
use serde_json::{Value, json};
use tectum::{
    Config, Fault, FaultKind,
    replay::{self, Difference, Replayed, Session},
    servers::Household,
};
use tokio::runtime::Builder;

use self::files::FilesFound;
use super::{
    failure::Failure,
    journal::{RecordPlace, calls, session},
    options::Shared,
    screen::{Colour, Screen, counted, harmless},
};

/// Make the calls of a session again and name the first that ends otherwise.
#[derive(Debug, Args)]
#[command(after_help = "\
Without an option nothing is executed: each call is found, read and judged again, and gets its recorded
result. Settings that judge a call otherwise, tools that are gone and arguments that are refused now show
as a divergence.

Examples:
  tectum replay last
  tectum replay last --live
  tectum replay last --in /tmp/again
  tectum replay last --to ~/bin/tectum-next
  tectum replay last --as-test tests/replay")]
pub(crate) struct Replay {
    /// The session (its name, the beginning of it, or `last`), or a file of `tectum log export`
    #[arg(value_name = "SESSION")]
    session: String,
    /// Execute again what only reads, in the project as it is now, and show what changed
    #[arg(long, group = "way")]
    live: bool,
    /// Execute everything again in a copy of the project at DIR, which must be new or empty, from the state
    /// before the session as far as edits kept it, and compare the files
    #[arg(long, value_name = "DIR", group = "way")]
    r#in: Option<PathBuf>,
    /// Execute again what only reads with this version and with another one, and compare
    #[arg(long, value_name = "BINARY", group = "way")]
    to: Option<PathBuf>,
    /// The seconds that an answer of either version may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "to", value_parser = value_parser!(u64).range(1..))]
    timeout: u64,
    /// Write a test into this folder that replays the session
    #[arg(long, value_name = "DIR", group = "way")]
    as_test: Option<PathBuf>,
}

impl Replay {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let record = RecordPlace::find(shared, screen)?;
        let recorded = self.recorded(&record, screen)?;
        if recorded.entries.is_empty() {
            return Err(Fault::not_found("there are no calls to make again").into());
        }
        // What is made again is no new history.
        let mut config = record.config.clone();
        config.journal.on = false;
        if let Some(folder) = &self.as_test {
            return as_test::write(folder, &config, &recorded, screen);
        }
        if let Some(other) = &self.to {
            let limit = Duration::from_secs(self.timeout);
            let replayed = versions::compare(&config, other, &recorded, limit)?;
            return tell(&replayed, None, "what only reads ends the same in both versions", screen);
        }
        if let Some(copy) = &self.r#in {
            let (replayed, files) = scratch::run(shared, &config, copy, &recorded)?;
            return tell(&replayed, Some(&files), "every call and every file is the same", screen);
        }
        let runtime = Builder::new_current_thread().enable_all().build()?;
        if self.live {
            let replayed = runtime.block_on(live(&config, shared, &recorded))?;
            runtime.shutdown_background();
            return tell(&replayed, None, "what only reads has the recorded results", screen);
        }
        let replayed = runtime.block_on(replay::offline(&config, &recorded))?;
        tell(&replayed, None, "every call ends as recorded", screen)
    }

    /// The session of a file, or of the record.
    fn recorded(&self, record: &RecordPlace, screen: &Screen) -> Result<Session, Failure> {
        let file = Path::new(&self.session);
        if file.extension().is_some_and(|ending| ending == "jsonl") {
            return Session::read(file)
                .map_err(|error| Fault::invalid(format!("{}: {error}", file.display())).into());
        }
        let mut index = record.index(screen)?;
        let row = session(&mut index, &self.session)?;
        Ok(Session::new(calls(&mut index, &row.session)?))
    }
}

async fn live(config: &Config, shared: &Shared, recorded: &Session) -> Result<Replayed, Failure> {
    let household = Household::for_one_call(config, shared.sources(Vec::new())).await?;
    let replayed = replay::live(config, &household, recorded).await;
    household.stop().await;
    Ok(replayed)
}

/// Prints what was found. Anything that ended otherwise is a conflict.
fn tell(replayed: &Replayed, files: Option<&FilesFound>, same: &str, screen: &Screen) -> Result<(), Failure> {
    let differing = files.map_or(&[][..], |files| &files.differences);
    let whole = replayed.differences.is_empty() && differing.is_empty();
    if screen.json {
        let left_out = replayed.left_out.iter().map(|(why, count)| (why.to_string(), json!(count)));
        screen.print_json(&json!({
            "same": whole,
            "calls": replayed.calls,
            "skipped": replayed.skipped(),
            "left_out": left_out.collect::<serde_json::Map<_, _>>(),
            "differences": replayed.differences.iter().map(data).collect::<Vec<Value>>(),
            "files": differing.iter().map(data).collect::<Vec<Value>>(),
            "files_compared": files.map_or(0, |files| files.compared),
            "files_changed_since": files.map_or(&[][..], |files| &files.changed_since),
        }))?;
    } else {
        screen.print(&told(replayed, files, same, screen))?;
    }
    if whole { Ok(()) } else { Err(Failure::Silent(FaultKind::Conflict.exit_code())) }
}

fn told(replayed: &Replayed, files: Option<&FilesFound>, same: &str, screen: &Screen) -> String {
    let mut text = String::new();
    if let Some(first) = replayed.first() {
        let head = screen.paint(Colour::Red, "first divergence:");
        text.push_str(&format!("{head} {}\n", harmless(first.to_string().trim_end())));
    }
    if let [_, others @ ..] = replayed.differences.as_slice()
        && !others.is_empty()
    {
        text.push_str(&format!("{} ended otherwise, too:\n", counted(others.len() as u64, "call")));
        for other in others {
            text.push_str(&format!("  {} {}\n", other.call, harmless(&other.tool)));
        }
    }
    for file in files.iter().flat_map(|files| &files.differences) {
        let head = screen.paint(Colour::Red, "file differs:");
        text.push_str(&format!("{head} {}\n{}\n", harmless(&file.tool), harmless(file.diff.trim_end())));
    }
    for file in files.iter().flat_map(|files| &files.changed_since) {
        let head = screen.paint(Colour::Yellow, "changed since:");
        let file = harmless(file);
        text.push_str(&format!(
            "{head} {file} is as the session left it, and the project has another one now\n"
        ));
    }
    let mut made = format!("{} made again", counted(replayed.calls as u64, "call"));
    if let Some(files) = files {
        let files = counted(files.compared as u64, "file");
        made.push_str(&format!(", {files} of the copy and the project compared (.git apart)"));
    }
    let whole = replayed.differences.is_empty() && files.is_none_or(|files| files.differences.is_empty());
    text.push_str(&if whole { screen.ok(&format!("{same}: {made}")) } else { made });
    for (why, count) in &replayed.left_out {
        text.push_str(&format!("\nleft out: {} ({why})", counted(*count as u64, "call")));
    }
    text
}

fn data(difference: &Difference) -> Value {
    let Difference { call, tool, args, diff } = difference;
    json!({ "call": call, "tool": tool, "args": args, "diff": diff })
}
