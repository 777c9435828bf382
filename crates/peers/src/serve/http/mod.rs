//! MCP over streamable HTTP: one address, one route, both eras; whoever puts the house together
//! may serve something else on the other paths.
//!
//! Nothing is served to a foreign `Host`, a foreign `Origin` or a caller without the token;
//! those checks stand before the routes, so no route can forget them.

mod beside;
mod body;
mod bounds;
mod connections;
mod guard;
mod paced;
mod post;
mod reply;
mod sender;
mod sessions;

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{AUTHORIZATION, HeaderMap},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tectum_core::Tectum;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub use self::beside::{Admission, Beside, BesideBody, BesideRequest};

pub use self::guard::{Auth, HttpOptions};

use self::{
    body::{AnswerBody, Reply},
    bounds::{MAX_HEAD, http_builder},
    connections::{Connection, Connections},
    guard::Guard,
    paced::Paced,
    reply::{RefusedRequest, VERSION, accepts, header, last, method_not_allowed, plain, refuse},
    sender::OtherEnd,
    sessions::{IDLE, Session, Sessions, Started},
};
use super::{Endpoint, Turns};
use crate::{
    client::{Budget, Models, Notice},
    federation::Federation,
    lineage::SENDER,
    wire::MODERN,
};

/// The one path.
const ROUTE: &str = "/mcp";
/// Bytes of requests and answers that all clients together may keep in memory.
const MOST_BYTES: usize = 24 * 1024 * 1024;
/// The time a request waits for that memory.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pause when the system has no descriptor for a connection.
const NO_DESCRIPTORS: Duration = Duration::from_millis(10);
/// The time calls in flight may go on after the server was told to stop.
const GRACE: Duration = Duration::from_secs(2);

/// A listening server.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    service: Service,
}

/// The state that every connection shares.
#[derive(Debug)]
struct Service {
    endpoint: Endpoint,
    guard: Guard,
    sessions: Sessions,
    /// The files and anchors that the models of clients without sessions have seen.
    models: Arc<Models>,
    connections: Connections,
    budget: Budget,
    turns: Turns,
    beside: Option<Beside>,
    stop: CancellationToken,
}

impl HttpServer {
    /// Binds; refuses an address that is not loopback unless `allow_remote` is set, and
    /// refuses [`Auth::None`] there altogether.
    pub async fn bind(house: Tectum, federation: Arc<Federation>, options: HttpOptions) -> io::Result<Self> {
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
        let budget = Budget::new(MOST_BYTES);
        let service = Service {
            endpoint: Endpoint::new(house, federation),
            guard: Guard::new(address, &options),
            sessions: Sessions::default(),
            models: Arc::default(),
            connections: Connections::new(),
            turns: Turns::new(Some(budget.clone())),
            budget,
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

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is cancelled, then lets calls in flight end.
    pub async fn run(self, stop: CancellationToken) -> io::Result<()> {
        let tasks = TaskTracker::new();
        let service = Arc::new(self.service);
        let watcher = tokio::spawn(watch(service.clone()));
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = stop.cancelled() => break,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of descriptors, usually: give some back, and wait for them.
                    tracing::warn!(%error, "a connection could not be accepted");
                    service.connections.spare_some();
                    tokio::select! {
                        () = tokio::time::sleep(NO_DESCRIPTORS) => continue,
                        () = stop.cancelled() => break,
                    }
                }
            };
            // An answer is head and body; without this the second waits for the client's
            // delayed acknowledgement of the first.
            let _ = stream.set_nodelay(true);
            let connection = loop {
                match service.connections.open() {
                    Some(connection) => break connection,
                    // Those that were just accepted are read first: a client may be among them.
                    None => tokio::task::yield_now().await,
                }
            };
            let service = service.clone();
            tasks.spawn(async move {
                let _open = service.connections.while_open(&connection);
                serve_connection(&service, stream, &connection).await;
            });
        }
        drop(self.listener);
        tasks.close();
        service.stop.cancel();
        let _ = tokio::time::timeout(GRACE, tasks.wait()).await;
        watcher.abort();
        Ok(())
    }
}

