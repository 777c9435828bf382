//! Bytes that wait in memory for clients of one listener, all together.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};

/// Counts bytes against one limit.
#[derive(Clone, Debug)]
pub(crate) struct Budget(Arc<ByteCount>);

#[derive(Debug)]
struct ByteCount {
    most: usize,
    used: AtomicUsize,
    freed: Notify,
}

/// A part of the budget; given back when dropped.
#[derive(Debug)]
pub(crate) struct BudgetShare {
    budget: Budget,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new(most: usize) -> Self {
        Self(Arc::new(ByteCount { most, used: AtomicUsize::new(0), freed: Notify::new() }))
    }

    /// True when nothing more should begin that needs memory.
    pub(crate) fn is_full(&self) -> bool {
        self.0.used.load(Ordering::Relaxed) >= self.0.most
    }

    /// Counts bytes that are there already, whether there was room for them or not.
    pub(crate) fn take(&self, bytes: usize) -> BudgetShare {
        self.0.used.fetch_add(bytes, Ordering::Relaxed);
        BudgetShare { budget: self.clone(), bytes }
    }

    /// Waits until there is room, at most this long. False when there is none.
    pub(crate) async fn room(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        loop {
            let freed = self.0.freed.notified();
            if !self.is_full() {
                return true;
            }
            if timeout_at(until, freed).await.is_err() {
                return false;
            }
        }
    }
}

impl BudgetShare {
    /// Counts more bytes.
    pub(crate) fn grow(&mut self, bytes: usize) {
        self.budget.0.used.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
    }
}

impl Drop for BudgetShare {
    fn drop(&mut self) {
        let inner = &self.budget.0;
        let before = inner.used.fetch_sub(self.bytes, Ordering::Relaxed);
        // Nobody waits while there is room.
        if before >= inner.most {
            inner.freed.notify_waiters();
        }
    }
}
