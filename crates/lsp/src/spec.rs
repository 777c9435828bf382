//! The server to keep, its timeouts, and the question to it.

use std::{path::PathBuf, sync::Arc, time::Duration};

use serde_json::Value;
use tectum_child::Launch;

/// The server to start, and where.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The command.
    pub launch: Launch,
    /// The directories it works on; it starts in the first.
    pub roots: Vec<PathBuf>,
    /// The program that ends it with everything it started, see `tectum_child`.
    pub guard: Option<PathBuf>,
    /// The most memory each of its processes may take, in bytes.
    pub memory: Option<u64>,
    /// The initialization options that it gets in the handshake.
    pub options: Value,
    /// The settings that it gets on request.
    pub settings: Value,
}

/// The timeouts of a server.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// How long a question waits for a server to start, and for its first answer.
    pub start: Duration,
    /// How long a start may take before the server is given up.
    pub most_start: Duration,
    /// How long a question waits for a server that has answered before.
    pub answer: Duration,
    /// The silence after which the diagnostics of a server that names no versions are final.
    pub settle: Duration,
    /// How long a server may be idle before it is ended.
    pub idle: Duration,
    /// The backoff after a death; it doubles with every death that follows without an answer.
    pub pause: Duration,
    /// The longest backoff.
    pub most_pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            // Below the deadline of a tool's call, so that the caller gets the reason and not the deadline.
            start: Duration::from_secs(50),
            // A large project on a cold disk; package runners download first.
            most_start: Duration::from_secs(180),
            // The time that an agent accepts to wait after each edit.
            answer: Duration::from_secs(2),
            // Longer than the gaps between the parts of one analysis.
            settle: Duration::from_millis(500),
            // Frees the memory; the next question starts the server again.
            idle: Duration::from_secs(10 * 60),
            pause: Duration::from_secs(1),
            most_pause: Duration::from_secs(60),
        }
    }
}

/// A text to check.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The absolute path of its file.
    pub path: PathBuf,
    /// The language, as the protocol names it.
    pub language: &'static str,
    /// The text.
    pub text: Arc<str>,
}
