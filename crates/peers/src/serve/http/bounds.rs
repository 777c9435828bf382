//! The bounds of every connection, whoever is at its other end.

use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioTimer;

/// The time a client may take to send the head of a request.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// The largest head of a request.
pub(super) const MAX_HEAD: usize = 64 * 1024;

/// A connection within them.
pub(super) fn http_builder() -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(MAX_HEAD)
        .keep_alive(true);
    builder
}
