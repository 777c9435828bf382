//! The reasons why a connection to a server, or one request on it, came to nothing.

use std::fmt;

/// The reasons why a connection, or one request on it, came to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The server went away: how it ended, in words.
    Gone(String),
    /// One request failed on its way; the server may be well.
    Failed(String),
    /// The answer to one request broke off: the server may have done what it was asked.
    Cut(String),
    /// The server knows nothing of the session a request came in, and did not look at it.
    Refused(String),
    /// The server wants a login.
    Unauthorized(String),
    /// More came than is kept for one call.
    Flooded,
    /// The server sent so much that it was cut off.
    Flooding(String),
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone(how) | Self::Flooding(how) => f.write_str(how),
            Self::Failed(why) | Self::Cut(why) | Self::Refused(why) | Self::Unauthorized(why) => {
                f.write_str(why)
            }
            Self::Flooded => f.write_str("it sent more messages for one call than can be kept"),
        }
    }
}
