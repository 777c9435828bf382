//! `tectum replay`: the calls of a session again, and what ends otherwise.

mod as_test;
mod scratch;
mod versions;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use tectum::{
    Config, Fault, FaultKind,
    replay::{self, Difference, Replayed, Session},
    servers::Household,
};
use tokio::runtime::Builder;

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
            return as_test::write(folder, &recorded, screen);
        }
        if let Some(other) = &self.to {
            let replayed = versions::compare(&config, other, &recorded)?;
            return tell(&replayed, &[], "what only reads ends the same in both versions", screen);
        }
        if let Some(copy) = &self.r#in {
            let (replayed, files) = scratch::run(shared, &config, copy, &recorded)?;
            return tell(&replayed, &files, "every call and every file is the same", screen);
        }
        let runtime = Builder::new_current_thread().enable_all().build()?;
        if self.live {
            let replayed = runtime.block_on(live(&config, shared, &recorded))?;
            runtime.shutdown_background();
            return tell(&replayed, &[], "what only reads has the recorded results", screen);
        }
        let replayed = runtime.block_on(replay::offline(&config, &recorded))?;
        tell(&replayed, &[], "every call ends as recorded", screen)
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
    let replayed = replay::live(config, &household.house, recorded).await;
    household.stop().await;
    Ok(replayed)
}

/// Prints what was found. Anything that ended otherwise is a conflict.
fn tell(replayed: &Replayed, files: &[Difference], same: &str, screen: &Screen) -> Result<(), Failure> {
    let whole = replayed.differences.is_empty() && files.is_empty();
    if screen.json {
        screen.print_json(&json!({
            "same": whole,
            "calls": replayed.calls,
            "skipped": replayed.skipped,
            "differences": replayed.differences.iter().map(data).collect::<Vec<Value>>(),
            "files": files.iter().map(data).collect::<Vec<Value>>(),
        }))?;
    } else {
        let made = format!("{} made again", counted(replayed.calls as u64, "call"));
        let left = match replayed.skipped {
            0 => String::new(),
            skipped => format!(", {skipped} left out"),
        };
        let mut text = String::new();
        if let Some(first) = replayed.first() {
            let head = screen.paint(Colour::Red, "first divergence:");
            text.push_str(&format!("{head} {}\n", harmless(&first.to_string())));
            if replayed.differences.len() > 1 {
                text.push_str(&format!(
                    "{} more ended otherwise:\n",
                    counted(replayed.differences.len() as u64 - 1, "call")
                ));
            }
            for other in replayed.differences.iter().skip(1) {
                text.push_str(&format!("  {} {}\n", other.call, harmless(&other.tool)));
            }
        }
        for file in files {
            let head = screen.paint(Colour::Red, "file differs:");
            text.push_str(&format!("{head} {}\n{}", harmless(&file.tool), harmless(&file.diff)));
        }
        if whole {
            text.push_str(&screen.ok(&format!("{same}: {made}{left}")));
        } else {
            text.push_str(&format!("{made}{left}"));
        }
        screen.print(&text)?;
    }
    if whole { Ok(()) } else { Err(Failure::Silent(FaultKind::Conflict.exit_code())) }
}

fn data(difference: &Difference) -> Value {
    let Difference { call, tool, args, diff } = difference;
    json!({ "call": call, "tool": tool, "args": args, "diff": diff })
}
