//! The body of a request: read once, with a bound on its size and its time, then JSON of the documented form.

use std::time::Duration;

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, Request},
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::{self, DeserializeOwned};
use tectum_core::{Fault, FaultKind};

use super::refusal::Refusal;

/// The most bytes of a body.
pub(super) const MOST: usize = 1024 * 1024;
/// The most bytes of what a stranger may send.
pub(super) const SMALL: usize = 4 * 1024;
/// The time that a client may take to send it.
const PATIENCE: Duration = Duration::from_secs(10);

/// The whole body, if it has at most so many bytes.
pub(super) async fn read<B>(body: B, most: usize) -> Result<Bytes, Refusal>
where
    B: axum::body::HttpBody<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let reading = Limited::new(body, most).collect();
    match tokio::time::timeout(PATIENCE, reading).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let message = format!("the body of a request may have {} KiB", most / 1024);
            Err(Fault::new(FaultKind::TooLarge, message).hint("send less at once").into())
        }
        Ok(Err(error)) => Err(Fault::invalid(format!("the body could not be read: {error}")).into()),
        Err(_) => Err(Refusal::with(
            StatusCode::REQUEST_TIMEOUT,
            Fault::new(FaultKind::Timeout, "the body came too slowly").hint("send it again"),
        )),
    }
}

/// A body of JSON.
#[derive(Debug)]
pub(super) struct Posted<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Posted<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request<Body>, _: &S) -> Result<Self, Refusal> {
        if !is_json(request.headers()) {
            return Err(Refusal::with(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                Fault::invalid("the body must be JSON")
                    .hint("send the header Content-Type: application/json"),
            ));
        }
        let bytes = read(request.into_body(), MOST).await?;
        // A list of its members in their order would do for a form as well, and nobody means that.
        let is_object = bytes.trim_ascii_start().starts_with(b"{");
        let read = if is_object {
            serde_json::from_slice(&bytes)
        } else {
            Err(de::Error::custom("it is no object"))
        };
        match read {
            Ok(value) => Ok(Self(value)),
            Err(error) => Err(Fault::invalid(format!("the body is not what this path takes: {error}"))
                .hint("/api/openapi.json describes the body of every request")
                .into()),
        }
    }
}

/// True for `application/json`, with or without parameters.
fn is_json(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(CONTENT_TYPE).iter();
    let kind = kinds.next().filter(|_| kinds.next().is_none()).and_then(|kind| kind.to_str().ok());
    kind.and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
