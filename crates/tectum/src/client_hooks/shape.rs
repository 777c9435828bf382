//! The hooks of four coding agents as they are on the wire: the request that is read, the answer that is
//! written.

use serde_json::{Map, Value, json};

use super::decision::{HookDecision, HookVerdict};

/// A coding agent whose hooks are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookShape {
    /// Claude Code: `PreToolUse`.
    Claude,
    /// Codex: `PreToolUse`, without a way to ask a person.
    Codex,
    /// Cursor: an event for each kind of tool.
    Cursor,
    /// Gemini CLI: `BeforeTool`.
    Gemini,
}

impl HookShape {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Cursor, Self::Gemini];

    /// The name that people type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
        }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.name() == name)
    }

    /// The events that it sends before a tool is used.
    pub fn events(self) -> &'static [&'static str] {
        match self {
            Self::Claude | Self::Codex => &["PreToolUse"],
            Self::Cursor => &["beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "preToolUse"],
            Self::Gemini => &["BeforeTool"],
        }
    }

    /// The shape of a request that does not say whose it is.
    fn of(request: &Map<String, Value>) -> Option<Self> {
        let event = request.get("hook_event_name")?.as_str()?;
        let sends = |shape: &Self| shape.events().contains(&event);
        match Self::ALL.into_iter().find(sends)? {
            // Only Codex numbers its turns.
            Self::Claude if request.contains_key("turn_id") => Some(Self::Codex),
            shape => Some(shape),
        }
    }
}

/// The members that carry the content of files, which no rule looks at.
const CONTENTS: [&str; 8] = [
    "attachments",
    "content",
    "contents",
    "edits",
    "new_source",
    "new_string",
    "old_string",
    "tool_response",
];

/// A request without the content of files: it is large, it may hold secrets, and no rule looks at it.
pub fn without_contents(request: &[u8]) -> Vec<u8> {
    let Ok(mut request) = serde_json::from_slice::<Map<String, Value>>(request) else {
        return request.to_vec();
    };
    request.retain(|name, _| !CONTENTS.contains(&name.as_str()));
    if let Some(Value::Object(input)) = request.get_mut("tool_input") {
        input.retain(|name, _| !CONTENTS.contains(&name.as_str()));
    }
    Value::Object(request).to_string().into_bytes()
}

/// A tool that a client is about to use.
#[derive(Clone, Debug)]
pub struct HookCall {
    /// The client.
    pub shape: HookShape,
    /// The event it sent.
    pub event: String,
    /// The client's own name of the tool.
    pub tool: String,
    /// The server and the name there, for a tool of an MCP server.
    pub served: Option<(String, String)>,
    /// The arguments of the tool.
    pub input: Map<String, Value>,
    /// The directory that relative paths start from; empty for that of the house.
    pub directory: String,
}

/// An answer to a client.
#[derive(Clone, Debug, PartialEq)]
pub struct HookReply {
    /// The client's own JSON; `None` for a request in no known shape. Every client understands exit code
    /// 2 and a reason on standard error.
    pub body: Option<Value>,
    /// The decision.
    pub decision: HookDecision,
    /// The reason.
    pub reason: String,
}

impl HookCall {
    /// Reads a request; the error is the denial of one that is not understood.
    pub fn read(named: Option<HookShape>, request: &[u8]) -> Result<Self, HookReply> {
        let unread = |shape: Option<HookShape>, why: String| {
            let why = format!("Tectum cannot judge this request of a hook: {why}");
            reply(shape, "", &HookVerdict::deny(&why))
        };
        let request: Map<String, Value> = serde_json::from_slice(request)
            .map_err(|error| unread(named, format!("it is not a JSON object ({error})")))?;
        let Some(shape) = named.or_else(|| HookShape::of(&request)) else {
            let events: Vec<&str> = HookShape::ALL.iter().flat_map(|shape| shape.events()).copied().collect();
            let why = format!("`hook_event_name` is none of {}", events.join(", "));
            return Err(unread(None, why));
        };
        let event = text(&request, &["hook_event_name"]).unwrap_or_default();
        if !shape.events().contains(&event.as_str()) {
            let known = shape.events().join(", ");
            return Err(unread(Some(shape), format!("`{event}` is not an event before a tool ({known})")));
        }
        Self::of(shape, event, &request).map_err(|why| unread(Some(shape), why))
    }

