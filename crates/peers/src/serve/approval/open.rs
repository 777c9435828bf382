//! A question of the rules that waits for the next try of a modern client.

use serde_json::value::RawValue;
use tectum_core::{Decision, Fault, Question};
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

/// What the handles of our own questions begin with.
pub(crate) const MARK: &str = "tectum-ask1.";

/// A question that waits for the client's next try.
#[derive(Debug)]
pub(crate) struct OpenQuestion {
    pub(super) question: Question,
    pub(super) answer: PendingAnswer,
    pub(super) brought: Brought,
}

/// What is known of the answer.
#[derive(Debug)]
pub(super) enum PendingAnswer {
    /// Nothing yet. Letting go of it takes the question back from the desk.
    Open { decide: oneshot::Sender<Decision>, settled: AbortOnDropHandle<Result<(), Fault>> },
    /// It was a yes, and the call has not ended.
    Yes,
}

/// What a try brought along for the server beyond us: answers to it, and what it wants to see again.
#[derive(Clone, Debug, Default)]
pub(super) struct Brought {
    pub(super) input: Option<Box<RawValue>>,
    pub(super) state: Option<String>,
}
