//! What became of the copies: for one observer, for all of them, and how often that is told.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};

/// Between two warnings about one observer.
const QUIET: Duration = Duration::from_secs(60);

/// How one observer is, for people and programs.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ObserverStatus {
    /// `watching`, `away` or `muted`.
    pub state: &'static str,
    /// Copies it took.
    pub sent: u64,
    /// Copies it did not answer in time.
    pub late: u64,
    /// Copies it refused.
    pub refused: u64,
    /// Copies that were lost with a connection.
    pub lost: u64,
    /// Copies that were overwritten while it was busy or away.
    pub dropped: u64,
    /// What went wrong last.
    pub error: Option<String>,
}

/// What became of all copies, also of those for observers that are gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Totals {
    /// Copies that were made; each goes to every observer.
    pub made: u64,
    /// Copies that were taken.
    pub sent: u64,
    /// Copies that were not answered in time.
    pub late: u64,
    /// Copies that were refused.
    pub refused: u64,
    /// Copies that were lost with a connection.
    pub lost: u64,
    /// Copies that were overwritten before their turn came.
    pub dropped: u64,
}

/// What became of the copies for one observer. Kept while it is muted or away.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) sent: AtomicU64,
    pub(super) late: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) lost: AtomicU64,
    pub(super) dropped: AtomicU64,
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
    pub(super) fn failed(&self, counter: &AtomicU64, name: &str, why: String) {
        counter.fetch_add(1, Ordering::Relaxed);
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

    /// How it is, in a state that others know.
    pub(super) fn status(&self, state: &'static str) -> ObserverStatus {
        ObserverStatus {
            state,
            sent: self.sent.load(Ordering::Relaxed),
            late: self.late.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            lost: self.lost.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            error: self.error.lock().clone(),
        }
    }

    /// Adds its copies to those of others.
    pub(super) fn add_to(&self, totals: &mut Totals) {
        totals.sent += self.sent.load(Ordering::Relaxed);
        totals.late += self.late.load(Ordering::Relaxed);
        totals.refused += self.refused.load(Ordering::Relaxed);
        totals.lost += self.lost.load(Ordering::Relaxed);
        totals.dropped += self.dropped.load(Ordering::Relaxed);
    }
}
