//! The hook as Cursor runs it: what the installer wrote is read and run by Cursor's rules, and what it says
//! decides whether a tool of the agent runs.

use std::{
    io::Write as _,
    process::{Output, Stdio},
};

use serde_json::{Value, json};

use crate::rig::{Rig, TOKEN};

const RULES: &str = "[permissions]\n\
    allow = [\"run_shell(git status)\"]\n\
    deny = [\"run_shell(rm *)\", \"*(secret/**)\", \"delete_repo\", \"*delete_repo\"]\n";

/// What becomes of a tool.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Runs,
    /// The person is asked, with these words.
    Asks(String),
    /// The agent is told why.
    Blocked(String),
}

/// A Cursor in a project, as far as its hooks go.
struct Cursor<'r> {
    rig: &'r Rig,
    hooks: Value,
}

impl<'r> Cursor<'r> {
    fn new(rig: &'r Rig) -> Self {
        let file: Value = serde_json::from_str(&rig.read(".cursor/hooks.json")).expect("JSON");
        assert_eq!(file["version"], 1, "{file}");
        Self { rig, hooks: file["hooks"].clone() }
    }

    /// Every hook of the event is given the request on its standard input, in the project's directory. Code 0
    /// is an answer in JSON, code 2 blocks, and any other end counts as no answer, which blocks only where the
    /// entry says `failClosed`. Of several answers the strictest counts.
    fn event(&self, event: &str, members: Value) -> Fate {
        let entries = self.hooks[event].as_array().unwrap_or_else(|| panic!("no hook for {event}"));
        let mut request = json!({
            "conversation_id": "c-1", "generation_id": "g-1", "model": "m", "hook_event_name": event,
            "cursor_version": "2.1.0", "workspace_roots": [self.rig.project()], "user_email": null,
            "transcript_path": null,
        });
        let all = request.as_object_mut().expect("an object");
        all.extend(members.as_object().expect("an object").clone());
        let mut fate = Fate::Runs;
        for entry in entries {
            assert!(entry["timeout"].as_u64().is_some_and(|seconds| seconds > 0), "{entry}");
            match (self.ran(entry, &request), fate) {
                (_, before @ Fate::Blocked(_)) | (Fate::Runs, before) => fate = before,
                (now, _) => fate = now,
            }
        }
        fate
    }

