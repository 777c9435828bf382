//! The history of a number: six views of it, each with the least and most it ever was. A value is
//! surprising where a view leaves all it has been by a margin, measured in its own range.

use serde::{Deserialize, Serialize};

use crate::input::Seconds;

/// Readings before the least and most are kept: the views have to settle.
const SETTLED: u32 = 96;
/// Readings before anything counts as a surprise.
pub(crate) const WARM_UP: u32 = 160;
/// Readings after a surprise in which there is no other: one cause is told once.
const QUIET: u32 = 70;
/// What goes up and down with the day has to have been seen for one.
const DAY: Seconds = 86_400.0;
/// The excess that is a surprise.
pub(crate) const MARGIN: f64 = 0.052;

/// How much the excess of each view counts.
const WEIGHTS: [f64; 6] = [1.0, 1.0, 0.5, 1.0, 0.5, 2.0];
/// Share of a new value in the short mean, the long mean and the smoothed residual of the hour.
const SHORT: f32 = 2.0 / 9.0;
const LONG: f32 = 0.01;
const SMOOTH: f32 = 0.08;
/// Readings of an hour of the day that its mean remembers.
const HOUR_READINGS: u8 = 50;

/// What a numeric path remembers: constant in size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Number {
    /// All others are relative to the first value, so that single precision suffices.
    first: f64,
    last: f64,
    since: Seconds,
    /// How often it was read, and how many of these readings count.
    looked: u32,
    readings: u32,
    absent: u32,
    /// Readings until the next surprise.
    quiet: u32,
    /// Readings in which the value rose, fell, and was a record.
    rose: u32,
    fell: u32,
    records: u32,
    short: f32,
    spread: f32,
    long: f32,
    smooth: f32,
    least: [f32; 6],
    most: [f32; 6],
    hours: [f32; 24],
    hour_readings: [u8; 24],
}

// What the goal promises of a numeric path.
const _: () = assert!(size_of::<Number>() <= 256);

impl Number {
    pub(crate) fn new(at: Seconds, value: f64) -> Self {
        Self {
            first: value,
            last: value,
            since: at,
            looked: 0,
            readings: 0,
            absent: 0,
            quiet: 0,
            rose: 0,
            fell: 0,
            records: 0,
            short: 0.0,
            spread: 0.0,
            long: 0.0,
            smooth: 0.0,
            least: [f32::MAX; 6],
            most: [f32::MIN; 6],
            hours: [0.0; 24],
            hour_readings: [0; 24],
        }
    }

    pub(crate) fn readings(&self) -> u32 {
        self.readings
    }

    pub(crate) fn last(&self) -> f64 {
        self.last
    }

    /// How far the value leaves what was, 0 if it does not, as a share of the range.
    pub(crate) fn excess(&mut self, at: Seconds, value: f64) -> f64 {
        let x = (value - self.first) as f32;
        if !x.is_finite() {
            return 0.0;
        }
        self.looked = self.looked.saturating_add(1);
        // A value that is held between rare changes is one sample, however often somebody looks.
        if value == self.last && self.readings > 0 && (self.rose + self.fell) * 2 < self.looked {
            return 0.0;
        }
        let views = self.views(at, x);
        self.readings = self.readings.saturating_add(1);
        self.rose += u32::from(value > self.last);
        self.fell += u32::from(value < self.last);
        self.last = value;
        let mut excess = 0.0_f64;
        if self.readings > SETTLED {
            self.records += u32::from(x > self.most[0] || x < self.least[0]);
            for (k, view) in views.iter().enumerate() {
                let range = f64::from(self.most[k]) - f64::from(self.least[k]) + 1e-9;
                let beyond = (view - self.most[k]).max(self.least[k] - view);
                excess = excess.max(f64::from(beyond) / range * WEIGHTS[k]);
                self.least[k] = self.least[k].min(*view);
                self.most[k] = self.most[k].max(*view);
            }
        }
        if self.readings > WARM_UP && at - self.since >= DAY && !self.counts() { excess } else { 0.0 }
    }

    /// Whether it only ever goes one way, or to new heights all the time: a counter, a clock, an id.
    fn counts(&self) -> bool {
        let moved = self.rose.saturating_add(self.fell);
        moved > 16 && (self.rose.min(self.fell) * 20 < moved || self.records * 4 > moved)
    }

    /// The surprise of the next value.
    pub(crate) fn surprise(&mut self, at: Seconds, value: f64) -> f64 {
        let excess = self.excess(at, value);
        if self.quiet > 0 {
            self.quiet -= 1;
            return 0.0;
        }
        if excess < MARGIN {
            return 0.0;
        }
        self.quiet = QUIET;
        1.0 - 0.1 * MARGIN / excess
    }

    /// The path is not there. How surprising that is.
    pub(crate) fn absent(&mut self) -> f64 {
        let p = (f64::from(self.absent) + 0.5) / (f64::from(self.readings) + 1.0);
        self.absent = self.absent.saturating_add(1);
        (-p.log2() / 8.0).clamp(0.0, 1.0)
    }

    fn views(&mut self, at: Seconds, x: f32) -> [f32; 6] {
        let hour = (at / 3600.0).rem_euclid(24.0) as usize % 24;
        let drift = x - self.long;
        self.long += LONG * drift;
        let step = x - self.short;
        self.short += SHORT * step;
        self.spread = (1.0 - SHORT) * (self.spread + SHORT * step * step);
        let known = &mut self.hour_readings[hour];
        let residual = if *known > 0 { x - self.hours[hour] } else { 0.0 };
        *known = (*known + 1).min(HOUR_READINGS);
        self.hours[hour] += (x - self.hours[hour]) / f32::from(*known);
        self.smooth += SMOOTH * (residual - self.smooth);
        [x, self.short, self.spread.sqrt(), drift, residual, self.smooth]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surprises(values: impl Iterator<Item = f64>) -> usize {
        let mut number: Option<Number> = None;
        let surprised = |(at, value): (usize, f64)| {
            let number = number.get_or_insert_with(|| Number::new(at as f64 * 300.0, value));
            number.surprise(at as f64 * 300.0, value) > 0.0
        };
        values.enumerate().map(surprised).filter(|surprised| *surprised).count()
    }

    #[test]
    fn a_wave_is_no_surprise_and_a_jump_is_one() {
        let wave = |at: usize| (at as f64 / 48.0 * std::f64::consts::TAU).sin();
        assert_eq!(surprises((0..3_000).map(wave)), 0);
        assert_eq!(surprises((0..3_000).map(|at| if at == 2_500 { 5.0 } else { wave(at) })), 1);
    }

    #[test]
    fn counters_and_clocks_silence_themselves() {
        assert_eq!(surprises((0..3_000).map(|at| 1.7e9 + at as f64)), 0);
        let jumps = |at: usize| (at * at % 977) as f64 + 500.0 * at as f64;
        assert_eq!(surprises((0..3_000).map(jumps)), 0);
    }

    #[test]
    fn what_is_no_number_is_no_surprise() {
        let odd = [f64::NAN, f64::INFINITY, f64::MAX, f64::MIN, -0.0, 1e-320];
        assert_eq!(surprises((0..600).map(|at| if at > 300 { odd[at % 3] } else { 1.0 })), 0);
    }
}
