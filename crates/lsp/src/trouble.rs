//! The failures of a server, as sentences for the caller.

use std::{io, time::Duration};

use thiserror::Error;

/// Why a question was not answered.
#[derive(Debug, Clone, Error)]
pub enum Trouble {
    /// The program does not exist, or may not be run.
    #[error("{0}")]
    NotStarted(String),
    /// The handshake is not done yet.
    #[error("the server is still starting ({} s so far)", .0.as_secs())]
    Starting(Duration),
    /// The handshake timed out.
    #[error("the server did not finish the handshake within {} s and was ended", .0.as_secs())]
    Silent(Duration),
    /// The diagnostics for this version of the text are not there in time.
    #[error("the server has not finished with this version of the text within {}", seconds(*.0))]
    Slow(Duration),
    /// The server ended by itself.
    #[error("the server ended: {0}")]
    Died(String),
    /// The server ended before, and waits for its backoff.
    #[error("{why}; it is not started again for {}", seconds(*.pause))]
    Pausing {
        /// How it ended.
        why: String,
        /// The rest of the pause.
        pause: Duration,
    },
    /// The server broke the protocol.
    #[error("the server sent {0}, and was ended")]
    Nonsense(String),
    /// The server does not read its input.
    #[error("the server does not read what it is sent, and was ended")]
    Stuck,
    /// The server refused a valid request.
    #[error("the server refused: {0}")]
    Refused(String),
    /// The server was idle, and was ended.
    #[error("the server was not needed any more")]
    Idle,
}

impl Trouble {
    pub(crate) fn start(error: &io::Error) -> Self {
        Self::NotStarted(error.to_string())
    }
}

/// A duration for people: `2 s`, `0.3 s`.
fn seconds(time: Duration) -> String {
    let tenths = time.as_millis().div_ceil(100);
    if tenths.is_multiple_of(10) {
        format!("{} s", tenths / 10)
    } else {
        format!("{}.{} s", tenths / 10, tenths % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        for (milliseconds, expect) in
            [(0, "0 s"), (250, "0.3 s"), (2000, "2 s"), (1901, "2 s"), (60_000, "60 s")]
        {
            assert_eq!(seconds(Duration::from_millis(milliseconds)), expect);
        }
    }
}
