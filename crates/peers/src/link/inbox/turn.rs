//! The time for which one connection is read before others have their turn.

use std::{
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    time::Duration,
};

/// Messages that are sorted in one turn.
const MOST_A_TURN: u32 = 32;
/// The pause between the turns of a server that is over its budget: what it writes meanwhile waits
/// in its pipe, and costs nobody anything.
const PAUSE: Duration = Duration::from_millis(1);

/// The work since the others had their turn.
#[derive(Debug, Default)]
pub(super) struct ReadTurn {
    sorted: AtomicU32,
    over: AtomicBool,
}

impl ReadTurn {
    /// One more message was sorted.
    pub(super) fn count(&self) {
        self.sorted.fetch_add(1, Ordering::Relaxed);
    }

    /// The server is over its budget.
    pub(super) fn slow_down(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Lets others have their turn after a piece of what a server sent was delivered. Costs nothing
    /// where that was an answer or two.
    pub(super) async fn pause(&self) {
        if self.over.swap(false, Ordering::Relaxed) {
            self.sorted.store(0, Ordering::Relaxed);
            tokio::time::sleep(PAUSE).await;
        } else if self.sorted.load(Ordering::Relaxed) >= MOST_A_TURN {
            self.sorted.store(0, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    }
}
