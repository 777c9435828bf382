//! The state of the workspace after a tick, under the names of the seed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a tick left behind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModulationState {
    /// The organ that won this tick; none without ignition.
    pub workspace_winner_id: Option<String>,
    /// The content that was broadcast.
    pub workspace_broadcast: Option<Vec<f32>>,
    /// The winner's probability of ignition.
    pub workspace_winner_confidence: f64,
    /// How far the winner's source is believed.
    pub workspace_winner_source_trust: f64,
    /// The energy that is left (`dynamics.energy`).
    pub energy_budget: f64,
    /// The same as a share of the capacity.
    pub energy_ratio: f64,
    /// The action that the prior favours (`dynamics.prior`).
    pub gating_winner_id: Option<String>,
    /// Whether the prior is suspended because something novel came up.
    pub gating_stn_active: bool,
    /// What each organ took from broadcasts.
    pub organ_standings: BTreeMap<String, Vec<f32>>,
}

impl Default for ModulationState {
    fn default() -> Self {
        Self {
            workspace_winner_id: None,
            workspace_broadcast: None,
            workspace_winner_confidence: 0.0,
            workspace_winner_source_trust: 1.0,
            energy_budget: 1.0,
            energy_ratio: 1.0,
            gating_winner_id: None,
            gating_stn_active: false,
            organ_standings: BTreeMap::new(),
        }
    }
}
