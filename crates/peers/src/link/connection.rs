//! One live connection to a server: our own request ids, and everything that belongs to a
//! request delivered in order, with its answer last.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    Event, Hello, HttpCarrier, Inbox, Outgoing, Pipes, Question, Receiver, RequestHead, Sse,
    outgoing::most_answer,
};
use crate::{
    operation::Operation,
    wire::{Loss, code, error_object, frame},
};

/// The transport of a connection.
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
    /// Its incoming messages, and how it ended.
    pub(crate) inbox: Arc<Inbox>,
    next: AtomicU64,
    hello: OnceLock<Hello>,
    /// Set when the server has said on this connection which tools it has.
    pub(crate) listing: watch::Sender<Listing>,
}

/// How far a server has come on a connection in saying which tools it has.
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
    /// Its subject: a tool's name, a resource's address.
    pub(crate) name: Option<&'a str>,
    /// Further values that stand beside the body where the transport has headers.
    pub(crate) headers: Vec<(String, String)>,
    /// Whose it is; messages that name no request go to the only owner there is.
    pub(crate) owner: Option<u64>,
    /// Its measurement, if it is measured.
    pub(crate) operation: Option<Arc<dyn Operation>>,
}

/// The result of a request, or the server's own error, each as it was written.
pub(crate) type ServerAnswer = Result<Box<RawValue>, Box<RawValue>>;

impl<'a> Ask<'a> {
    /// A request of ours that is about nothing in particular.
    pub(crate) fn of(method: &'static str) -> Self {
        Self { method, name: None, headers: Vec::new(), owner: None, operation: None }
    }
}

impl Link {
    /// A connection over this carrier, before its handshake.
    pub(crate) fn new(carrier: Carrier, inbox: Arc<Inbox>) -> Arc<Self> {
        let listing = watch::Sender::default();
        Arc::new(Self { carrier, inbox, next: AtomicU64::new(1), hello: OnceLock::new(), listing })
    }

    /// The server's part of the handshake. Set before anybody else sees the link.
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
        let exchange = Exchange { id, link: self.clone(), events, ended: false, operation: ask.operation };
        let bytes = frame::request(id, ask.method, &params(id));
        let named = matches!(self.carrier, Carrier::Http(_));
        let name = ask.name.filter(|_| named).map(str::to_owned);
        let request = Some(RequestHead { id, method: ask.method, name, headers: ask.headers });
        self.send(Outgoing { bytes, request })?;
        Ok(exchange)
    }

    /// Sends a notification.
    pub(crate) fn notify(&self, method: &str, params: &str) -> Result<(), Loss> {
        self.send(Outgoing { bytes: frame::notification(method, params), request: None })
    }

    /// Answers a request of the server's that is no open question.
    pub(crate) fn answer(&self, id: &str, outcome: Result<&str, &str>) -> Result<(), Loss> {
        let (key, json) = outcome.map_or_else(|error| ("error", error), |result| ("result", result));
        let mut bytes = Vec::new();
        frame::open(&mut bytes, id, key);
        bytes.extend_from_slice(json.as_bytes());
        bytes.push(b'}');
        self.send(Outgoing { bytes, request: None })
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
        if let Carrier::Http(remote) = &self.carrier {
            remote.settle(&hello);
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
    operation: Option<Arc<dyn Operation>>,
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

    /// The next event. After the last one it is lost for ever.
    pub(crate) async fn next(&mut self) -> Event {
        let event = match self.events.recv().await {
            Some(event) => event,
            None => Event::Lost(Loss::Gone("the connection was closed".into())),
        };
        self.ended |= matches!(event, Event::Answer(_) | Event::Lost(_));
        if let Some(operation) = self.operation.take_if(|_| self.ended) {
            operation.end(event.ending());
        }
        self.link.inbox.taken(self.id, event.size());
        event
    }

    /// The answer, whatever else comes before it is let go; questions are refused.
    pub(crate) async fn answer(mut self) -> Result<ServerAnswer, Loss> {
        loop {
            match self.next().await {
                Event::Answer(answer) => return Ok(answer),
                Event::Lost(loss) => return Err(loss),
                Event::Note { .. } => {}
                Event::Question(Question { id, method, .. }) => {
                    let why = format!("{method} is not answered here");
                    self.link.reply(&id, Err(&error_object(code::METHOD_NOT_FOUND, &why)))?;
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
