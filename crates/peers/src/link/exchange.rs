//! One request and all that comes back for it, in order.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::{Link, Loss, Question, mailbox::Receiver};
use crate::wire::object::quoted;

/// Something that came for a request.
#[derive(Debug)]
pub(crate) enum Event {
    /// A notification: progress, a log line.
    Note {
        /// Its method.
        method: String,
        /// Its parameters as they were written.
        params: Box<RawValue>,
    },
    /// A question of the server's.
    Question(Question),
    /// The answer: the last event.
    Answer(Result<Box<RawValue>, Box<RawValue>>),
    /// There will be none: also the last.
    Lost(Loss),
}

impl Event {
    /// The room that it takes while it waits; an answer waits for nobody.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Note { method, params } => size_of::<Self>() + method.len() + params.get().len(),
            Self::Question(question) => question.size(),
            Self::Answer(_) | Self::Lost(_) => 0,
        }
    }
}

/// A request in flight. Letting go of it before its answer cancels it.
#[derive(Debug)]
pub(crate) struct Exchange {
    id: u64,
    link: Arc<Link>,
    events: Receiver,
    ended: bool,
}

impl Exchange {
    pub(super) fn new(id: u64, link: Arc<Link>, events: Receiver) -> Self {
        Self { id, link, events, ended: false }
    }

    /// The connection it runs on.
    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    /// The server waits for an answer of ours, or does so no longer.
    pub(crate) fn waits(&self, waits: bool) {
        self.link.inbox.waits(self.id, waits);
    }

    /// What comes next. After the last event it is lost for ever.
    pub(crate) async fn next(&mut self) -> Event {
        let event = match self.events.recv().await {
            Some(event) => event,
            None => Event::Lost(Loss::Gone("the connection was closed".into())),
        };
        self.ended |= matches!(event, Event::Answer(_) | Event::Lost(_));
        self.link.inbox.taken(self.id, event.size());
        event
    }

    /// The answer, whatever else comes before it is let go; questions are refused.
    pub(crate) async fn answer(mut self) -> Result<Result<Box<RawValue>, Box<RawValue>>, Loss> {
        loop {
            match self.next().await {
                Event::Answer(answer) => return Ok(answer),
                Event::Lost(loss) => return Err(loss),
                Event::Note { .. } => {}
                Event::Question(Question { id, method, .. }) => {
                    let why = quoted(&format!("{method} is not answered here"));
                    self.link.reply(&id, Err(&format!(r#"{{"code":-32601,"message":{why}}}"#)))?;
                }
            }
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.ended {
            self.link.abandon(self.id);
        }
    }
}
