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
        let (Ending::Native { structured: then_data, .. }, Ok(Payload::Native(reply))) =
            (&entry.ending, &outcome.result)
        else {
            return Self::of_texts(entry, &then, &now);
        };
        let data = || {
            let (then, now) = (pretty(then_data.get()), pretty(&reply.structured));
            Self::of_texts(entry, &view.text(&then), &view.text(&now))
        };
        Self::of_texts(entry, &then, &now).or_else(|| view.structured.then(data).flatten())
    }

    /// A difference between two texts of one call, if they differ in more than the ids that every call gets
    /// anew.
    pub fn of_texts(entry: &Entry, then: &str, now: &str) -> Option<Self> {
        let Entry { id, tool, args, .. } = entry;
        let (call, tool, args) = (id.clone(), tool.clone(), args.get().to_owned());
        (then != now).then(|| Self { call, tool, args, diff: Self::diff(then, now) })
    }

    /// Two texts line by line; a long diff is cut and says so.
    pub fn diff(then: &str, now: &str) -> String {
        let diff = TextDiff::from_lines(then, now);
        let mut diff = diff.unified_diff().context_radius(AROUND).header("recorded", "now").to_string();
        if diff.len() > MOST {
            diff.truncate(diff.floor_char_boundary(MOST));
            diff.push_str("\n[the rest of the diff is left out]\n");
        }
        diff
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
    /// True if results are compared as data, too. What is executed again has times of its own there.
    pub(super) structured: bool,
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
    format!("{}{}", if failed { "failed\n" } else { "" }, pretty(json))
}

fn pretty(json: &str) -> String {
    let value: Value = serde_json::from_str(json).unwrap_or_default();
    serde_json::to_string_pretty(&value).unwrap_or_default()
}

fn failed(kind: &str, message: &str, hint: Option<&str>) -> String {
    let hint = hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    format!("{kind}: {}{hint}", without_places(message))
}

/// A refusal without the places of its rules: one that stands on another line now says the same.
fn without_places(message: &str) -> String {
    const RULE: &str = " rule `";
    let (mut text, mut rest) = (String::new(), message);
    while let Some(at) = rest.find(RULE) {
        let (before, rule) = rest.split_at(at + RULE.len());
        text.push_str(before);
        rest = rule;
        if let Some((name, behind)) = rule.split_once("` (")
            && let Some((_, after)) = behind.split_once(')')
        {
            text.push_str(&format!("{name}`"));
            rest = after;
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_the_same_wherever_it_stands() {
        for (message, expect) in [
            (
                "x is not permitted here: deny rule `x(a)` (tectum.toml:2:9)",
                "x is not permitted here: deny rule `x(a)`",
            ),
            ("deny rule `a` (f:1), and deny rule `b` (g:2)", "deny rule `a`, and deny rule `b`"),
            ("a rule `b", "a rule `b"),
            ("nothing (here)", "nothing (here)"),
        ] {
            assert_eq!(without_places(message), expect);
        }
    }
}
