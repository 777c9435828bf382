//! Streamable HTTP as a carrier: every request is a POST of its own, and its answer comes back
//! on it, alone or at the end of a stream.
//!
//! Sending never waits: a request runs in a task of its own. What one request meets, a broken
//! connection or nonsense, is that request's alone; only the end of a session ends the link.

mod address;
mod deliver;
mod listen;
mod refused;
mod request;
mod session;
mod turns;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::{Method, header::HeaderValue};

use self::{
    address::Unsent,
    session::{Call, HttpPhase, HttpSession, SESSION},
};
pub(super) use self::{
    address::{Address, ClientKind, broken, client, collect, status_words},
    deliver::{deliver, feed, take, take_shared},
    request::is_stream,
    session::add_beside,
    turns::SendOrder,
};
use super::{Hello, Inbox, Outgoing, RequestHead};
use crate::wire::{Era, Loss};

/// The time a server may take to accept a notification or an answer.
const ACCEPTS: Duration = Duration::from_secs(30);
/// The time the farewell to a session may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// One remote server.
pub(crate) struct HttpCarrier(Arc<HttpSession>);

impl HttpCarrier {
    /// A carrier for this address. Nothing is sent yet. Must be called within a runtime.
    pub(crate) fn new(address: Address, inbox: Arc<Inbox>) -> Self {
        Self(Arc::new(HttpSession::new(address, inbox)))
    }

    /// True when the handshake met an address that seems to speak the transport of 2024.
    pub(super) fn speaks_otherwise(&self) -> bool {
        self.0.state.lock().speaks_otherwise
    }

    pub(super) fn send(&self, message: Outgoing) -> Result<(), Loss> {
        let shared = &self.0;
        if let Some(loss) = shared.inbox.lost() {
            return Err(loss);
        }
        let body = Bytes::from(message.bytes);
        let Some(head) = message.request else { return self.send_in_turn(body) };
        let before = shared.order.so_far();
        let (id, call) = (head.id, Call { head, body });
        let task = {
            let shared = shared.clone();
            async move {
                let closed = shared.inbox.closed().clone();
                let work = async {
                    before.cancelled().await;
                    call.run(&shared).await;
                };
                closed.run_until_cancelled(work).await;
                shared.running.lock().remove(&id);
            }
        };
        // Held until the entry is there: the task takes it out at its end.
        let mut running = shared.running.lock();
        running.insert(id, shared.runtime.spawn(task).abort_handle());
        Ok(())
    }

    /// Sends what needs no answer, behind everything of its kind that was sent before.
    fn send_in_turn(&self, body: Bytes) -> Result<(), Loss> {
        let turn = self.0.order.take();
        let turn = turn.ok_or_else(|| Loss::Failed("it does not take what it is sent".into()))?;
        let listens = std::mem::take(&mut self.0.state.lock().listener_due);
        let shared = self.0.clone();
        self.0.runtime.spawn(async move {
            let closed = shared.inbox.closed().clone();
            let work = async {
                turn.come().await;
                // Boxed: it is over while the stream below is open.
                if tokio::time::timeout(ACCEPTS, Box::pin(shared.tell(body))).await.is_err() {
                    tracing::debug!("a server took too long to accept a notification");
                }
                drop(turn);
                if listens {
                    listen::listen(&shared).await;
                }
            };
            closed.run_until_cancelled(work).await;
        });
        Ok(())
    }

    /// Remembers what the handshake settled.
    pub(super) fn settle(&self, hello: &Hello) {
        let mut state = self.0.state.lock();
        state.phase = match (hello.era, HeaderValue::from_str(&hello.version)) {
            (Era::Modern, _) | (_, Err(_)) => HttpPhase::Modern,
            (Era::Legacy, Ok(version)) => {
                state.listener_due = true;
                HttpPhase::Legacy(version)
            }
        };
    }

    /// Nobody waits for this answer any more: its stream is closed. In the newer era that is
    /// the cancellation; in the older one a notice must follow, which this tells.
    pub(super) fn abandon(&self, id: u64) -> bool {
        if let Some(task) = self.0.running.lock().remove(&id) {
            task.abort();
        }
        matches!(self.0.state.lock().phase, HttpPhase::Legacy(_))
    }

    /// Waits a moment until what was said so far is on its way: a cancellation that is lost with
    /// the connection leaves the server at work for nobody.
    pub(super) async fn flush(&self) {
        let _ = tokio::time::timeout(FAREWELL, self.0.order.so_far().cancelled()).await;
    }

    /// Says farewell to a session. Whatever runs has ended with the inbox.
    pub(super) async fn stop(&self) {
        let headers = self.0.headers(None);
        if headers.contains_key(SESSION) {
            let farewell = self.0.address.send(Method::DELETE, self.0.address.url(), headers, Bytes::new());
            let _ = tokio::time::timeout(FAREWELL, farewell).await;
        }
    }
}

impl Drop for HttpCarrier {
    fn drop(&mut self) {
        self.0.inbox.close(Loss::Gone("the connection was let go".into()));
    }
}
