//! The seam to whoever says yes: before a ticket, before a worker, before a proposed track runs.

use std::pin::Pin;

use serde_json::Value;
use tectum_core::Fault;

/// What the yes is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsentKind {
    /// A ticket begins.
    Step,
    /// A worker is made.
    Spawn,
    /// A proposed track runs.
    Plan,
}

impl ConsentKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Spawn => "spawn",
            Self::Plan => "plan",
        }
    }
}

/// A question to a person.
#[derive(Clone, Debug)]
pub struct ConsentQuestion {
    /// What the yes is for.
    pub kind: ConsentKind,
    /// The id of the ticket, or of the track.
    pub subject: String,
    /// The question, for people.
    pub text: String,
    /// What is agreed to: the description of a ticket, or a track. The person may change it.
    pub proposal: Value,
    /// Whatever else helps to decide.
    pub data: Value,
}

/// The future of one question; without a fault it is a yes to the proposal it gives.
pub type Consenting<'c> = Pin<Box<dyn Future<Output = Result<Value, Fault>> + Send + 'c>>;

/// Whoever says yes. Silence, and nobody to ask, are faults. Dropping the future withdraws the question.
pub trait Consent: Send + Sync {
    /// Asks.
    fn ask(&self, question: ConsentQuestion) -> Consenting<'_>;
}
