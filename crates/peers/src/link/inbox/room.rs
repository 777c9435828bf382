//! Room for what a server sent unasked: each message takes as many bytes of its connection's share as
//! it has, and gives them back when it is gone, wherever it was passed on to.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of unasked messages that one connection may have waiting here, in all queues together.
const MOST_WAITING: usize = 8 * 1024 * 1024;

/// The share of one connection.
#[derive(Debug)]
pub(super) struct Rooms(Arc<Semaphore>);

/// The room of one message. Those that pass it on keep it; the last one gives it back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    _held: Option<Arc<OwnedSemaphorePermit>>,
}

impl Default for Rooms {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST_WAITING)))
    }
}

impl Rooms {
    /// Room for a message of this size, if there is any.
    pub(super) fn take(&self, size: usize) -> Option<Room> {
        let size = u32::try_from(size).ok()?;
        let held = self.0.clone().try_acquire_many_owned(size).ok()?;
        Some(Room { _held: Some(Arc::new(held)) })
    }
}

/// What a message says does not depend on the room it takes.
impl PartialEq for Room {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_given_back_by_the_last_who_has_it() {
        let rooms = Rooms::default();
        let first = rooms.take(MOST_WAITING - 10).expect("room");
        let second = first.clone();
        assert!(rooms.take(11).is_none() && rooms.take(10).is_some());
        drop(first);
        assert!(rooms.take(11).is_none());
        drop(second);
        assert!(rooms.take(MOST_WAITING).is_some() && rooms.take(MOST_WAITING + 1).is_none());
    }
}
