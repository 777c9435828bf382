//! The fate of the copies: for one observer, for all of them, and how often that is told.

use std::{
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};

/// Between two warnings about one observer.
const QUIET: Duration = Duration::from_secs(60);

/// The state of one observer, for people and programs.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ObserverStatus {
    /// `watching`, `away` or `muted`.
    pub state: &'static str,
    /// The tally of its copies.
    #[serde(flatten)]
    pub copies: Tally,
    /// The last error.
    pub error: Option<String>,
}

/// The tally of all copies, also of those for observers that are gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Totals {
    /// Copies that were made; each goes to every observer.
    pub made: u64,
    /// The tally over all observers.
    #[serde(flatten)]
    pub copies: Tally,
}

/// Copies by their fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Tally {
    /// Copies that were taken.
    pub sent: u64,
    /// Copies that were not answered in time.
    pub late: u64,
    /// Copies that were refused.
    pub refused: u64,
    /// Copies that were lost with a connection.
    pub lost: u64,
    /// Copies that were overwritten before their turn came, while an observer was busy or away.
    pub dropped: u64,
}

impl Tally {
    /// Adds the copies of one more observer.
    pub(super) fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.late += other.late;
        self.refused += other.refused;
        self.lost += other.lost;
        self.dropped += other.dropped;
    }
}

/// The counters of one observer. Kept while it is muted or away.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) tally: Mutex<Tally>,
    pub(super) error: Mutex<Option<String>>,
    /// The number of the copy it is told next.
    next: Mutex<u64>,
    /// It is connected, and wants to be told nothing.
    pub(super) idle: AtomicBool,
    warned: Mutex<Option<Instant>>,
}

impl Counts {
    /// The number of the copy it is told next. Whoever holds it, nobody else takes a copy meanwhile.
    pub(super) fn next(&self) -> MutexGuard<'_, u64> {
        self.next.lock()
    }

    /// Counts a copy that did not arrive, and tells of it unless that was told just now.
    pub(super) fn failed(&self, counter: fn(&mut Tally) -> &mut u64, name: &str, why: String) {
        *counter(&mut self.tally.lock()) += 1;
        self.warn(name, &why);
        *self.error.lock() = Some(why);
    }

    /// Tells of a failure, at most once a minute.
    pub(super) fn warn(&self, name: &str, why: &str) {
        let mut warned = self.warned.lock();
        if warned.is_none_or(|last| last.elapsed() >= QUIET) {
            *warned = Some(Instant::now());
            tracing::warn!(observer = name, why, "a copy did not arrive; further ones are counted");
        }
    }

    /// Its status, in a state that others know.
    pub(super) fn status(&self, state: &'static str) -> ObserverStatus {
        ObserverStatus { state, copies: *self.tally.lock(), error: self.error.lock().clone() }
    }
}
