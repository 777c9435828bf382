//! The count of everything that is kept, in bytes, so that it can be bounded.

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

/// The weight of everything that holds a [`Charge`], and a clock for its use.
#[derive(Debug)]
pub(crate) struct Ledger {
    most: usize,
    weight: AtomicUsize,
    clock: AtomicU64,
}

/// A part of the weight, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Charge {
    ledger: Arc<Ledger>,
    weight: usize,
}

impl Ledger {
    /// Allows this many bytes.
    pub(super) fn new(most: usize) -> Self {
        Self { most, weight: AtomicUsize::new(0), clock: AtomicU64::new(0) }
    }

    /// Counts something.
    pub(super) fn charge(self: &Arc<Self>, weight: usize) -> Charge {
        self.weight.fetch_add(weight, Ordering::Relaxed);
        Charge { ledger: self.clone(), weight }
    }

    /// A number that rises with every use.
    pub(super) fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    /// True if more is kept than allowed.
    pub(super) fn is_over(&self) -> bool {
        self.weight() > self.most
    }

    /// The number of bytes that must go. A quarter of the room is made free, so that it is not made for
    /// each file anew.
    pub(super) fn over(&self) -> usize {
        if self.is_over() { self.weight() - self.most / 4 * 3 } else { 0 }
    }

    /// The bytes that are kept now.
    pub(super) fn weight(&self) -> usize {
        self.weight.load(Ordering::Relaxed)
    }
}

impl Charge {
    /// Its size in bytes.
    pub(super) fn weight(&self) -> usize {
        self.weight
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.ledger.weight.fetch_sub(self.weight, Ordering::Relaxed);
    }
}
