//! The history of a path with few values: how often each was there, and how likely a value is.

use serde::{Deserialize, Serialize};

use super::template::{SHOWN, quoted};
use crate::input::Severity;

/// Values that one path remembers; beyond that the rarest makes room.
const VALUES: usize = 8;
/// Bits that count as full surprise: one reading in 256.
const FULL_BITS: f64 = 8.0;

/// Counts of the values of one path. A list has several values in one reading.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Category {
    values: Vec<Counted>,
    readings: u32,
    /// How many values were new, by severity.
    novel: [u32; 5],
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Counted {
    hash: u64,
    text: Box<str>,
    severity: Severity,
    /// Readings that had it.
    readings: u32,
    /// How often it stands in the last reading, and in the one that is being read.
    now: u16,
    next: u16,
}

/// A value that stands there more often than in the reading before.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shift {
    pub(crate) surprise: f64,
    pub(crate) new: (Box<str>, Severity),
    pub(crate) old: Option<(Box<str>, Severity)>,
    pub(crate) seen_before: u32,
}

impl Category {
    /// A path that was absent from so many readings.
    pub(crate) fn absent(readings: u32) -> Self {
        let mut category = Self::default();
        if readings > 0 {
            category.meet(ABSENT, || ABSENT_TEXT.into(), Severity::None);
            category.settle(false);
            category.values[0].readings = readings;
            category.readings = readings;
        }
        category
    }

    /// One value of the reading.
    pub(crate) fn meet(&mut self, hash: u64, text: impl FnOnce() -> Box<str>, severity: Severity) {
        if let Some(known) = self.values.iter_mut().find(|value| value.hash == hash) {
            known.next = known.next.saturating_add(1);
            return;
        }
        let value = Counted { hash, text: text(), severity, readings: 0, now: 0, next: 1 };
        if self.values.len() < VALUES {
            self.values.push(value);
        } else {
            let unused = self.values.iter_mut().filter(|value| value.now == 0 && value.next == 0);
            if let Some(rarest) = unused.min_by_key(|value| value.readings) {
                *rarest = value;
            }
        }
    }

    /// The text of a value may change without its template.
    pub(crate) fn rename(&mut self, hash: u64, text: &str) {
        let Some(known) = self.values.iter_mut().find(|value| value.hash == hash) else { return };
        let inside = known.text.get(1..known.text.len() - 1).unwrap_or_default();
        if !text.starts_with(inside) || (text.len() != inside.len() && inside.chars().count() < SHOWN) {
            known.text = quoted(text);
        }
    }

    /// Whether so many values were seen that counting them says nothing.
    pub(crate) fn is_full(&self) -> bool {
        self.novel.iter().sum::<u32>() as usize >= VALUES
    }

    pub(crate) fn readings(&self) -> u32 {
        self.readings
    }

    /// Whether this value stands in the last reading.
    pub(crate) fn stands(&self, text: &str) -> bool {
        self.values.iter().any(|value| value.now > 0 && &*value.text == text)
    }

    /// Ends the reading: the most surprising value that became more frequent.
    pub(crate) fn settle(&mut self, first: bool) -> Option<Shift> {
        if self.values.iter().all(|value| value.next == 0) {
            self.meet(ABSENT, || ABSENT_TEXT.into(), Severity::None);
        }
        let mut shift: Option<Shift> = None;
        if !first {
            let gone = self.values.iter().filter(|value| value.next < value.now);
            let gone = gone.max_by_key(|value| value.readings);
            let old = gone.map(|value| (value.text.clone(), value.severity));
            for value in self.values.iter().filter(|value| value.next > value.now) {
                let surprise = self.surprise(value);
                if shift.as_ref().is_none_or(|best| (value.severity, surprise) > (best.new.1, best.surprise))
                {
                    let new = (value.text.clone(), value.severity);
                    shift = Some(Shift { surprise, new, old: old.clone(), seen_before: value.readings });
                }
            }
        }
        self.readings = self.readings.saturating_add(1);
        for value in &mut self.values {
            if value.next > 0 {
                if value.readings == 0 {
                    self.novel[value.severity as usize] += 1;
                }
                value.readings = value.readings.saturating_add(1);
            }
            value.now = std::mem::take(&mut value.next);
        }
        shift
    }

    /// −log₂ P(value | history) as a share of [`FULL_BITS`]. Bad values are rare before anything was
    /// counted; a path that often has new values expects one.
    fn surprise(&self, value: &Counted) -> f64 {
        let prior = 0.5 * (-4.0 * value.severity.weight()).exp2();
        let expected = match value.readings {
            // The first value of a path is no sign that there will be others.
            0 => self.novel[value.severity as usize..]
                .iter()
                .sum::<u32>()
                .saturating_sub(u32::from(value.severity == Severity::None)),
            seen => seen,
        };
        let p = (f64::from(expected) + prior) / (f64::from(self.readings) + 1.0);
        (-p.log2() / FULL_BITS).clamp(0.0, 1.0)
    }
}

/// The value of a path that is not there.
const ABSENT: u64 = 0;
/// Its text; the quotes of JSON keep it from being mistaken for a text.
pub(crate) const ABSENT_TEXT: &str = "absent";
