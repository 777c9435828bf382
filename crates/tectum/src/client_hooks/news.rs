//! News through the hooks of coding agents: what is put into each client's file, and the words in which its
//! model reads a line.

use serde_json::{Map, Value, json};
use tectum_attend::{Attention, GET_ATTENTION, Line};

use super::placed::{HookEntries, HookMark};

/// The path of the hook API where clients ask for news.
pub const NEWS: &str = "/hooks/attention";
/// The name under which clients know this server, as `tectum up` writes it.
const SERVER: &str = "tectum";
/// The time that clients give the hook, in seconds.
const TIMEOUT: u64 = 10;
/// Events at which the agent is about to rest: only what is urgent is told.
const RESTS: [&str; 2] = ["Stop", "stop"];
/// The event of `tectum attention watch`: it wakes a client that rests.
const MONITOR: &str = "Monitor";

/// A client whose model can be told of news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewsClient {
    /// Claude Code: its hooks call our tool themselves.
    Claude,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// The agent of VS Code.
    Vscode,
    /// Gemini CLI.
    Gemini,
    /// goose, which reads a file with every turn.
    Goose,
}

impl NewsClient {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Cursor, Self::Vscode, Self::Gemini, Self::Goose];

    /// The name that people type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Gemini => "gemini",
            Self::Goose => "goose",
        }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }

    /// A word of the name that this client gives itself over MCP, in lower case.
    fn word(self) -> &'static str {
        match self {
            Self::Vscode => "visual studio code",
            other => other.name(),
        }
    }

    /// True for the name that this client gives itself over MCP.
    pub fn is(self, client: &str) -> bool {
        let client = client.to_lowercase();
        match self {
            Self::Claude => client == "claude-code",
            Self::Codex => client.starts_with("codex"),
            Self::Cursor => client.contains("cursor"),
            Self::Vscode => client.contains("visual studio code") || client.contains("vscode"),
            Self::Gemini => client.starts_with("gemini-cli"),
            Self::Goose => client.starts_with("goose"),
        }
    }

    /// Its file below the project, or below the user's home; `None` for one without a file of hooks.
    pub fn file(self, user: bool) -> Option<&'static str> {
        Some(match self {
            Self::Claude if !user => ".claude/settings.local.json",
            Self::Claude => ".claude/settings.json",
            Self::Codex => ".codex/hooks.json",
            Self::Cursor => ".cursor/hooks.json",
            Self::Vscode if !user => ".github/hooks/tectum.json",
            Self::Vscode => ".copilot/hooks/tectum.json",
            Self::Gemini => ".gemini/settings.json",
            Self::Goose => return None,
        })
    }

    /// The events at which it asks.
    pub fn events(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["PostToolBatch", "UserPromptSubmit", "Stop"],
            Self::Codex => &["PostToolUse", "UserPromptSubmit", "SessionStart"],
            Self::Cursor => &["postToolUse", "sessionStart", "stop"],
            Self::Vscode => &["PostToolUse", "SessionStart"],
            Self::Gemini => &["AfterTool", "BeforeAgent"],
            Self::Goose => &[],
        }
    }

    /// What is put into its file for a hook with this command. Claude Code calls our tool over its own
    /// connection, and needs no command.
    pub fn entries(self, command: &str) -> HookEntries {
        let entry = |event: &'static str| match self {
            Self::Claude => json!({ "hooks": [
                { "type": "mcp_tool", "server": SERVER, "tool": GET_ATTENTION, "input": { "hook": event } },
            ]}),
            Self::Cursor => json!({ "command": command, "timeout": TIMEOUT }),
            Self::Vscode => json!({ "type": "command", "command": command, "timeout": TIMEOUT }),
            Self::Gemini => json!({ "hooks": [
                { "name": "tectum-news", "type": "command", "command": command, "timeout": TIMEOUT * 1000 },
            ]}),
            Self::Codex | Self::Goose => {
                json!({ "hooks": [{ "type": "command", "command": command, "timeout": TIMEOUT }] })
            }
        };
        HookEntries {
            items: self.events().iter().map(|event| (*event, entry(event))).collect(),
            versioned: self == Self::Cursor,
            mark: match self {
                Self::Claude => HookMark::Tool(GET_ATTENTION),
                _ => HookMark::Command(format!(" attention hook --client {} ", self.name())),
            },
        }
    }

    /// What this client's hook prints so that its model reads a line; nothing to say is an empty object.
    pub fn says(self, event: &str, line: Option<&Line>) -> Value {
        let Some(line) = line else { return json!({}) };
        match (self, event) {
            (Self::Cursor, "stop") => json!({ "followup_message": line.text() }),
            (Self::Cursor, _) => json!({ "additional_context": line.text() }),
            _ => {
                json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": line.text() } })
            }
        }
    }

    /// The answer of this house to a hook of this client: at most one line, which counts as told.
    pub fn answer(self, attention: &Attention, request: &Map<String, Value>) -> Value {
        let text = |names: &[&str]| {
            let found = names.iter().find_map(|name| request.get(*name)?.as_str());
            found.unwrap_or_default().to_owned()
        };
        let event = text(&["hook_event_name", "hookEventName"]);
        let session = text(&["session_id", "conversation_id", "sessionId"]);
        let reader = attention.hooked(|client| self.is(client), self.word(), &session);
        if event == MONITOR {
            attention.watch();
            let line = attention.tell(&reader, "monitor", true);
            return line.map_or_else(|| json!({}), |line| json!({ "line": line.text() }));
        }
        // A hook that runs shows that the model went on.
        attention.heard(&reader, "");
        let line = attention.tell(&reader, "hook", RESTS.contains(&&*event));
        self.says(&event, line.as_ref())
    }
}
