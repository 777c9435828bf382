//! The questions to a client in the older way, and its answers.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::oneshot;

use super::{ClientAnswer, Conversation};
use crate::{
    client::{Outbox, outbox::WeakOutbox},
    link::{Link, Loss, Question},
    wire::{code, error_object, frame, raw, rpc::Response},
};

/// Questions one client may owe answers to.
const MOST_QUESTIONS: usize = 256;

/// The number of the next question to any client.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// From now on no question has this number or a lower one: a client that another house asked may still
/// answer those.
pub(crate) fn ask_after(number: u64) {
    NEXT.fetch_max(number.saturating_add(1), Ordering::Relaxed);
}

impl Conversation {
    /// Asks the client something in the older way, on the stream of a call where there is one.
    /// Its error, and ours where it cannot be asked, come back as an error object.
    pub(crate) async fn ask(&self, outbox: Option<Outbox>, method: &str, params: &str) -> ClientAnswer {
        self.ask_and_note(outbox, method, params, || {}).await
    }

    /// The same, and notes when the question is on its way to the client.
    pub(crate) async fn ask_and_note(
        &self,
        outbox: Option<Outbox>,
        method: &str,
        params: &str,
        sent: impl FnOnce(),
    ) -> ClientAnswer {
        let refuse = |why: &str| Err(raw(error_object(code::INTERNAL, why)));
        let outbox = outbox.or_else(|| self.unasked.lock().clone());
        let Some(outbox) = outbox else { return refuse("the client cannot be asked on this connection") };
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (tell, answer) = oneshot::channel();
        {
            let mut questions = self.questions.lock();
            if questions.len() >= MOST_QUESTIONS {
                return refuse("the client owes too many answers");
            }
            questions.insert(id, tell);
        }
        let mut owed = Owed { client: self, id, told: None };
        if outbox.send(frame::request(id, method, params)).await.is_err() {
            return refuse("the client left");
        }
        sent();
        owed.told = Some(outbox.downgrade());
        // A stream that only this question would keep open may end.
        drop(outbox);
        match answer.await {
            Ok(answer) => answer,
            Err(_) => refuse("the client left"),
        }
    }

    /// Puts a server's question to the client and carries its answer back, unless the server does
    /// not wait for it any more.
    pub(crate) async fn ask_for(
        &self,
        link: &Link,
        outbox: Option<Outbox>,
        question: &Question,
    ) -> Result<(), Loss> {
        let answer = tokio::select! {
            // What was taken back before it was asked is not asked.
            biased;
            () = question.over.cancelled() => return Ok(()),
            answer = self.ask(outbox, &question.method, question.params.get()) => answer,
        };
        match answer {
            Ok(result) => link.reply(&question.id, Ok(result.get())),
            Err(error) => link.reply(&question.id, Err(error.get())),
        }
    }

    /// The client answered a question; an answer to none is let go.
    pub(crate) fn answered(&self, response: &Response<'_>) {
        let id = response.id.and_then(|id| id.parse().ok());
        let waiting = id.and_then(|id: u64| self.questions.lock().remove(&id));
        if let Some(waiting) = waiting {
            let _ = waiting.send(response.outcome.map(ToOwned::to_owned).map_err(ToOwned::to_owned));
        }
    }
}

/// A question that is forgotten when nobody waits for its answer any more: the client is told, so
/// that it asks its person no longer, and an answer that comes all the same finds nobody.
struct Owed<'c> {
    client: &'c Conversation,
    id: u64,
    /// The queue that the question went to; it is not kept open for it.
    told: Option<WeakOutbox>,
}

impl Drop for Owed<'_> {
    fn drop(&mut self) {
        let open = self.client.questions.lock().remove(&self.id).is_some();
        if let Some(outbox) = self.told.take().filter(|_| open).and_then(|told| told.upgrade()) {
            let params = format!(r#"{{"requestId":{},"reason":"nobody waits for the answer"}}"#, self.id);
            outbox.offer(frame::notification("notifications/cancelled", &params));
        }
    }
}
