//! One live connection to a server: our own request ids, and everything that belongs to a
//! request delivered in order, with its answer last.
//!
//! It knows JSON-RPC and carries bytes; what they mean for a client is the federation's business.

mod dial;
mod exchange;
mod handshake;
pub(crate) mod headers;
mod http;
mod inbox;
mod mailbox;
mod noise;
mod question;
mod sse;
mod stdio;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    io::Write as _,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(crate) use dial::{Door, connect, connect_sse};
pub(crate) use exchange::{Event, Exchange};
pub(crate) use handshake::{Hello, Unfit, greet, modern_meta};
pub(crate) use http::{is_local, parse, same_origin};
pub(crate) use inbox::{Inbox, Loose, LooseMessages, Origin, Room, Signal, Signals};
pub(crate) use question::Question;
pub(crate) use stdio::Pipes;

use crate::wire::object::Object;

/// The largest message taken from a server: thirty megabytes of picture pass, a line without
/// an end does not.
pub(crate) const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// The largest message that nobody asked for: a question may bring a picture along.
pub(crate) const MOST_UNASKED: usize = 4 * 1024 * 1024;
/// The largest page of a list. Thousands of definitions fit.
const MOST_PAGE: usize = 8 * 1024 * 1024;

/// Why a connection, or one request on it, came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The server went away: how it ended, in words.
    Gone(String),
    /// One request failed on its way; the server may be well.
    Failed(String),
    /// The answer to one request broke off: the server may have done what it was asked.
    Cut(String),
    /// The server knows nothing of the session a request came in, and did not look at it.
    Refused(String),
    /// The server wants a login.
    Unauthorized(String),
    /// More came than is kept for one call.
    Flooded,
    /// The server sent so much that it was cut off.
    Flooding(String),
}

/// What carries the bytes.
pub(crate) enum Carrier {
    /// A child process.
    Stdio(Pipes),
    /// Streamable HTTP.
    Http(http::Remote),
    /// The transport of 2024.
    Sse(sse::Sse),
}

/// A message on its way out.
pub(crate) struct Outgoing {
    /// The whole message, without a newline.
    pub(crate) bytes: Vec<u8>,
    /// What it is.
    pub(crate) kind: Kind,
}

/// What a transport must know of a message to carry it.
pub(crate) enum Kind {
    /// A request of ours; its answer is awaited.
    Request {
        /// Its id.
        id: u64,
        /// Its method.
        method: &'static str,
        /// What it is about, for transports that name it beside the body.
        name: Option<String>,
        /// Further values that stand beside the body.
        headers: Vec<(String, String)>,
    },
    /// A notification.
    Notification,
    /// An answer to a request of the server's.
    Answer,
}

/// A connection.
pub(crate) struct Link {
    carrier: Carrier,
    inbox: Arc<Inbox>,
    next: AtomicU64,
    hello: OnceLock<Hello>,
    listing: watch::Sender<Listing>,
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

    /// Whether the server has said on this connection which tools it has.
    pub(crate) fn listing(&self) -> &watch::Sender<Listing> {
        &self.listing
    }

    /// How long nobody has asked anything, if nothing is in flight.
    pub(crate) fn idle(&self) -> Option<Duration> {
        self.inbox.idle()
    }

    /// True when anybody but this client ever asked anything on it.
    pub(crate) fn is_shared(&self, client: u64) -> bool {
        self.inbox.is_shared(client)
    }

    /// What it wrote that is no message, in words.
    pub(crate) fn noise(&self) -> Option<String> {
        self.inbox.noise()
    }

    /// The process behind it, where it is one that we started.
    pub(crate) fn process(&self) -> Option<u32> {
        match &self.carrier {
            Carrier::Stdio(pipes) => Some(pipes.process()),
            Carrier::Http(_) | Carrier::Sse(_) => None,
        }
    }

    /// How the connection ended, once it has.
    pub(crate) fn lost(&self) -> Option<Loss> {
        self.inbox.lost()
    }

    /// What the server says that means the same however often it is said.
    pub(crate) fn signals(&self) -> &Signals {
        self.inbox.signals()
    }

    /// How many messages were dropped since the server sent more than its budget allows.
    pub(crate) fn dropped(&self) -> u64 {
        self.inbox.dropped()
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
        let exchange = Exchange::new(id, self.clone(), events);
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
        match self.inbox.settle(id) {
            true => self.answer(id, outcome),
            false => Ok(()),
        }
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
    fn settle(&self, hello: &Hello) {
        match &self.carrier {
            Carrier::Stdio(_) | Carrier::Sse(_) => {}
            Carrier::Http(remote) => remote.settle(hello),
        }
        tracing::debug!(version = hello.version, "greeted");
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

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone(how) | Self::Flooding(how) => f.write_str(how),
            Self::Failed(why) | Self::Cut(why) | Self::Refused(why) | Self::Unauthorized(why) => {
                f.write_str(why)
            }
            Self::Flooded => f.write_str("it sent more messages for one call than can be kept"),
        }
    }
}

/// The largest answer to a request: what tools and resources give may be large, what a server says
/// of itself is not.
fn most_answer(method: &str) -> usize {
    match method {
        "initialize" | "server/discover" | "subscriptions/listen" | "logging/setLevel" => MOST_UNASKED,
        "resources/subscribe" | "resources/unsubscribe" => MOST_UNASKED,
        _ if method.ends_with("/list") => MOST_PAGE,
        _ => MAX_MESSAGE,
    }
}

/// The code and message of an error object.
pub(crate) fn error_parts(error: &RawValue) -> (i64, String) {
    #[derive(serde::Deserialize)]
    struct Parts {
        #[serde(default)]
        code: i64,
        #[serde(default)]
        message: String,
    }
    match serde_json::from_str::<Parts>(error.get()) {
        Ok(parts) => (parts.code, parts.message),
        Err(_) => (0, error.get().chars().take(200).collect()),
    }
}