    fn of(shape: HookShape, event: String, request: &Map<String, Value>) -> Result<Self, String> {
        let root = request.get("workspace_roots").and_then(|roots| roots.get(0)?.as_str().map(str::to_owned));
        let directory = text(request, &["cwd"]).filter(|cwd| !cwd.is_empty()).or(root).unwrap_or_default();
        // Cursor's first three events are about one tool each, and carry its arguments themselves.
        let (tool, input) = match event.as_str() {
            "beforeShellExecution" => ("Shell".to_owned(), request.clone()),
            "beforeReadFile" => ("Read".to_owned(), request.clone()),
            _ => {
                let tool = text(request, &["tool_name"]).filter(|tool| !tool.is_empty());
                (tool.ok_or("`tool_name` is missing")?, input(request)?)
            }
        };
        let served = served(&event, &tool, request);
        Ok(Self { shape, event, tool, served, input, directory })
    }

    /// True for a tool that Cursor sends a second event about, on which it can ask.
    pub(super) fn comes_again(&self) -> bool {
        self.event == "preToolUse"
            && (matches!(self.tool.as_str(), "Shell" | "Read") || self.served.is_some())
    }

    /// The verdict in the words of the client.
    pub fn reply(&self, verdict: &HookVerdict) -> HookReply {
        reply(Some(self.shape), &self.event, verdict)
    }
}

/// The first of these members that is a text.
pub(super) fn text(object: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| object.get(*name)?.as_str()).map(str::to_owned)
}

/// The arguments of the tool, which some write as a text of JSON.
fn input(request: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let wrong = || "`tool_input` is not an object".to_owned();
    match request.get("tool_input") {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(input)) => Ok(input.clone()),
        Some(Value::String(input)) => serde_json::from_str(input).map_err(|_| wrong()),
        Some(_) => Err(wrong()),
    }
}

/// The server of a tool, and its name there.
fn served(event: &str, tool: &str, request: &Map<String, Value>) -> Option<(String, String)> {
    let gemini = request.get("mcp_context").and_then(Value::as_object);
    if let Some(context) = gemini {
        return Some((text(context, &["server_name"])?, text(context, &["tool_name"])?));
    }
    if event == "beforeMCPExecution" {
        return Some((String::new(), tool.to_owned()));
    }
    if let Some(tool) = tool.strip_prefix("MCP:") {
        return Some((String::new(), tool.to_owned()));
    }
    let (server, tool) = tool.strip_prefix("mcp__")?.split_once("__")?;
    Some((server.to_owned(), tool.to_owned()))
}

/// The denial of a request that nobody could judge, and why.
pub fn denial(named: Option<HookShape>, request: &[u8], why: &str) -> HookReply {
    let request: Map<String, Value> = serde_json::from_slice(request).unwrap_or_default();
    reply(named.or_else(|| HookShape::of(&request)), "", &HookVerdict::deny(why))
}

fn reply(shape: Option<HookShape>, event: &str, verdict: &HookVerdict) -> HookReply {
    let (decision, reason) =
        shape.map_or((verdict.decision, verdict.reason.clone()), |shape| can_say(shape, event, verdict));
    let body = shape.map(|shape| match (shape, decision) {
        (HookShape::Claude, HookDecision::Pass) => json!({}),
        // Codex takes a permission as a mistake: what is not denied goes on.
        (HookShape::Codex, HookDecision::Pass | HookDecision::Allow) => json!({}),
        (HookShape::Claude | HookShape::Codex, decision) => json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision.word(),
            "permissionDecisionReason": reason,
        }}),
        (HookShape::Cursor, HookDecision::Pass | HookDecision::Allow) => json!({ "permission": "allow" }),
        (HookShape::Cursor, decision) => {
            json!({ "permission": decision.word(), "user_message": reason, "agent_message": reason })
        }
        (HookShape::Gemini, HookDecision::Pass) => json!({}),
        (HookShape::Gemini, HookDecision::Ask) => {
            json!({ "decision": "ask", "reason": reason, "systemMessage": reason })
        }
        (HookShape::Gemini, decision) => json!({ "decision": decision.word(), "reason": reason }),
    });
    HookReply { body, decision, reason }
}

/// The verdict as this client can hear it: one that cannot ask a person would go on, so it is denied.
fn can_say(shape: HookShape, event: &str, verdict: &HookVerdict) -> (HookDecision, String) {
    let asks = match shape {
        HookShape::Claude | HookShape::Gemini => true,
        HookShape::Codex => false,
        HookShape::Cursor => matches!(event, "beforeShellExecution" | "beforeMCPExecution"),
    };
    if verdict.decision != HookDecision::Ask || asks {
        return (verdict.decision, verdict.reason.clone());
    }
    let reason = format!(
        "{}; a person would be asked, and a hook of this client cannot ask: use Tectum's own tool instead, \
         or a person adds an allow rule to [permissions] in tectum.toml",
        verdict.reason
    );
    (HookDecision::Deny, reason)
}

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
