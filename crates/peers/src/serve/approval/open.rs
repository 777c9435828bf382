//! A question of the rules that waits for the next try of a modern client.

use serde_json::value::RawValue;
use tectum_core::{Decision, Fault, Question};
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

/// The beginning of the handles of our own questions.
pub(crate) const MARK: &str = "tectum-ask1.";

/// A question that waits for the client's next try.
#[derive(Debug)]
pub(crate) struct OpenQuestion {
    pub(super) question: Question,
    pub(super) answer: PendingAnswer,
    pub(super) brought: Brought,
}

/// The state of the answer.
#[derive(Debug)]
pub(super) enum PendingAnswer {
    /// Nothing yet. Letting go of it takes the question back from the desk.
    Open { decide: oneshot::Sender<Decision>, settled: AbortOnDropHandle<Result<(), Fault>> },
    /// It was a yes, and the call has not ended.
    Yes,
}

/// The answers and the state that a try brought along for the server beyond us.
#[derive(Clone, Debug, Default)]
pub(super) struct Brought {
    pub(super) input: Option<Box<RawValue>>,
    pub(super) state: Option<String>,
}
