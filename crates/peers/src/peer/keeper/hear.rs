//! The messages and questions of a server outside of any call.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::task::JoinSet;

use crate::{
    client::{Conversation, Notice, TaskNote, abilities, can},
    link::{Link, Loose, LooseMessages, Question, Room, Signal, TOO_MANY},
    peer::{
        Class, Peer, Surroundings, What,
        questions::{in_result, refusal, shown},
    },
    wire::{Members, code, error_object},
};

/// Questions outside of calls that a server may have open on one connection.
const MOST_ASKED: usize = 32;

/// The longest notification that a question was answered elsewhere: it holds an id.
const MOST_DONE: usize = 4 * 1024;

/// One connection, and what is said on it that belongs to no call.
pub(super) struct Hearing {
    pub(super) peer: Arc<Peer>,
    pub(super) class: Class,
    pub(super) link: Arc<Link>,
    pub(super) around: Surroundings,
    /// The questions to a client outside of a call.
    asking: JoinSet<()>,
}

impl Hearing {
    pub(super) fn new(peer: Arc<Peer>, class: Class, link: Arc<Link>, around: Surroundings) -> Self {
        Self { peer, class, link, around, asking: JoinSet::new() }
    }

    /// Takes what comes until the connection ends.
    pub(super) async fn hear(mut self, mut loose: LooseMessages) {
        let link = self.link.clone();
        loop {
            let message = tokio::select! {
                // What was said before the end is still heard.
                biased;
                message = loose.recv() => message,
                signals = link.inbox.signals.taken() => {
                    for signal in signals {
                        self.signal(signal).await;
                    }
                    continue;
                }
                Some(_) = self.asking.join_next() => continue,
                () = link.closed().cancelled() => None,
            };
            let Some((message, room)) = message else { return };
            match message {
                Loose::Note { method, params } => self.note(&method, params, room),
                Loose::Question(question) => self.question(question),
                Loose::Ping { id } => drop(link.answer(&id, Ok("{}"))),
                Loose::TooMany { id } => drop(link.answer(&id, Err(TOO_MANY))),
            }
        }
    }

    async fn signal(&self, signal: Signal) {
        let (peer, class) = (&self.peer, &self.class);
        match signal {
            Signal::Tools => peer.changed(What::Tools, class).await,
            Signal::Resources => peer.changed(What::Resources, class).await,
            Signal::Prompts => peer.changed(What::Prompts, class).await,
            Signal::Flooding => tracing::warn!(
                server = %peer.spec.name,
                "sends more messages that nobody asked for than can be taken: they are dropped"
            ),
        }
    }

    /// Tells clients what they may want to know of a notification.
    fn note(&self, method: &str, params: Box<RawValue>, room: Room) {
        let (peer, around, server) = (&self.peer, &self.around, &self.peer.spec.name);
        match method {
            "notifications/resources/updated" => {
                let uri = Members::of(params.get()).and_then(|members| members.text("uri"));
                let names = uri.map(|uri| around.watchers.names(server, &uri)).unwrap_or_default();
                // Of what nobody watches nobody needs to hear.
                if !names.is_empty() {
                    around.notices.send(Notice::Updated { names, room });
                }
            }
            "notifications/elicitation/complete" if params.get().len() <= MOST_DONE => {
                around.notices.send(Notice::ElicitationDone { params: params.get().to_owned(), room });
            }
            TaskNote::METHOD => match in_result(server, params) {
                Ok(params) => {
                    let note = around.tasks.told(server.clone(), params.get(), room);
                    note.into_iter().for_each(|note| around.notices.send(Notice::Task(note)));
                }
                Err(why) => tracing::warn!(%server, why, "a task is not told of"),
            },
            "notifications/message" => {
                peer.stderr.push(params.get().as_bytes());
                peer.stderr.push(b"\n");
            }
            _ => tracing::debug!(%server, method, "a notification nobody waits for"),
        }
    }

    /// A question outside of a call, such as for roots after the handshake, is put to the client
    /// this connection was made for, if it is the only one that it can be for: no other client
    /// has the same connection, and nobody else ever used it. Any other question is refused.
    fn question(&mut self, mut question: Question) {
        let link = self.link.clone();
        match shown(&self.peer.spec.name, &question.method, &question.params) {
            Ok(params) => question.params = params,
            Err(why) => {
                tracing::warn!(server = %self.peer.spec.name, why, "a question is refused");
                let _ = link.reply(&question.id, Err(&refusal(&question.method, &why)));
                return;
            }
        }
        let same = |client: &Conversation| {
            self.peer.class(&abilities(&client.capabilities()), Some(client.key())) == self.class
        };
        let client = self.around.clients.only(same).filter(|client| !link.inbox.is_shared(client.key()));
        let refusal = match client {
            Some(client) if !can(&client.capabilities(), &question.method) => "the client cannot do this",
            Some(_) if self.asking.len() >= MOST_ASKED => "too many questions at once",
            Some(client) => {
                // Whoever is gone needs no answer.
                self.asking.spawn(async move { drop(client.ask_for(&link, None, &question).await) });
                return;
            }
            None => "it is not clear whose call this belongs to",
        };
        let why = error_object(code::METHOD_NOT_FOUND, &format!("{}: {refusal}", question.method));
        let _ = link.reply(&question.id, Err(&why));
    }
}
