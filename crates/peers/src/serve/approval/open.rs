//! What waits for the next try of a modern client: a question of the rules, or a call that goes on.

use std::sync::Arc;

use serde_json::value::RawValue;
use tectum_approval::{Desk, OpenQuestion};
use tectum_core::Consent;

/// The beginning of the handles of our own questions.
pub(crate) const MARK: &str = "tectum-ask1.";

/// What waits for the client's next try.
#[derive(Debug)]
pub(crate) struct NextTry {
    pub(super) answer: PendingAnswer,
    pub(super) brought: Brought,
}

/// The state of the answer.
#[derive(Debug)]
pub(super) enum PendingAnswer {
    /// Nothing yet.
    Open(Posted),
    /// It was a yes, and the call has not ended.
    Yes(Consent),
}

/// A question at the desk. Letting go of it takes it back.
#[derive(Debug)]
pub(super) struct Posted {
    pub(super) desk: Arc<Desk>,
    pub(super) question: Arc<OpenQuestion>,
}

impl Drop for Posted {
    fn drop(&mut self) {
        self.desk.withdraw(&self.question.id);
    }
}

/// The answers and the state that a try brought along for the server beyond us.
#[derive(Clone, Debug, Default)]
pub(super) struct Brought {
    pub(super) input: Option<Box<RawValue>>,
    pub(super) state: Option<String>,
}
