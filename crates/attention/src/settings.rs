//! What can be set: the workspace, its optional dynamics, and each organ.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::input::Seconds;

/// The settings of a workspace: `[attention]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How a change of a state is measured.
    pub change: Change,
    /// How many news an hour may have: the size of the token bucket.
    pub hourly: u32,
    /// How many news a round may have.
    pub per_round: u32,
    /// How long until what an organ said counts half in its habituation.
    pub habituation_half_life: Seconds,
    /// How long a fact that may be over by itself (a gateway's error, a site of which another part was just
    /// told) has to last before it counts.
    pub doubt: Seconds,
    /// The largest share of the last hour's news for one server while others wait.
    pub server_share: f64,
    /// How many paths of one resource are remembered.
    pub paths: usize,
    /// Dimensions of the workspace.
    pub workspace_dim: usize,
    /// Decides everything random.
    pub seed: u64,
    /// The parts of the theory that are off unless asked for: `[attention.dynamics]`.
    pub dynamics: Dynamics,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            change: Change::Surprise,
            hourly: 6,
            per_round: 1,
            habituation_half_life: 24.0 * 3600.0,
            doubt: 25.0 * 60.0,
            server_share: 0.5,
            paths: 512,
            workspace_dim: 256,
            seed: 42,
            dynamics: Dynamics::default(),
        }
    }
}

/// How the change of a state is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Against the history of each path.
    #[default]
    Surprise,
    /// The norm of the difference of the encoded states.
    Raw,
}

/// Parts of the theory that change who wins only in documented ways, each off by default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dynamics {
    /// Organs have a phase of their own that couples to the agent's; off, they are always ready.
    pub oscillators: bool,
    /// Salience is computed from content and context by weighted heads.
    pub heads: bool,
    /// Estimated precision scales salience.
    pub precision: bool,
    /// Contents go through the trained adapter instead of the fixed projection.
    pub adapter: bool,
    /// Two workspaces that bleed into each other.
    pub ensemble: bool,
    /// The basal ganglia's prior.
    pub prior: bool,
    /// Competing costs energy.
    pub energy: bool,
    /// The temperature of the competition.
    pub temperature: f64,
    /// The coherence that the coupling of the oscillators is steered to.
    pub coherence_target: f64,
}

impl Default for Dynamics {
    fn default() -> Self {
        Self {
            oscillators: false,
            heads: false,
            precision: false,
            adapter: false,
            ensemble: false,
            prior: false,
            energy: false,
            temperature: 1.0,
            coherence_target: 0.5,
        }
    }
}

/// One organ: a resource that is watched, or a sense of the house itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OrganConfig {
    /// Its name: `mcp:<server>:<name>` or `internal:<name>`.
    pub organ_id: String,
    /// Where its state is read; stands in the sentence as the place for details.
    pub resource_uri: String,
    /// Dimensions of its encoded state.
    pub latent_dim: usize,
    /// Its salience at rest, 0 to 1.
    pub base_salience: f64,
    /// What is left of a waiting fact's salience after a tick.
    pub salience_decay: f64,
    /// What competing costs.
    pub cost: f64,
    /// What it belongs to. `urgent` makes whatever breaks there urgent.
    pub tags: BTreeSet<String>,
    /// Seconds until a polled state that was not read again counts as nothing.
    pub poll_stale_after: Seconds,
    /// The frequency of its phase, in hertz (`dynamics.oscillators`).
    pub frequency: f64,
    /// How its states arrive, which decides how they age.
    pub source: Source,
}

impl Default for OrganConfig {
    fn default() -> Self {
        Self {
            organ_id: String::new(),
            resource_uri: String::new(),
            latent_dim: 64,
            base_salience: 0.2,
            salience_decay: 0.95,
            cost: 0.1,
            tags: BTreeSet::new(),
            poll_stale_after: 5.0,
            frequency: 1.0,
            source: Source::Polled,
        }
    }
}

impl OrganConfig {
    /// A resource of a server; the server is the second part of the name.
    pub fn resource(organ_id: impl Into<String>, resource_uri: impl Into<String>) -> Self {
        let tags = ["external", "mcp"].map(str::to_owned).into();
        Self { organ_id: organ_id.into(), resource_uri: resource_uri.into(), tags, ..Self::default() }
    }

    /// A sense of the house itself, which hands in events.
    pub fn internal(organ_id: impl Into<String>) -> Self {
        let tags = ["internal".to_owned()].into();
        Self { organ_id: organ_id.into(), tags, source: Source::Subscribed, ..Self::default() }
    }

    /// Who shares a channel with this organ: its server, or the house.
    pub fn server(&self) -> &str {
        match self.organ_id.split(':').collect::<Vec<_>>()[..] {
            ["mcp", server, ..] => server,
            [first, ..] => first,
            [] => "",
        }
    }
}

/// How states of an organ arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The server says when it changed, so the last state is fresh as long as it is readable.
    Subscribed,
    /// Somebody asks, so the last state ages.
    #[default]
    Polled,
}
