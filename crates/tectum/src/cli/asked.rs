//! A question that waits for a person, read from what its house says, and shown.

use std::{
    path::PathBuf,
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::Value;

use super::screen::harmless;

/// A question and the house that asks it.
#[derive(Clone, Debug)]
pub(super) struct AskedHere {
    /// The socket of the house.
    pub(super) socket: PathBuf,
    /// The project it serves.
    pub(super) project: String,
    /// The question as the hook API tells it.
    pub(super) said: Value,
}

impl AskedHere {
    pub(super) fn id(&self) -> &str {
        self.said["id"].as_str().unwrap_or_default()
    }

    /// What it is about, on one line.
    pub(super) fn headline(&self) -> String {
        let (kind, tool) = (self.word("kind"), self.word("tool"));
        let what = if tool.is_empty() { kind } else { tool };
        one_line(&format!("{what} {}", self.word("subject")))
    }

    /// The seconds until it is over.
    pub(super) fn seconds_left(&self) -> u64 {
        let until = self.said["expires_at"].as_u64().unwrap_or_default();
        until.saturating_sub(now()) / 1000
    }

    /// Who asks, in which project, and by which rule.
    pub(super) fn facts(&self) -> Vec<String> {
        let (client, project) = (self.word("client"), &self.project);
        let who = if client.is_empty() { self.word("caller") } else { client };
        let mut facts = vec![one_line(&format!("{who} in {project}, {} s left", self.seconds_left()))];
        let rule = &self.said["rule"];
        if let Some(text) = rule["text"].as_str().filter(|text| !text.is_empty()) {
            let file = rule["file"].as_str().filter(|file| !text.contains(file));
            let file = file.map(|file| format!(" ({file}:{})", rule["line"]));
            facts.push(one_line(&format!("rule: {text}{}", file.unwrap_or_default())));
        }
        if let Some(sandbox) = self.said["sandbox"].as_str() {
            facts.push(one_line(&format!("sandbox: {sandbox}")));
        }
        let before = &self.said["before"];
        let count = |name: &str| before[name].as_u64().unwrap_or_default();
        let counts = [count("approved"), count("denied"), count("failed")];
        if counts != [0; 3] {
            let [approved, denied, failed] = counts;
            facts.push(format!("like calls before: {approved} approved, {denied} denied, {failed} failed"));
        }
        facts
    }

    /// What would be done.
    pub(super) fn preview(&self) -> Vec<String> {
        let preview = &self.said["preview"];
        let word = |name: &str| preview[name].as_str().unwrap_or_default();
        let text = match word("kind") {
            "diff" | "text" => word("text").to_owned(),
            "command" => format!("$ {}\nin {}", word("command"), word("folder")),
            "address" => word("url").to_owned(),
            "definition" => {
                let arguments = &self.said["arguments"];
                format!("{arguments:#}\n{}: {:#}", word("server"), preview["definition"])
            }
            _ if self.said["data"].is_null() => format!("{:#}", self.said["arguments"]),
            _ => format!("{:#}", self.said["data"]),
        };
        harmless(&text).lines().map(|line| line.replace('\t', "    ")).collect()
    }

    fn word(&self, name: &str) -> &str {
        self.said[name].as_str().unwrap_or_default()
    }
}

/// Text of others on one line, with nothing in it that acts on a terminal.
pub(super) fn one_line(text: &str) -> String {
    harmless(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(said: Value) -> AskedHere {
        AskedHere { socket: "/s".into(), project: "/home/ana/shop".into(), said }
    }

    #[test]
    fn a_question_says_who_wants_what_and_why() {
        let question = asked(json!({
            "id": "q1", "kind": "call", "client": "agent", "tool": "run_shell", "subject": "rm -r\n\u{1b}[2Jx",
            "rule": {"text": "ask run_shell", "file": "tectum.toml", "line": 4},
            "preview": {"kind": "command", "command": "rm -r x", "folder": "/p"}, "sandbox": "on",
            "before": {"approved": 2, "denied": 0, "failed": 1}, "expires_at": 0,
        }));
        assert_eq!(question.headline(), "run_shell rm -r \\u{1b}[2Jx");
        assert_eq!(
            question.facts(),
            [
                "agent in /home/ana/shop, 0 s left",
                "rule: ask run_shell (tectum.toml:4)",
                "sandbox: on",
                "like calls before: 2 approved, 0 denied, 1 failed",
            ]
        );
        assert_eq!(question.preview(), ["$ rm -r x", "in /p"]);
        let plain = asked(json!({"kind": "step", "subject": "ticket 3", "data": {"a": 1}}));
        assert_eq!((plain.headline(), plain.preview().len()), ("step ticket 3".to_owned(), 3));
    }
}
