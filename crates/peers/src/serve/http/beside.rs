//! The further service on the same address beside MCP, behind the same guard; and on a socket that only
//! its owner can open, which needs none. This crate does not know what it is.

use std::{convert::Infallible, error::Error, fmt, pin::Pin, sync::Arc};

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::{Request, Response, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;

use super::bounds::http_builder;

/// A request that passed the guard.
pub type BesideRequest = Request<Incoming>;

/// The body of an answer, whole or a stream.
pub type BesideBody = UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>;

type BesideAnswer = Pin<Box<dyn Future<Output = Response<BesideBody>> + Send>>;

/// Who sent a request that shows no token, as the other service knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// A stranger, who is refused.
    Refused,
    /// A stranger, who may ask for this all the same.
    Public,
    /// Somebody who proved in another way who he is.
    Known,
}

/// Answers what is not for the MCP endpoint.
#[derive(Clone)]
pub struct Beside {
    answer: Arc<dyn Fn(BesideRequest) -> BesideAnswer + Send + Sync>,
    admit: Arc<dyn Fn(&BesideRequest) -> Admission + Send + Sync>,
}

impl Beside {
    /// From a function.
    pub fn new<F, A>(answer: F) -> Self
    where
        F: Fn(BesideRequest) -> A + Send + Sync + 'static,
        A: Future<Output = Response<BesideBody>> + Send + 'static,
    {
        Self {
            answer: Arc::new(move |request| Box::pin(answer(request))),
            admit: Arc::new(|_| Admission::Refused),
        }
    }

    /// Asks this about requests without the token; none of them is served otherwise.
    #[must_use]
    pub fn admitting(mut self, admit: impl Fn(&BesideRequest) -> Admission + Send + Sync + 'static) -> Self {
        self.admit = Arc::new(admit);
        self
    }

    pub(super) fn admit(&self, request: &BesideRequest) -> Admission {
        (self.admit)(request)
    }

    /// Answers the requests on a connection whose other end is known to be the owner's, until it is closed.
    pub async fn serve(&self, stream: UnixStream) {
        let handler = service_fn(|request| {
            let answering = self.answer(request);
            async move { Ok::<_, Infallible>(answering.await) }
        });
        if let Err(error) = http_builder().serve_connection(TokioIo::new(stream), handler).await {
            tracing::debug!(%error, "a connection of the owner ended early");
        }
    }

    pub(super) fn answer(&self, request: BesideRequest) -> BesideAnswer {
        (self.answer)(request)
    }
}

impl fmt::Debug for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Beside")
    }
}
