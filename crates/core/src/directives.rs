//! Directives, which a tool's result may carry for the loop around it: a closed list, typed here, JSON
//! at the boundary. Nothing is dropped silently: every directive left out is counted, with the reason.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The role that an injected message has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user.
    #[default]
    User,
    /// The system.
    System,
    /// The assistant.
    Assistant,
}

/// One directive for the loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "params", rename_all = "snake_case")]
pub enum Directive {
    /// Finish this batch of calls, then stop.
    StopProcessing,
    /// Hand over to another tier.
    TierChange {
        /// The tier to hand over to.
        #[serde(alias = "tier")]
        target_tier: String,
        /// The reason.
        #[serde(default)]
        reason: String,
    },
    /// Keep this text in the model's context; an empty text removes it.
    ContextAnchor {
        /// The anchor's name.
        key: String,
        /// The text.
        content: String,
    },
    /// The to-do list changed.
    TodoStateChanged {
        /// The list as text.
        formatted_state: String,
    },
    /// Add a message after the batch.
    InjectContext {
        /// The text.
        content: String,
        /// The role of the message.
        #[serde(default)]
        role: Role,
    },
    /// Replace old tool results by stubs.
    PruneMessages {
        /// How many recent results stay.
        #[serde(default = "two")]
        keep_recent: usize,
    },
    /// Send a note to the presentation layer.
    NotifyPresenter {
        /// The topic of the note.
        key: String,
        /// The data of the note.
        #[serde(default)]
        data: Value,
    },
}

fn two() -> usize {
    2
}

/// The key of the anchor that holds the to-do list.
pub const TODO_ANCHOR: &str = "todo_state";
/// The names of all directives on the wire.
pub const NAMES: &[&str] = &[
    "stop_processing",
    "tier_change",
    "context_anchor",
    "todo_state_changed",
    "inject_context",
    "prune_messages",
    "notify_presenter",
];

/// Directives of a result that were left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The reason.
    pub cause: Cause,
    /// How many; more than one only if the rest of a list is left out.
    pub count: u64,
    /// The reason as a sentence, for the log.
    pub words: String,
}

/// Why a directive is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The directive does not exist, or its parameters do not fit.
    NotUnderstood,
    /// The sender may not use it.
    NotAllowed,
    /// It is beyond the number that is read of one result.
    TooMany,
}

impl Skipped {
    /// One directive that was left out.
    pub fn one(cause: Cause, words: impl Into<String>) -> Self {
        Self { cause, count: 1, words: words.into() }
    }
}

impl Directive {
    /// The name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::StopProcessing => "stop_processing",
            Self::TierChange { .. } => "tier_change",
            Self::ContextAnchor { .. } => "context_anchor",
            Self::TodoStateChanged { .. } => "todo_state_changed",
            Self::InjectContext { .. } => "inject_context",
            Self::PruneMessages { .. } => "prune_messages",
            Self::NotifyPresenter { .. } => "notify_presenter",
        }
    }

    /// Reads one entry: `{"type", "params"}`; `params` may be absent if all of them have a default.
    pub fn read(entry: &str) -> Result<Self, String> {
        let mut value: Value = serde_json::from_str(entry).map_err(|error| error.to_string())?;
        let Some(members) = value.as_object_mut() else { return Err("it is no object".into()) };
        match members.get("type").and_then(Value::as_str) {
            None => return Err("it has no `type`".into()),
            Some("stop_processing") => return Ok(Self::StopProcessing),
            Some(name) if !NAMES.contains(&name) => {
                return Err(format!("`{name}` is no directive; known: {}", NAMES.join(", ")));
            }
            Some(_) => {}
        }
        if members.get("params").is_none_or(Value::is_null) {
            members.insert("params".into(), Value::Object(serde_json::Map::new()));
        }
        serde_json::from_value(value).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wire: &str, expect: Directive) {
        let read = Directive::read(wire).expect("reads");
        assert_eq!(read, expect);
        let again = serde_json::to_string(&read).expect("writes");
        assert_eq!(Directive::read(&again).expect("reads again"), expect);
        assert!(NAMES.contains(&expect.name()) && again.contains(expect.name()));
    }

    #[test]
    fn wire_names_and_defaults() {
        check(r#"{"type":"stop_processing"}"#, Directive::StopProcessing);
        check(r#"{"type":"stop_processing","params":{}}"#, Directive::StopProcessing);
        check(
            r#"{"type":"tier_change","params":{"tier":"2"}}"#,
            Directive::TierChange { target_tier: "2".into(), reason: String::new() },
        );
        check(
            r#"{"type":"context_anchor","params":{"key":"k","content":""}}"#,
            Directive::ContextAnchor { key: "k".into(), content: String::new() },
        );
        check(
            r#"{"type":"todo_state_changed","params":{"formatted_state":"x"}}"#,
            Directive::TodoStateChanged { formatted_state: "x".into() },
        );
        check(
            r#"{"type":"inject_context","params":{"content":"x"}}"#,
            Directive::InjectContext { content: "x".into(), role: Role::User },
        );
        check(
            r#"{"type":"inject_context","params":{"content":"x","role":"system"}}"#,
            Directive::InjectContext { content: "x".into(), role: Role::System },
        );
        check(r#"{"type":"prune_messages"}"#, Directive::PruneMessages { keep_recent: 2 });
        check(
            r#"{"type":"prune_messages","params":{"keep_recent":0}}"#,
            Directive::PruneMessages { keep_recent: 0 },
        );
        check(
            r#"{"type":"notify_presenter","params":{"key":"k"}}"#,
            Directive::NotifyPresenter { key: "k".into(), data: Value::Null },
        );
        assert_eq!(NAMES.len(), 7);
    }
}
