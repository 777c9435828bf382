//! What was discarded, held back and told, so that nothing disappears unseen.

use serde::{Deserialize, Serialize};

/// Counts since the state was new.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counters {
    /// Ticks.
    pub ticks: u64,
    /// Readings.
    pub readings: u64,
    /// Readings that changed something.
    pub changes: u64,
    /// Events of internal organs.
    pub events: u64,
    /// States that could not be read.
    pub unreadable: u64,
    /// Facts that were kept because they might matter.
    pub kept: u64,
    /// Kept facts that were dropped because the state returned to what it was.
    pub returned: u64,
    /// Kept facts that a later one of the same organ took in.
    pub merged: u64,
    /// Kept facts too small to be told, which nothing made more important.
    pub faded: u64,
    /// Kept facts that were dropped because their resource is gone.
    pub gone: u64,
    /// Facts of muted organs.
    pub muted: u64,
    /// Paths beyond the bound of their resource.
    pub paths_dropped: u64,
    /// Ticks in which something ignited but the round or the hour was used up.
    pub held_back: u64,
    /// News that won.
    pub offered: u64,
    /// Of these, told.
    pub told: u64,
    /// Of these, acknowledged.
    pub acknowledged: u64,
    /// Told between rounds.
    pub between_rounds: u64,
    /// Estimated tokens of what was told.
    pub tokens: u64,
}
