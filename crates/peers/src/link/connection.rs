//! One live connection to a server: our own request ids, and everything that belongs to a
//! request delivered in order, with its answer last.

use std::{
    fmt,
    io::Write as _,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    Event, Hello, HttpCarrier, Inbox, Kind, Outgoing, Pipes, Question, Receiver, Sse, outgoing::most_answer,
};
use crate::wire::{Loss, Object, quoted};

/// What carries the bytes.
pub(crate) enum Carrier {
    /// A child process.
    Stdio(Pipes),
    /// Streamable HTTP.
    Http(HttpCarrier),
    /// The transport of 2024.
    Sse(Sse),
}

/// A connection.
pub(crate) struct Link {
    carrier: Carrier,
    /// What came on it, and how it ended.
    pub(crate) inbox: Arc<Inbox>,
    next: AtomicU64,
    hello: OnceLock<Hello>,
    /// Set when the server has said on this connection which tools it has.
    pub(crate) listing: watch::Sender<Listing>,
}

/// Whether a server has said on a connection which tools it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Listing {
    /// Not yet.
    #[default]
    Awaited,
    /// It has.
    Done,
    /// It does not, until somebody logs in.
    Refused(Loss),
}

/// A request to send.
pub(crate) struct Ask<'a> {
    /// Its method.
    pub(crate) method: &'static str,
    /// What it is about: a tool's name, a resource's address.
    pub(crate) name: Option<&'a str>,
    /// Further values that stand beside the body where the transport has headers.
    pub(crate) headers: Vec<(String, String)>,
    /// Whose it is; messages that name no request go to the only owner there is.
    pub(crate) owner: Option<u64>,
}

impl Link {
    /// A connection over this carrier, before its handshake.
    pub(crate) fn new(carrier: Carrier, inbox: Arc<Inbox>) -> Arc<Self> {
        let listing = watch::Sender::default();
        Arc::new(Self { carrier, inbox, next: AtomicU64::new(1), hello: OnceLock::new(), listing })
    }

    /// What the server said about itself. Set before anybody else sees the link.
    pub(crate) fn hello(&self) -> &Hello {
        self.hello.get_or_init(Hello::default)
    }

    /// Cancelled when the connection is gone.
    pub(crate) fn closed(&self) -> &CancellationToken {
        self.inbox.closed()
    }

    /// The process behind it, where it is one that we started.
    pub(crate) fn process(&self) -> Option<u32> {
        match &self.carrier {
            Carrier::Stdio(pipes) => Some(pipes.process()),
            Carrier::Http(_) | Carrier::Sse(_) => None,
        }
    }

