//! The notices that clients get without having asked in a request, and the one queue that they take:
//! from the task of a server, or from the house, to every client.

use tokio::sync::broadcast;

use super::{TaskNote, Unheard};
use crate::link::Room;

/// Notices that a slow client may fall behind by; what it misses is counted. Their bytes are bounded by
/// the room that each takes of its connection's share until the last client has it.
const MOST_NOTICES: usize = 1024;

/// Something all clients may want to know.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Notice {
    /// The list of tools changed. The registry tells of that itself.
    Tools,
    /// The list of prompts changed.
    Prompts,
    /// The list of resources changed.
    Resources,
    /// A resource changed that clients watch under these names.
    Updated { names: Vec<String>, room: Room },
    /// A question put to a person elsewhere was answered there.
    ElicitationDone { params: String, room: Room },
    /// A task is in another state; that concerns only whose it is.
    Task(TaskNote),
}

/// The queue of notices.
#[derive(Clone, Debug)]
pub(crate) struct Notices(broadcast::Sender<Notice>);

/// One client's place in it, or that of all clients of a listener.
#[derive(Debug)]
pub(crate) struct NoticeReader {
    receiver: broadcast::Receiver<Notice>,
    unheard: Unheard,
}

impl Default for Notices {
    fn default() -> Self {
        Self(broadcast::Sender::new(MOST_NOTICES))
    }
}

impl Notices {
    /// Tells whoever listens; nobody may be.
    pub(crate) fn send(&self, notice: Notice) {
        let _ = self.0.send(notice);
    }

    /// A reader of the notices from now on. Those it misses are counted there.
    pub(crate) fn subscribe(&self, unheard: Unheard) -> NoticeReader {
        NoticeReader { receiver: self.0.subscribe(), unheard }
    }
}

impl NoticeReader {
    /// The next notice; never, where nobody is left who could tell one. Who fell behind goes on with
    /// the oldest that is there.
    pub(crate) async fn next(&mut self) -> Notice {
        loop {
            match self.receiver.recv().await {
                Ok(notice) => return notice,
                Err(broadcast::error::RecvError::Lagged(missed)) => self.unheard.add(missed),
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }
}
