//! Records as people read them: a session as a report in Markdown, and the words and numbers of a call.

use serde_json::Value;

use crate::{Ending, Entry, index::SessionRow, when};

/// The characters of a result that a report shows.
const MOST_RESULT: usize = 4_000;

/// The beginning of a report.
pub fn head(row: Option<&SessionRow>) -> String {
    let Some(row) = row else { return "# Calls\n\n".to_owned() };
    let total = &row.total;
    format!(
        "# Session {}\n\n| | |\n|---|---|\n| client | {} |\n| began | {} |\n| ended | {} |\n| calls | {} |\n| errors | {} |\n| time in tools | {} |\n| tokens | about {} in, {} out |\n\n",
        row.session,
        client(&row.door, &row.client).replace('|', "\\|"),
        when::shown(row.first),
        when::shown(row.last),
        total.calls,
        total.failed,
        took(total.took),
        total.tokens_in,
        total.tokens_out,
    )
}

/// One call of a report.
pub fn call(entry: &Entry) -> String {
    let mut text = format!("## {} — {}: {}\n\n", when::clock(entry.began), entry.tool, outcome(entry));
    text.push_str(&format!("`{}`, {}", entry.id, took(entry.took)));
    if let Some(server) = &entry.server {
        text.push_str(&format!(", server {server}"));
    }
    if let Some(verdict) = entry.verdict.as_ref().filter(|verdict| verdict.judgement != "allow") {
        text.push_str(&format!(", {}: {}", verdict.judgement, verdict.rule));
    }
    if let Some(asked) = &entry.asked {
        let answer = if asked.approved { "approved" } else { "not approved" };
        text.push_str(&format!(", {answer} by {}", asked.by.as_deref().unwrap_or("nobody")));
    }
    let edited = entry.asked.as_ref().and_then(|asked| asked.instead_of.as_ref());
    if let Some(before) = edited {
        text.push_str(&format!(", with arguments that a person wrote instead of `{}`", before.get()));
    }
    text.push_str("\n\n");
    text.push_str(&fenced("json", &pretty(entry.args.get())));
    let result = result_text(&entry.ending);
    let shown = &result[..result.char_indices().nth(MOST_RESULT).map_or(result.len(), |(end, _)| end)];
    text.push_str(&fenced("text", shown));
    if shown.len() < result.len() {
        text.push_str(&format!("_{} more bytes_\n\n", result.len() - shown.len()));
    }
    text
}

/// Who called, in a word or two.
pub fn client(door: &str, name: &str) -> String {
    if name.is_empty() { door.to_owned() } else { name.to_owned() }
}

/// How a call ended: `ok`, `failed` as its tool says, `denied` by a rule or a person, or `fault`.
pub fn outcome(entry: &Entry) -> &'static str {
    let refused = entry.asked.as_ref().is_some_and(|asked| !asked.approved)
        || entry.verdict.as_ref().is_some_and(|verdict| verdict.judgement == "deny");
    match &entry.ending {
        Ending::Fault(_) if refused => "denied",
        Ending::Fault(_) => "fault",
        ending if ending.failed() => "failed",
        _ => "ok",
    }
}

/// A duration as people read it, from microseconds.
pub fn took(micros: u64) -> String {
    match micros {
        0..1_000 => format!("{micros} µs"),
        1_000..1_000_000 => format!("{:.1} ms", micros as f64 / 1e3),
        1_000_000..60_000_000 => format!("{:.1} s", micros as f64 / 1e6),
        60_000_000..3_600_000_000 => {
            format!("{} min {} s", micros / 60_000_000, micros / 1_000_000 % 60)
        }
        _ => format!("{} h {} min", micros / 3_600_000_000, micros / 60_000_000 % 60),
    }
}

/// The text of a result, or of the fault.
pub fn result_text(ending: &Ending) -> String {
    match ending {
        Ending::Native { text, .. } => text.clone(),
        Ending::Peer { json, .. } => peer_text(json.get()),
        Ending::Fault(fault) => {
            let hint = fault.hint.as_deref().map(|hint| format!("\nHint: {hint}")).unwrap_or_default();
            format!("ERROR: {}{hint}", fault.message)
        }
        Ending::Omitted { .. } => "[the result was too large to be kept]".to_owned(),
    }
}

/// The texts of a server's result, or all of it where it has none.
fn peer_text(json: &str) -> String {
    let result: Value = serde_json::from_str(json).unwrap_or_default();
    let texts = result["content"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    let texts: Vec<&str> = texts.collect();
    if texts.is_empty() { json.to_owned() } else { texts.join("\n") }
}

/// JSON on several lines.
pub fn pretty(json: &str) -> String {
    let value: Result<Value, _> = serde_json::from_str(json);
    value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_else(|_| json.to_owned())
}

/// A block of code whose fence is longer than any in it.
fn fenced(kind: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{kind}\n{text}{end}{fence}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_holds_fences() {
        assert_eq!(fenced("text", "a"), "```text\na\n```\n\n");
        assert_eq!(fenced("text", "```\nb\n"), "````text\n```\nb\n````\n\n");
    }

    #[test]
    fn durations_are_short() {
        for (micros, expect) in [
            (7, "7 µs"),
            (1_500, "1.5 ms"),
            (2_500_000, "2.5 s"),
            (125_000_000, "2 min 5 s"),
            (7_500_000_000, "2 h 5 min"),
        ] {
            assert_eq!(took(micros), expect);
        }
    }
}
