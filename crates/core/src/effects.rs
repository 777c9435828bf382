//! The last station of a call but one: applies its directives to the house. Directives about a
//! conversation (stopping, tiers, messages) pass unchanged: the engine applies them.

use parking_lot::Mutex;

use serde_json::Value;
use tokio::sync::broadcast;

use crate::{
    Anchors, CallId, Directive, ToolName,
    directives::{Cause, Skipped, TODO_ANCHOR},
};

/// The number of notes that a slow listener may fall behind by.
const NOTES: usize = 256;

/// A note for presenters, which show the house to people.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// The id of the call that sent it.
    pub call: CallId,
    /// The topic of the note.
    pub key: String,
    /// The data of the note.
    pub data: Value,
}

/// The text appended to the last result of a round for clients that keep their own history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    /// True if the anchors are appended.
    pub append_anchors: bool,
    /// True if files that changed since the model saw them are appended.
    pub refresh: bool,
}

impl Closing {
    /// True if anything is appended.
    pub fn any(self) -> bool {
        self.append_anchors || self.refresh
    }
}

/// How many directives were left out, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Tally {
    /// The directive does not exist, or its parameters do not fit.
    pub not_understood: u64,
    /// The sender may not use it.
    pub not_allowed: u64,
    /// It is beyond the number that is read of one result.
    pub too_many: u64,
}

impl Tally {
    /// The sum of all reasons.
    pub fn total(self) -> u64 {
        self.not_understood + self.not_allowed + self.too_many
    }
}

/// The state that directives change in the house.
#[derive(Debug)]
pub struct Effects {
    /// The texts that stay in the model's context.
    pub anchors: Anchors,
    notes: broadcast::Sender<Note>,
    skipped: Mutex<Tally>,
    closing: Mutex<Closing>,
}

impl Default for Effects {
    fn default() -> Self {
        Self {
            anchors: Anchors::default(),
            notes: broadcast::Sender::new(NOTES),
            skipped: Mutex::default(),
            closing: Mutex::default(),
        }
    }
}

impl Effects {
    /// Sets what is appended to a round from now on.
    pub fn close_with(&self, closing: Closing) {
        *self.closing.lock() = closing;
    }

    /// The text appended to a round; nothing by default.
    pub fn closing(&self) -> Closing {
        *self.closing.lock()
    }

    /// Subscribes to notes for presenters from now on.
    pub fn notes(&self) -> broadcast::Receiver<Note> {
        self.notes.subscribe()
    }

    /// How many directives were left out: not understood, not allowed or too many.
    pub fn skipped(&self) -> Tally {
        *self.skipped.lock()
    }

    /// Applies a call's directives, in their order. The house does so for a call on its own; for calls
    /// that run together, their runner does so when all have ended.
    pub fn apply(&self, call: CallId, directives: &[Directive]) {
        for directive in directives {
            match directive {
                Directive::ContextAnchor { key, content } => _ = self.anchors.set(key, content),
                Directive::TodoStateChanged { formatted_state } => {
                    _ = self.anchors.set(TODO_ANCHOR, formatted_state);
                }
                Directive::NotifyPresenter { key, data } => {
                    // There may be no listener.
                    let _ = self.notes.send(Note { call, key: key.clone(), data: data.clone() });
                }
                Directive::StopProcessing
                | Directive::TierChange { .. }
                | Directive::InjectContext { .. }
                | Directive::PruneMessages { .. } => {}
            }
        }
    }

    /// Counts the directives of a result that were left out.
    pub(crate) fn count(&self, tool: &ToolName, skipped: &[Skipped]) {
        for Skipped { cause, count, words } in skipped {
            tracing::warn!(%tool, why = words, "a directive was left out");
            let mut tally = self.skipped.lock();
            match cause {
                Cause::NotUnderstood => tally.not_understood += count,
                Cause::NotAllowed => tally.not_allowed += count,
                Cause::TooMany => tally.too_many += count,
            }
        }
    }
}