    fn ran(&self, entry: &Value, request: &Value) -> Fate {
        let line = entry["command"].as_str().expect("a command");
        let mut shell = self.rig.command("sh");
        shell.args(["-c", line]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = shell.spawn().expect("starts");
        let _ = child.stdin.take().expect("piped").write_all(request.to_string().as_bytes());
        let Output { status, stdout, stderr } = child.wait_with_output().expect("ends");
        let failed = |why: String| match entry["failClosed"] == true {
            true => Fate::Blocked(why),
            false => Fate::Runs,
        };
        match status.code() {
            Some(0) => {}
            Some(2) => return Fate::Blocked(String::from_utf8_lossy(&stderr).into_owned()),
            other => return failed(format!("the hook ended with {other:?}")),
        }
        let Ok(Value::Object(said)) = serde_json::from_slice(&stdout) else {
            return failed("the hook said nothing that can be read".into());
        };
        let word = |name: &str| said.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        // Only the two events that are about a command or a server's tool have an "ask".
        let asks = ["beforeShellExecution", "beforeMCPExecution"]
            .iter()
            .any(|event| request["hook_event_name"] == *event);
        match word("permission").as_str() {
            "deny" => {
                assert_eq!(word("user_message"), word("agent_message"), "both hear why");
                Fate::Blocked(word("agent_message"))
            }
            "ask" if asks => Fate::Asks(word("user_message")),
            "allow" | "" => Fate::Runs,
            other => panic!("Cursor knows no {other} for {}", request["hook_event_name"]),
        }
    }

    fn shell(&self, command: &str) -> Fate {
        let about = json!({ "tool_name": "Shell", "tool_input": { "command": command }, "tool_use_id": "t",
            "cwd": self.rig.project(), "agent_message": "" });
        // Every tool is announced first; commands have an event of their own afterwards.
        match self.event("preToolUse", about) {
            Fate::Runs => {
                self.event("beforeShellExecution", json!({ "command": command, "cwd": "", "sandbox": false }))
            }
            blocked => blocked,
        }
    }

    fn mcp(&self, tool: &str, input: &Value) -> Fate {
        let about =
            json!({ "tool_name": format!("MCP:{tool}"), "tool_input": input, "tool_use_id": "t", "cwd": "" });
        match self.event("preToolUse", about) {
            // The arguments come as a text of JSON there.
            Fate::Runs => self.event(
                "beforeMCPExecution",
                json!({ "tool_name": tool, "tool_input": input.to_string(), "command": "npx some-server" }),
            ),
            blocked => blocked,
        }
    }

    fn tool(&self, tool: &str, input: Value) -> Fate {
        let about =
            json!({ "tool_name": tool, "tool_input": input, "tool_use_id": "t", "cwd": self.rig.project() });
        self.event("preToolUse", about)
    }

    fn read(&self, path: &str) -> Fate {
        let path = self.rig.project().join(path);
        let about = json!({ "tool_name": "Read", "tool_input": { "file_path": path }, "tool_use_id": "t", "cwd": "" });
        match self.event("preToolUse", about) {
            Fate::Runs => {
                let content = std::fs::read_to_string(&path).unwrap_or_default();
                self.event(
                    "beforeReadFile",
                    json!({ "file_path": path, "content": content, "attachments": [] }),
                )
            }
            blocked => blocked,
        }
    }
}

fn installed() -> Rig {
    let mut rig = Rig::with(&[("a.txt", "hello\n"), ("secret/key", "x\n")]);
    rig.configure(RULES);
    rig.set("TECTUM_TOKEN", TOKEN);
    assert!(rig.run(&["hook", "install", "cursor", "--yes"]).status.success());
    rig
}

#[track_caller]
fn blocked(fate: Fate, words: &str) {
    assert!(matches!(&fate, Fate::Blocked(why) if why.contains(words)), "{fate:?}: {words}");
}

#[test]
fn cursor_runs_asks_and_blocks_as_our_rules_say() {
    let rig = installed();
    let cursor = Cursor::new(&rig);
    // The house that a client started judges, without a listener.
    let mut client = rig.stdio();
    assert_eq!(cursor.shell("git status"), Fate::Runs);
    blocked(cursor.shell("git status && rm -rf src"), "deny rule `run_shell(rm *)`");
    let asks = cursor.shell("cargo test");
    assert!(matches!(&asks, Fate::Asks(why) if why.contains("run_shell")), "{asks:?}");
    let asks = cursor.mcp("list_issues", &json!({"state": "open"}));
    assert!(matches!(&asks, Fate::Asks(why) if why.contains("list_issues")), "{asks:?}");
    blocked(cursor.mcp("delete_repo", &json!({"name": "x"})), "delete_repo");
    assert_eq!(cursor.read("a.txt"), Fate::Runs);
    blocked(cursor.read("secret/key"), "deny rule `*(secret/**)`");
    blocked(cursor.read("../../etc/passwd"), "read_file");
    assert_eq!(cursor.tool("Write", json!({"file_path": "new.txt", "content": "x"})), Fate::Runs);
    blocked(cursor.tool("Write", json!({"file_path": "secret/new", "content": "x"})), "secret");
    blocked(cursor.tool("Write", json!({"file_path": ".cursor/hooks.json", "content": "{}"})), "write_file");
    blocked(cursor.tool("Delete", json!({"file_path": "secret/key"})), "delete_file");
    // On these events Cursor cannot ask, so what would be asked is denied, with what to do instead.
    blocked(cursor.tool("Unheard", json!({})), "cannot ask");
    client.call("read_file", json!({"path": "a.txt"}));
}

#[test]
fn cursor_blocks_where_nobody_judges() {
    let rig = installed();
    let cursor = Cursor::new(&rig);
    blocked(cursor.shell("git status"), "tectum up");
    blocked(cursor.mcp("list_issues", &json!({})), "tectum up");
    // Requests that Cursor would not send, and those of a later version.
    blocked(
        cursor.event("beforeShellExecution", json!({"hook_event_name": "afterShellExecution"})),
        "afterShellExecution",
    );
    let _house = rig.stdio();
    blocked(cursor.event("beforeMCPExecution", json!({"tool_name": "x", "tool_input": 7})), "tool_input");
    blocked(cursor.event("beforeShellExecution", json!({"command": 7})), "Tectum denies");
    blocked(cursor.event("beforeReadFile", json!({})), "Tectum denies");
}
