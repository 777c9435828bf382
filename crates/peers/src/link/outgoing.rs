//! A message on its way to a server, and how large one of a server's may be.

/// The largest message taken from a server: thirty megabytes of picture pass, a line without
/// an end does not.
pub(crate) const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// The largest message that nobody asked for: a question may bring a picture along.
pub(crate) const MOST_UNASKED: usize = 4 * 1024 * 1024;
/// The largest page of a list. Thousands of definitions fit.
const MOST_PAGE: usize = 8 * 1024 * 1024;

/// The largest answer to a request: what tools and resources give may be large, what a server says
/// of itself is not.
pub(super) fn most_answer(method: &str) -> usize {
    match method {
        "initialize" | "server/discover" | "subscriptions/listen" | "logging/setLevel" => MOST_UNASKED,
        "resources/subscribe" | "resources/unsubscribe" => MOST_UNASKED,
        _ if method.ends_with("/list") => MOST_PAGE,
        _ => MAX_MESSAGE,
    }
}

/// A message on its way out.
pub(crate) struct Outgoing {
    /// The whole message, without a newline.
    pub(crate) bytes: Vec<u8>,
    /// Set for a request of ours, whose answer is awaited.
    pub(crate) request: Option<RequestHead>,
}

/// The parts of a request that a transport must know to carry it.
pub(crate) struct RequestHead {
    pub(crate) id: u64,
    pub(crate) method: &'static str,
    /// Its subject, for transports that name it beside the body.
    pub(crate) name: Option<String>,
    /// Further values that stand beside the body.
    pub(crate) headers: Vec<(String, String)>,
}
