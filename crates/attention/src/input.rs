//! What comes in: readings, events, failures to read, and what the agent does.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Seconds since the Unix epoch, by a clock that never goes back.
pub type Seconds = f64;

/// One thing that happened to an organ since the last tick.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A state was read.
    State(Reading),
    /// A fact that is known to matter.
    Event(Event),
    /// The state could not be read, in time or at all: the old one stays and grows stale.
    Unreadable {
        /// Whose state.
        organ: String,
        /// When it was tried.
        at: Seconds,
    },
    /// The resource no longer exists: what waits of it is dropped and counted.
    Gone {
        /// Whose resource.
        organ: String,
        /// When it was found out.
        at: Seconds,
    },
}

/// The whole state of a resource at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Whose state.
    pub organ: String,
    /// When it was read.
    pub at: Seconds,
    /// The state; text that is no JSON is a string.
    pub state: Value,
    /// How far the source is believed: 1 for what a server sent by itself, 0.75 for what was polled.
    pub trust: f64,
}

impl Reading {
    /// A reading that was polled.
    pub fn new(organ: impl Into<String>, at: Seconds, state: Value) -> Self {
        Self { organ: organ.into(), at, state, trust: 0.75 }
    }

    /// A reading that the source sent by itself.
    pub fn pushed(organ: impl Into<String>, at: Seconds, state: Value) -> Self {
        Self { trust: 1.0, ..Self::new(organ, at, state) }
    }
}

/// A fact of an internal organ, ready to be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Which organ found it, such as `internal:files`.
    pub organ: String,
    /// When it happened.
    pub at: Seconds,
    /// What it is about, such as a file or a command. A later event of the same organ and subject takes
    /// the place of one that waits, and one whose `new` is the waiting one's `old` cancels it.
    pub subject: String,
    /// Which property of the subject changed, such as `content` or `exit`.
    pub path: String,
    /// Its value before.
    pub old: Option<String>,
    /// Its value now.
    pub new: String,
    /// How bad it is.
    pub severity: Severity,
    /// Whether something broke or came back.
    pub direction: Direction,
    /// How it touches the agent's task, as a clause: `which you read 2 min ago`.
    pub touches: Option<String>,
    /// Where to read more: an address or a path.
    pub details: Option<String>,
}

/// How bad a value is, from the enums that services publish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing is known of the value.
    #[default]
    None,
    /// Somebody may want to know: `pending`, `queued`, `minor`.
    Notice,
    /// Somebody should act: `action_required`, `requested`, `degraded`.
    Warning,
    /// Something does not work: `failure`, `timed_out`, `down`.
    Failure,
    /// Much does not work: `critical`, `major_outage`. Always urgent.
    Critical,
}

impl Severity {
    /// As a part of salience, 0 to 1.
    pub fn weight(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Notice => 0.3,
            Self::Warning => 0.7,
            Self::Failure => 0.9,
            Self::Critical => 1.0,
        }
    }
}

/// Where a change leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From good to bad.
    Breaking,
    /// From bad to good.
    Recovering,
    /// Neither, or nobody knows.
    #[default]
    Neutral,
}

/// What the agent is doing, which decides when it can be spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRhythm {
    /// The number of the current round, or of the one that will come next.
    pub round: u64,
    /// Whether the agent is in the middle of a call (phase π) or between rounds (phase 0).
    pub in_call: bool,
}

impl AgentRhythm {
    /// Between rounds, with this number for the round that comes next.
    pub fn between(round: u64) -> Self {
        Self { round, in_call: false }
    }

    /// In the middle of a call of this round.
    pub fn in_call(round: u64) -> Self {
        Self { round, in_call: true }
    }

    /// An agent that has not begun: round 0, no call.
    pub fn idle() -> Self {
        Self::between(0)
    }

    /// The global phase Φ.
    pub(crate) fn phase(self) -> f64 {
        if self.in_call { std::f64::consts::PI } else { 0.0 }
    }
}

/// What the agent works on, for relevance and for the clause that says how news touch it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// What it touched last, newest first; only the first 64 count.
    pub touched: Vec<Touch>,
}

/// One thing that the agent touched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Touch {
    /// A path, a branch, a number of a pull request, as it would stand in a resource's state.
    pub what: String,
    /// What the agent did with it, past tense: `read`, `changed`.
    pub how: String,
    /// When.
    pub at: Seconds,
}
