//! A server that does what a test tells it to, and remembers what it was asked.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream::StreamExt as _;
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::{
    Request, Response,
    body::{Frame, Incoming},
    header::HeaderMap,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::mpsc, task::JoinHandle};

pub(super) type Body = BoxBody<Bytes, io::Error>;
pub(super) type Reply = Response<Body>;
type Answering = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) verb: String,
    pub(super) path: String,
    pub(super) query: String,
    pub(super) headers: HeaderMap,
    pub(super) text: String,
    /// The body, where it is JSON.
    pub(super) body: Value,
}

/// A listening server; it ends with this.
pub(super) struct Fake {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

impl Seen {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("text"))
    }

    pub(super) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    /// `POST tools/call`, or the verb alone.
    pub(super) fn short(&self) -> String {
        format!("{} {}", self.verb, self.method()).trim().to_owned()
    }
}

impl Fake {
    /// Starts it. Requests run side by side.
    pub(super) async fn start<F, A>(answer: F) -> Self
    where
        F: Fn(Seen) -> A + Send + Sync + 'static,
        A: Future<Output = Reply> + Send + 'static,
    {
        let answer: Arc<dyn Fn(Seen) -> Answering + Send + Sync> =
            Arc::new(move |seen| -> Answering { Box::pin(answer(seen)) });
        Self::listen(answer).await
    }

    /// The same with something that every answer is made from.
    pub(super) async fn with<S, F, A>(state: S, answer: F) -> Self
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(Seen, S) -> A + Send + Sync + 'static,
        A: Future<Output = Reply> + Send + 'static,
    {
        Self::start(move |seen| answer(seen, state.clone())).await
    }

    async fn listen(answer: Arc<dyn Fn(Seen) -> Answering + Send + Sync>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let all = seen.clone();
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, all) = (answer.clone(), all.clone());
                let service = service_fn(move |request| {
                    let (answer, all) = (answer.clone(), all.clone());
                    async move {
                        let seen = read(request).await;
                        all.lock().expect("whole").push(seen.clone());
                        Ok::<_, Infallible>(answer(seen).await)
                    }
                });
                connections.spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        Self { address, seen, task }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("whole").clone()
    }

    /// The first request like this one, which is waited for.
    pub(super) async fn find(&self, short: &str) -> Seen {
        loop {
            if let Some(seen) = self.seen().into_iter().find(|seen| seen.short() == short) {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(super) fn shorts(&self) -> Vec<String> {
        self.seen().iter().map(Seen::short).collect()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read(request: Request<Incoming>) -> Seen {
    let (parts, body) = request.into_parts();
    let bytes = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    Seen {
        verb: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: parts.headers,
        text: String::from_utf8_lossy(&bytes).into_owned(),
        body: serde_json::from_slice(&bytes).unwrap_or_default(),
    }
}

/// A whole body of any kind.
pub(super) fn plain(status: u16, kind: &str, body: impl Into<Bytes>) -> Reply {
    let body = Full::new(body.into()).map_err(|never| match never {}).boxed();
    let response = Response::builder().status(status).header("content-type", kind);
    response.body(body).expect("a response")
}

pub(super) fn json_reply(status: u16, body: &Value) -> Reply {
    plain(status, "application/json", body.to_string())
}

/// The answer to a request.
pub(super) fn result(seen: &Seen, result: Value) -> Reply {
    json_reply(200, &json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": result}))
}

/// An error as the answer to a request.
pub(super) fn error(status: u16, id: &Value, code: i64) -> Reply {
    json_reply(status, &json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no"}}))
}

pub(super) fn with(mut reply: Reply, name: &'static str, value: &str) -> Reply {
    reply.headers_mut().insert(name, value.parse().expect("a value"));
    reply
}

/// A stream of events, and what its text is sent through. An error breaks the connection.
pub(super) fn stream() -> (mpsc::UnboundedSender<io::Result<String>>, Reply) {
    let (send, texts) = mpsc::unbounded_channel::<io::Result<String>>();
    let texts =
        futures_util::stream::unfold(texts, |mut texts| async move { Some((texts.recv().await?, texts)) });
    let body = StreamBody::new(texts.map(|text| text.map(|text| Frame::data(Bytes::from(text)))));
    let response = Response::builder().header("content-type", "text/event-stream");
    (send, response.body(BodyExt::boxed(body)).expect("a response"))
}

/// A body of this beginning and a gibibyte behind it.
pub(super) fn endless(kind: &str, beginning: String) -> Reply {
    let part = Bytes::from(vec![b'x'; 1024 * 1024]);
    let parts = std::iter::once(Bytes::from(beginning)).chain(std::iter::repeat_n(part, 1024));
    let body = StreamBody::new(futures_util::stream::iter(parts.map(|part| Ok(Frame::data(part)))));
    let response = Response::builder().header("content-type", kind);
    response.body(BodyExt::boxed(body)).expect("a response")
}

/// A stream that says this and ends.
pub(super) fn events(text: &str) -> Reply {
    let (send, reply) = stream();
    send.send(Ok(text.to_owned())).expect("open");
    reply
}

/// A message as an event.
pub(super) fn event(message: &Value) -> String {
    format!("data: {message}\n\n")
}

/// The handshake of the older era, with a session; `None` for anything else.
pub(super) fn legacy(seen: &Seen) -> Option<Reply> {
    match (&*seen.verb, seen.method()) {
        ("POST", "initialize") => {
            let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "fake", "version": "1"}});
            Some(with(result(seen, hello), "mcp-session-id", "session-1"))
        }
        ("POST", "server/discover") => Some(error(400, &Value::Null, -32000)),
        ("POST", method) if method.starts_with("notifications/") => Some(plain(202, "text/plain", "")),
        ("GET", _) => Some(plain(405, "text/plain", "")),
        ("DELETE", _) => Some(plain(200, "text/plain", "")),
        _ => None,
    }
}

/// The greeting of the newer era; `None` for anything else.
pub(super) fn modern(seen: &Seen) -> Option<Reply> {
    let hello =
        json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}});
    (seen.method() == "server/discover").then(|| result(seen, hello))
}
