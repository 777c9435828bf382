//! The signal of a server that means the same however often it is given: one of its lists changed.
//! It takes no place in a queue, so a flood can neither fill it nor push it out.

use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;

/// One of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The list of tools changed.
    Tools = 1,
    /// The list of resources or of their templates changed.
    Resources = 2,
    /// The list of prompts changed.
    Prompts = 4,
    /// It sends more than its budget allows: messages are being dropped.
    Flooding = 8,
}

impl Signal {
    const ALL: [Self; 4] = [Self::Tools, Self::Resources, Self::Prompts, Self::Flooding];

    /// The signal that a notification stands for.
    pub(super) fn named(method: &str) -> Option<Self> {
        match method {
            "notifications/tools/list_changed" => Some(Self::Tools),
            "notifications/resources/list_changed" => Some(Self::Resources),
            "notifications/prompts/list_changed" => Some(Self::Prompts),
            _ => None,
        }
    }
}

/// Those that were given and not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    given: AtomicU8,
    more: Notify,
}

impl Signals {
    pub(super) fn give(&self, signal: Signal) {
        let before = self.given.fetch_or(signal as u8, Ordering::AcqRel);
        if before & signal as u8 == 0 {
            self.more.notify_one();
        }
    }

    /// Waits for the next ones and takes them.
    pub(crate) async fn taken(&self) -> impl Iterator<Item = Signal> {
        self.more.notified().await;
        let given = self.given.swap(0, Ordering::AcqRel);
        Signal::ALL.into_iter().filter(move |signal| given & *signal as u8 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_signal_given_often_is_taken_once() {
        let signals = Signals::default();
        for _ in 0..1000 {
            signals.give(Signal::Tools);
        }
        signals.give(Signal::Prompts);
        assert_eq!(signals.taken().await.collect::<Vec<_>>(), [Signal::Tools, Signal::Prompts]);
        signals.give(Signal::Tools);
        assert_eq!(signals.taken().await.collect::<Vec<_>>(), [Signal::Tools]);
    }
}
