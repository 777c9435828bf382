//! The eight state resources of the seed, each as a quantity that the workspace really has.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What only the house can measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Vitals {
    /// How long the last tick took.
    pub tick_micros: u64,
    /// Memory of the process.
    pub memory_bytes: u64,
    /// What is free where the journal lies.
    pub disk_free_bytes: u64,
    /// What the journal has taken.
    pub journal_bytes: u64,
}

/// The eight, each the content of `tectum://<name>`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantities {
    /// `oscillators/state`: the agent's phase, the organs' phases and how coherent they are with it.
    pub oscillators_state: Value,
    /// `consciousness/metrics`: the last competition: ignition, winner, share, competitors.
    pub consciousness_metrics: Value,
    /// `emotional/state`: what is broken and what recovered, weighed by severity.
    pub emotional_state: Value,
    /// `homeostasis/drives`: what is left of the hour's news and of energy, and the settings in effect.
    pub homeostasis_drives: Value,
    /// `memory/status`: resources, paths and facts that are remembered, and what was forgotten.
    pub memory_status: Value,
    /// `hardware/health`: what the house measured of itself.
    pub hardware_health: Value,
    /// `somatic/feelings`: organs that cannot be read, and signals that were injected.
    pub somatic_feelings: Value,
    /// `attention/focus`: what won last, what waits, what is pinned and muted.
    pub attention_focus: Value,
}

impl Quantities {
    /// Each resource's name with its content.
    pub fn by_name(&self) -> [(&'static str, &Value); 8] {
        [
            ("oscillators/state", &self.oscillators_state),
            ("consciousness/metrics", &self.consciousness_metrics),
            ("emotional/state", &self.emotional_state),
            ("homeostasis/drives", &self.homeostasis_drives),
            ("memory/status", &self.memory_status),
            ("hardware/health", &self.hardware_health),
            ("somatic/feelings", &self.somatic_feelings),
            ("attention/focus", &self.attention_focus),
        ]
    }
}
