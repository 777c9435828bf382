//! Whose turn it is: notifications and answers go out one after the other, and a request waits
//! for those that were sent before it. Requests do not wait for each other.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Notifications and answers that may wait for a server that does not take them.
const MOST_WAITING: usize = 1024;

/// The turns of one connection.
#[derive(Debug, Default)]
pub(crate) struct SendOrder(Mutex<Tail>);

#[derive(Debug)]
struct Tail {
    /// Cancelled when the last message that took a turn is done.
    last: CancellationToken,
    /// One share for each message that waits or is being sent.
    waiting: Arc<()>,
}

/// A turn that was taken; letting go of it lets the next one go.
#[derive(Debug)]
pub(crate) struct SendTurn {
    before: CancellationToken,
    _done: DropGuard,
    _waiting: Arc<()>,
}

impl Default for Tail {
    fn default() -> Self {
        let last = CancellationToken::new();
        last.cancel();
        Self { last, waiting: Arc::new(()) }
    }
}

impl SendOrder {
    /// Takes the next turn; `None` when too many wait already.
    pub(crate) fn take(&self) -> Option<SendTurn> {
        let mut tail = self.0.lock();
        if Arc::strong_count(&tail.waiting) > MOST_WAITING {
            return None;
        }
        let done = CancellationToken::new();
        let before = std::mem::replace(&mut tail.last, done.clone());
        Some(SendTurn { before, _done: done.drop_guard(), _waiting: tail.waiting.clone() })
    }

    /// Cancelled when all turns taken so far are over.
    pub(crate) fn so_far(&self) -> CancellationToken {
        self.0.lock().last.clone()
    }
}

impl SendTurn {
    /// Waits until it has come.
    pub(crate) async fn come(&self) {
        self.before.cancelled().await;
    }
}