    /// Sends a request. Its parameters are made when its id is known, since the id is also the
    /// token of its progress.
    pub(crate) fn request(
        self: &Arc<Self>,
        ask: Ask<'_>,
        params: impl FnOnce(u64) -> String,
    ) -> Result<Exchange, Loss> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        // Listening begins before the bytes leave: nothing that answers them can be missed.
        let events = self.inbox.open(id, ask.owner, most_answer(ask.method))?;
        let exchange = Exchange { id, link: self.clone(), events, ended: false };
        let params = params(id);
        let mut bytes = Vec::with_capacity(params.len() + ask.method.len() + 64);
        bytes.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        // Writing into memory cannot fail.
        let _ = write!(bytes, "{id}");
        bytes.extend_from_slice(br#","method":""#);
        bytes.extend_from_slice(ask.method.as_bytes());
        bytes.extend_from_slice(br#"","params":"#);
        bytes.extend_from_slice(params.as_bytes());
        bytes.push(b'}');
        let named = matches!(self.carrier, Carrier::Http(_));
        let kind = Kind::Request {
            id,
            method: ask.method,
            name: ask.name.filter(|_| named).map(str::to_owned),
            headers: ask.headers,
        };
        self.send(Outgoing { bytes, kind })?;
        Ok(exchange)
    }

    /// Sends a notification.
    pub(crate) fn notify(&self, method: &str, params: &str) -> Result<(), Loss> {
        let bytes =
            Object::new().raw("jsonrpc", "\"2.0\"").text("method", method).raw("params", params).end();
        self.send(Outgoing { bytes: bytes.into_bytes(), kind: Kind::Notification })
    }

    /// Answers a request of the server's that is no open question.
    pub(crate) fn answer(&self, id: &str, outcome: Result<&str, &str>) -> Result<(), Loss> {
        let mut message = Object::new();
        message.raw("jsonrpc", "\"2.0\"").raw("id", id);
        let bytes = match outcome {
            Ok(result) => message.raw("result", result).end(),
            Err(error) => message.raw("error", error).end(),
        };
        self.send(Outgoing { bytes: bytes.into_bytes(), kind: Kind::Answer })
    }

    /// Answers a question. One that the server took back, or whose request has ended, is not
    /// answered: the answer is late, and nobody waits for it.
    pub(crate) fn reply(&self, id: &str, outcome: Result<&str, &str>) -> Result<(), Loss> {
        if self.inbox.settle(id) { self.answer(id, outcome) } else { Ok(()) }
    }

    /// Ends the connection and whatever stands behind it.
    pub(crate) async fn stop(&self) {
        if let Carrier::Http(remote) = &self.carrier {
            remote.flush().await;
        }
        self.inbox.close(Loss::Gone("it was stopped".into()));
        match &self.carrier {
            Carrier::Stdio(pipes) => pipes.stop().await,
            Carrier::Http(remote) => remote.stop().await,
            // Its stream ended with the inbox.
            Carrier::Sse(_) => {}
        }
    }

    /// The handshake is over: what the carrier has to know of it.
    pub(super) fn settle(&self, hello: Hello) {
        match &self.carrier {
            Carrier::Stdio(_) | Carrier::Sse(_) => {}
            Carrier::Http(remote) => remote.settle(&hello),
        }
        tracing::debug!(version = hello.version, "greeted");
        let _ = self.hello.set(hello);
    }

    /// True when the handshake met an address that seems to speak the transport of 2024.
    pub(super) fn speaks_otherwise(&self) -> bool {
        matches!(&self.carrier, Carrier::Http(remote) if remote.speaks_otherwise())
    }

    fn send(&self, message: Outgoing) -> Result<(), Loss> {
        match &self.carrier {
            Carrier::Stdio(pipes) => pipes.send(message),
            Carrier::Http(remote) => remote.send(message),
            Carrier::Sse(sse) => sse.send(message),
        }
    }

    /// Nobody waits for this answer any more.
    fn abandon(&self, id: u64) {
        self.inbox.forget(id);
        let told = match &self.carrier {
            Carrier::Stdio(_) | Carrier::Sse(_) => true,
            Carrier::Http(remote) => remote.abandon(id),
        };
        if told {
            let params = format!(r#"{{"requestId":{id},"reason":"the caller left"}}"#);
            // A server that is gone needs not be told.
            let _ = self.notify("notifications/cancelled", &params);
        }
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("hello", &self.hello.get()).finish_non_exhaustive()
    }
}

/// A request in flight. Letting go of it before its answer cancels it.
#[derive(Debug)]
pub(crate) struct Exchange {
    id: u64,
    link: Arc<Link>,
    events: Receiver,
    ended: bool,
}

impl Exchange {
    /// The connection it runs on.
    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    /// The server waits for an answer of ours, or does so no longer.
    pub(crate) fn waits(&self, waits: bool) {
        self.link.inbox.waits(self.id, waits);
    }

    /// What comes next. After the last event it is lost for ever.
    pub(crate) async fn next(&mut self) -> Event {
        let event = match self.events.recv().await {
            Some(event) => event,
            None => Event::Lost(Loss::Gone("the connection was closed".into())),
        };
        self.ended |= matches!(event, Event::Answer(_) | Event::Lost(_));
        self.link.inbox.taken(self.id, event.size());
        event
    }

    /// The answer, whatever else comes before it is let go; questions are refused.
    pub(crate) async fn answer(mut self) -> Result<Result<Box<RawValue>, Box<RawValue>>, Loss> {
        loop {
            match self.next().await {
                Event::Answer(answer) => return Ok(answer),
                Event::Lost(loss) => return Err(loss),
                Event::Note { .. } => {}
                Event::Question(Question { id, method, .. }) => {
                    let why = quoted(&format!("{method} is not answered here"));
                    self.link.reply(&id, Err(&format!(r#"{{"code":-32601,"message":{why}}}"#)))?;
                }
            }
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.ended {
            self.link.abandon(self.id);
        }
    }
}
