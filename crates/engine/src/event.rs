//! What the loop tells whoever shows it to people, as it happens.

use std::time::Duration;

use serde_json::Value;

use crate::ToolCall;

/// Something that happened.
#[derive(Debug)]
pub enum Event<'e> {
    /// The model said a little more.
    Said(&'e str),
    /// A call begins.
    Calls(&'e ToolCall),
    /// A call ended.
    Called {
        /// The call.
        call: &'e ToolCall,
        /// True if it failed.
        failed: bool,
        /// The text that the model will read.
        text: &'e str,
        /// Its duration.
        took: Duration,
    },
    /// Another tier works from now on.
    Tier {
        /// The one before.
        from: &'e str,
        /// The new one.
        to: &'e str,
        /// Why.
        reason: &'e str,
    },
    /// A hand-over that was not made.
    Kept {
        /// The tier that was asked for.
        to: &'e str,
        /// Why not.
        why: &'e str,
    },
    /// A tool has something for the presentation layer.
    Note {
        /// Its subject.
        key: &'e str,
        /// The data.
        data: &'e Value,
    },
    /// The window fills; the model is told.
    Scarce {
        /// Tokens in use.
        used: usize,
        /// Tokens there are.
        budget: usize,
    },
    /// Older messages gave way to a summary.
    Compacted {
        /// Tokens before.
        before: usize,
        /// Tokens after.
        after: usize,
    },
    /// Older results became stubs.
    Pruned(usize),
}
