//! Streamable HTTP as a carrier: every request is a POST of its own, and its answer comes back
//! on it, alone or at the end of a stream.
//!
//! Sending never waits: a request runs in a task of its own. What one request meets, a broken
//! connection or nonsense, is that request's alone; only the end of a session ends the link.

mod address;
mod listen;
mod request;
mod session;
mod turns;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use reqwest::{
    Method,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use serde::{
    Deserializer as _,
    de::{Error as _, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use tokio::{runtime::Handle, task::AbortHandle};

pub(crate) use address::{
    Address, Kind, Unsent, broken, client, collect, is_local, parse, same_origin, status_words,
};
pub(crate) use request::is_stream;
pub(crate) use turns::Turns;

use self::request::Call;
use super::{Hello, Inbox, Kind as Message, Loss, Origin, Outgoing, headers::wrapped};
use crate::wire::{
    era::{Era, MODERN},
    events::{Events, Found},
    object::Object,
    rpc::{self, Opened},
};

/// How long a server may take to accept a notification or an answer.
const ACCEPTS: Duration = Duration::from_secs(30);
/// The longest error without an id that is taken for an answer.
const MOST_ERROR: usize = 64 * 1024;
/// Messages that may stand in one list.
const MOST_IN_A_LIST: usize = 1000;
/// How much of a stream is sorted at once.
const PIECE: usize = 16 * 1024;
/// How long the farewell to a session may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// How a connection ends whose session the server does not know any more.
const EXPIRED: &str = "its session expired";

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// One remote server.
pub(crate) struct Remote(Arc<Shared>);

/// What its tasks share.
pub(super) struct Shared {
    address: Address,
    inbox: Arc<Inbox>,
    turns: Turns,
    state: Mutex<State>,
    /// The requests in flight.
    running: Mutex<BTreeMap<u64, AbortHandle>>,
    /// Where tasks run; whoever lets go of a call may stand outside of it.
    runtime: Handle,
}

#[derive(Default)]
struct State {
    phase: Phase,
    session: Option<HeaderValue>,
    /// The stream for unasked messages opens behind the first notification: that one says
    /// that the handshake is over.
    listener_due: bool,
    /// The address does not take the handshake of this transport.
    speaks_otherwise: bool,
}

#[derive(Clone, Default, PartialEq, Eq)]
enum Phase {
    /// Before the end of the handshake.
    #[default]
    Opening,
    /// Settled on an older version.
    Legacy(HeaderValue),
    /// Settled on the newer era.
    Modern,
}

impl Remote {
    /// A carrier for this address. Nothing is sent yet. Must be called within a runtime.
    pub(crate) fn new(address: Address, inbox: Arc<Inbox>) -> Self {
        Self(Arc::new(Shared {
            address,
            inbox,
            turns: Turns::default(),
            state: Mutex::default(),
            running: Mutex::default(),
            runtime: Handle::current(),
        }))
    }

    /// True when the handshake met an address that seems to speak the transport of 2024.
    pub(super) fn speaks_otherwise(&self) -> bool {
        self.0.state().speaks_otherwise
    }

    pub(super) fn send(&self, message: Outgoing) -> Result<(), Loss> {
        let shared = &self.0;
        if let Some(loss) = shared.inbox.lost() {
            return Err(loss);
        }
        let body = Bytes::from(message.bytes);
        let Message::Request { id, method, name, headers } = message.kind else {
            return self.send_in_turn(body);
        };
        let before = shared.turns.so_far();
        let call = Call { id, method, name, headers, body };
        let task = {
            let shared = shared.clone();
            async move {
                let closed = shared.inbox.closed().clone();
                let work = async {
                    before.cancelled().await;
                    call.run(&shared).await;
                };
                closed.run_until_cancelled(work).await;
                lock(&shared.running).remove(&id);
            }
        };
        // Held until the entry is there: the task takes it out at its end.
        let mut running = lock(&shared.running);
        running.insert(id, shared.runtime.spawn(task).abort_handle());
        Ok(())
    }

    /// Sends what needs no answer, behind everything of its kind that was sent before.
    fn send_in_turn(&self, body: Bytes) -> Result<(), Loss> {
        let turn = self.0.turns.take();
        let turn = turn.ok_or_else(|| Loss::Failed("it does not take what it is sent".into()))?;
        let listens = std::mem::take(&mut self.0.state().listener_due);
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
        let mut state = self.0.state();
        state.phase = match (hello.era, HeaderValue::from_str(&hello.version)) {
            (Era::Modern, _) | (_, Err(_)) => Phase::Modern,
            (Era::Legacy, Ok(version)) => {
                state.listener_due = true;
                Phase::Legacy(version)
            }
        };
    }

    /// Nobody waits for this answer any more: its stream is closed. In the newer era that is
    /// the cancellation; in the older one a notice must follow, which this tells.
    pub(super) fn abandon(&self, id: u64) -> bool {
        if let Some(task) = lock(&self.0.running).remove(&id) {
            task.abort();
        }
        matches!(self.0.state().phase, Phase::Legacy(_))
    }

    /// Waits a moment until what was said so far is on its way: a cancellation that is lost with
    /// the connection leaves the server at work for nobody.
    pub(super) async fn flush(&self) {
        let _ = tokio::time::timeout(FAREWELL, self.0.turns.so_far().cancelled()).await;
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

impl Drop for Remote {
    fn drop(&mut self) {
        self.0.inbox.close(Loss::Gone("the connection was let go".into()));
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// What stands beside every message, and beside this request where it is one.
    fn headers(&self, call: Option<&Call>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let state = self.state();
        let probes = state.phase == Phase::Opening && call.is_some_and(Call::probes);
        match &state.phase {
            Phase::Legacy(version) => {
                headers.insert(VERSION, version.clone());
            }
            Phase::Opening if !probes => {}
            Phase::Opening | Phase::Modern => {
                headers.insert(VERSION, HeaderValue::from_static(MODERN));
            }
        }
        if let Some(session) = state.session.clone().filter(|_| state.phase != Phase::Modern) {
            headers.insert(SESSION, session);
        }
        let Some(call) = call.filter(|_| probes || state.phase == Phase::Modern) else { return headers };
        // What was wrapped holds visible characters only, so none of these can fail.
        if let Ok(method) = HeaderValue::from_str(&wrapped(call.method)) {
            headers.insert(METHOD, method);
        }
        if let Some(Ok(name)) = call.name.as_deref().map(|name| HeaderValue::from_str(&wrapped(name))) {
            headers.insert(NAME, name);
        }
        for (name, value) in &call.headers {
            if let (Ok(name), Ok(value)) =
                (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
            {
                headers.insert(name, value);
            }
        }
        headers
    }

    /// Posts what needs no answer.
    async fn tell(&self, body: Bytes) {
        let headers = self.headers(None);
        let had_one = headers.contains_key(SESSION);
        match self.address.send(Method::POST, self.address.url(), headers, body).await {
            Err(unsent) => tracing::debug!(why = %unsent.loss, "a notification was not taken"),
            Ok(response) if !response.status().is_success() => {
                tracing::debug!(status = %response.status(), "a notification was refused");
                if session::is_refused(response, had_one).await {
                    self.session_expired();
                }
            }
            Ok(_) => {}
        }
    }

    fn session_expired(&self) {
        self.inbox.close(Loss::Gone(EXPIRED.into()));
    }

    /// Delivers what may be one message or several, and an error that names no request as the
    /// answer to this one. True when the request has its answer.
    fn deliver(&self, id: u64, bytes: &[u8]) -> bool {
        deliver(&self.inbox, id, bytes);
        !self.inbox.is_open(id)
    }
}

/// Delivers what came for a request.
pub(super) fn deliver(inbox: &Inbox, id: u64, bytes: &[u8]) {
    // Such an error is short; what is long is not read twice.
    if bytes.len() <= MOST_ERROR
        && let Ok(Opened::Response(response)) = rpc::open(bytes)
        && let (None, Err(error)) = (response.id, response.outcome)
    {
        let answer = Object::new()
            .raw("jsonrpc", "\"2.0\"")
            .raw("id", &id.to_string())
            .raw("error", error.get())
            .end();
        return inbox.deliver(answer.as_bytes(), Origin::Stream(id));
    }
    deliver_all(inbox, bytes, Origin::Stream(id));
}

/// Delivers one message, or each of those that 2025-03-26 allowed to stand in a list, as far as they
/// are not too many for one.
pub(super) fn deliver_all(inbox: &Inbox, bytes: &[u8], origin: Origin) {
    if bytes.trim_ascii_start().first() != Some(&b'[') {
        return inbox.deliver(bytes, origin);
    }
    // What stands before a mistake in it has been delivered.
    let _ = serde_json::Deserializer::from_slice(bytes).deserialize_seq(Batch { inbox, origin });
}

/// A list of messages that is being delivered.
struct Batch<'i> {
    inbox: &'i Inbox,
    origin: Origin,
}

impl<'de> Visitor<'de> for Batch<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        for _ in 0..MOST_IN_A_LIST {
            let Some(message) = list.next_element::<&RawValue>()? else { return Ok(()) };
            self.inbox.deliver(message.get().as_bytes(), self.origin);
        }
        Err(A::Error::custom("too many messages in one list"))
    }
}

/// Feeds a stream with what came, a piece at a time, so that others have their turn in between.
pub(super) async fn feed(events: &mut Events, chunk: &[u8], inbox: &Inbox, mut each: impl FnMut(Found<'_>)) {
    for piece in chunk.chunks(PIECE) {
        if events.is_skipping() {
            inbox.waste(piece.len());
        }
        events.feed(piece, &mut each);
        inbox.pause().await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
