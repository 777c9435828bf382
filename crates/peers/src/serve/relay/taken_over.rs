//! A client as a house leaves it behind, and what it is told then.

use tectum_core::{Fault, FaultKind};

use crate::{
    serve::answer,
    wire::{Era, frame},
};

/// A client as a house leaves it behind.
#[derive(Debug, Default)]
pub struct TakenOver {
    /// The messages that the new house has to know, and that were answered before, under what each settles.
    pub(in crate::serve) known: Vec<(String, Vec<u8>)>,
    /// The calls that end here: nobody knows how far they came.
    pub(super) lost: Vec<LostCall>,
    /// The questions that the client need not answer any more.
    pub(super) questions: Vec<u64>,
    /// The number of the last question that it was asked.
    pub(in crate::serve) last_question: u64,
    /// The bytes to begin with: other requests again, and a line that the client has not ended.
    pub(in crate::serve) input: Vec<u8>,
}

/// A call whose house ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LostCall {
    pub(super) id: String,
    /// True if it was made in the newer era.
    pub(super) modern: bool,
}

impl TakenOver {
    /// The messages that tell the client what it waits for in vain, and what it need not answer.
    pub(in crate::serve) fn told(&self) -> impl Iterator<Item = Vec<u8>> {
        let questions = self.questions.iter().map(|question| {
            let params = format!(r#"{{"requestId":{question},"reason":"the Tectum that asked has ended"}}"#);
            frame::notification("notifications/cancelled", &params)
        });
        let lost = self.lost.iter().map(|LostCall { id, modern }| {
            let message = "the Tectum that ran this call ended before it answered";
            let fault = Fault::new(FaultKind::Upstream, message)
                .hint("look whether it took effect before you repeat it");
            let mut out = Vec::new();
            answer::fault(&mut out, id, if *modern { Era::Modern } else { Era::Legacy }, &fault);
            out
        });
        questions.chain(lost)
    }
}
