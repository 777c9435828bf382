//! The rules of the Numenta Anomaly Benchmark, and detectors to hold beside ours.

use crate::{input::Seconds, signal::Number};

/// One series: rows in order, and the windows in which something is wrong, as first and last row.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Category and file.
    pub name: String,
    /// Time and value of each row.
    pub rows: Vec<(Seconds, f64)>,
    /// First and last row of each window.
    pub windows: Vec<(usize, usize)>,
}

impl Series {
    /// Rows at the start that are not scored.
    fn probation(&self) -> usize {
        (self.rows.len() * 15 / 100).min(750)
    }
}

/// What a hit, a false alarm and a miss weigh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    false_alarm: f64,
    miss: f64,
}

/// The three published profiles.
pub const PROFILES: [Profile; 3] = [
    Profile { name: "standard", false_alarm: 0.11, miss: 1.0 },
    Profile { name: "low FP", false_alarm: 0.22, miss: 1.0 },
    Profile { name: "low FN", false_alarm: 0.11, miss: 2.0 },
];

/// A rule that gives each row a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detector {
    /// Every row that differs from the one before.
    Change,
    /// The value itself.
    Threshold,
    /// The distance from a moving mean in moving standard deviations.
    Ewma,
    /// What a numeric path of ours remembers.
    Ours,
}

impl Detector {
    /// All, in the order of the table.
    pub const ALL: [Self; 4] = [Self::Change, Self::Threshold, Self::Ewma, Self::Ours];

    /// How it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Change => "notify on change",
            Self::Threshold => "fixed threshold",
            Self::Ewma => "EWMA z",
            Self::Ours => "ours",
        }
    }

    /// Rows after an alarm in which there is no other.
    fn quiet(self) -> usize {
        match self {
            Self::Change | Self::Threshold => 0,
            Self::Ewma => 50,
            Self::Ours => 70,
        }
    }

    /// Thresholds to choose from.
    fn thresholds(self) -> Vec<f64> {
        let steps = |low: f64, high: f64, count: i32| {
            (0..=count).map(move |k| low * (high / low).powf(f64::from(k) / f64::from(count)))
        };
        match self {
            Self::Change => vec![0.5],
            Self::Threshold => steps(1e-2, 1e10, 48).collect(),
            Self::Ewma => steps(1.0, 40.0, 40).collect(),
            Self::Ours => steps(0.005, 0.5, 40).collect(),
        }
    }

    /// The score of each row, from the rows before it alone.
    pub fn scores(self, rows: &[(Seconds, f64)]) -> Vec<f64> {
        match self {
            Self::Change => {
                let changed = rows.windows(2).map(|pair| f64::from(u8::from(pair[0].1 != pair[1].1)));
                [0.0].into_iter().chain(changed).take(rows.len()).collect()
            }
            Self::Threshold => rows.iter().map(|(_, value)| *value).collect(),
            Self::Ewma => {
                let mut ewma = Ewma::default();
                rows.iter().map(|(_, value)| ewma.z(*value, 30.0)).collect()
            }
            Self::Ours => {
                let mut number = rows.first().map(|(at, value)| Number::new(*at, *value));
                let score =
                    |(at, value): &(Seconds, f64)| number.as_mut().map_or(0.0, |n| n.excess(*at, *value));
                rows.iter().map(score).collect()
            }
        }
    }
}

/// A moving mean and variance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Ewma {
    mean: f64,
    variance: f64,
    rows: f64,
}

impl Ewma {
    /// The distance of the next value in standard deviations, once so many rows were seen.
    pub(crate) fn z(&mut self, value: f64, warm_up: f64) -> f64 {
        self.rows += 1.0;
        let share = 0.005_f64.max(1.0 / self.rows);
        let step = value - self.mean;
        let z = if self.variance > 0.0 { step.abs() / self.variance.sqrt() } else { 0.0 };
        self.mean += share * step;
        self.variance = (1.0 - share) * (self.variance + share * step * step);
        if self.rows > warm_up { z } else { 0.0 }
    }
}

/// Points, windows and alarms of a series or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    points: f64,
    windows: usize,
    /// Windows with an alarm.
    pub hits: usize,
    /// Alarms outside.
    pub false_alarms: usize,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.points += other.points;
        self.windows += other.windows;
        self.hits += other.hits;
        self.false_alarms += other.false_alarms;
    }

    /// 100 is perfect, 0 says nothing at all.
    pub fn result(&self, profile: Profile) -> f64 {
        let windows = self.windows as f64;
        let silent = -profile.miss * windows;
        100.0 * (self.points - silent) / (windows - silent)
    }
}

/// 2 / (1 + e^5x) − 1.
fn slope(x: f64) -> f64 {
    2.0 / (1.0 + (5.0 * x).exp()) - 1.0
}

