//! Sorting: what a message is, and to which request it goes or that it goes to none.

use std::sync::atomic::Ordering;

use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::{Inbox, Loose, MOST_QUEUED, MOST_WORDS, Origin};
use crate::{
    link::{Event, Loss, MAX_MESSAGE, Question},
    wire::{
        object::Members,
        rpc::{self, Opened},
    },
};

/// How deep a message may nest: clients read it with parsers that recurse.
const MOST_DEPTH: usize = 128;
/// Where a message of a subscription says which one it belongs to.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

impl Inbox {
    /// Takes one message. What cannot be read is let go: no id of ours can be found in it.
    pub(crate) fn deliver(&self, bytes: &[u8], origin: Origin) {
        if rpc::nests_deeper_than(bytes, MOST_DEPTH) {
            let id = rpc::salvage_id(bytes).and_then(|id| id.trim_matches('"').parse().ok());
            if let Some(id) = id {
                self.fail(id, Loss::Failed(format!("its answer nests deeper than {MOST_DEPTH} levels")));
            }
            return;
        }
        let opened = rpc::open(bytes);
        if opened.is_ok() {
            self.heard.store(true, Ordering::Relaxed);
        }
        match opened {
            Ok(Opened::Response(response)) => {
                let Some(id) = response.id.and_then(|id| id.trim_matches('"').parse().ok()) else { return };
                let answer = response.outcome.map(ToOwned::to_owned).map_err(ToOwned::to_owned);
                // A second or late answer finds nobody.
                let mut table = self.table();
                if let Some(slot) = table.open.remove(&id) {
                    table.questions.answered(id);
                    slot.events.send(Event::Answer(answer));
                }
            }
            Ok(Opened::Notification { method, params }) => self.note(method.into_owned(), params, origin),
            Ok(Opened::Request { id, method, params }) => {
                self.question(id.to_owned(), method.into_owned(), params, origin);
            }
            Err(malformed) => {
                tracing::debug!(why = malformed.message, "a server sent what is no message");
                if self.table().noise.add(bytes) && !self.heard.load(Ordering::Relaxed) {
                    self.close(Loss::Gone(
                        "it wrote nothing else than what is no message and was given up".into(),
                    ));
                }
            }
        }
    }

    /// A message over the bound: the request it answers fails, if its id can still be read.
    pub(crate) fn deliver_too_long(&self, start: &[u8], size: usize) {
        let id = rpc::salvage_id(start).and_then(|id| id.trim_matches('"').parse().ok());
        if let Some(id) = id {
            self.fail(id, Loss::Failed(format!("its answer has {size} bytes, the limit is {MAX_MESSAGE}")));
        }
    }

    fn note(&self, method: String, params: &str, origin: Origin) {
        let Some(params) = owned(params) else { return };
        if method == "notifications/cancelled" {
            return self.withdraw(&params);
        }
        let to = match (&*method, origin) {
            ("notifications/progress", _) => Members::of(params.get())
                .and_then(|members| members.get("progressToken"))
                .and_then(|token| token.get().trim_matches('"').parse().ok()),
            // That a subscription began concerns the request that asked for it.
            ("notifications/subscriptions/acknowledged", Origin::Stream(id)) => Some(id),
            ("notifications/subscriptions/acknowledged", Origin::Shared) => Members::of(params.get())
                .and_then(|members| Members::of(members.get("_meta")?.get())?.get(SUBSCRIPTION))
                .and_then(|id| id.get().trim_matches('"').parse().ok()),
            ("notifications/message", Origin::Stream(id)) => Some(id),
            ("notifications/message", Origin::Shared) => self.only_owner(),
            _ => None,
        };
        match to {
            Some(id) => self.push(id, Event::Note { method, params }),
            // Progress of nothing has no place to go.
            None if method == "notifications/progress" => {}
            None => self.loosen(Loose::Note { method, params }),
        }
    }

    fn question(&self, id: String, method: String, params: &str, origin: Origin) {
        if method == "ping" {
            return self.loosen(Loose::Ping { id });
        }
        // No server asks this: it is our own question, sent back.
        if matches!(&*method, "initialize" | "server/discover") {
            return self.close(Loss::Gone("it sent back what it was told, as no MCP server does,".into()));
        }
        let Some(params) = owned(params) else { return };
        let to = match origin {
            Origin::Stream(request) => Some(request),
            Origin::Shared => self.only_owner(),
        };
        let certain = matches!(origin, Origin::Stream(_));
        let question = Question { id, method, params, over: CancellationToken::new(), certain };
        let mut table = self.table();
        let full = to.and_then(|to| table.open.get(&to)).is_some_and(|slot| slot.queued >= MOST_WORDS);
        if full || !table.questions.add(&question, to) {
            drop(table);
            return self.loosen(Loose::TooMany { id: question.id });
        }
        drop(table);
        match to {
            Some(request) => self.push(request, Event::Question(question)),
            None => self.loosen(Loose::Question(question)),
        }
    }

    /// The server takes one of its own questions back. Which one is said by its id alone, so it
    /// does not matter how this came.
    fn withdraw(&self, params: &RawValue) {
        let Some(members) = Members::of(params.get()) else { return };
        let Some(question) = members.get("requestId") else { return };
        let mut table = self.table();
        let request = table.questions.withdraw(question.get());
        // What waits for nothing may ask again.
        if let Some(slot) = request.and_then(|request| table.open.get_mut(&request)) {
            slot.waits = false;
        }
    }

    /// The oldest request in flight, if all that are belong to one client: a message that names
    /// no request must not be shown to somebody else. Requests whose question is still open do
    /// not count.
    fn only_owner(&self) -> Option<u64> {
        let table = self.table();
        let mut owned = table
            .open
            .iter()
            .filter(|(_, slot)| !slot.waits)
            .filter_map(|(id, slot)| Some((*id, slot.owner?)));
        let (first, owner) = owned.next()?;
        owned.all(|(_, other)| other == owner).then_some(first)
    }

    fn push(&self, id: u64, event: Event) {
        let mut table = self.table();
        let Some(slot) = table.open.get_mut(&id) else { return };
        let words = matches!(&event, Event::Note { method, .. } if method == "notifications/message");
        if words && slot.queued >= MOST_WORDS {
            return;
        }
        slot.queued += 1;
        if slot.queued <= MOST_QUEUED {
            slot.events.send(event);
        } else if let Some(slot) = table.remove(id) {
            slot.events.send(Event::Lost(Loss::Flooded));
        }
    }

    fn loosen(&self, message: Loose) {
        if self.loose.try_send(message).is_err() {
            tracing::debug!("a server's message was dropped: nobody takes them as fast as it sends");
        }
    }
}

fn owned(params: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(params.to_owned()).ok()
}
