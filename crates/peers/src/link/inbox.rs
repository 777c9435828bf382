//! Where a connection's messages are sorted: to the request they belong to, or to the loose ones.
//!
//! Requests of ours are told apart by our own ids, so nothing a server or a client writes into
//! an id can reach another's call.

mod sort;

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::{Duration, Instant},
};

use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    Event, Loss, Question,
    mailbox::{Receiver, Sender, mailbox},
    noise::Noise,
    question::Questions,
};

/// Events kept for one call that its client has not taken yet; beyond that the call fails, so
/// that what arrives is either whole or known to be lost.
const MOST_QUEUED: usize = 65_536;
/// Events beyond which a call's log messages are let go, and its questions refused: a server that
/// floods harms its own words, not the call.
const MOST_WORDS: usize = 1024;
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
