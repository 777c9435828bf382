//! The last station of a call but one: what its directives do to the house. Those that are about a
//! conversation (stopping, tiers, messages) are the engine's business; they pass here untouched.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::broadcast;

use crate::{
    Anchors, CallId, Directive, ToolName,
    directives::{Cause, Skipped, TODO_ANCHOR},
};

/// Notes that a slow listener may fall behind by.
const NOTES: usize = 256;

/// Something for whoever shows the house to people.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// Whose call it came from.
    pub call: CallId,
    /// What about.
    pub key: String,
    /// The data.
    pub data: Value,
}

/// What is added to the last result of a round for clients that keep their own history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    /// The anchors.
    pub append_anchors: bool,
    /// The files that changed since the model saw them.
    pub refresh: bool,
}

impl Closing {
    /// Whether there is anything.
    pub fn any(self) -> bool {
        self.append_anchors || self.refresh
    }
}

/// How many directives were left out, by what was wrong with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Tally {
    /// There is no such directive, or its parameters do not fit.
    pub not_understood: u64,
    /// The sender may not ask for it.
    pub not_allowed: u64,
    /// Beyond what is read of one result.
    pub too_many: u64,
}

impl Tally {
    /// All of them.
    pub fn total(self) -> u64 {
        self.not_understood + self.not_allowed + self.too_many
    }
}

/// What directives have done to the house.
#[derive(Debug)]
pub struct Effects {
    /// The texts that stay in sight.
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
    /// Says what stands at the end of a round from now on.
    pub fn close_with(&self, closing: Closing) {
        *self.closing.lock().unwrap_or_else(PoisonError::into_inner) = closing;
    }

    /// What stands there; nothing unless somebody said so.
    pub fn closing(&self) -> Closing {
        *self.closing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes for presenters, from now on.
    pub fn notes(&self) -> broadcast::Receiver<Note> {
        self.notes.subscribe()
    }

    /// How many entries could not be understood, were not allowed or were too many.
    pub fn skipped(&self) -> Tally {
        *self.skipped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies a call's directives, in their order. The house does so for a call on its own; whoever
    /// runs several together does when all have ended.
    pub fn apply(&self, call: CallId, directives: &[Directive]) {
        for directive in directives {
            match directive {
                Directive::ContextAnchor { key, content } => _ = self.anchors.set(key, content),
                Directive::TodoStateChanged { formatted_state } => {
                    _ = self.anchors.set(TODO_ANCHOR, formatted_state);
                }
                Directive::NotifyPresenter { key, data } => {
                    // Nobody may be looking.
                    let _ = self.notes.send(Note { call, key: key.clone(), data: data.clone() });
                }
                Directive::StopProcessing
                | Directive::TierChange { .. }
                | Directive::InjectContext { .. }
                | Directive::PruneMessages { .. } => {}
            }
        }
    }

    /// Counts what a result carried in vain.
    pub(crate) fn count(&self, tool: &ToolName, skipped: &[Skipped]) {
        for Skipped { cause, count, words } in skipped {
            tracing::warn!(%tool, why = words, "a directive was left out");
            let mut tally = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
            match cause {
                Cause::NotUnderstood => tally.not_understood += count,
                Cause::NotAllowed => tally.not_allowed += count,
                Cause::TooMany => tally.too_many += count,
            }
        }
    }
}
