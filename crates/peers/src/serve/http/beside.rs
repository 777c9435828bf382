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

/// Answers what is not for the MCP endpoint.
#[derive(Clone)]
pub struct Beside(Arc<dyn Fn(BesideRequest) -> BesideAnswer + Send + Sync>);

impl Beside {
    /// From a function.
    pub fn new<F, A>(answer: F) -> Self
    where
        F: Fn(BesideRequest) -> A + Send + Sync + 'static,
        A: Future<Output = Response<BesideBody>> + Send + 'static,
    {
        Self(Arc::new(move |request| Box::pin(answer(request))))
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
        (self.0)(request)
    }
}

impl fmt::Debug for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Beside")
    }
}
