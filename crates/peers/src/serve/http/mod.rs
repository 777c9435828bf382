//! MCP over streamable HTTP: one address, one route, both eras; whoever puts the house together
//! may serve something else on the other paths.
//!
//! Nothing is served to a foreign `Host`, a foreign `Origin` or a caller without the token;
//! those checks stand before the routes, so no route can forget them.

mod beside;
mod body;
mod guard;
mod post;
mod sessions;

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{ALLOW, HeaderMap},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tectum_core::Tectum;
use tokio::{net::TcpListener, sync::Semaphore};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use self::beside::{Beside, BesideBody, BesideRequest};

use self::{body::Reply, guard::Guard, sessions::Sessions};
use super::{conversation::Conversation, endpoint::Endpoint, stdio::next_notice};
use crate::{
    federation::Federation,
    wire::era::{LEGACY, MODERN},
};

/// The one path.
const ROUTE: &str = "/mcp";
/// Connections served at once; more wait in the kernel's queue.
const MOST_CONNECTIONS: usize = 1024;
/// How long a client may take to send the head of a request.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// The largest head of a request.
const MAX_HEAD: usize = 64 * 1024;
/// How long calls in flight may go on after the server was told to stop.
const GRACE: Duration = Duration::from_secs(2);

/// Who may call over HTTP.
#[derive(Clone, Debug)]
pub enum Auth {
    /// A bearer token, compared in constant time.
    Token(String),
    /// Anybody who can connect: loopback only.
    None,
}

/// How the HTTP side is set up.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Who may call.
    pub auth: Auth,
    /// Lets `listen` be something else than loopback.
    pub allow_remote: bool,
    /// Further `Host` names that are ours.
    pub hosts: Vec<String>,
}

/// A listening server.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    service: Service,
}

/// What every connection shares.
#[derive(Debug)]
struct Service {
    endpoint: Endpoint,
    guard: Guard,
    sessions: Sessions,
    beside: Option<Beside>,
    stop: CancellationToken,
}

impl HttpServer {
    /// Binds; refuses an address that is not loopback unless `allow_remote` is set, and
    /// refuses [`Auth::None`] there altogether.
    pub async fn bind(
        house: Tectum,
        federation: Option<Arc<Federation>>,
        options: HttpOptions,
    ) -> io::Result<Self> {
        let refuse = |why: &str| Err(io::Error::new(io::ErrorKind::PermissionDenied, why.to_owned()));
        if !options.listen.ip().is_loopback() {
            if !options.allow_remote {
                return refuse(
                    "listening beyond this machine needs `allow_remote = true` in the [http] section",
                );
            }
            if matches!(options.auth, Auth::None) {
                return refuse("without a token only loopback addresses are served");
            }
        }
        if let Auth::Token(token) = &options.auth
            && token.len() < 32
        {
            return refuse("the token is too short: 128 bits (32 hexadecimal digits) are the least");
        }
        let listener = TcpListener::bind(options.listen).await?;
        let address = listener.local_addr()?;
        let service = Service {
            endpoint: Endpoint::new(house, federation),
            guard: Guard::new(address, &options),
            sessions: Sessions::default(),
            beside: None,
            stop: CancellationToken::new(),
        };
        Ok(Self { listener, address, service })
    }

    /// Serves this on every other path. What is refused to strangers never reaches it.
    #[must_use]
    pub fn beside(mut self, other: Beside) -> Self {
        self.service.beside = Some(other);
        self
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is cancelled, then lets calls in flight end.
    pub async fn run(self, stop: CancellationToken) -> io::Result<()> {
        let connections = TaskTracker::new();
        let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let service = Arc::new(self.service);
        let watcher = tokio::spawn(announce(service.clone()));
        loop {
            let Ok(place) = room.clone().acquire_owned().await else { break };
            let stream = tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => stream,
                    Err(error) => {
                        // Out of descriptors, usually: wait for some to come back.
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        continue;
                    }
                },
                () = stop.cancelled() => break,
            };
            // An answer is head and body; without this the second waits for the client's
            // delayed acknowledgement of the first.
            let _ = stream.set_nodelay(true);
            let service = service.clone();
            connections.spawn(async move {
                connection(service, stream).await;
                drop(place);
            });
        }
        drop(self.listener);
        connections.close();
        service.stop.cancel();
        let _ = tokio::time::timeout(GRACE, connections.wait()).await;
        watcher.abort();
        Ok(())
    }
}

