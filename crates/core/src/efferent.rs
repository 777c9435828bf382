//! Copies of calls for those who watch: kept in one bounded ring, never awaited, never felt by the
//! call. Whoever watches reads the ring at its own pace; what it is too slow for is overwritten,
//! and it learns how much.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

use crate::{Call, Observation, Outcome, Redactor, observation::Report};

/// Copies that an observer may be behind by.
pub const MOST_COPIES: usize = 256;
/// Bytes of all copies together; large ones push older ones out sooner.
const MOST_BYTES: usize = 32 * 1024 * 1024;
/// Copies leave in the pause after a call: when none came for so long,
const PAUSE: Duration = Duration::from_millis(2);
/// or so many wait,
const MANY: u64 = MOST_COPIES as u64 / 4;
/// or the first has waited for so long. A burst of calls is not slowed by copying them.
const AT_LATEST: Duration = Duration::from_millis(10);
/// The tools that are never copied: an observer's own, and the audit trail.
const NEVER: &[&str] = &["observe", "audit_log"];

/// The copies of this house's calls. Until it is opened, a call does no work here.
#[derive(Debug, Default)]
pub struct Efferent {
    open: AtomicBool,
    redactor: OnceLock<Arc<Redactor>>,
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

impl Efferent {
    /// From now on calls are copied, with what this one hides left out of the copies. What is to
    /// be hidden is said once; a second opening changes nothing.
    pub fn open(&self, redactor: Redactor) {
        let _ = self.redactor.set(Arc::new(redactor));
        self.open.store(true, Ordering::Release);
    }

    /// Nobody watches any more.
    pub fn close(&self) {
        self.open.store(false, Ordering::Release);
        let mut ring = self.ring();
        ring.copies.clear();
        ring.bytes = 0;
    }

    /// How many copies were made.
    pub fn copied(&self) -> u64 {
        self.copied.load(Ordering::Relaxed)
    }

    /// A reader of everything that is still in the ring, and of what comes.
    pub fn from_the_start(self: &Arc<Self>) -> Reader {
        Reader { next: self.ring().first(), of: self.clone() }
    }

    /// A reader of what comes from now on.
    pub fn from_now(self: &Arc<Self>) -> Reader {
        Reader { next: self.ring().next, of: self.clone() }
    }

    /// A reader that begins at this number, or at the first that is still there.
    pub fn from_number(self: &Arc<Self>, next: u64) -> Reader {
        Reader { next: next.min(self.ring().next), of: self.clone() }
    }

    /// Waits for copies beyond this number and then for a pause between calls; returns the number
    /// of the first copy that has to wait longer.
    pub async fn settled(&self, beyond: u64) -> u64 {
        while self.ring().next <= beyond {
            self.fresh.notified().await;
        }
        let (since, mut seen) = (Instant::now(), self.ring().next);
        loop {
            tokio::time::sleep(PAUSE).await;
            let next = self.ring().next;
            if next == seen || next - beyond >= MANY || since.elapsed() >= AT_LATEST {
                return next;
            }
            seen = next;
        }
    }

    /// The number that the next copy will have.
    pub fn next(&self) -> u64 {
        self.ring().next
    }

    /// The copy before a call.
    pub(crate) fn before(&self, call: &Call) {
        if self.watches(&call.tool) {
            self.push(call, None);
        }
    }

    /// The copy after it.
    pub(crate) fn after(&self, call: &Call, outcome: &Outcome) {
        if self.watches(&call.tool) {
            self.push(call, Some(Report::of(outcome)));
        }
    }

    fn watches(&self, tool: &str) -> bool {
        self.open.load(Ordering::Acquire) && is_copied(tool)
    }

    fn push(&self, call: &Call, after: Option<Report>) {
        let Some(redactor) = self.redactor.get() else { return };
        let mut copy = Observation::of(call, after, redactor.clone());
        let size = copy.size();
        {
            let mut ring = self.ring();
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

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether calls of this tool are copied, where somebody watches.
pub fn is_copied(tool: &str) -> bool {
    // A server's tool has the server's name before it, which holds no `__` itself.
    !NEVER.contains(&tool.split_once("__").map_or(tool, |(_, own)| own))
}

/// One observer's place in the ring.
#[derive(Debug)]
pub struct Reader {
    of: Arc<Efferent>,
    next: u64,
}

impl Reader {
    /// The number of the copy it reads next, if that is still there.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The next copy, and how many were overwritten before it. `None` when there is no further one.
    pub fn take(&mut self) -> (Option<Arc<Observation>>, u64) {
        let ring = self.of.ring();
        let missed = ring.first().saturating_sub(self.next);
        self.next += missed;
        let at = usize::try_from(self.next - ring.first()).unwrap_or(usize::MAX);
        let copy = ring.copies.get(at).cloned();
        drop(ring);
        self.next += u64::from(copy.is_some());
        (copy, missed)
    }

    /// Passes over everything that is there.
    pub fn skip(&mut self) {
        self.next = self.of.next();
    }
}

#[cfg(test)]
#[path = "efferent_tests.rs"]
mod tests;
