//! Short answers, and what the head of a request says.

use hyper::{
    Response, StatusCode,
    header::{ACCEPT, ALLOW, AsHeaderName, CONNECTION, HeaderMap, HeaderName, HeaderValue},
};

use super::{Reply, body};
use crate::wire::LEGACY;

/// The version of the protocol that a request is written in.
pub(super) static VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// An answer that ends a request early.
pub(super) type RefusedRequest = Box<Response<Reply>>;

pub(super) fn refuse(status: StatusCode, text: &str) -> RefusedRequest {
    Box::new(plain(status, text))
}

/// An answer after which the connection is closed.
pub(super) fn last(mut response: Response<Reply>) -> Response<Reply> {
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

pub(super) fn method_not_allowed() -> Response<Reply> {
    let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "use POST");
    response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    response
}

pub(super) fn plain(status: StatusCode, text: &str) -> Response<Reply> {
    body::full(status, "text/plain; charset=utf-8", format!("{text}\n").into_bytes())
}

/// A header that stands once, as text.
pub(super) fn header(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

pub(super) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let part = |text, end| <[u8]>::split(text, move |byte| *byte == end);
    let family = part(kind.as_bytes(), b'/').next();
    headers.get(ACCEPT).is_none_or(|accept| {
        part(accept.as_bytes(), b',').any(|one| {
            let one = part(one, b';').next().unwrap_or_default().trim_ascii();
            one == kind.as_bytes() || one == b"*/*" || one.strip_suffix(b"/*") == family
        })
    })
}

/// A version of the older era that we do not know is refused on every request.
pub(super) fn known_legacy_version(headers: &HeaderMap) -> bool {
    header(headers, &VERSION).is_none_or(|version| LEGACY.contains(&version))
}
