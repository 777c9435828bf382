//! `tectum undo`: all changes of a session taken back, file by file, as far as nobody else changed them.

use clap::Args;
use serde_json::{Value, json};
use tectum::{
    Call, Fault, Payload, SessionId, Tectum,
    approval::Decided,
    core::CallId,
    replay,
    tools::edit::{UNDO_CALLS, UNDO_FOLDERS, UNDO_MOVE},
};
use tectum_journal::{Ending, Entry};
use tokio::runtime::Builder;

use super::{
    failure::Failure,
    given,
    journal::{RecordPlace, calls, session},
    options::Shared,
    progress::one_line,
    screen::{Colour, Screen, counted, harmless},
};

/// Characters of what a call did that are shown.
const MOST_WHAT: usize = 60;

/// Take back all changes of a session.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --yes nothing is changed: it shows what would become of each file. A file goes back to what it
was before the session's first change of it, a moved folder gets its name back, and folders that the
session made go where they are empty then. A file that somebody else changed since stays as it is. What commands and servers did is not undone, because only edits keep
what was there before; each such call is named.

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
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let mut undone = runtime.block_on(take_back(&house, &ids, !self.yes))?;
        let directory = format!("{}/", record.directory());
        undone.folders.iter_mut().for_each(|folder| *folder = folder.replacen(&directory, "", 1));
        let left = not_undone(entries.iter().filter(|entry| ids.contains(&entry.id)), &undone);
        if screen.json {
            screen.print_json(&json!({
                "session": row.session,
                "report": undone.report,
                "folders": undone.folders,
                "moves": undone.moves.iter().map(MoveBack::data).collect::<Vec<Value>>(),
                "not_undone": left.iter().map(NotUndone::data).collect::<Vec<Value>>(),
            }))?;
        } else {
            let told = self.told(&row.session, &undone, &left, screen);
            // Names are those of the project, as everywhere.
            screen.print(&told.replace(&directory, ""))?;
        }
        let refused = files(&undone.report).any(|file| file["fate"] == "refused")
            || undone.moves.iter().any(|back| back.refused.is_some());
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

    fn told(&self, session: &str, undone: &Undone, left: &[NotUndone], screen: &Screen) -> String {
        let mut text = String::new();
        let mut line = |word: &str, colour: Colour, told: &str| {
            text.push_str(&format!("{}  {}\n", screen.paint(colour, &format!("{word:<10}")), harmless(told)));
        };
        for file in files(&undone.report) {
            let (word, colour) = match (file["fate"].as_str().unwrap_or_default(), self.yes) {
                ("restored", true) => ("restored", Colour::Green),
                ("restored", false) => ("restore", Colour::Green),
                ("deleted", true) => ("deleted", Colour::Yellow),
                ("deleted", false) => ("delete", Colour::Yellow),
                ("unchanged", _) => ("as it was", Colour::Dim),
                _ => ("refused", Colour::Red),
            };
            let path = file["path"].as_str().unwrap_or_default();
            let why = file["why"].as_str().filter(|why| !why.is_empty());
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            let calls = counted(file["calls"].as_u64().unwrap_or(0), "change");
            line(word, colour, &format!("{path} ({calls}){why}"));
        }
        for MoveBack { from, to, refused, .. } in &undone.moves {
            match (refused, self.yes) {
                (Some(why), _) => line("refused", Colour::Red, &format!("{from} to {to}: {why}")),
                (None, true) => line("moved back", Colour::Green, &format!("{from} to {to}")),
                (None, false) => line("move back", Colour::Green, &format!("{from} to {to}")),
            }
        }
        for folder in &undone.folders {
            match self.yes {
                true => line("removed", Colour::Yellow, folder),
                false => line("remove", Colour::Yellow, &format!("{folder} (if it is empty then)")),
            }
        }
        for NotUndone { what, why, .. } in left {
            line("not undone", Colour::Yellow, &format!("{what}: {why}"));
        }
        if files(&undone.report).next().is_none() && undone.moves.is_empty() {
            return format!("{text}session {session} changed no file that can be taken back");
        }
        let made: Vec<&str> = undone.undos().collect();
        match (self.yes, made.as_slice()) {
            (false, _) => text.push_str("Nothing was changed yet: add --yes to do it"),
            (true, []) => text.push_str("Nothing was changed"),
            (true, made) => {
                let commands = made.iter().map(|call| format!("tectum call undo_edit call_id={call}"));
                let commands: Vec<String> = commands.collect();
                text.push_str(&format!("To take that back: {}", commands.join(", then ")));
            }
        }
        text
    }
}

/// The changes that were taken back, or would be.
#[derive(Debug)]
pub(super) struct Undone {
    /// The fate of each file, as the tool tells it.
    report: Value,
    /// The folders that were moved back afterwards.
    moves: Vec<MoveBack>,
    /// The folders that were taken away, or that would be if they are empty then.
    folders: Vec<String>,
}

impl Undone {
    /// The calls that take this back, in their order.
    fn undos(&self) -> impl Iterator<Item = &str> {
        let moves = self.moves.iter().rev().filter_map(|back| back.undo.as_deref());
        moves.chain(self.report["undo"].as_str())
    }

