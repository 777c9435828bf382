//! Which server is kept, how long it may take, and what it is asked.

use std::{path::PathBuf, sync::Arc, time::Duration};

use serde_json::Value;
use tectum_child::Launch;

/// Which server, and where.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The command.
    pub launch: Launch,
    /// The directories it is to look at; the first is where it starts.
    pub roots: Vec<PathBuf>,
    /// What ends it with everything it started, see `tectum_child`.
    pub guard: Option<PathBuf>,
    /// The most memory each of its processes may take, in bytes.
    pub memory: Option<u64>,
    /// What it is told when it is greeted.
    pub options: Value,
    /// What it is told when it asks for settings.
    pub settings: Value,
}

/// How long everything may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// How long a question waits for a server to start, and for its first answer.
    pub start: Duration,
    /// How long a start may take before the server is given up.
    pub most_start: Duration,
    /// How long a question waits for a server that has answered before.
    pub answer: Duration,
    /// A server that names no versions has said what counts when it was silent for so long.
    pub settle: Duration,
    /// A server that nobody asked for so long is ended.
    pub idle: Duration,
    /// The pause after a death; it doubles with every death that follows without an answer.
    pub pause: Duration,
    /// The longest pause.
    pub most_pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            // Below the deadline of a tool's call, so that the reason is told and not the deadline.
            start: Duration::from_secs(50),
            // A large project on a cold disk; package runners download first.
            most_start: Duration::from_secs(180),
            // What an agent likes to wait after each edit.
            answer: Duration::from_secs(2),
            // Longer than the parts of one analysis are apart.
            settle: Duration::from_millis(500),
            // Memory is given back, and the next question starts it again.
            idle: Duration::from_secs(10 * 60),
            pause: Duration::from_secs(1),
            most_pause: Duration::from_secs(60),
        }
    }
}

/// A text to look at.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its file's absolute path.
    pub path: PathBuf,
    /// Its language, as the protocol names it.
    pub language: &'static str,
    /// The text.
    pub text: Arc<str>,
}
