//! The history of one path: of values as long as they are few, then of numbers.

use serde::{Deserialize, Serialize};

use super::{
    SignalKind,
    category::{ABSENT_TEXT, Category},
    leaves::Leaf,
    number::Number,
    severity, template,
};
use crate::input::{Seconds, Severity};

/// One path's memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PathMemory {
    /// When the path was first seen.
    pub(crate) since: Seconds,
    /// The reading of the resource in which it was last seen.
    pub(crate) seen_in: u64,
    history: History,
    /// Numbers of the reading that is being read: how many, and their sum.
    #[serde(skip)]
    numbers: (u32, f64),
    /// Whether all values so far were numbers.
    numeric: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum History {
    Values(Category),
    Numbers(Box<Number>),
}

/// What one reading did to one path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathChange {
    pub(crate) kind: SignalKind,
    pub(crate) surprise: f64,
    pub(crate) severity: Severity,
    pub(crate) old_severity: Severity,
    pub(crate) old: Option<Box<str>>,
    pub(crate) new: Option<Box<str>>,
    pub(crate) seen_before: u32,
    pub(crate) readings: u32,
}

impl PathMemory {
    /// A path that was absent from the first readings of its resource.
    pub(crate) fn new(since: Seconds, readings_before: u32) -> Self {
        let history = History::Values(Category::absent(readings_before));
        Self { since, seen_in: 0, history, numbers: (0, 0.0), numeric: true }
    }

    /// One value of the reading.
    pub(crate) fn meet(&mut self, path: &str, leaf: Leaf<'_>) {
        match (&mut self.history, leaf) {
            (History::Numbers(_), Leaf::Number(value)) => {
                self.numbers = (self.numbers.0 + 1, self.numbers.1 + value)
            }
            (History::Numbers(_), _) => {}
            (History::Values(category), leaf) => {
                if let Leaf::Number(value) = leaf {
                    self.numbers = (self.numbers.0 + 1, self.numbers.1 + value);
                } else {
                    self.numeric = false;
                }
                let hash = template::hash(leaf);
                category.meet(hash, || shown(leaf), severity::of(path, leaf));
                if let Leaf::Text(text) = leaf {
                    category.rename(hash, text);
                }
            }
        }
    }

    /// Ends the reading.
    pub(crate) fn settle(&mut self, at: Seconds, first: bool) -> Option<PathChange> {
        let (count, sum) = std::mem::take(&mut self.numbers);
        let mean = (count > 0).then(|| sum / f64::from(count));
        match &mut self.history {
            History::Values(category) => {
                let shift = category.settle(first);
                if self.numeric
                    && category.is_full()
                    && let Some(value) = mean
                {
                    self.history = History::Numbers(Box::new(Number::new(at, value)));
                }
                let shift = shift?;
                let readings = self.readings();
                let text = |(text, _): &(Box<str>, Severity)| (&**text != ABSENT_TEXT).then(|| text.clone());
                let (old, new) = (shift.old.as_ref().and_then(text), text(&shift.new));
                let kind = match (&old, &new) {
                    (_, None) => SignalKind::Removed,
                    (None, _) => SignalKind::Added,
                    _ => SignalKind::Category,
                };
                Some(PathChange {
                    kind,
                    surprise: shift.surprise,
                    severity: shift.new.1,
                    old_severity: shift.old.map_or(Severity::None, |old| old.1),
                    old,
                    new,
                    seen_before: shift.seen_before,
                    readings: readings.saturating_sub(1),
                })
            }
            History::Numbers(number) => {
                let (old, readings) = (number.last(), number.readings());
                let surprise = match mean {
                    Some(value) => number.surprise(at, value),
                    None => number.absent(),
                };
                // Nobody can say whether more is good or bad; that it never was so is worth a warning.
                (surprise > 0.0).then(|| PathChange {
                    kind: if mean.is_some() { SignalKind::Number } else { SignalKind::Removed },
                    surprise,
                    severity: if mean.is_some() { Severity::Warning } else { Severity::None },
                    old_severity: Severity::None,
                    old: Some(number_text(old)),
                    new: mean.map(number_text),
                    seen_before: 0,
                    readings,
                })
            }
        }
    }

    /// How many readings the history has.
    pub(crate) fn readings(&self) -> u32 {
        match &self.history {
            History::Values(category) => category.readings(),
            History::Numbers(number) => number.readings(),
        }
    }

    /// Whether the new value stands, or a number is still closer to its new value than to its old one.
    pub(crate) fn still(&self, old: Option<&str>, new: Option<&str>) -> bool {
        match &self.history {
            History::Values(category) => category.stands(new.unwrap_or(ABSENT_TEXT)),
            History::Numbers(number) => {
                let parsed = |text: Option<&str>| text.and_then(|text| text.parse::<f64>().ok());
                match (parsed(old), parsed(new)) {
                    (Some(old), Some(new)) => (number.last() - new).abs() <= (number.last() - old).abs(),
                    _ => true,
                }
            }
        }
    }
}

/// A value as JSON text, bounded.
fn shown(leaf: Leaf<'_>) -> Box<str> {
    match leaf {
        Leaf::Null => "null".into(),
        Leaf::Bool(flag) => flag.to_string().into(),
        Leaf::Number(value) => number_text(value),
        Leaf::Text(text) => template::quoted(text),
    }
}

fn number_text(value: f64) -> Box<str> {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        format!("{value:.0}").into()
    } else {
        format!("{value:.4}").into()
    }
}
