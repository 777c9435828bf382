//! How many messages clients missed because they did not read in time. They are lost, so they are
//! counted.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::sync::mpsc::{Sender, error::TrySendError};

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

    /// Sends a message without waiting. False when it could not be; who does not read misses it, who
    /// is gone misses nothing.
    pub(crate) fn send(&self, to: &Sender<Vec<u8>>, message: Vec<u8>) -> bool {
        match to.try_send(message) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                self.add(1);
                false
            }
            Err(TrySendError::Closed(_)) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_read_misses_and_who_is_gone_does_not() {
        let (send, receive) = tokio::sync::mpsc::channel(1);
        let unheard = Unheard::default();
        let send = |expect: bool| assert_eq!(unheard.send(&send, b"x".to_vec()), expect);
        send(true);
        send(false);
        send(false);
        assert_eq!(unheard.count(), 2);
        drop(receive);
        send(false);
        assert_eq!(unheard.count(), 2);
    }
}
