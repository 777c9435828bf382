//! A call that ended otherwise than it was recorded, with a diff.

use std::fmt;

use serde_json::Value;
use similar::TextDiff;
use tectum_core::{Outcome, Payload};
use tectum_journal::{Ending, Entry};
use tectum_redact::Redactor;

/// Lines around a change that a diff shows.
const AROUND: usize = 3;
/// Bytes of a diff that are shown.
const MOST: usize = 16 * 1024;

/// One call that ended otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The id of the call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub args: String,
    /// What was recorded, and what came now, line by line.
    pub diff: String,
}

impl Difference {
    pub(super) fn between(entry: &Entry, outcome: &Outcome, view: &View<'_>) -> Option<Self> {
        let (then, now) = (view.text(&recorded(&entry.ending)), view.text(&current(outcome)));
        Self::of_texts(entry, &then, &now)
    }

    /// A difference between two texts of one call, if they differ in more than the ids that every call gets
    /// anew.
    pub fn of_texts(entry: &Entry, then: &str, now: &str) -> Option<Self> {
        if then == now {
            return None;
        }
        let diff = TextDiff::from_lines(then, now);
        let mut diff = diff.unified_diff().context_radius(AROUND).header("recorded", "now").to_string();
        if diff.len() > MOST {
            diff.truncate(diff.floor_char_boundary(MOST));
            diff.push_str("\n[the rest of the diff is left out]\n");
        }
        let Entry { id, tool, args, .. } = entry;
        Some(Self { call: id.clone(), tool: tool.clone(), args: args.get().to_owned(), diff })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}\n{}", self.call, self.tool, self.args, self.diff)
    }
}

/// How results are made comparable: without secrets, as the record has them, and with the names of the
/// recorded directory.
#[derive(Debug)]
pub(super) struct View<'v> {
    pub(super) redactor: &'v Redactor,
    /// A directory, and the recorded one that it stands for.
    pub(super) moved: Option<(&'v str, &'v str)>,
}

impl View<'_> {
    /// A text without secrets, with the names of the recorded directory.
    fn text(&self, text: &str) -> String {
        let text = match self.moved {
            Some((here, recorded)) => text.replace(here, recorded),
            None => text.to_owned(),
        };
        self.redactor.text(&text).into_owned()
    }
}

fn recorded(ending: &Ending) -> String {
    match ending {
        Ending::Native { text, .. } => text.clone(),
        Ending::Peer { json, failed } => peer(json.get(), *failed),
        Ending::Fault(fault) => failed(&fault.kind, &fault.message, fault.hint.as_deref()),
        Ending::Omitted { .. } => String::new(),
    }
}

fn current(outcome: &Outcome) -> String {
    match &outcome.result {
        Ok(Payload::Native(reply)) => reply.text.clone(),
        Ok(Payload::Peer(reply)) => peer(reply.json.get(), reply.failed),
        Err(fault) => {
            let kind = serde_json::to_value(fault.kind).unwrap_or_default();
            failed(kind.as_str().unwrap_or_default(), &fault.message, fault.hint.as_deref())
        }
    }
}

/// A server's result on several lines, so that a diff shows where it differs.
fn peer(json: &str, failed: bool) -> String {
    let value: Value = serde_json::from_str(json).unwrap_or_default();
    let pretty = serde_json::to_string_pretty(&value).unwrap_or_default();
    format!("{}{pretty}", if failed { "failed\n" } else { "" })
}

fn failed(kind: &str, message: &str, hint: Option<&str>) -> String {
    let hint = hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    format!("{kind}: {message}{hint}")
}
