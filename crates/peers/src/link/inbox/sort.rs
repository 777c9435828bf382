//! Sorting: what a message is, and to which request it goes or that it goes to none.

use std::{sync::atomic::Ordering, time::Instant};

use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::{
    Inbox, Loose, MOST_BYTES, MOST_QUEUED, MOST_WORD_BYTES, MOST_WORDS, Origin,
    glance::{Glance, glance, request},
    signals::Signal,
};
use crate::{
    link::{Event, Question},
    wire::{Loss, Members, Opened, SUBSCRIPTION, rpc},
};

/// The depth to which a message may nest: clients read it with parsers that recurse.
const MOST_DEPTH: usize = 128;
/// The longest id of a question: people and programs number theirs.
const MOST_ID: usize = 256;

impl Inbox {
    /// Takes one message. What cannot be read is let go: no id of ours can be found in it.
    pub(crate) fn deliver(&self, bytes: &[u8], origin: Origin) {
        self.turn.count();
        let has_to_be_read = match glance(bytes) {
            Glance::Unasked(method) => match Signal::named(&method) {
                Some(signal) => {
                    // Said often it means no more, so it is heard even where it is over the budget.
                    self.signals.give(signal);
                    self.affords(bytes.len());
                    false
                }
                None => is_of_a_request(&method, origin) || self.affords(bytes.len()),
            },
            // A second or late answer finds nobody.
            Glance::Answer(Some(id)) if !self.is_open(id) => {
                self.affords(bytes.len());
                false
            }
            Glance::Answer(_) => true,
            Glance::Unknown => return self.read(bytes, origin),
        };
        self.heard.store(true, Ordering::Relaxed);
        if has_to_be_read {
            self.read(bytes, origin);
        }
    }

    /// Reads one message and sorts it.
    fn read(&self, bytes: &[u8], origin: Origin) {
        if rpc::nests_deeper_than(bytes, MOST_DEPTH) {
            if let Some(id) = rpc::salvage_id(bytes).and_then(|id| request(&id)) {
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
                let id = response.id.and_then(request).filter(|id| self.is_open(*id));
                let Some(id) = id else {
                    self.affords(bytes.len());
                    return;
                };
                let answer = response.outcome.map(ToOwned::to_owned).map_err(ToOwned::to_owned);
                let mut table = self.table.lock();
                if let Some(slot) = table.take(id) {
                    table.questions.answered(id);
                    slot.events.send(Event::Answer(answer));
                }
            }
            Ok(Opened::Notification { method, params }) => self.note(method.into_owned(), params, origin),
            Ok(Opened::Request { id, method, params }) => {
                self.question(id.to_owned(), method.into_owned(), params, origin);
            }
            Err(malformed) => {
                if !self.affords(bytes.len()) {
                    return;
                }
                tracing::debug!(why = malformed.message, "a server sent what is no message");
                if self.table.lock().noise.add(bytes) && !self.heard.load(Ordering::Relaxed) {
                    self.close(Loss::Gone(
                        "it wrote nothing else than what is no message and was given up".into(),
                    ));
                }
            }
        }
    }

    /// A message over the bound: the request it answers fails, if its id can still be read.
    pub(crate) fn deliver_too_long(&self, start: &[u8], size: usize) {
        let id = match glance(start) {
            Glance::Answer(Some(id)) => Some(id),
            // Whose answer it is stands behind it, and that was not kept.
            Glance::Answer(None) => self.only_open(),
            Glance::Unasked(_) => None,
            Glance::Unknown => rpc::salvage_id(start).and_then(|id| request(&id)),
        };
        if let Some(id) = id {
            let most = self.most_of(id);
            self.fail(id, Loss::Failed(format!("its answer has {size} bytes, the limit is {most}")));
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
            None if method == "notifications/progress" => _ = self.affords(params.get().len()),
            None => {
                let size = method.len() + params.get().len();
                self.loosen(Loose::Note { method, params }, size);
            }
        }
    }

    fn question(&self, id: String, method: String, params: &str, origin: Origin) {
        if id.len() > MOST_ID {
            return tracing::debug!("a server's question was dropped: its id is too long");
        }
        if method == "ping" {
            self.loosen(Loose::Ping { id }, MOST_ID);
            return;
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
        let flooded = self.budget.lock().is_over(Instant::now());
        let mut table = self.table.lock();
        let full = to.and_then(|to| table.open.get(&to)).is_some_and(|slot| slot.queued >= MOST_WORDS);
        // Who floods asks nobody: no person should be asked what is left of thousands of questions.
        if full || flooded || !table.questions.add(&question, to) {
            drop(table);
            self.loosen(Loose::TooMany { id: question.id }, MOST_ID);
            return;
        }
        drop(table);
        match to {
            Some(request) => self.push(request, Event::Question(question)),
            None => {
                let (id, size) = (question.id.clone(), question.size());
                // One that nobody can take is not waited for.
                if !self.loosen(Loose::Question(question), size) {
                    self.table.lock().questions.settle(&id);
                }
            }
        }
    }

    /// The one request in flight, if there is only one.
    fn only_open(&self) -> Option<u64> {
        let table = self.table.lock();
        let mut open = table.open.keys();
        open.next().copied().filter(|_| open.next().is_none())
    }

    /// The server takes one of its own questions back. Which one is said by its id alone, so it
    /// does not matter how this came.
    fn withdraw(&self, params: &RawValue) {
        let Some(members) = Members::of(params.get()) else { return };
        let Some(question) = members.get("requestId") else { return };
        let mut table = self.table.lock();
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
        let table = self.table.lock();
        let mut owned = table
            .open
            .iter()
            .filter(|(_, slot)| !slot.waits)
            .filter_map(|(id, slot)| Some((*id, slot.owner?)));
        let (first, owner) = owned.next()?;
        owned.all(|(_, other)| other == owner).then_some(first)
    }

    fn push(&self, id: u64, event: Event) {
        let mut table = self.table.lock();
        let table = &mut *table;
        let Some(slot) = table.open.get_mut(&id) else { return };
        let (size, words) =
            (event.size(), matches!(&event, Event::Note { method, .. } if method == "notifications/message"));
        if words && (slot.queued >= MOST_WORDS || slot.bytes >= MOST_WORD_BYTES) {
            return;
        }
        slot.queued += 1;
        slot.bytes += size;
        table.bytes += size;
        if slot.queued <= MOST_QUEUED && table.bytes <= MOST_BYTES {
            slot.events.send(event);
        } else if let Some(slot) = table.remove(id) {
            slot.events.send(Event::Lost(Loss::Flooded));
        }
    }

    /// Passes on what belongs to no request; false when there is no room for it.
    fn loosen(&self, message: Loose, size: usize) -> bool {
        let taken = self.rooms.take(size).is_some_and(|room| self.loose.try_send((message, room)).is_ok());
        if !taken {
            self.budget.lock().total += 1;
            tracing::debug!("a server's message was dropped: nobody takes them as fast as it sends");
        }
        taken
    }
}

/// True for what may belong to a request of ours, and is no flood as long as it does.
fn is_of_a_request(method: &str, origin: Origin) -> bool {
    match method {
        "notifications/progress" | "notifications/subscriptions/acknowledged" => true,
        "notifications/message" => matches!(origin, Origin::Stream(_)),
        _ => false,
    }
}

fn owned(params: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(params.to_owned()).ok()
}

#[cfg(test)]
#[path = "sort_tests.rs"]
mod tests;
