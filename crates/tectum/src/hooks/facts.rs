//! What the hook API tells of a house that does not change while it runs.

use std::time::SystemTime;

/// What a house is from its start on.
#[derive(Clone, Debug)]
pub struct HouseFacts {
    /// The served directory.
    pub project: std::path::PathBuf,
    /// The command that was started.
    pub command: String,
    /// Since when it runs.
    pub since: SystemTime,
}
