//! The state that outlives the process.

use serde::{Deserialize, Serialize};
use tectum_attention::Workspace;

use crate::ledger::Ledger;

/// Everything that is remembered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Saved {
    /// What is known of the organs, and what waits.
    pub workspace: Workspace,
    /// Who was told of what.
    pub ledger: Ledger,
}

impl Saved {
    /// Reads what was saved; a text in another form is no state.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The state as text.
    pub fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
