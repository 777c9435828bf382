//! The messages a server may send that nobody asked for: a budget of messages and bytes for each
//! connection, refilled as time passes. Messages beyond it are dropped unread and counted; a server
//! that goes on all the same is cut off.

use std::time::Instant;

/// Messages that may come at once: a change of thousands of files, a start that logs a lot.
const BURST: f64 = 10_000.0;
/// Messages a second that it may go on with.
const A_SECOND: f64 = 1000.0;
/// The same in bytes.
const BURST_BYTES: f64 = 16.0 * 1024.0 * 1024.0;
const BYTES_A_SECOND: f64 = 1024.0 * 1024.0;
/// Dropped messages after which a server is cut off. Until the whole budget is there again they
/// count together.
const MOST_DROPPED: u64 = 250_000;
/// The same in bytes.
const MOST_DROPPED_BYTES: u64 = 64 * 1024 * 1024;

/// The rest of the budget of one connection.
#[derive(Debug)]
pub(super) struct Allowance {
    messages: f64,
    bytes: f64,
    refilled: Instant,
    /// Dropped since the whole budget was there last.
    dropped: u64,
    dropped_bytes: u64,
    /// Dropped since the connection began, those that nobody took as fast as they came among them.
    pub(super) total: u64,
}

/// The verdict on a message: within the budget, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is taken.
    Within,
    /// It is dropped. True for the first one since the whole budget was there.
    Over(bool),
    /// It is dropped, and the server is to be cut off.
    Spent,
}

impl Allowance {
    pub(super) fn new(now: Instant) -> Self {
        let (messages, bytes) = (BURST, BURST_BYTES);
        Self { messages, bytes, refilled: now, dropped: 0, dropped_bytes: 0, total: 0 }
    }

    /// A message of this size came. One that is nothing but bytes counts as no message.
    pub(super) fn charge(&mut self, messages: u32, size: usize, now: Instant) -> Verdict {
        self.refill(now);
        let (cost, bytes) = (f64::from(messages), size as f64);
        if self.messages >= cost && self.bytes >= bytes {
            self.messages -= cost;
            self.bytes -= bytes;
            return Verdict::Within;
        }
        let first = self.dropped == 0 && self.dropped_bytes == 0;
        self.dropped += u64::from(messages);
        self.total += u64::from(messages);
        self.dropped_bytes += size as u64;
        if self.dropped > MOST_DROPPED || self.dropped_bytes > MOST_DROPPED_BYTES {
            return Verdict::Spent;
        }
        Verdict::Over(first)
    }

    /// True if anything was dropped since the whole budget was there.
    pub(super) fn is_over(&mut self, now: Instant) -> bool {
        self.refill(now);
        self.dropped > 0 || self.dropped_bytes > 0
    }

    /// The reason why the server is cut off.
    pub(super) fn words(&self) -> String {
        if self.dropped > MOST_DROPPED {
            return format!(
                "it sent more than {MOST_DROPPED} messages that nobody asked for, faster than {A_SECOND} a second, and was cut off"
            );
        }
        format!(
            "it sent more than {} MiB that nobody asked for, or in one message, and was cut off",
            MOST_DROPPED_BYTES >> 20
        )
    }

    fn refill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.refilled).as_secs_f64();
        self.refilled = now;
        self.messages = (self.messages + passed * A_SECOND).min(BURST);
        self.bytes = (self.bytes + passed * BYTES_A_SECOND).min(BURST_BYTES);
        if self.messages >= BURST && self.bytes >= BURST_BYTES {
            (self.dropped, self.dropped_bytes) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Charges so many small messages, and counts those within the budget.
    fn taken(budget: &mut Allowance, count: u64, now: Instant) -> (u64, Verdict) {
        let mut last = Verdict::Within;
        let within = (0..count).filter(|_| {
            last = budget.charge(1, 10, now);
            last == Verdict::Within
        });
        (within.count() as u64, last)
    }

    #[test]
    fn a_burst_passes_and_then_so_many_a_second() {
        let now = Instant::now();
        let mut budget = Allowance::new(now);
        assert_eq!(taken(&mut budget, 10_001, now), (10_000, Verdict::Over(true)));
        assert_eq!(budget.charge(1, 10, now), Verdict::Over(false));
        assert_eq!(taken(&mut budget, 5000, now + Duration::from_secs(2)).0, 2000);
        assert_eq!(budget.total, 3002);
    }

    #[test]
    fn who_goes_on_is_cut_off_and_who_pauses_is_not() {
        let now = Instant::now();
        let mut budget = Allowance::new(now);
        taken(&mut budget, 200_000, now);
        let later = now + Duration::from_secs(60);
        assert_eq!(taken(&mut budget, 200_000, later).1, Verdict::Over(false));
        assert_eq!(taken(&mut budget, 100_000, later).1, Verdict::Spent);
        assert!(budget.words().contains("250000 messages"), "{}", budget.words());
    }

    #[test]
    fn bytes_count_too() {
        let now = Instant::now();
        let mut budget = Allowance::new(now);
        let mut verdicts = (0..100).map(|_| budget.charge(0, 1 << 20, now));
        assert_eq!(verdicts.by_ref().take(16).filter(|one| *one == Verdict::Within).count(), 16);
        assert_eq!(verdicts.last(), Some(Verdict::Spent));
        assert!(budget.words().contains("64 MiB"), "{}", budget.words());
    }
}
