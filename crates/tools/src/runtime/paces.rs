//! The times of calls, as counts in buckets: noting one is a few nanoseconds, and the size is fixed.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// Buckets of each doubling, as a power of two: 16, so that a figure is wrong by a sixteenth at most.
const FINE: u32 = 4;
/// Doublings that are told apart: to 2^40 ns, which is 18 minutes. What takes longer counts as that.
const DOUBLINGS: u32 = 40;
const BUCKETS: usize = ((DOUBLINGS - FINE + 1) << FINE) as usize + (1 << FINE);

/// The counts.
#[derive(Debug)]
pub(super) struct Paces(Box<[AtomicU64]>);

impl Default for Paces {
    fn default() -> Self {
        Self((0..BUCKETS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl Paces {
    /// Notes one call.
    pub(super) fn note(&self, took: Duration) {
        let bucket = bucket(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        self.0[bucket].fetch_add(1, Ordering::Relaxed);
    }

    /// The number of calls that were noted, and the longest time that the given shares of them took.
    pub(super) fn shares<const N: usize>(&self, shares: [f64; N]) -> (u64, [Duration; N]) {
        let counts: Vec<u64> = self.0.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let total: u64 = counts.iter().sum();
        let within = |share: f64| {
            let wanted = (total as f64 * share).ceil().max(1.0) as u64;
            let mut seen = 0;
            let found = counts.iter().position(|count| {
                seen += count;
                seen >= wanted
            });
            Duration::from_nanos(found.map_or(0, middle))
        };
        (total, shares.map(within))
    }
}

fn bucket(nanos: u64) -> usize {
    let nanos = nanos.min((1 << (DOUBLINGS + 1)) - 1);
    let doubling = (u64::BITS - nanos.leading_zeros()).saturating_sub(FINE + 1);
    ((u64::from(doubling) << FINE) + (nanos >> doubling)) as usize
}

/// The time in the middle of a bucket.
fn middle(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let doubling = (bucket >> FINE).saturating_sub(1);
    let first = (bucket - (doubling << FINE)) << doubling;
    first + (1 << doubling) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_has_a_bucket_near_to_it() {
        let mut before = 0;
        for nanos in (0..5000).chain((13..41).map(|n| (1 << n) + 3)).chain([u64::MAX]) {
            let found = bucket(nanos);
            assert!(found < BUCKETS, "{nanos}");
            if nanos < 1 << 40 {
                assert!(
                    middle(found).abs_diff(nanos) <= nanos / 16 + 1,
                    "{nanos} is shown as {}",
                    middle(found)
                );
            }
            if nanos < 5000 {
                assert!(found >= before, "{nanos}");
                before = found;
            }
        }
    }

    #[test]
    fn shares_are_told() {
        let paces = Paces::default();
        assert_eq!(paces.shares([0.5]), (0, [Duration::ZERO]));
        for millis in 1..=100 {
            paces.note(Duration::from_millis(millis));
        }
        let (total, [half, most]) = paces.shares([0.5, 0.99]);
        assert_eq!(total, 100);
        assert!(
            half.as_millis().abs_diff(50) <= 4 && most.as_millis().abs_diff(99) <= 7,
            "{half:?} {most:?}"
        );
    }
}
