//! The diagnostics of a server in our format: lines counted from 1, one line of text for each finding,
//! bounded.

use std::fmt;

use serde::Deserialize;
use tectum_child::visible::visible;

/// The most findings of one report; a model reads no more, and a broken generator makes many.
const MOST: usize = 1000;
/// The most characters of one finding.
const MOST_TEXT: usize = 1000;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The code is wrong.
    Error,
    /// The code may be wrong.
    Warning,
    /// Information.
    Info,
    /// A suggestion.
    Hint,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The line, counted from 1.
    pub line: u64,
    /// The severity.
    pub severity: Severity,
    /// The message, on one line.
    pub message: String,
}

/// All findings about one version of a text, in the order of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The findings.
    pub found: Vec<Diagnostic>,
    /// The number of findings that were left out.
    pub left_out: usize,
}

impl Report {
    pub(crate) fn of(given: Vec<Given>) -> Self {
        let left_out = given.len().saturating_sub(MOST);
        let mut given = given;
        // If there are too many, the worst are kept.
        if left_out > 0 {
            given.sort_by_key(Given::severity);
            given.truncate(MOST);
        }
        let mut found: Vec<Diagnostic> = given.into_iter().map(Given::told).collect();
        found.sort_by_key(|one| (one.line, one.severity));
        found.dedup();
        Self { found, left_out }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Line {}: [{}] {}", self.line, self.severity, self.message)
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
            Self::Hint => "hint",
        })
    }
}

/// A finding as a server gives it.
#[derive(Debug, Deserialize)]
pub(crate) struct Given {
    range: Range,
    severity: Option<u64>,
    message: MessageText,
}

#[derive(Debug, Deserialize)]
struct Range {
    start: Position,
}

#[derive(Debug, Deserialize)]
struct Position {
    line: u64,
}

/// A message, which the newest protocol lets be marked-up text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum MessageText {
    Plain(String),
    Marked { value: String },
}

impl Given {
    /// The severity; a finding without one counts as an error.
    fn severity(&self) -> Severity {
        match self.severity {
            Some(2) => Severity::Warning,
            Some(3) => Severity::Info,
            Some(4) => Severity::Hint,
            _ => Severity::Error,
        }
    }

    fn told(self) -> Diagnostic {
        let (line, severity) = (self.range.start.line.saturating_add(1), self.severity());
        let (MessageText::Plain(text) | MessageText::Marked { value: text }) = self.message;
        let text: String = text.chars().take(MOST_TEXT).collect();
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let message = visible(&lines.collect::<Vec<_>>().join("; ")).into_owned();
        Diagnostic { line, severity, message }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn given(line: u64, severity: Value, message: Value) -> Value {
        json!({ "range": { "start": { "line": line, "character": 0 }, "end": { "line": line, "character": 1 } },
                "severity": severity, "message": message, "source": "x" })
    }

    fn report(all: Vec<Value>) -> Report {
        Report::of(serde_json::from_value(Value::Array(all)).expect("findings"))
    }

    #[test]
    fn findings_are_lines_in_order() {
        let report = report(vec![
            given(6, json!(4), json!("could be shorter")),
            given(2, json!(1), json!("\"a\" is wrong\n    since it is\n")),
            given(2, json!(1), json!("\"a\" is wrong\n    since it is\n")),
            given(2, json!(2), json!({ "kind": "markdown", "value": "odd\u{1b}[31m" })),
            given(0, Value::Null, json!("no severity")),
            given(0, json!(3), json!("note")),
        ]);
        let lines: Vec<String> = report.found.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "Line 1: [error] no severity",
                "Line 1: [info] note",
                "Line 3: [error] \"a\" is wrong; since it is",
                "Line 3: [warning] odd\\u{1b}[31m",
                "Line 7: [hint] could be shorter",
            ]
        );
    }

    #[test]
    fn of_too_many_the_worst_stay() {
        let many = (0..3000).map(|line| given(line, json!(if line < 2500 { 2 } else { 1 }), json!("m")));
        let report = report(many.collect());
        assert_eq!((report.found.len(), report.left_out), (MOST, 2000));
        assert_eq!(report.found.iter().filter(|one| one.severity == Severity::Error).count(), 500);
        let long = super::Report::of(
            serde_json::from_value(json!([given(0, json!(1), json!("x".repeat(100_000)))])).expect("one"),
        );
        assert_eq!(long.found[0].message.len(), MOST_TEXT);
    }
}
