//! The limits of a message's size, and of the messages that nobody asked for.

use std::time::Instant;

use super::{
    Inbox,
    budget::Verdict,
    glance::{Glance, glance},
    signals::Signal,
};
use crate::{link::MOST_UNASKED, wire::Loss};

/// The bytes of a message that are looked at to tell what it is.
const BEGINNING: usize = 64 * 1024;

impl Inbox {
    /// Lets others have their turn after a piece of what a server sent was delivered.
    pub(crate) async fn pause(&self) {
        self.turn.pause().await;
    }

    /// The largest message that may begin like this: an answer may be as large as its request
    /// allows, anything else is smaller.
    pub(crate) fn most(&self, start: &[u8]) -> usize {
        let table = self.table.lock();
        let most = match glance(&start[..start.len().min(BEGINNING)]) {
            Glance::Answer(Some(id)) => table.open.get(&id).map(|slot| slot.most),
            Glance::Answer(None) => table.open.values().map(|slot| slot.most).max(),
            Glance::Unasked(_) | Glance::Unknown => None,
        };
        most.unwrap_or(0).max(MOST_UNASKED)
    }

    /// The largest answer to a request; of one that nobody waits for, what anybody may send.
    pub(crate) fn most_of(&self, id: u64) -> usize {
        self.table.lock().open.get(&id).map_or(MOST_UNASKED, |slot| slot.most)
    }

    /// Bytes came that belong to no message that is kept.
    pub(crate) fn waste(&self, size: usize) {
        self.charge(0, size);
    }

    /// True if a message that nobody asked for is within the budget. A server that is far beyond it
    /// is cut off.
    pub(super) fn affords(&self, size: usize) -> bool {
        self.charge(1, size)
    }

    fn charge(&self, messages: u32, size: usize) -> bool {
        let mut budget = self.budget.lock();
        match budget.charge(messages, size, Instant::now()) {
            Verdict::Within => return true,
            Verdict::Over(first) => {
                if first {
                    self.signals.give(Signal::Flooding);
                }
            }
            Verdict::Spent => {
                let words = budget.words();
                drop(budget);
                self.close(Loss::Flooding(words));
            }
        }
        self.turn.slow_down();
        false
    }

    /// The number of messages that were dropped since they were over the budget.
    pub(crate) fn total_dropped(&self) -> u64 {
        self.budget.lock().total
    }
}
