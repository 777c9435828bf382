//! What a server says and asks outside of any call.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::task::JoinSet;

use crate::{
    federation::{TOO_MANY, TaskNote, abilities, can, refusal, shown_question},
    link::{Link, Loose, LooseMessages, Question, Room, Signal},
    peer::{Class, News, Peer, Surroundings, What},
    serve::Conversation,
    wire::object::{Members, quoted},
};

/// Questions outside of calls that a server may have open on one connection.
const MOST_ASKED: usize = 32;

/// The longest word that a question was answered elsewhere: it holds an id.
const MOST_DONE: usize = 4 * 1024;

/// One connection, and what is said on it that belongs to no call.
pub(super) struct Hearing {
    pub(super) peer: Arc<Peer>,
    pub(super) class: Class,
    pub(super) link: Arc<Link>,
    pub(super) around: Surroundings,
    /// What a client is being asked outside of a call.
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
                signals = link.signals().taken() => {
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
                Loose::Note { method, params } => self.note(&method, &params, room).await,
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

    async fn note(&self, method: &str, params: &RawValue, room: Room) {
        let (peer, news, server) = (&self.peer, &self.around.news, self.peer.spec.name.clone());
        match method {
            "notifications/resources/updated" => {
                let uri = Members::of(params.get()).and_then(|members| members.text("uri"));
                // Of what nobody watches nobody needs to hear.
                if let Some(uri) = uri.filter(|uri| self.around.watchers.watch(&server, uri)) {
                    let _ = news.send(News::Updated { server, uri }).await;
                }
            }
            "notifications/elicitation/complete" if params.get().len() <= MOST_DONE => {
                let _ = news.send(News::ElicitationDone { params: params.get().to_owned() }).await;
            }
            TaskNote::METHOD => {
                let params = params.get().to_owned();
                let _ = news.send(News::Task { server, params, room }).await;
            }
            "notifications/message" => {
                peer.stderr.push(params.get().as_bytes());
                peer.stderr.push(b"\n");
            }
            _ => tracing::debug!(server = %peer.spec.name, method, "a notification nobody waits for"),
        }
    }

    /// A question outside of a call, such as for roots after the handshake, is put to the client
    /// this connection was made for, if it is the only one that it can be for: no other client
    /// has the same connection, and nobody else ever used it. Any other question is refused.
    fn question(&mut self, mut question: Question) {
        let link = self.link.clone();
        match shown_question(&self.peer.spec.name, &question.method, &question.params) {
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
        let client = self.around.clients.only(same).filter(|client| !link.is_shared(client.key()));
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
        let why = quoted(&format!("{}: {refusal}", question.method));
        let _ = link.reply(&question.id, Err(&format!(r#"{{"code":-32601,"message":{why}}}"#)));
    }
}
