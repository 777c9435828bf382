//! `tectum undo`: all changes of a session taken back, file by file, as far as nobody else changed them.

use clap::Args;
use serde_json::{Value, json};
use tectum::{
    Call, Fault, Payload, SessionId,
    core::{Asker, CallId},
    tools::edit::UNDO_CALLS,
};
use tectum_journal::Entry;
use tokio::runtime::Builder;

use super::{
    failure::Failure,
    given,
    journal::{RecordPlace, calls, session},
    options::Shared,
    screen::{Colour, Screen, counted, harmless},
};

/// Take back all changes of a session.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --yes nothing is changed: it shows what would become of each file. A file goes back to what it
was before the session's first change of it. A file that somebody else changed since stays as it is, and
so does everything that commands did, because only edits keep what was there before.

Examples:
  tectum undo last
  tectum undo s-0123456789abcdef --since c-0123456789abcdef --yes")]
pub(crate) struct UndoSession {
    /// The session: its name, the beginning of it, or `last`
    #[arg(value_name = "SESSION")]
    session: String,
    /// Take back only this call and those after it
    #[arg(long, value_name = "CALL")]
    since: Option<String>,
    /// Do it; otherwise it is only shown
    #[arg(long)]
    yes: bool,
}

impl UndoSession {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let record = RecordPlace::find(shared, screen)?;
        let mut index = record.index(screen)?;
        let row = session(&mut index, &self.session)?;
        let entries = calls(&mut index, &row.session)?;
        let ids = self.changes(&entries)?;
        drop(index);
        let house = tectum::build_to_undo(&record.config, self.yes)?;
        let args = json!({ "calls": ids, "dry_run": !self.yes });
        let args = given::raw(args.as_object().cloned().unwrap_or_default())?;
        // Whoever runs this command is the person who would be asked.
        let asker = Asker::to(|_| Box::pin(async { Ok(()) }));
        let call = Call { asker, ..Call::new(SessionId::new("undo"), UNDO_CALLS, args) };
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let outcome = runtime.block_on(house.call(call));
        let report: Value = match outcome.result? {
            Payload::Native(reply) => serde_json::from_str(&reply.structured).unwrap_or_default(),
            Payload::Peer(_) => Value::Null,
        };
        if screen.json {
            screen.print_json(&json!({ "session": row.session, "report": report }))?;
        } else {
            screen.print(&self.told(&row.session, &report, screen))?;
        }
        let refused = files(&report).any(|file| file["fate"] == "refused");
        // Those that could be put back are; the others are a conflict.
        if refused && self.yes { Err(Failure::Silent(5)) } else { Ok(()) }
    }

    /// The ids of the calls that may have changed something, the newest first.
    fn changes(&self, entries: &[Entry]) -> Result<Vec<String>, Fault> {
        let from = match &self.since {
            None => 0,
            Some(call) => entries.iter().position(|entry| entry.id == *call).ok_or_else(|| {
                Fault::not_found(format!("{call} is no call of this session"))
                    .hint(format!("`tectum log show {}` shows its calls with their ids", self.session))
            })?,
        };
        // By their ends: of two calls that ran together, the later one wrote over the other.
        let mut later: Vec<&Entry> = entries[from..].iter().filter(|entry| is_change(entry)).collect();
        later.sort_by_key(|entry| std::cmp::Reverse(entry.began + entry.took));
        Ok(later.into_iter().map(|entry| entry.id.clone()).collect())
    }

    fn told(&self, session: &str, report: &Value, screen: &Screen) -> String {
        let mut text = String::new();
        for file in files(report) {
            let (word, colour) = match (file["fate"].as_str().unwrap_or_default(), self.yes) {
                ("restored", true) => ("restored", Colour::Green),
                ("restored", false) => ("restore", Colour::Green),
                ("deleted", true) => ("deleted", Colour::Yellow),
                ("deleted", false) => ("delete", Colour::Yellow),
                ("unchanged", _) => ("as it was", Colour::Dim),
                _ => ("refused", Colour::Red),
            };
            let path = harmless(file["path"].as_str().unwrap_or_default()).into_owned();
            let why = file["why"].as_str().filter(|why| !why.is_empty());
            let why = why.map(|why| format!(": {}", harmless(why))).unwrap_or_default();
            let calls = counted(file["calls"].as_u64().unwrap_or(0), "change");
            text.push_str(&format!(
                "{}  {path} ({calls}){why}\n",
                screen.paint(colour, &format!("{word:<9}"))
            ));
        }
        if text.is_empty() {
            return format!("session {session} changed no file that can be taken back");
        }
        match (self.yes, report["undo"].as_str()) {
            (false, _) => text.push_str("Nothing was changed yet: add --yes to do it"),
            (true, Some(undo)) => {
                text.push_str(&format!("To take that back: tectum call undo_edit call_id={undo}"));
            }
            (true, None) => text.push_str("Nothing was changed"),
        }
        text
    }
}

fn files(report: &Value) -> impl Iterator<Item = &Value> {
    report["files"].as_array().into_iter().flatten()
}

/// Whether a call may have changed a file of the project. One that failed may have changed it in part.
fn is_change(entry: &Entry) -> bool {
    entry.effect.as_deref() != Some("read") && CallId::parse(&entry.id).is_some()
}
