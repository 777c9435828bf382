//! The address that the browser comes back to after a login: one address on this machine, for one
//! answer.

use std::{sync::Arc, time::Duration};

use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use reqwest::Url;
use subtle::ConstantTimeEq as _;
use tokio::{net::TcpListener, sync::oneshot};

/// The time a person may take.
const PATIENCE: Duration = Duration::from_secs(5 * 60);
/// The time one connection may take to say what it wants.
const CONNECTION: Duration = Duration::from_secs(10);
/// Connections looked at together; a browser opens one or two ahead.
const MOST_CONNECTIONS: usize = 16;
const PATH: &str = "/callback";

/// A listener for one answer.
pub(super) struct Callback {
    listener: TcpListener,
    base: Url,
}

impl Callback {
    /// Listens on this machine only, at a port the system chooses.
    pub(super) async fn listen() -> Result<Self, String> {
        let failed =
            |error: std::io::Error| format!("no port can be opened for the browser's answer: {error}");
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let base =
            Url::parse(&format!("http://127.0.0.1:{port}{PATH}")).map_err(|error| error.to_string())?;
        Ok(Self { listener, base })
    }

    /// The address to come back to.
    pub(super) fn address(&self) -> &Url {
        &self.base
    }

    /// Waits for the one answer that repeats `state`. Anything else is turned away.
    pub(super) async fn answer(self, state: &str) -> Result<Url, String> {
        let (send, mut answered) = oneshot::channel();
        let desk = Arc::new(Desk { base: self.base, state: state.to_owned(), send: Mutex::new(Some(send)) });
        let seats = Arc::new(tokio::sync::Semaphore::new(MOST_CONNECTIONS));
        let accepting = async {
            loop {
                let seat = seats.clone().acquire_owned().await;
                let Ok((stream, _)) = self.listener.accept().await else { continue };
                let desk = desk.clone();
                tokio::spawn(async move {
                    let _seat = seat;
                    let service = service_fn(move |request| {
                        let desk = desk.clone();
                        async move { Ok::<_, std::convert::Infallible>(desk.serve(&request)) }
                    });
                    let serving = http1::Builder::new()
                        .timer(TokioTimer::new())
                        .keep_alive(false)
                        .serve_connection(TokioIo::new(stream), service);
                    let _ = tokio::time::timeout(CONNECTION, serving).await;
                });
            }
        };
        tokio::select! {
            answer = &mut answered => answer.map_err(|_| "no answer came".into()),
            () = accepting => Err("no answer came".into()),
            () = tokio::time::sleep(PATIENCE) => Err("nobody logged in within five minutes".into()),
        }
    }
}

struct Desk {
    base: Url,
    state: String,
    send: Mutex<Option<oneshot::Sender<Url>>>,
}

impl Desk {
    fn serve(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        if request.uri().path() != PATH {
            return page(StatusCode::NOT_FOUND, "There is nothing here.");
        }
        if request.method() != Method::GET {
            return page(StatusCode::METHOD_NOT_ALLOWED, "Only GET is answered here.");
        }
        // Only a browser that was sent to this very address knows it under this name.
        let host = request.headers().get(HOST).and_then(|host| host.to_str().ok());
        let own = self.base.port().map(|port| format!("127.0.0.1:{port}"));
        if host != own.as_deref() {
            return page(StatusCode::FORBIDDEN, "This address is not for you.");
        }
        let mut answer = self.base.clone();
        answer.set_query(request.uri().query());
        let state = answer.query_pairs().find(|(key, _)| key == "state").map(|(_, value)| value.into_owned());
        let matches = state.is_some_and(|state| bool::from(state.as_bytes().ct_eq(self.state.as_bytes())));
        if !matches {
            return page(StatusCode::BAD_REQUEST, "This is not the answer to the login that was started.");
        }
        let refused = answer.query_pairs().any(|(key, _)| key == "error");
        match self.send.lock().take() {
            None => page(StatusCode::GONE, "This login is over."),
            Some(send) => {
                let _ = send.send(answer);
                let said = if refused {
                    "The login was refused. The terminal says more; this window can be closed."
                } else {
                    "The terminal goes on from here; this window can be closed."
                };
                page(StatusCode::OK, said)
            }
        }
    }
}

fn page(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let body = format!("<!doctype html><meta charset=utf-8><title>Tectum</title><p>{text}</p>\n");
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert("referrer-policy", HeaderValue::from_static("no-referrer"));
    response
}
