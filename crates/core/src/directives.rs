//! What a tool may ask of the loop around it: a closed list, typed here, JSON at the boundary.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who speaks an injected message.
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

/// One request to the loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "params", rename_all = "snake_case")]
pub enum Directive {
    /// Finish this batch, then stop.
    StopProcessing,
    /// Hand over to another tier.
    TierChange {
        /// Which tier.
        #[serde(alias = "tier")]
        target_tier: String,
        /// Why.
        #[serde(default)]
        reason: String,
    },
    /// Keep this text where the model will see it; empty text removes it.
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
        /// Who says it.
        #[serde(default)]
        role: Role,
    },
    /// Replace old tool results by stubs.
    PruneMessages {
        /// How many recent ones stay.
        #[serde(default = "two")]
        keep_recent: usize,
    },
    /// Tell the presentation layer something.
    NotifyPresenter {
        /// What about.
        key: String,
        /// The data.
        #[serde(default)]
        data: Value,
    },
}

fn two() -> usize {
    2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wire: &str, expect: Directive) {
        let read: Directive = serde_json::from_str(wire).expect("reads");
        assert_eq!(read, expect);
        let again: Directive =
            serde_json::from_value(serde_json::to_value(&read).expect("writes")).expect("reads again");
        assert_eq!(again, expect);
    }

    #[test]
    fn wire_names_and_defaults() {
        check(r#"{"type":"stop_processing"}"#, Directive::StopProcessing);
        check(
            r#"{"type":"tier_change","params":{"tier":"2"}}"#,
            Directive::TierChange { target_tier: "2".into(), reason: String::new() },
        );
        check(r#"{"type":"prune_messages","params":{}}"#, Directive::PruneMessages { keep_recent: 2 });
        check(
            r#"{"type":"inject_context","params":{"content":"x"}}"#,
            Directive::InjectContext { content: "x".into(), role: Role::User },
        );
    }
}
