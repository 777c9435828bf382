//! Questions of tracks, asked at the desk of the house like those about calls.

use std::sync::Arc;

use tectum_approval::{Desk, PersonQuestion, Preview, QuestionKind};
use tectum_core::Tectum;
use tectum_tracks::{Board, Consent, ConsentKind, ConsentQuestion, consent::Consenting};
use tokio::{sync::broadcast::error::RecvError, task::JoinHandle};

/// The desk of a house, for tracks.
#[derive(Debug)]
pub struct AtDesk(Arc<Desk>);

impl AtDesk {
    /// The desk of this house.
    pub fn of(house: &Tectum) -> Self {
        Self(Desk::of(house))
    }
}

impl Consent for AtDesk {
    fn ask(&self, question: ConsentQuestion) -> Consenting<'_> {
        let ConsentQuestion { kind, subject, text, proposal, data } = question;
        let kind = match kind {
            ConsentKind::Step => QuestionKind::Step,
            ConsentKind::Spawn => QuestionKind::Spawn,
            ConsentKind::Plan => QuestionKind::Plan,
        };
        let preview = Preview::Text { text };
        let (session, client) = ("run".to_owned(), "tectum run".to_owned());
        let what = PersonQuestion { kind, session, client, subject, preview, arguments: proposal, data };
        Box::pin(self.0.ask_person(what))
    }
}

/// Shows on a board whether questions about calls wait. Must be called within a runtime; ends with the desk, or
/// when it is aborted.
pub fn follow(house: &Tectum, board: Arc<Board>) -> JoinHandle<()> {
    let desk = Desk::of(house);
    tokio::spawn(async move {
        let mut events = desk.events();
        loop {
            let waits = |kind| matches!(kind, QuestionKind::Call | QuestionKind::Ask);
            board.set_tool_waits(desk.questions().iter().any(|question| waits(question.kind)));
            // Whoever fell behind looks at the list again.
            if matches!(events.recv().await, Err(RecvError::Closed)) {
                return;
            }
        }
    })
}
