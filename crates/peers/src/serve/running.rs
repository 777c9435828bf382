//! An answer that is being worked on, and what may follow only when it has gone out.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use crate::federation::{Caller, Federation};

/// An answer that is being worked on.
pub(crate) struct Running {
    pub(super) work: Pin<Box<dyn Future<Output = Vec<u8>> + Send>>,
    /// To be let go when the answer has gone out.
    pub(super) sequel: Option<Sequel>,
}

impl Future for Running {
    type Output = Vec<u8>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Vec<u8>> {
        self.work.as_mut().poll(cx)
    }
}

/// What a server told of the task that its answer begins: a client can make nothing of it before
/// it has that answer. Letting go of this tells it.
pub(crate) struct Sequel {
    pub(super) federation: Arc<Federation>,
    pub(super) caller: Arc<Caller>,
}

impl Drop for Sequel {
    fn drop(&mut self) {
        self.federation.answered(&self.caller);
    }
}