async fn serve_connection(service: &Arc<Service>, stream: TcpStream, connection: &Arc<Connection>) {
    let sender = Arc::new(OtherEnd::new(&stream));
    let handler = service_fn(|request| {
        let (service, connection, sender) = (service.clone(), connection.clone(), sender.clone());
        async move {
            let answering = connection.answering();
            // Who has no token is not worth looking for.
            let observer = match service.guard.check(request.headers()) {
                Ok(_) => sender.observer(&service.endpoint).await,
                Err(_) => None,
            };
            let response = service.respond(&connection, request);
            let response = match observer {
                Some(name) => SENDER.scope(name, response).await,
                None => response.await,
            };
            Ok::<_, Infallible>(response.map(|reply| AnswerBody::new(reply, answering, &service.budget)))
        }
    });
    let stream = Paced { stream: TokioIo::new(stream), connection: connection.clone() };
    let serving = http_builder().serve_connection(stream, handler);
    tokio::pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = connection.close.cancelled() => return,
        () = service.stop.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Everything that happens beside the connections.
async fn watch(service: Arc<Service>) {
    tokio::join!(announce(&service), service.connections.close_stalled(&service.budget));
}

/// Tells every open stream when the tools changed, or something else clients may want to know, and
/// ends sessions that nobody uses.
async fn announce(service: &Service) {
    let mut changes = service.endpoint.house.registry().changes();
    let mut notices = service.endpoint.federation.notices();
    let mut look = tokio::time::interval(sessions::LOOK);
    loop {
        tokio::select! {
            _ = look.tick() => service.end_idle_sessions(),
            changed = changes.changed() => match changed {
                Ok(()) => service.sessions.tell(|client| client.noticed(&Notice::Tools)),
                Err(_) => return,
            },
            notice = notices.next() => service.sessions.tell(|client| client.noticed(&notice)),
        }
    }
}

impl Service {
    /// Opens a session; another one makes room if it must.
    pub(super) fn open_session(&self) -> Result<(String, Arc<Session>), getrandom::Error> {
        let Started { id, session, ended } = self.sessions.start(self.endpoint.federation.unheard.clone())?;
        ended.iter().for_each(|client| self.endpoint.unwatch(client));
        Ok((id, session))
    }

    /// Ends the sessions that were idle for too long.
    pub(super) fn end_idle_sessions(&self) {
        self.sessions.end_idle(IDLE).iter().for_each(|client| self.endpoint.unwatch(client));
    }

    async fn respond(&self, connection: &Arc<Connection>, request: Request<Incoming>) -> Response<Reply> {
        // The connection's buffer bounds a head only roughly.
        if head_size(&request) > MAX_HEAD {
            return last(plain(
                StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "the head of a request may have 64 KiB",
            ));
        }
        let admission = match self.admit(&request) {
            Ok(admission) => admission,
            Err(refusal) => return last(*refusal),
        };
        // What everybody may see takes no place from those who are known.
        if admission == Admission::Known && !self.connections.authenticate(connection) {
            let most = self.connections.most();
            let text = format!("all {most} connections are in use: close one, or try again later");
            return last(plain(StatusCode::SERVICE_UNAVAILABLE, &text));
        }
        if let Err(refusal) = self.has_memory().await {
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

    /// Judges who asks. A wrong token is refused whatever else is shown.
    fn admit(&self, request: &Request<Incoming>) -> Result<Admission, RefusedRequest> {
        self.guard.check_names(request.headers())?;
        let Err(refusal) = self.guard.check_token(request.headers()) else { return Ok(Admission::Known) };
        let other = self.beside.as_ref().filter(|_| request.uri().path() != ROUTE);
        let admission = match other {
            Some(other) if !request.headers().contains_key(AUTHORIZATION) => other.admit(request),
            _ => Admission::Refused,
        };
        if admission == Admission::Refused { Err(refusal) } else { Ok(admission) }
    }

    /// Waits until there is memory for a request.
    async fn has_memory(&self) -> Result<(), RefusedRequest> {
        if self.budget.room(PATIENCE).await {
            return Ok(());
        }
        let text = "answers that clients do not read take all memory: read them, or try again later";
        Err(refuse(StatusCode::SERVICE_UNAVAILABLE, text))
    }

    /// The stream on which a session of the older era hears what it did not ask for.
    fn get(&self, headers: &HeaderMap) -> Response<Reply> {
        if header(headers, &VERSION) == Some(MODERN) {
            return method_not_allowed();
        }
        if !accepts(headers, "text/event-stream") {
            return plain(StatusCode::NOT_ACCEPTABLE, "this stream is text/event-stream");
        }
        match self.sessions.find(headers) {
            Ok(session) => body::event_stream(session.open_stream(Some(self.budget.clone())), StatusCode::OK),
            Err(refusal) => *refusal,
        }
    }

    fn delete(&self, headers: &HeaderMap) -> Response<Reply> {
        if header(headers, &VERSION) == Some(MODERN) {
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
