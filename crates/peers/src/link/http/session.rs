//! What is settled with a server over HTTP: its session, its version, and what stands beside every
//! message to it.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use parking_lot::Mutex;
use reqwest::{
    Method, Response,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use tokio::{runtime::Handle, task::AbortHandle};

use super::{Address, RequestHead, SendOrder, Unsent, deliver, refused};
use crate::{
    link::{Inbox, headers::wrapped},
    operation::TRACE_FIELDS,
    wire::{Loss, MODERN},
};

/// How a connection ends whose session the server does not know any more.
pub(super) const EXPIRED: &str = "its session expired";

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// The state that the tasks of a connection share.
pub(super) struct HttpSession {
    pub(super) address: Address,
    pub(super) inbox: Arc<Inbox>,
    pub(super) order: SendOrder,
    pub(super) state: Mutex<HttpState>,
    /// The requests in flight.
    pub(super) running: Mutex<BTreeMap<u64, AbortHandle>>,
    /// The runtime of its tasks; whoever lets go of a call may stand outside of it.
    pub(super) runtime: Handle,
}

#[derive(Default)]
pub(super) struct HttpState {
    pub(super) phase: HttpPhase,
    pub(super) session: Option<HeaderValue>,
    /// The stream for unasked messages opens behind the first notification: that one says
    /// that the handshake is over.
    pub(super) listener_due: bool,
    /// The address does not take the handshake of this transport.
    pub(super) speaks_otherwise: bool,
}

#[derive(Clone, Default, PartialEq, Eq)]
pub(super) enum HttpPhase {
    /// Before the end of the handshake.
    #[default]
    Opening,
    /// Settled on an older version.
    Legacy(HeaderValue),
    /// Settled on the newer era.
    Modern,
}

/// A request on its way.
pub(super) struct Call {
    pub(super) head: RequestHead,
    pub(super) body: Bytes,
}

impl Call {
    /// True for the question which era a server speaks.
    pub(super) fn probes(&self) -> bool {
        self.head.method == "server/discover"
    }
}

impl HttpSession {
    /// A session with this address. Nothing is sent yet. Must be called within a runtime.
    pub(super) fn new(address: Address, inbox: Arc<Inbox>) -> Self {
        Self {
            address,
            inbox,
            order: SendOrder::default(),
            state: Mutex::default(),
            running: Mutex::default(),
            runtime: Handle::current(),
        }
    }

    /// True once the server gave this connection a session.
    pub(super) fn has_session(&self) -> bool {
        self.headers(None).contains_key(SESSION)
    }

    /// The headers of every message, and of this request where it is one.
    pub(super) fn headers(&self, call: Option<&Call>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let state = self.state.lock();
        let probes = state.phase == HttpPhase::Opening && call.is_some_and(Call::probes);
        match &state.phase {
            HttpPhase::Legacy(version) => {
                headers.insert(VERSION, version.clone());
            }
            HttpPhase::Opening if !probes => {}
            HttpPhase::Opening | HttpPhase::Modern => {
                headers.insert(VERSION, HeaderValue::from_static(MODERN));
            }
        }
        if let Some(session) = state.session.clone().filter(|_| state.phase != HttpPhase::Modern) {
            headers.insert(SESSION, session);
        }
        let Some(Call { head, .. }) = call else { return headers };
        let modern = probes || state.phase == HttpPhase::Modern;
        // What was wrapped holds visible characters only, so none of these can fail.
        if let Some(Ok(method)) = modern.then(|| HeaderValue::from_str(&wrapped(head.method))) {
            headers.insert(METHOD, method);
        }
        if let Some(name) = head.name.as_deref().filter(|_| modern)
            && let Ok(name) = HeaderValue::from_str(&wrapped(name))
        {
            headers.insert(NAME, name);
        }
        add_beside(&mut headers, &head.headers, modern);
        headers
    }

    /// Posts what needs no answer.
    pub(super) async fn tell(&self, body: Bytes) {
        let headers = self.headers(None);
        let had_one = headers.contains_key(SESSION);
        match self.address.send(Method::POST, self.address.url(), headers, body).await {
            Err(unsent) => tracing::debug!(why = %unsent.loss, "a notification was not taken"),
            Ok(response) if !response.status().is_success() => {
                tracing::debug!(status = %response.status(), "a notification was refused");
                if refused::is_refused(response, had_one).await {
                    self.session_expired();
                }
            }
            Ok(_) => {}
        }
    }

    pub(super) fn session_expired(&self) {
        self.inbox.close(Loss::Gone(EXPIRED.into()));
    }

    /// Delivers what may be one message or several, and an error that names no request as the
    /// answer to this one. True when the request has its answer.
    pub(super) fn deliver(&self, id: u64, bytes: &[u8]) -> bool {
        deliver::deliver(&self.inbox, id, bytes);
        !self.inbox.is_open(id)
    }

    /// Asks for a stream of what the server has to say, continued behind this event.
    pub(super) async fn open_stream(&self, last: Option<&str>) -> Result<Response, Unsent> {
        let mut headers = self.headers(None);
        headers.remove(CONTENT_TYPE);
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(Ok(last)) = last.map(HeaderValue::from_str) {
            headers.insert(LAST_EVENT, last);
        }
        self.address.send(Method::GET, self.address.url(), headers, Bytes::new()).await
    }
}

/// Adds the headers that stand beside a request's body: the trace it belongs to, and the values of
/// arguments where the server is of the newer era.
pub(in crate::link) fn add_beside(headers: &mut HeaderMap, beside: &[(String, String)], modern: bool) {
    let traces = |name: &String| TRACE_FIELDS.contains(&name.as_str());
    for (name, value) in beside.iter().filter(|(name, _)| modern || traces(name)) {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
        {
            headers.insert(name, value);
        }
    }
}
