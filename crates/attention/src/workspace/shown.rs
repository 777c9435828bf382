//! What others see of a workspace: an organ, a round, a consolidation.

use serde::{Deserialize, Serialize};

use crate::{input::Seconds, signal::Signal};

/// One organ as a person sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrganView {
    /// Its name.
    pub organ: String,
    /// How many readings it had.
    pub readings: u64,
    /// How many of them changed something.
    pub changes: u64,
    /// When it was read last.
    pub read_at: Option<Seconds>,
    /// 1 for known now, 0 for stale.
    pub freshness: f64,
    /// What it has to say now, 0 to 1.
    pub salience: f64,
    /// Its total in the last competition it took part in.
    pub total: f64,
    /// Its totals in the last ticks in which it had something to say: tick and total, oldest first.
    pub trace: Vec<(u64, f32)>,
    /// How often it was heard of lately.
    pub habituation: f64,
    /// Its readiness after it was last heard, 0 to 1.
    pub readiness: f64,
    /// How often it won.
    pub wins: u64,
    /// How many facts of it wait.
    pub waiting: usize,
    /// What changed last.
    pub last_signal: Option<Signal>,
    /// Pinned by the agent or a person: it is told whenever anything changes.
    pub pinned: bool,
    /// Muted: it is never told.
    pub muted: bool,
}

/// What a consolidation did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consolidated {
    /// Paths that were forgotten because they were not seen in the last readings.
    pub paths_forgotten: u64,
    /// Told news that were forgotten.
    pub news_forgotten: u64,
}

/// What a round left for a person to see.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) competitors: usize,
    pub(crate) ignited: usize,
    pub(crate) winner: Option<String>,
    pub(crate) share: f64,
    pub(crate) energy: f64,
}
