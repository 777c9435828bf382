//! The memory of one resource: its paths, and the most surprising change of a reading.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Signal, SignalKind, leaves,
    path::{PathChange, PathMemory},
    severity,
};
use crate::input::{Direction, Seconds, Severity};

/// Everything that is remembered of a resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ResourceMemory {
    paths: BTreeMap<Box<str>, PathMemory>,
    readings: u64,
}

/// What a reading brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Noticed {
    /// The change that matters most, if there was any.
    pub(crate) signal: Option<Signal>,
    /// Whether the state says of itself that another try may help.
    pub(crate) temporary: bool,
    /// Paths beyond the bound.
    pub(crate) dropped: u64,
}

impl ResourceMemory {
    /// Takes in a whole state. `bound` is the number of paths that are remembered.
    pub(crate) fn read(&mut self, organ: &str, at: Seconds, state: &Value, bound: usize) -> Noticed {
        self.readings += 1;
        let first = self.readings == 1;
        let before = u32::try_from(self.readings - 1).unwrap_or(u32::MAX);
        let mut noticed = Noticed::default();
        leaves::walk(state, &mut |path, leaf| {
            noticed.temporary |= severity::is_temporary(path, leaf);
            if let Some(memory) = self.paths.get_mut(path) {
                memory.meet(path, leaf);
                memory.seen_in = self.readings;
            } else if self.paths.len() < bound {
                let mut memory = PathMemory::new(at, before);
                memory.meet(path, leaf);
                memory.seen_in = self.readings;
                self.paths.insert(path.into(), memory);
            } else {
                noticed.dropped += 1;
            }
        });
        let mut best: Option<(f64, &str, PathChange, Seconds)> = None;
        for (path, memory) in &mut self.paths {
            let Some(change) = memory.settle(at, first) else { continue };
            let weight = weigh(&change);
            if best.as_ref().is_none_or(|(most, ..)| weight > *most) {
                best = Some((weight, path, change, memory.since));
            }
        }
        noticed.signal = best.map(|(_, path, change, since)| signal(organ, path, change, at - since));
        noticed
    }

    /// Whether what the signal said is still so.
    pub(crate) fn still(&self, signal: &Signal) -> bool {
        match self.paths.get(&*signal.path) {
            Some(memory) => memory.still(signal.old.as_deref(), signal.new.as_deref()),
            None => signal.new.is_none(),
        }
    }

    pub(crate) fn paths(&self) -> usize {
        self.paths.len()
    }

    /// Forgets paths that are not in the last reading, and says how many.
    pub(crate) fn forget_unseen(&mut self) -> u64 {
        let before = self.paths.len();
        self.paths.retain(|_, memory| memory.seen_in == self.readings);
        (before - self.paths.len()) as u64
    }
}

/// What decides between the changes of one reading.
fn weigh(change: &PathChange) -> f64 {
    // A number that jumps because something broke is not the news.
    let breaking = change.severity > change.old_severity && change.kind != SignalKind::Number;
    let severity = if breaking { change.severity.weight() } else { 0.0 };
    0.3 * severity + 0.7 * change.surprise * if breaking { 1.0 } else { 0.55 }
}

fn signal(organ: &str, path: &str, change: PathChange, span: Seconds) -> Signal {
    let (direction, severity) = match change.severity.cmp(&change.old_severity) {
        std::cmp::Ordering::Greater => (Direction::Breaking, change.severity),
        std::cmp::Ordering::Less => (Direction::Recovering, Severity::Notice),
        // From one bad value to another.
        std::cmp::Ordering::Equal => (Direction::Neutral, change.severity.min(Severity::Notice)),
    };
    let (direction, severity) = match change.kind {
        SignalKind::Number => (Direction::Neutral, change.severity),
        _ => (direction, severity),
    };
    Signal {
        organ: organ.to_owned(),
        path: path.to_owned(),
        kind: change.kind,
        old: change.old.map(Into::into),
        new: change.new.map(Into::into),
        surprise: change.surprise,
        severity,
        direction,
        rarity_readings: u64::from(change.readings),
        rarity_span: span,
        seen_before: u64::from(change.seen_before),
    }
}
