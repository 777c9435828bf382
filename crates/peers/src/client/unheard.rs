//! The number of messages that clients missed because they did not read in time. They are lost, so they
//! are counted.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// One counter for all clients of a house.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unheard(Arc<AtomicU64>);

impl Unheard {
    /// So many were missed.
    pub(crate) fn add(&self, missed: u64) {
        self.0.fetch_add(missed, Ordering::Relaxed);
    }

    /// All of them so far.
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
