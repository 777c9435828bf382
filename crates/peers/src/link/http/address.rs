//! The address of a remote server, and everything that goes with every request to it: the configured
//! headers, the login, and the refusal to be led to another origin.

use std::{error::Error as _, time::Duration};

use bytes::Bytes;
use reqwest::{
    Client, Method, Response, StatusCode, Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, LOCATION, WWW_AUTHENTICATE},
    redirect,
};
use tectum_core::fault::bottom;

use crate::{
    auth::{Challenge, Login},
    spec,
    wire::{Loss, is_local, origin::parse, same_origin},
};

/// The time a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);
/// The time an unused connection is kept.
const IDLE: Duration = Duration::from_secs(90);
/// Connections to one host that are kept for the next request: a burst leaves hundreds behind.
const MOST_IDLE: usize = 16;
/// Redirects followed within one origin: a slash more or less, a moved path.
const MOST_REDIRECTS: usize = 5;
/// The most times one request is sent anew because of its login: once for an old token, once for one
/// that lacks a right, and once more for a server that changed its mind meanwhile.
const MOST_LOGINS: usize = 3;
/// The largest body of a refusal that is looked at.
pub(super) const MAX_REFUSAL: usize = 1024 * 1024;

/// A server's address.
pub(crate) struct Address {
    client: Client,
    url: Url,
    headers: HeaderMap,
    /// Absent where the configuration brings its own authorization.
    login: Option<Login>,
}

/// The reason why nothing came back.
#[derive(Debug)]
pub(crate) struct Unsent {
    /// In the link's words.
    pub(crate) loss: Loss,
    /// True if somebody took the request: then another form of it may fare better.
    pub(crate) reached: bool,
    /// True if nobody listens there: the machine itself said so.
    pub(crate) absent: bool,
}

/// The kind of HTTP client that an address needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClientKind {
    /// Speak TLS. One that never does needs no certificates, and some machines have none.
    tls: bool,
    /// Stay on this machine. A proxy has no business there, whatever the environment says.
    local: bool,
}

impl ClientKind {
    /// The number of them.
    pub(crate) const COUNT: usize = 4;

    /// The kind that this address needs.
    pub(crate) fn new(url: &Url) -> Self {
        Self { tls: url.scheme() == "https", local: is_local(url) }
    }

    /// Its number, below `COUNT`.
    pub(crate) fn number(self) -> usize {
        usize::from(self.tls) * 2 + usize::from(self.local)
    }
}

