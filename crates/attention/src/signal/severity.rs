//! How bad a value is: the words of the enums that services publish, and the answers of HTTP.

use super::leaves::{Leaf, last_name};
use crate::input::Severity;

/// Values that mean the same on every path, by how bad they are. Webhook and check enums of code hosts,
/// status pages, health checks, severities of advisories.
const WORDS: &[(Severity, &[&str])] = &[
    (Severity::Critical, &["critical", "fatal", "emergency", "panic", "blocker", "sev1"]),
    (
        Severity::Failure,
        &[
            "failure",
            "failed",
            "fail",
            "failing",
            "error",
            "errored",
            "timed_out",
            "timeout",
            "timedout",
            "startup_failure",
            "down",
            "offline",
            "unhealthy",
            "broken",
            "crashed",
            "dead",
            "unreachable",
            "major",
            "major_outage",
            "outage",
            "high",
            "crashloopbackoff",
            "oomkilled",
            "aborted",
        ],
    ),
    (
        Severity::Warning,
        &[
            "action_required",
            "changes_requested",
            "review_requested",
            "degraded",
            "degraded_performance",
            "partial_outage",
            "warning",
            "warn",
            "conflict",
            "conflicts",
            "conflicting",
            "dirty",
            "blocked",
            "overdue",
            "moderate",
            "medium",
            "partial",
        ],
    ),
    (Severity::Notice, &["minor", "low", "cancelled", "canceled", "stale", "investigating", "maintenance"]),
];

/// Members whose `false` is bad.
const GOOD_FLAGS: &[&str] =
    &["ok", "healthy", "success", "passed", "up", "alive", "online", "ready", "available", "connected"];
/// Members whose `true`, or any text, is bad.
const BAD_FLAGS: &[&str] =
    &["failed", "error", "errors", "down", "broken", "crashed", "exception", "error_message", "unhealthy"];
/// Members that hold the answer of an HTTP request.
const CODES: &[&str] = &["code", "status_code", "statuscode", "http_status", "response_code", "http_code"];

/// How bad this value of this path is.
pub(crate) fn of(path: &str, leaf: Leaf<'_>) -> Severity {
    let is = |names: &[&str]| names.iter().any(|name| last_name(path).eq_ignore_ascii_case(name));
    match leaf {
        Leaf::Null => Severity::None,
        Leaf::Bool(false) if is(GOOD_FLAGS) => Severity::Failure,
        Leaf::Bool(true) if is(BAD_FLAGS) => Severity::Failure,
        Leaf::Bool(_) => Severity::None,
        Leaf::Number(code) if is(CODES) => of_code(code),
        Leaf::Number(_) => Severity::None,
        Leaf::Text(text) => match of_word(text) {
            Severity::None if is(BAD_FLAGS) && !is_nothing(text) => Severity::Failure,
            known => known,
        },
    }
}

/// Whether an answer says of itself that another try may help: a gateway's or an overloaded server's.
pub(crate) fn is_temporary(path: &str, leaf: Leaf<'_>) -> bool {
    let Leaf::Number(code) = leaf else { return false };
    CODES.iter().any(|name| last_name(path).eq_ignore_ascii_case(name))
        && matches!(code as i64, 408 | 425 | 429 | 500 | 502..=504 | 520..=530)
}

fn of_code(code: f64) -> Severity {
    match code as i64 {
        0 | 500..=599 => Severity::Failure,
        400..=499 => Severity::Warning,
        _ => Severity::None,
    }
}

fn of_word(text: &str) -> Severity {
    if text.len() > 24 {
        return Severity::None;
    }
    let word = text.trim().to_ascii_lowercase().replace([' ', '-'], "_");
    let bad = WORDS.iter().find(|(_, words)| words.contains(&word.as_str()));
    bad.map_or(Severity::None, |(severity, _)| *severity)
}

fn is_nothing(text: &str) -> bool {
    matches!(text.trim().to_ascii_lowercase().as_str(), "" | "none" | "null" | "no" | "false" | "0" | "ok")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_words_codes_and_flags() {
        for (path, leaf, expect) in [
            ("check_run.conclusion", Leaf::Text("failure"), Severity::Failure),
            ("check_run.conclusion", Leaf::Text("timed_out"), Severity::Failure),
            ("check_run.conclusion", Leaf::Text("Action Required"), Severity::Warning),
            ("alert.severity", Leaf::Text("critical"), Severity::Critical),
            ("conclusion", Leaf::Text("success"), Severity::None),
            ("code", Leaf::Number(0.0), Severity::Failure),
            ("code", Leaf::Number(404.0), Severity::Warning),
            ("code", Leaf::Number(200.0), Severity::None),
            ("count", Leaf::Number(0.0), Severity::None),
            ("healthy", Leaf::Bool(false), Severity::Failure),
            ("error", Leaf::Null, Severity::None),
            ("error", Leaf::Text("no such table"), Severity::Failure),
            ("error", Leaf::Text("none"), Severity::None),
            ("title", Leaf::Text("the build failed because of a failure"), Severity::None),
        ] {
            assert_eq!(of(path, leaf), expect, "{path} {leaf:?}");
        }
    }
}
