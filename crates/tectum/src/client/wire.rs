//! One request to a house and its whole answer: HTTP over its socket or over loopback, without a pool and
//! without TLS.

use std::{fmt, io, path::PathBuf, time::Duration};

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Request,
    body::Bytes,
    client::conn::http1::{self, SendRequest},
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST},
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tectum_core::{Fault, FaultKind};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
    time::timeout,
};

use crate::houses;

/// The largest answer that is read.
const MOST_ANSWER: usize = 64 << 20;

/// The beginning of the address of a socket.
const SOCKET: &str = "unix:";

/// A house that can be asked.
#[derive(Clone, Debug)]
pub(crate) struct HouseDoor {
    way: Way,
    /// The bearer token, if one is needed; at its socket a house knows its user.
    pub(super) token: Option<String>,
}

/// The way to a house.
#[derive(Clone, Debug)]
enum Way {
    /// Host and port.
    Port(String),
    Socket(PathBuf),
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Port(authority) => write!(f, "http://{authority}"),
            Self::Socket(path) => write!(f, "{SOCKET}{}", path.display()),
        }
    }
}

impl Default for HouseDoor {
    fn default() -> Self {
        Self { way: Way::Port("127.0.0.1:8999".into()), token: None }
    }
}

/// Why a request failed, and whether it can have had an effect.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) fault: Fault,
    /// True if nothing was sent.
    pub(crate) unsent: bool,
}

impl Failed {
    fn sent(fault: Fault) -> Self {
        Self { fault, unsent: false }
    }
}

impl HouseDoor {
    /// The house at an address such as `http://127.0.0.1:8999` or `unix:/path`.
    pub(crate) fn at(url: &str, token: Option<String>) -> Result<Self, Fault> {
        if let Some(path) = url.strip_prefix(SOCKET) {
            return Ok(Self::behind(path.into()));
        }
        let rest = url.strip_prefix("http://").map(|rest| rest.trim_end_matches('/'));
        match rest.filter(|rest| !rest.is_empty() && !rest.contains('/')) {
            Some(host) => {
                let bare = host.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err());
                let authority = if bare { format!("{host}:80") } else { host.to_owned() };
                Ok(Self { way: Way::Port(authority), token })
            }
            None => Err(Fault::invalid(format!("`{url}` is not the address of a Tectum"))
                .hint("write the address that `tectum up` prints, such as http://127.0.0.1:8999")),
        }
    }

    /// The house behind a socket.
    pub(super) fn behind(socket: PathBuf) -> Self {
        Self { way: Way::Socket(socket), token: None }
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        self.way.to_string()
    }

    /// Sends a request and reads the answer: its status and its body.
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<Bytes>,
        within: Option<Duration>,
    ) -> Result<(u16, Bytes), Failed> {
        let exchange = self.exchange(method, path, body);
        match within {
            None => exchange.await,
            Some(within) => timeout(within, exchange).await.unwrap_or_else(|_| {
                let message = format!("{} did not answer within {} s", self.url(), within.as_secs_f32());
                Err(Failed::sent(Fault::new(FaultKind::Timeout, message)))
            }),
        }
    }

    async fn exchange(&self, method: &str, path: &str, body: Option<Bytes>) -> Result<(u16, Bytes), Failed> {
        let unsent = |error: &dyn std::fmt::Display| {
            let fault =
                Fault::new(FaultKind::Upstream, format!("cannot reach a Tectum at {}: {error}", self.url()));
            Failed { fault: fault.hint("start one in the project with `tectum up`"), unsent: true }
        };
        let mut sender = self.open().await.map_err(|error| unsent(&error))?;
        let request = self.request(method, path, body).map_err(Failed::sent)?;
        let broken = |error: &dyn std::fmt::Display| {
            let message = format!("the Tectum at {} broke off: {error}", self.url());
            Failed::sent(Fault::new(FaultKind::Upstream, message))
        };
        let answer = sender.send_request(request).await.map_err(|error| broken(&error))?;
        let status = answer.status().as_u16();
        let body =
            Limited::new(answer.into_body(), MOST_ANSWER).collect().await.map_err(|error| broken(&error))?;
        Ok((status, body.to_bytes()))
    }

    async fn open(&self) -> io::Result<SendRequest<Full<Bytes>>> {
        match &self.way {
            Way::Port(authority) => opened(TcpStream::connect(authority).await?).await,
            Way::Socket(path) => {
                let stream = houses::connect(path)?;
                stream.set_nonblocking(true)?;
                opened(UnixStream::from_std(stream)?).await
            }
        }
    }

    fn request(&self, method: &str, path: &str, body: Option<Bytes>) -> Result<Request<Full<Bytes>>, Fault> {
        let host = match &self.way {
            Way::Port(authority) => authority.as_str(),
            Way::Socket(_) => "localhost",
        };
        let mut request =
            Request::builder().method(method).uri(path).header(HOST, host).header(ACCEPT, "application/json");
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, format!("Bearer {token}"));
        }
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        request
            .body(Full::new(body.unwrap_or_default()))
            .map_err(|error| Fault::invalid(format!("`{method} {path}` is not a request: {error}")))
    }
}

/// A connection, which a task of its own carries on.
async fn opened<S>(stream: S) -> io::Result<SendRequest<Full<Bytes>>>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    // What goes wrong with it is told to whoever waits for the answer.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}

/// The refusal in an answer, as a fault.
pub(super) fn refusal(status: u16, body: &[u8]) -> Fault {
    let kind = match status {
        400 | 405 | 415 | 422 => FaultKind::InvalidInput,
        401 | 403 => FaultKind::Permission,
        404 => FaultKind::NotFound,
        409 => FaultKind::Conflict,
        413 => FaultKind::TooLarge,
        504 => FaultKind::Timeout,
        _ => FaultKind::Upstream,
    };
    let said: Value = serde_json::from_slice(body).unwrap_or_default();
    let (message, hint) = match &said["error"] {
        Value::Object(error) => {
            (error.get("message").and_then(Value::as_str), error.get("hint").and_then(Value::as_str))
        }
        Value::String(message) => (Some(message.as_str()), None),
        _ => (None, None),
    };
    let plain = || String::from_utf8_lossy(&body[..body.len().min(200)]).trim().to_owned();
    let fault = Fault::new(kind, format!("status {status}: {}", message.map_or_else(plain, str::to_owned)));
    match hint {
        Some(hint) => fault.hint(hint),
        None if status == 401 => fault.hint("set TECTUM_TOKEN to the token of that Tectum"),
        None => fault,
    }
}
