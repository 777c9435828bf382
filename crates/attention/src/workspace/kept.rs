//! A fact that waits: what it is worth now, and when it is worth nothing any more.

use serde::{Deserialize, Serialize};

use crate::{
    input::{Direction, Seconds, Severity, Task, Touch},
    signal::{Signal, SignalKind},
};

/// What a fact that ignites on its own never falls below while it waits: it is told as soon as the
/// channel is free, after whatever is newer.
const WAITING_FLOOR: f64 = 0.8;
/// What a fact is worth at least to wait that way.
const IGNITES: f64 = 0.6;
/// Below this a fact is forgotten.
const FADED: f64 = 0.01;
/// What surprise counts while there is doubt.
const DOUBT: f64 = 0.2;
/// How much of a text the agent's touches are looked for in.
const HAYSTACK: usize = 4096;

/// A fact that was not told yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) signal: Signal,
    pub(crate) subject: Option<String>,
    pub(crate) touches: Option<String>,
    pub(crate) details: Option<String>,
    pub(crate) at: Seconds,
    pub(crate) tick: u64,
    pub(crate) base: f64,
    pub(crate) habituation: f64,
    pub(crate) freshness: f64,
    /// Until when it counts little, unless it is over by then.
    pub(crate) doubted_until: Option<Seconds>,
    pub(crate) change: f64,
    pub(crate) salience: f64,
    pub(crate) pinned: bool,
    /// The texts of the state, to find what the agent touched.
    pub(crate) haystack: String,
    pub(crate) touched: Option<Touch>,
}

impl Kept {
    /// salience = (0.3 · base + 0.7 · change) · freshness.
    pub(crate) fn weigh(&mut self) {
        let doubt = if self.doubted_until.is_some() { DOUBT } else { 1.0 };
        self.change = self.signal.surprise * share(&self.signal) * habituated(self.habituation) * doubt;
        let severe = self.signal.severity.weight() * if self.doubted_until.is_some() { DOUBT } else { 1.0 };
        self.base = self.base.max(severe);
        self.salience = salience(self.base, self.change, self.freshness);
        if self.pinned {
            self.salience = self.salience.max(1.0);
        }
    }

    /// One tick of waiting. False if nothing of it is left.
    pub(crate) fn wait(&mut self, now: Seconds, decay: f64, base: f64) -> bool {
        if self.doubted_until.is_some_and(|until| now >= until) {
            self.doubted_until = None;
            self.base = base;
            self.weigh();
        }
        let floor = if self.full() >= IGNITES { self.full().min(WAITING_FLOOR) } else { 0.0 };
        self.salience = (self.salience * decay).max(floor);
        self.salience >= FADED || self.doubted_until.is_some()
    }

    fn full(&self) -> f64 {
        if self.pinned { 1.0 } else { salience(self.base, self.change, 1.0) }
    }

    /// Whether it may pass in the middle of a call, and wake the agent.
    pub(crate) fn is_urgent(&self, tagged: bool) -> bool {
        let breaking = self.signal.direction == Direction::Breaking && self.doubted_until.is_none();
        let ours = self.signal.kind == SignalKind::Event || self.touched.is_some() || tagged;
        breaking
            && (self.signal.severity == Severity::Critical
                || (self.signal.severity == Severity::Failure && ours))
    }

    /// Looks for what the agent touched.
    pub(crate) fn relate(&mut self, task: &Task) {
        let found = task
            .touched
            .iter()
            .take(64)
            .find(|touch| touch.what.len() > 2 && self.haystack.contains(&touch.what));
        self.touched = found.cloned();
    }

    /// Adds a text to look in, up to a bound.
    pub(crate) fn add_text(haystack: &mut String, text: &str) {
        let room = HAYSTACK.saturating_sub(haystack.len());
        if text.len() < room {
            haystack.push_str(text);
            haystack.push('\n');
        }
    }
}

/// The seed's salience.
pub(crate) fn salience(base: f64, change: f64, freshness: f64) -> f64 {
    (0.3 * base + 0.7 * change) * freshness
}

/// How much of a surprise counts: one of which nobody knows whether it is bad moves the agent only where
/// it works.
fn share(signal: &Signal) -> f64 {
    match (signal.kind, signal.severity) {
        (SignalKind::Raw, _) => 1.0,
        (_, Severity::None) => 0.45,
        (_, Severity::Notice) => 0.7,
        (_, Severity::Warning) => 0.85,
        (_, Severity::Failure | Severity::Critical) => 1.0,
    }
}

/// What habituation leaves of a surprise.
fn habituated(level: f64) -> f64 {
    (1.0 + level).powf(-1.25)
}
