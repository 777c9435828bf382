//! The questions to a client of the older era while a call of its is under way.

use std::{collections::HashMap, sync::Arc};

use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    client::{Conversation, Outbox},
    link::{Link, Loss, Question},
};

/// The questions of one call.
#[derive(Default)]
pub(super) struct OpenQuestions {
    /// For this call.
    own: JoinSet<Result<(), Loss>>,
    /// For this call as far as one can tell: the server may want the answer after the call.
    guessed: JoinSet<Result<(), Loss>>,
    /// When each of the guessed is over for its server.
    over: HashMap<Id, CancellationToken>,
}

impl OpenQuestions {
    /// Puts one more question to the client.
    pub(super) fn ask(
        &mut self,
        client: Arc<Conversation>,
        outbox: Option<Outbox>,
        link: Arc<Link>,
        question: Question,
    ) {
        let (certain, over) = (question.certain, question.over.clone());
        let asking = async move { client.ask_for(&link, outbox, &question).await };
        if certain {
            self.own.spawn(asking);
        } else {
            self.over.insert(self.guessed.spawn(asking).id(), over);
        }
    }

    /// The number of questions without an answer yet.
    pub(super) fn len(&self) -> usize {
        self.own.len() + self.guessed.len()
    }

    /// Waits until one of them has its end.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            Some(_) = self.own.join_next() => {}
            Some(ended) = self.guessed.join_next_with_id() => self.forget(ended),
            else => {}
        }
    }

    /// The call has its end. What the client is still asked for it is taken back before it has the
    /// answer. What was not for this call ends when it is answered or taken back, or with its
    /// connection.
    pub(super) async fn end(mut self) {
        self.own.shutdown().await;
        while self.over.values().any(CancellationToken::is_cancelled) {
            match self.guessed.join_next_with_id().await {
                Some(ended) => self.forget(ended),
                None => break,
            }
        }
        self.guessed.detach_all();
    }

    fn forget<T>(&mut self, ended: Result<(Id, T), JoinError>) {
        let id = ended.map_or_else(|error| error.id(), |(id, _)| id);
        self.over.remove(&id);
    }
}
