//! A winner, with every number that made it one.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{input::Seconds, sentence::tokens, signal::Signal};

/// The number of a piece of news, never used again: `n17`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NewsId(pub u64);

impl fmt::Display for NewsId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl FromStr for NewsId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix('n').unwrap_or(text);
        digits.parse().map(Self).map_err(|_| format!("\"{text}\" is no id of news; one looks like n17"))
    }
}

/// Something that reaches the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct News {
    /// Its number.
    pub id: NewsId,
    /// Which organ won.
    pub organ: String,
    /// When it won.
    pub at: Seconds,
    /// What the agent reads: at most 60 tokens, foreign words quoted.
    pub sentence: String,
    /// Whether it may wake the agent and pass in the middle of a call.
    pub urgent: bool,
    /// When it was told, if it was.
    pub told: Option<Seconds>,
    /// When the agent showed that it has seen it.
    pub acknowledged: Option<Seconds>,
    /// Why it won.
    pub factors: Factors,
}

impl News {
    /// What the sentence costs a model, estimated.
    pub fn tokens(&self) -> usize {
        tokens(&self.sentence)
    }
}

/// Every number behind a winner, in the order in which they are computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Factors {
    /// What changed, and how surprising that is.
    pub signal: Signal,
    /// When it changed.
    pub changed_at: Seconds,
    /// How many ticks it waited.
    pub waited: u64,
    /// How often the organ was heard of lately, each time halved by every half-life that passed.
    pub habituation: f64,
    /// The organ's salience at rest, or the severity if that is more.
    pub base: f64,
    /// The surprise after habituation.
    pub change: f64,
    /// 1 for what is known now, falling to 0 as a polled state ages.
    pub freshness: f64,
    /// (0.3 · base + 0.7 · change) · freshness, or what is left of it after waiting.
    pub salience: f64,
    /// The write gate.
    pub gate: GateFactors,
    /// For an organ that seldom wins.
    pub boost: f64,
    /// How close the content is to what the agent works on.
    pub relevance: f64,
    /// How far the source is believed.
    pub trust: f64,
    /// (salience · gate + boost + 0.25 · relevance) · trust.
    pub total: f64,
    /// The readiness of the organ after it was last heard, 0 to 1.
    pub readiness: f64,
    /// The probability of ignition; more than one half ignites.
    pub ignition: f64,
    /// The share of the competition.
    pub share: f64,
    /// The best of the others.
    pub rivals: Vec<Rival>,
    /// Pinned by the agent or a person.
    pub pinned: bool,
    /// News that the hour still had when this one won.
    pub tokens_left: f64,
}

/// The write gate's inputs and value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GateFactors {
    /// The organ's phase φ.
    pub phase: f64,
    /// The agent's phase Φ: 0 between rounds, π in a call.
    pub global_phase: f64,
    /// The proposal's novelty.
    pub novelty: f64,
    /// Its cost.
    pub cost: f64,
    /// What it lets through, 0 to 1.
    pub value: f64,
}

/// An organ that competed and lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rival {
    /// Its name.
    pub organ: String,
    /// Its total.
    pub total: f64,
    /// Its share of the competition.
    pub share: f64,
}
