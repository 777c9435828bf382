//! The inbox of a connection, which sorts its messages: to the request they belong to, or to the loose
//! ones.
//!
//! Requests of ours are told apart by our own ids, so nothing a server or a client writes into
//! an id can reach another's call.

mod budget;
mod glance;
mod limits;
mod room;
mod signals;
mod sort;
mod turn;

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use self::{budget::Allowance, room::Rooms, turn::ReadTurn};
pub(crate) use self::{
    room::Room,
    signals::{Signal, Signals},
};
use super::{
    Event, Question, Receiver,
    mailbox::{Sender, mailbox},
    noise::Noise,
    question::Questions,
};
use crate::wire::Loss;

/// Events kept for one call that its client has not taken yet; beyond that the call fails, so
/// that what arrives is either whole or known to be lost.
const MOST_QUEUED: usize = 65_536;
/// Events beyond which a call's log messages are let go, and its questions refused: a server that
/// floods harms its own words, not the call.
const MOST_WORDS: usize = 1024;
/// Bytes of events that may wait for all calls of a connection; beyond that the call fails that
/// the next one comes for.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of events beyond which a call's log messages are let go.
const MOST_WORD_BYTES: usize = 1024 * 1024;
/// Loose messages that may wait. How many bytes is said in [`room`].
pub(crate) const LOOSE: usize = 1024;

/// The loose messages, each with the room it takes until it is gone.
pub(crate) type LooseMessages = mpsc::Receiver<(Loose, Room)>;

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

/// The way a message arrived.
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
    loose: mpsc::Sender<(Loose, Room)>,
    rooms: Rooms,
    /// Signals of the server that need no message of their own.
    pub(crate) signals: Signals,
    budget: Mutex<Allowance>,
    turn: ReadTurn,
    closed: CancellationToken,
    /// Set when there was a message.
    heard: AtomicBool,
}

#[derive(Debug, Default)]
struct Table {
    open: BTreeMap<u64, Slot>,
    /// Bytes that wait for the requests.
    bytes: usize,
    lost: Option<Loss>,
    /// When the last request began; `None` before the first.
    used: Option<Instant>,
    /// Whose requests there ever were.
    users: Users,
    questions: Questions,
    noise: Noise,
}

/// The users of a connection.
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
    bytes: usize,
    /// The largest answer that it may have.
    most: usize,
    owner: Option<u64>,
    /// Set while the server waits for an answer of ours: it asks nothing new then.
    waits: bool,
}

impl Inbox {
    /// An inbox, and where its loose messages come out.
    pub(crate) fn new() -> (Arc<Self>, LooseMessages) {
        let (loose, taken) = mpsc::channel(LOOSE);
        let inbox = Self {
            table: Mutex::default(),
            loose,
            rooms: Rooms::default(),
            signals: Signals::default(),
            budget: Mutex::new(Allowance::new(Instant::now())),
            turn: ReadTurn::default(),
            closed: CancellationToken::new(),
            heard: AtomicBool::new(false),
        };
        (Arc::new(inbox), taken)
    }

    pub(super) fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    /// A request begins whose answer may have `most` bytes.
    pub(super) fn open(&self, id: u64, owner: Option<u64>, most: usize) -> Result<Receiver, Loss> {
        let mut table = self.table.lock();
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
        table.open.insert(id, Slot { events, queued: 0, bytes: 0, most, owner, waits: false });
        Ok(taken)
    }

    /// An event of this size was taken out of a request's queue.
    pub(super) fn taken(&self, id: u64, size: usize) {
        let mut table = self.table.lock();
        if let Some(slot) = table.open.get_mut(&id) {
            slot.queued = slot.queued.saturating_sub(1);
            slot.bytes = slot.bytes.saturating_sub(size);
            table.bytes = table.bytes.saturating_sub(size);
        }
    }

    /// The server waits for an answer to what it asked for this request, or does so no longer.
    pub(super) fn waits(&self, id: u64, waits: bool) {
        if let Some(slot) = self.table.lock().open.get_mut(&id) {
            slot.waits = waits;
        }
    }

    /// A question is about to be answered; false when the server does not wait for it any more.
    pub(super) fn settle(&self, question: &str) -> bool {
        self.table.lock().questions.settle(question)
    }

    /// True while more than one answer is waited for.
    pub(super) fn is_busy(&self) -> bool {
        self.table.lock().open.len() > 1
    }

    /// True while somebody waits for this answer.
    pub(super) fn is_open(&self, id: u64) -> bool {
        self.table.lock().open.contains_key(&id)
    }

    pub(super) fn forget(&self, id: u64) {
        self.table.lock().remove(id);
    }

    /// The time for which nobody has asked anything, if nothing is in flight.
    pub(crate) fn idle(&self) -> Option<Duration> {
        let table = self.table.lock();
        let used = table.used.filter(|_| table.open.is_empty())?;
        Some(used.elapsed())
    }

    /// True when anybody but this client ever asked anything here.
    pub(crate) fn is_shared(&self, client: u64) -> bool {
        match self.table.lock().users {
            Users::Nobody => false,
            Users::One(user) => user != client,
            Users::Several => true,
        }
    }

    /// The output that is no message, in words.
    pub(crate) fn noise(&self) -> Option<String> {
        self.table.lock().noise.words()
    }

    /// The end of the connection, once it has ended.
    pub(crate) fn lost(&self) -> Option<Loss> {
        self.table.lock().lost.clone()
    }

    /// One request failed on its way.
    pub(crate) fn fail(&self, id: u64, loss: Loss) {
        if let Some(slot) = self.table.lock().remove(id) {
            slot.events.send(Event::Lost(loss));
        }
    }

    /// The connection ended, as this request met it: it alone was certainly not looked at. It is
    /// told when the end is known, so that whoever repeats it does so on another connection.
    pub(crate) fn refuse(&self, id: u64, how: &str) {
        let met = self.table.lock().remove(id);
        self.close(Loss::Gone(how.to_owned()));
        if let Some(slot) = met {
            slot.events.send(Event::Lost(Loss::Refused(how.to_owned())));
        }
    }

    /// The connection ended: every request on it is told.
    pub(crate) fn close(&self, loss: Loss) {
        let mut table = self.table.lock();
        if table.lost.is_some() {
            return;
        }
        table.bytes = 0;
        for slot in std::mem::take(&mut table.open).into_values() {
            slot.events.send(Event::Lost(loss.clone()));
        }
        table.lost = Some(loss);
        table.questions.clear();
        drop(table);
        self.closed.cancel();
    }
}

impl Table {
    /// Takes out a request that comes to nothing, and what was asked for it.
    fn remove(&mut self, id: u64) -> Option<Slot> {
        self.questions.failed(id);
        self.take(id)
    }

    /// Takes out a request. What still waits for it is its caller's from now on.
    fn take(&mut self, id: u64) -> Option<Slot> {
        let slot = self.open.remove(&id)?;
        self.bytes = self.bytes.saturating_sub(slot.bytes);
        Some(slot)
    }
}
