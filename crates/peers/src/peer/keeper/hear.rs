//! What a server says and asks outside of any call.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    federation::{TOO_MANY, TaskNote, abilities, can},
    link::{Link, Loose, Question},
    peer::{Class, News, Peer, Surroundings, What},
    serve::Conversation,
    wire::object::{Members, quoted},
};

/// Questions outside of calls that a server may have open on one connection.
const MOST_ASKED: usize = 32;

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
    pub(super) async fn hear(mut self, mut loose: mpsc::Receiver<Loose>) {
        let link = self.link.clone();
        loop {
            let message = tokio::select! {
                // What was said before the end is still heard.
                biased;
                message = loose.recv() => message,
                Some(_) = self.asking.join_next() => continue,
                () = link.closed().cancelled() => None,
            };
            match message {
                Some(Loose::Note { method, params }) => self.note(&method, &params).await,
                Some(Loose::Question(question)) => self.question(question),
                Some(Loose::Ping { id }) => drop(link.answer(&id, Ok("{}"))),
                Some(Loose::TooMany { id }) => drop(link.answer(&id, Err(TOO_MANY))),
                None => return,
            }
        }
    }

    async fn note(&self, method: &str, params: &RawValue) {
        let (peer, class, news) = (&self.peer, &self.class, &self.around.news);
        match method {
            "notifications/tools/list_changed" => peer.changed(What::Tools, class).await,
            "notifications/resources/list_changed" => peer.changed(What::Resources, class).await,
            "notifications/prompts/list_changed" => peer.changed(What::Prompts, class).await,
            "notifications/resources/updated" => {
                if let Some(uri) = Members::of(params.get()).and_then(|members| members.text("uri")) {
                    let _ = news.send(News::Updated { server: peer.spec.name.clone(), uri });
                }
            }
            "notifications/elicitation/complete" => {
                let _ = news.send(News::ElicitationDone { params: params.get().to_owned() });
            }
            TaskNote::METHOD => {
                let (server, params) = (peer.spec.name.clone(), params.get().to_owned());
                let _ = news.send(News::Task { server, params });
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
    fn question(&mut self, question: Question) {
        let link = self.link.clone();
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