/// Scores the alarms of one series.
pub fn score(series: &Series, alarms: &[usize], profile: Profile) -> Tally {
    let mut tally = Tally { windows: series.windows.len(), ..Tally::default() };
    let scored: Vec<usize> = alarms.iter().copied().filter(|row| *row >= series.probation()).collect();
    for (first, last) in &series.windows {
        match scored.iter().find(|row| (first..=last).contains(row)) {
            Some(row) => {
                let x = -((last - row + 1) as f64) / (last - first + 1) as f64;
                tally.points += slope(x) / slope(-1.0);
                tally.hits += 1;
            }
            None => tally.points -= profile.miss,
        }
    }
    for row in scored {
        let before = series.windows.iter().rfind(|(first, _)| *first <= row);
        match before {
            Some((_, last)) if row <= *last => continue,
            Some((first, last)) => {
                let x = (row - last) as f64 / ((last - first) as f64).max(1.0);
                tally.points += profile.false_alarm * if x > 3.0 { -1.0 } else { slope(x) };
            }
            None => tally.points -= profile.false_alarm,
        }
        tally.false_alarms += 1;
    }
    tally
}

/// Rows whose score reaches the threshold, at least `quiet` rows apart.
fn alarms(scores: &[f64], threshold: f64, quiet: usize) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for (row, score) in scores.iter().enumerate() {
        if *score >= threshold && found.last().is_none_or(|last| row - last > quiet) {
            found.push(row);
        }
    }
    found
}

/// A detector's results at each of its thresholds.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    profile: Profile,
    thresholds: Vec<f64>,
    /// By threshold, then by series.
    tallies: Vec<Vec<Tally>>,
}

/// What a detector reaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    /// The threshold chosen on the corpus that is scored, as all published entries do.
    pub in_sample: f64,
    /// That threshold.
    pub threshold: f64,
    /// Hits and false alarms there.
    pub tally: Tally,
    /// Half B with the threshold of half A, and the other way round.
    pub held_out: [f64; 2],
}

impl Sweep {
    /// Runs a detector over all series, whose scores are computed once for all profiles.
    pub fn new(series: &[Series], scores: &[Vec<f64>], detector: Detector, profile: Profile) -> Self {
        let thresholds = detector.thresholds();
        let at = |threshold: &f64| {
            let each = series.iter().zip(scores);
            each.map(|(series, scores)| score(series, &alarms(scores, *threshold, detector.quiet()), profile))
                .collect()
        };
        Self { profile, tallies: thresholds.iter().map(at).collect(), thresholds }
    }

    /// `in_a` says which series are of half A.
    pub fn reached(&self, in_a: &[bool]) -> Reached {
        let all = vec![true; in_a.len()];
        let b: Vec<bool> = in_a.iter().map(|in_a| !in_a).collect();
        let best = self.best(&all);
        Reached {
            in_sample: self.total(best, &all).result(self.profile),
            threshold: self.thresholds.get(best).copied().unwrap_or_default(),
            tally: self.total(best, &all),
            held_out: [
                self.total(self.best(in_a), &b).result(self.profile),
                self.total(self.best(&b), in_a).result(self.profile),
            ],
        }
    }

    fn total(&self, threshold: usize, chosen: &[bool]) -> Tally {
        let mut total = Tally::default();
        let tallies = self.tallies.get(threshold).into_iter().flatten();
        tallies.zip(chosen).filter(|(_, chosen)| **chosen).for_each(|(tally, _)| total.add(*tally));
        total
    }

    fn best(&self, chosen: &[bool]) -> usize {
        let result = |at: &usize| self.total(*at, chosen).points;
        (0..self.thresholds.len()).max_by(|a, b| result(a).total_cmp(&result(b))).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series() -> Series {
        let rows = (0..1_000).map(|row| (f64::from(row) * 300.0, 1.0)).collect();
        Series { name: "s".to_owned(), rows, windows: vec![(400, 499), (800, 899)] }
    }

    #[test]
    fn silence_is_zero_and_the_first_rows_of_all_windows_are_perfect() {
        for profile in PROFILES {
            assert!(score(&series(), &[], profile).result(profile).abs() < 1e-9);
            assert!((score(&series(), &[400, 800], profile).result(profile) - 100.0).abs() < 1e-9);
        }
    }

    #[test]
    fn alarms_outside_cost_more_with_distance_and_probation_is_free() {
        let standard = PROFILES[0];
        let points = |alarms: &[usize]| score(&series(), alarms, standard).points + 2.0;
        assert!((points(&[10]) - 0.0).abs() < 1e-9, "probation");
        assert!((points(&[200]) + 0.11).abs() < 1e-9, "before the first window");
        assert!((points(&[500]) - 0.11 * slope(1.0 / 99.0)).abs() < 1e-9, "just after a window");
        assert!(points(&[600]) < points(&[510]));
        assert_eq!(score(&series(), &[400, 410, 200], standard).false_alarms, 1);
    }

    #[test]
    fn the_best_alarm_of_a_window_is_its_first() {
        let points = |alarms: &[usize]| score(&series(), alarms, PROFILES[0]).points;
        assert!((points(&[450, 499]) - points(&[450])).abs() < 1e-9);
        let late = -(1.0 / 100.0);
        assert!((points(&[499]) - (slope(late) / slope(-1.0) - 1.0)).abs() < 1e-9);
    }
}