async fn connection(service: Arc<Service>, stream: tokio::net::TcpStream) {
    let stop = service.stop.clone();
    let handler = service_fn(move |request| {
        let service = service.clone();
        async move { Ok::<_, Infallible>(service.respond(request).await) }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(MAX_HEAD)
        .keep_alive(true);
    let serving = builder.serve_connection(TokioIo::new(stream), handler);
    tokio::pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = stop.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Tells every open stream when the tools changed, or something else clients may want to know, and
/// ends sessions that nobody uses.
async fn announce(service: Arc<Service>) {
    let mut changes = service.endpoint.house.registry().changes();
    let mut notices = service.endpoint.federation.as_ref().map(|federation| federation.notices());
    let (mut look, unheard) = (tokio::time::interval(sessions::LOOK), service.endpoint.unheard());
    loop {
        tokio::select! {
            _ = look.tick() => service.end_idle_sessions(),
            changed = changes.changed() => match changed {
                Ok(()) => service.sessions.tell(Conversation::tools_changed),
                Err(_) => return,
            },
            notice = next_notice(&mut notices, &unheard) => service.sessions.tell(|client| client.noticed(&notice)),
        }
    }
}

impl Service {
    async fn respond(&self, request: Request<Incoming>) -> Response<Reply> {
        // The connection's buffer bounds a head only roughly.
        if head_size(&request) > MAX_HEAD {
            return plain(
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "the head of a request may have 64 KiB",
            );
        }
        if let Err(refusal) = self.guard.check(request.headers()) {
            return *refusal;
        }
        if request.uri().path() != ROUTE {
            return match &self.beside {
                Some(other) => other.answer(request).await.map(Reply::Beside),
                None => plain(StatusCode::NOT_FOUND, "the MCP endpoint is /mcp"),
            };
        }
        match *request.method() {
            Method::POST => self.post(request).await,
            Method::GET => self.get(request.headers()),
            Method::DELETE => self.delete(request.headers()),
            _ => method_not_allowed(),
        }
    }

    /// The stream on which a session of the older era hears what it did not ask for.
    fn get(&self, headers: &HeaderMap) -> Response<Reply> {
        if header(headers, "mcp-protocol-version") == Some(MODERN) {
            return method_not_allowed();
        }
        if !accepts(headers, "text/event-stream") {
            return plain(StatusCode::NOT_ACCEPTABLE, "this stream is text/event-stream");
        }
        match self.sessions.find(headers) {
            Ok(session) => body::event_stream(session.open_stream(), StatusCode::OK),
            Err(refusal) => *refusal,
        }
    }

    fn delete(&self, headers: &HeaderMap) -> Response<Reply> {
        if header(headers, "mcp-protocol-version") == Some(MODERN) {
            return method_not_allowed();
        }
        match self.sessions.end(headers) {
            Ok(client) => {
                self.endpoint.unwatch(&client);
                body::empty(StatusCode::NO_CONTENT)
            }
            Err(refusal) => *refusal,
        }
    }
}

fn head_size(request: &Request<Incoming>) -> usize {
    let target = request.uri().path_and_query().map_or(0, |target| target.as_str().len());
    target + request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum::<usize>()
}

/// An answer that ends a request early.
type Refusal = Box<Response<Reply>>;

fn refuse(status: StatusCode, text: &str) -> Refusal {
    Box::new(plain(status, text))
}

fn method_not_allowed() -> Response<Reply> {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "use POST");
    response.headers_mut().insert(ALLOW, hyper::header::HeaderValue::from_static("POST"));
    response
}

fn plain(status: StatusCode, text: &str) -> Response<Reply> {
    body::full(status, "text/plain; charset=utf-8", format!("{text}\n").into_bytes())
}

/// A header that stands once, as text.
fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let family = kind.split('/').next().unwrap_or_default();
    match header(headers, "accept") {
        None => true,
        Some(accept) => accept.split(',').any(|one| {
            let one = one.split(';').next().unwrap_or_default().trim();
            one == kind || one == "*/*" || one.strip_suffix("/*") == Some(family)
        }),
    }
}

/// A version of the older era that we do not know is refused on every request.
fn known_legacy_version(headers: &HeaderMap) -> bool {
    header(headers, "mcp-protocol-version").is_none_or(|version| LEGACY.contains(&version))
}
