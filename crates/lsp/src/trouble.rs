//! What can go wrong with a server, as sentences for whoever asked it.

use std::{io, time::Duration};

use thiserror::Error;

/// Why a question was not answered.
#[derive(Debug, Clone, Error)]
pub enum Trouble {
    /// There is no such program, or it may not be run.
    #[error("{0}")]
    NotStarted(String),
    /// It has not said hello yet.
    #[error("the server is still starting ({} s so far)", .0.as_secs())]
    Starting(Duration),
    /// It never said hello.
    #[error("the server did not say hello within {} s and was ended", .0.as_secs())]
    Silent(Duration),
    /// It has not said what is wrong with this version of the text.
    #[error("the server has not finished with this version of the text within {}", seconds(*.0))]
    Slow(Duration),
    /// It ended by itself.
    #[error("the server ended: {0}")]
    Died(String),
    /// It ended before, and gets a pause.
    #[error("{why}; it is not started again for {}", seconds(*.pause))]
    Pausing {
        /// How it ended.
        why: String,
        /// What is left of the pause.
        pause: Duration,
    },
    /// What it sent is not the protocol.
    #[error("the server sent {0}, and was ended")]
    Nonsense(String),
    /// It takes nothing in.
    #[error("the server does not read what it is sent, and was ended")]
    Stuck,
    /// It was asked properly and said no.
    #[error("the server refused: {0}")]
    Refused(String),
    /// Nobody needed it, and it was ended.
    #[error("the server was not needed any more")]
    Idle,
}

impl Trouble {
    pub(crate) fn start(error: &io::Error) -> Self {
        Self::NotStarted(error.to_string())
    }
}

/// A time for people: `2 s`, `0.3 s`.
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
