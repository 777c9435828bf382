//! An answer that is being worked on, and what may follow only when it has gone out.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tectum_core::CallId;

use super::Turn;
use crate::{
    client::{CallSeat, Caller},
    federation::Federation,
};

/// An answer that is being worked on.
pub(crate) struct Running {
    pub(super) work: Pin<Box<dyn Future<Output = Vec<u8>> + Send>>,
    /// Its place among the client's calls, to be given back right before the answer goes out: the
    /// client may use its id again then.
    pub(super) seat: Option<CallSeat>,
    /// Its turn, which lasts until the answer is on its way, unless it takes long.
    pub(super) turn: Turn,
    /// To be let go when the answer has gone out.
    pub(super) sequel: Option<Sequel>,
}

impl Future for Running {
    type Output = Vec<u8>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Vec<u8>> {
        ready!(self.turn.poll(cx));
        let work = self.work.as_mut().poll(cx);
        if work.is_pending() {
            self.turn.end_late(cx);
        }
        work
    }
}

/// Sends the notes on a task that were kept back until the answer that names the task has gone out.
/// That is when this is dropped.
pub(crate) struct Sequel {
    federation: Arc<Federation>,
    call: CallId,
    caller: Arc<Caller>,
}

impl Sequel {
    /// A call that goes to a server begins: its client is known there until it was answered.
    pub(super) fn begin(federation: Arc<Federation>, call: CallId, caller: Arc<Caller>) -> Self {
        federation.keepers.callers.keep(call, caller.clone());
        Self { federation, call, caller }
    }
}

impl Drop for Sequel {
    fn drop(&mut self) {
        self.federation.keepers.callers.take(self.call);
        self.federation.tasks.answered(&self.caller);
    }
}