/// A client for many servers: its connections are kept and shared.
pub(crate) fn client(kind: ClientKind) -> Result<Client, String> {
    // A redirect within the origin may be followed as long as the method stays what it was.
    // Anything else is for the operator to see, not for us to obey.
    let policy = redirect::Policy::custom(|attempt| {
        let keeps =
            matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        let same = attempt.previous().last().is_some_and(|last| same_origin(last, attempt.url()));
        if keeps && same && attempt.previous().len() <= MOST_REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    });
    let mut builder = Client::builder();
    if !kind.tls {
        builder = builder.tls_certs_only([]);
    }
    if kind.local {
        builder = builder.no_proxy();
    }
    builder
        .user_agent(concat!("tectum/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(MOST_IDLE)
        .tcp_nodelay(true)
        .referer(false)
        .redirect(policy)
        .build()
        .map_err(|error| format!("no HTTP client can be made: {}", words(&error)))
}

impl Address {
    /// Checks an address and its headers.
    pub(crate) fn new(client: Client, remote: &spec::Remote, login: Login) -> Result<Self, String> {
        let url = parse(&remote.url)?;
        let mut headers = HeaderMap::new();
        for (name, value) in &remote.headers {
            let key = HeaderName::from_bytes(name.as_bytes())
                .map_err(|_| format!("`{name}` cannot be the name of a header"))?;
            // The value is a secret more often than not, so it is not repeated.
            let mut value = HeaderValue::from_str(value.reveal()).map_err(|_| {
                format!("the value of header `{name}` cannot be sent: it holds a line break or the like")
            })?;
            value.set_sensitive(true);
            headers.insert(key, value);
        }
        let login = (!headers.contains_key(AUTHORIZATION)).then_some(login);
        Ok(Self { client, url, headers, login })
    }

    /// The configured address.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Sends a request, with the login the server wants where there is one. `more` wins over
    /// configured headers of the same name.
    pub(crate) async fn send(
        &self,
        method: Method,
        to: &Url,
        more: HeaderMap,
        body: Bytes,
    ) -> Result<Response, Unsent> {
        let reached = |loss| Unsent { loss, reached: true, absent: false };
        for _ in 0..=MOST_LOGINS {
            let mut headers = self.headers.clone();
            headers.extend(more.clone());
            let token = match &self.login {
                Some(login) if same_origin(&self.url, to) => login.bearer().await.map_err(reached)?,
                _ => None,
            };
            if let Some(token) = &token {
                headers.insert(AUTHORIZATION, token.header().map_err(reached)?);
            }
            let request = self.client.request(method.clone(), to.clone()).headers(headers).body(body.clone());
            let response = request.send().await.map_err(|error| self.unsent(&error))?;
            let Some(refusal) = refusal(&response) else { return Ok(response) };
            let Some(login) = &self.login else {
                let what = "it does not accept the configured Authorization header";
                return Err(reached(Loss::Unauthorized(format!("{what} (HTTP {})", response.status()))));
            };
            login.refused(refusal, token).await.map_err(reached)?;
        }
        Err(reached(Loss::Unauthorized("it refused every login it was given".into())))
    }

    fn unsent(&self, error: &reqwest::Error) -> Unsent {
        let host = self.url.origin().ascii_serialization();
        let loss = if error.is_connect() {
            Loss::Failed(format!("{host} cannot be reached: {}", words(error)))
        } else {
            Loss::Cut(format!("{host} did not answer: {}", words(error)))
        };
        Unsent { loss, reached: !error.is_connect(), absent: nobody_listens(error) }
    }
}

/// The challenge of a response that asks for a login, or for more rights. A plain 403 is
/// an answer like any other.
fn refusal(response: &Response) -> Option<Challenge> {
    let challenge = response
        .headers()
        .get_all(WWW_AUTHENTICATE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .find(|value| value.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer")))
        .map(str::to_owned);
    match response.status() {
        StatusCode::UNAUTHORIZED => Some(Challenge { text: challenge, rights: false }),
        StatusCode::FORBIDDEN if challenge.as_ref()?.contains("insufficient_scope") => {
            Some(Challenge { text: challenge, rights: true })
        }
        _ => None,
    }
}

/// A body, whole, within a bound.
pub(crate) async fn collect(mut response: Response, most: usize) -> Result<Vec<u8>, String> {
    let announced = response.content_length().unwrap_or(0);
    if announced > most as u64 {
        return Err(format!("its answer has {announced} bytes, the limit is {most}"));
    }
    let mut body = Vec::with_capacity(usize::try_from(announced).unwrap_or(0));
    while let Some(chunk) = response.chunk().await.map_err(|error| broken(&error))? {
        if body.len() + chunk.len() > most {
            return Err(format!("its answer has more than {most} bytes, which is the limit"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// A status without a message in it in words, with the beginning of its body.
pub(crate) fn status_words(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> String {
    if status.is_redirection() {
        let to = headers.get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or("nowhere");
        let to: String = to.chars().take(200).collect();
        return format!(
            "it redirects to {to} (HTTP {status}), which is not followed: configure that address if it is the right one"
        );
    }
    let text: String = String::from_utf8_lossy(body).chars().take(200).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() || text.starts_with('<') {
        return format!("it answered HTTP {status}");
    }
    format!("it answered HTTP {status}: {text}")
}

/// A connection that broke in the middle.
pub(crate) fn broken(error: &reqwest::Error) -> String {
    format!("the connection broke: {}", words(error))
}

/// True when the machine is there and no server on it.
fn nobody_listens(error: &reqwest::Error) -> bool {
    let mut source = error.source();
    while let Some(inner) = source {
        let io = inner.downcast_ref::<std::io::Error>();
        if io.is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused) {
            return true;
        }
        source = inner.source();
    }
    false
}

/// The innermost cause of an error; the address stays out, since it may hold a secret.
fn words(error: &reqwest::Error) -> String {
    bottom(error).unwrap_or_else(|| {
        if error.is_timeout() { "it took too long".into() } else { "the request could not be sent".into() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_on_this_machine_are_known() {
        for (url, tls, local) in [
            ("http://localhost:1/", false, true),
            ("http://127.0.0.1/", false, true),
            ("http://[::1]:8/", false, true),
            ("https://mcp.localhost/", true, true),
            ("https://localhost.example/", true, false),
            ("http://10.0.0.1/", false, false),
        ] {
            assert_eq!(ClientKind::new(&parse(url).expect(url)), ClientKind { tls, local }, "{url}");
        }
    }
}