    fn knows(&self, call: &str) -> bool {
        self.report["calls"].as_array().is_some_and(|calls| calls.iter().any(|known| known == call))
    }
}

/// A folder, a link or a huge file that gets its name back.
#[derive(Debug)]
struct MoveBack {
    call: String,
    from: String,
    to: String,
    undo: Option<String>,
    refused: Option<String>,
}

impl MoveBack {
    fn data(&self) -> Value {
        let Self { call, from, to, undo, refused } = self;
        json!({ "call": call, "from": from, "to": to, "undo": undo, "refused": refused })
    }
}

/// Takes the changes of these calls back, the newest first: files all together, then each moved folder.
pub(super) async fn take_back(house: &Tectum, calls: &[String], dry_run: bool) -> Result<Undone, Failure> {
    let report = made(house, UNDO_CALLS, &json!({ "calls": calls, "dry_run": dry_run })).await??;
    let mut moves = Vec::new();
    for moved in report["moves"].as_array().into_iter().flatten() {
        let word = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let call = word(moved, "call");
        let (from, to) = (word(moved, "to"), word(moved, "from"));
        let mut back = MoveBack { call, from, to, undo: None, refused: None };
        // Of one that waits for another nobody can tell before that one is done.
        if !dry_run || moved["waits"] != true {
            match made(house, UNDO_MOVE, &json!({ "call": back.call, "dry_run": dry_run })).await? {
                Ok(done) => {
                    (back.from, back.to) = (word(&done, "from"), word(&done, "to"));
                    back.undo = done["undo"].as_str().map(str::to_owned);
                }
                Err(fault) => back.refused = Some(fault.message),
            }
        }
        moves.push(back);
    }
    let mut folders = report["folders"].clone();
    // Last of all: a folder that was moved back may be empty now.
    if !dry_run && folders.as_array().is_some_and(|folders| !folders.is_empty()) {
        folders = made(house, UNDO_FOLDERS, &json!({ "calls": calls })).await??["folders"].take();
    }
    let folders: Vec<String> = serde_json::from_value(folders).unwrap_or_default();
    // A folder that is gone is not moved again: its files bring it back under its last name.
    for back in moves.iter_mut().filter(|back| folders.contains(&format!("{}/", back.to))) {
        back.undo = None;
    }
    Ok(Undone { report, moves, folders })
}

/// One call of the tools that undo, and what it says as data.
async fn made(house: &Tectum, tool: &str, args: &Value) -> Result<Result<Value, Fault>, Failure> {
    let args = given::raw(args.as_object().cloned().unwrap_or_default())?;
    // Whoever runs this command is the person who would be asked.
    let call = Call::new(SessionId::new("undo"), tool, args);
    let called = house.call_asking(house.registry().snapshot(), call, Some(Decided::yes()));
    Ok(called.await.result.map(|payload| match payload {
        Payload::Native(reply) => serde_json::from_str(&reply.structured).unwrap_or_default(),
        Payload::Peer(_) => Value::Null,
    }))
}

/// A call whose effect stays.
#[derive(Debug)]
struct NotUndone {
    call: String,
    tool: String,
    what: String,
    why: String,
}

impl NotUndone {
    fn data(&self) -> Value {
        let Self { call, tool, what, why } = self;
        json!({ "call": call, "tool": tool, "what": what, "why": why })
    }
}

/// The calls that may have changed something that nobody can put back, in their order.
fn not_undone<'e>(entries: impl Iterator<Item = &'e Entry>, undone: &Undone) -> Vec<NotUndone> {
    let stays = |entry: &&Entry| replay::was_executed(entry) && !undone.knows(&entry.id);
    let told = |entry: &'e Entry| {
        let args: Value = serde_json::from_str(entry.args.get()).unwrap_or_default();
        let command = args["command"].as_str().or(args["script"].as_str());
        let (what, why) = match (&entry.server, command) {
            (Some(server), _) => (
                format!("{} {}", entry.tool, entry.args.get()),
                format!("it was done by the server {server}"),
            ),
            (None, Some(command)) => (
                format!("ran `{}`", one_line(command, MOST_WHAT)),
                "commands keep nothing of what was there".into(),
            ),
            // A tool of our own that failed changed nothing, or kept what was there.
            (None, None) if matches!(entry.ending, Ending::Fault(_)) => return None,
            (None, None) => (
                format!("{} {}", entry.tool, entry.args.get()),
                format!("nothing is kept of what was there before {}", entry.id),
            ),
        };
        let (call, tool) = (entry.id.clone(), entry.tool.clone());
        Some(NotUndone { call, tool, what: one_line(&what, MOST_WHAT + 8), why })
    };
    entries.filter(stays).filter_map(told).collect()
}

fn files(report: &Value) -> impl Iterator<Item = &Value> {
    report["files"].as_array().into_iter().flatten()
}

/// Whether a call may have changed a file of the project. One that failed may have changed it in part.
fn is_change(entry: &Entry) -> bool {
    entry.effect.as_deref() != Some("read") && CallId::parse(&entry.id).is_some()
}
