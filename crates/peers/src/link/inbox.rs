//! Where a connection's messages are sorted: to the request they belong to, or to the loose ones.
//!
//! Requests of ours are told apart by our own ids, so nothing a server or a client writes into
//! an id can reach another's call.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    Event, Loss, MAX_MESSAGE, Question,
    mailbox::{Receiver, Sender, mailbox},
    noise::Noise,
    question::Questions,
};
use crate::wire::{
    object::Members,
    rpc::{self, Opened},
};

/// Events kept for one call that its client has not taken yet; beyond that the call fails, so
/// that what arrives is either whole or known to be lost.
const MOST_QUEUED: usize = 65_536;
/// Events beyond which a call's log messages are let go, and its questions refused: a server that
/// floods harms its own words, not the call.
const MOST_WORDS: usize = 1024;
/// How deep a message may nest: clients read it with parsers that recurse.
const MOST_DEPTH: usize = 128;
/// Where a message of a subscription says which one it belongs to.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// Loose messages that may wait.
pub(crate) const LOOSE: usize = 1024;

/// A message that belongs to no request of ours.
#[derive(Debug)]
pub(crate) enum Loose {
    /// A notification.
    Note {
        /// Its method.
        method: String,
        /// Its parameters as they were written.
        params: Box<RawValue>,
    },
    /// A question that belongs to no request.
    Question(Question),
    /// A question beyond the bounds; it is to be refused.
    TooMany {
        /// The server's id, as it was written.
        id: String,
    },
    /// The server wants to know whether we are there.
    Ping {
        /// The server's id, as it was written.
        id: String,
    },
}

/// How a message arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// On the stream of this request.
    Stream(u64),
    /// On what all requests share.
    Shared,
}

/// Sorts what comes in.
#[derive(Debug)]
pub(crate) struct Inbox {
    table: Mutex<Table>,
    loose: mpsc::Sender<Loose>,
    closed: CancellationToken,
    /// Set when there was a message.
    heard: AtomicBool,
}

#[derive(Debug, Default)]
struct Table {
    open: BTreeMap<u64, Slot>,
    lost: Option<Loss>,
    /// When the last request began; `None` before the first.
    used: Option<Instant>,
    /// Whose requests there ever were.
    users: Users,
    questions: Questions,
    noise: Noise,
}

/// Who used a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Users {
    #[default]
    Nobody,
    One(u64),
    Several,
}

#[derive(Debug)]
struct Slot {
    events: Sender,
    queued: usize,
    owner: Option<u64>,
    /// Set while the server waits for an answer of ours: it asks nothing new then.
    waits: bool,
}

impl Inbox {
    /// An inbox, and where its loose messages come out.
    pub(crate) fn new() -> (Self, mpsc::Receiver<Loose>) {
        let (loose, taken) = mpsc::channel(LOOSE);
        let heard = AtomicBool::new(false);
        (Self { table: Mutex::default(), loose, closed: CancellationToken::new(), heard }, taken)
    }

    pub(super) fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    pub(super) fn open(&self, id: u64, owner: Option<u64>) -> Result<Receiver, Loss> {
        let mut table = self.table();
        if let Some(lost) = &table.lost {
            return Err(lost.clone());
        }
        let (events, taken) = mailbox();
        table.used = Some(Instant::now());
        table.users = match (table.users, owner) {
            (users, None) => users,
            (Users::Nobody, Some(owner)) => Users::One(owner),
            (Users::One(first), Some(owner)) if first == owner => Users::One(owner),
            (_, Some(_)) => Users::Several,
        };
        table.open.insert(id, Slot { events, queued: 0, owner, waits: false });
        Ok(taken)
    }

    /// An event was taken out of a request's queue.
    pub(super) fn taken(&self, id: u64) {
        if let Some(slot) = self.table().open.get_mut(&id) {
            slot.queued = slot.queued.saturating_sub(1);
        }
    }

    /// The server waits for an answer to what it asked for this request, or does so no longer.
    pub(super) fn waits(&self, id: u64, waits: bool) {
        if let Some(slot) = self.table().open.get_mut(&id) {
            slot.waits = waits;
        }
    }

    /// A question is about to be answered; false when the server does not wait for it any more.
    pub(super) fn settle(&self, question: &str) -> bool {
        self.table().questions.settle(question)
    }

    /// True while more than one answer is waited for.
    pub(super) fn is_busy(&self) -> bool {
        self.table().open.len() > 1
    }

    /// True while somebody waits for this answer.
    pub(super) fn is_open(&self, id: u64) -> bool {
        self.table().open.contains_key(&id)
    }

    pub(super) fn forget(&self, id: u64) {
        self.table().remove(id);
    }

    /// How long nobody has asked anything, if nothing is in flight.
    pub(super) fn idle(&self) -> Option<Duration> {
        let table = self.table();
        let used = table.used.filter(|_| table.open.is_empty())?;
        Some(used.elapsed())
    }

    /// True when anybody but this client ever asked anything here.
    pub(super) fn is_shared(&self, client: u64) -> bool {
        match self.table().users {
            Users::Nobody => false,
            Users::One(user) => user != client,
            Users::Several => true,
        }
    }

    /// What came that is no message, in words.
    pub(super) fn noise(&self) -> Option<String> {
        self.table().noise.words()
    }

    /// How the connection ended, once it has.
    pub(crate) fn lost(&self) -> Option<Loss> {
        self.table().lost.clone()
    }

    /// One request failed on its way.
    pub(crate) fn fail(&self, id: u64, loss: Loss) {
        if let Some(slot) = self.table().remove(id) {
            slot.events.send(Event::Lost(loss));
        }
    }

    /// The connection ended, as this request met it: it alone was certainly not looked at. It is
    /// told when the end is known, so that whoever repeats it does so on another connection.
    pub(crate) fn refuse(&self, id: u64, how: &str) {
        let met = self.table().remove(id);
        self.close(Loss::Gone(how.to_owned()));
        if let Some(slot) = met {
            slot.events.send(Event::Lost(Loss::Refused(how.to_owned())));
        }
    }

    /// The connection ended: every request on it is told.
    pub(crate) fn close(&self, loss: Loss) {
        let mut table = self.table();
        if table.lost.is_some() {
            return;
        }
        for slot in std::mem::take(&mut table.open).into_values() {
            slot.events.send(Event::Lost(loss.clone()));
        }
        table.lost = Some(loss);
        table.questions.clear();
        drop(table);
        self.closed.cancel();
    }

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

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Takes out a request that comes to nothing, and what was asked for it.
    fn remove(&mut self, id: u64) -> Option<Slot> {
        self.questions.failed(id);
        self.open.remove(&id)
    }
}

fn owned(params: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(params.to_owned()).ok()
}
