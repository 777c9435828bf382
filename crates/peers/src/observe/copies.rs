//! Copies of calls for observers: kept in one bounded ring, never awaited, never felt by the call.
//! Each observer reads the ring at its own pace; what it is too slow for is overwritten, and it learns
//! how much.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use tectum_core::{Call, Outcome, TapWatcher, Tapped, Tectum};
use tectum_redact::Redactor;
use tokio::{sync::Notify, time::Instant};

use super::observation::{Observation, Report};

/// Copies that an observer may be behind by.
const MOST_COPIES: usize = 256;
/// Bytes of all copies together; large ones push older ones out sooner.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// Copies leave in the pause after a call: when none came for so long,
const PAUSE: Duration = Duration::from_millis(2);
/// or so many wait,
const MANY: u64 = MOST_COPIES as u64 / 4;
/// or the first has waited for so long. A burst of calls is not slowed by copying them.
const AT_LATEST: Duration = Duration::from_millis(10);

/// The copies of a house's calls.
#[derive(Debug)]
pub(super) struct Copies {
    redactor: Arc<Redactor>,
    ring: Mutex<Ring>,
    fresh: Notify,
    copied: AtomicU64,
}

#[derive(Debug, Default)]
struct Ring {
    copies: VecDeque<Arc<Observation>>,
    bytes: usize,
    /// The number of the next copy; those in the ring are the ones right before it.
    next: u64,
}

impl Ring {
    fn first(&self) -> u64 {
        self.next - self.copies.len() as u64
    }
}

impl Copies {
    /// Copies every call of a house from now on, with what the redactor hides left out.
    pub(super) fn watching(house: &Tectum, redactor: Redactor) -> (Arc<Self>, TapWatcher) {
        let copies = Arc::new(Self::new(redactor));
        let taking = copies.clone();
        let watcher = house.tap().open(move |Tapped { call, outcome }| taking.push(call, outcome));
        (copies, watcher)
    }

    fn new(redactor: Redactor) -> Self {
        Self {
            redactor: Arc::new(redactor),
            ring: Mutex::default(),
            fresh: Notify::new(),
            copied: AtomicU64::new(0),
        }
    }

    /// Lets go of all copies.
    pub(super) fn clear(&self) {
        let mut ring = self.ring.lock();
        ring.copies.clear();
        ring.bytes = 0;
    }

    /// The number of copies that were made.
    pub(super) fn copied(&self) -> u64 {
        self.copied.load(Ordering::Relaxed)
    }

    /// A reader of everything that is still in the ring, and of what comes.
    pub(super) fn from_the_start(self: &Arc<Self>) -> Reader {
        Reader { next: self.ring.lock().first(), copies: self.clone() }
    }

    /// A reader of what comes from now on.
    pub(super) fn from_now(self: &Arc<Self>) -> Reader {
        Reader { next: self.ring.lock().next, copies: self.clone() }
    }

    /// A reader that begins at this number, or at the first that is still there.
    pub(super) fn from_number(self: &Arc<Self>, next: u64) -> Reader {
        Reader { next: next.min(self.ring.lock().next), copies: self.clone() }
    }

    /// Waits for copies beyond this number and then for a pause between calls; returns the number
    /// of the first copy that has to wait longer.
    pub(super) async fn settled(&self, beyond: u64) -> u64 {
        while self.ring.lock().next <= beyond {
            self.fresh.notified().await;
        }
        let (since, mut seen) = (Instant::now(), self.ring.lock().next);
        loop {
            tokio::time::sleep(PAUSE).await;
            let next = self.ring.lock().next;
            if next == seen || next - beyond >= MANY || since.elapsed() >= AT_LATEST {
                return next;
            }
            seen = next;
        }
    }

    /// The number that the next copy will have.
    pub(super) fn next(&self) -> u64 {
        self.ring.lock().next
    }

    /// Copies a call as it is before it runs, or after it with what came of it.
    fn push(&self, call: &Call, outcome: Option<&Outcome>) {
        let (after, redactor) = (outcome.map(Report::of), self.redactor.clone());
        let mut copy = Observation::new(call.id, call.tool.clone(), call.args.get(), after, redactor);
        let size = copy.size();
        {
            let mut ring = self.ring.lock();
            copy.sequence = ring.next;
            ring.next += 1;
            ring.bytes += size;
            ring.copies.push_back(Arc::new(copy));
            while ring.copies.len() > MOST_COPIES || ring.bytes > MOST_BYTES && ring.copies.len() > 1 {
                let gone = ring.copies.pop_front().map_or(0, |oldest| oldest.size());
                ring.bytes -= gone;
            }
        }
        self.copied.fetch_add(1, Ordering::Relaxed);
        self.fresh.notify_one();
    }
}

/// One observer's place in the ring.
#[derive(Debug)]
pub(super) struct Reader {
    copies: Arc<Copies>,
    next: u64,
}

impl Reader {
    /// The number of the copy it reads next, if that is still there.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The next copy, and how many were overwritten before it. `None` when there is no further one.
    pub(super) fn take(&mut self) -> (Option<Arc<Observation>>, u64) {
        let ring = self.copies.ring.lock();
        let missed = ring.first().saturating_sub(self.next);
        self.next += missed;
        let at = usize::try_from(self.next - ring.first()).unwrap_or(usize::MAX);
        let copy = ring.copies.get(at).cloned();
        drop(ring);
        self.next += u64::from(copy.is_some());
        (copy, missed)
    }

    /// Passes over everything that is there.
    pub(super) fn skip(&mut self) {
        self.next = self.copies.next();
    }
}

#[cfg(test)]
#[path = "copies_tests.rs"]
mod tests;
