//! The state of all questions: which wait, which were settled, and which answer waits for its call. It has
//! no clock and no task, so that every order of events can be tried.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use serde_json::{Value, value::RawValue};
use tokio::sync::{broadcast, oneshot};

use crate::{DeskEvent, HowSettled, OpenQuestion};

/// How many settled questions are remembered, so that a second answer hears that it is late.
const MOST_SETTLED: usize = 4096;

/// How a question ended.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// A person agreed.
    Yes { by: Arc<str>, edited: Option<Box<RawValue>>, response: Option<Value> },
    /// A person did not, and why.
    No { by: Arc<str>, reason: String },
    /// Nobody answered in time after it was shown.
    Late,
    /// Nobody saw it in time.
    Unseen,
    /// There is nobody left who could see it.
    Nobody,
    /// Nobody needs the answer any more.
    Withdrawn,
}

impl End {
    fn how(&self) -> HowSettled {
        match self {
            Self::Yes { .. } => HowSettled::Approved,
            Self::No { .. } => HowSettled::Denied,
            Self::Late | Self::Unseen => HowSettled::Expired,
            Self::Nobody => HowSettled::Nobody,
            Self::Withdrawn => HowSettled::Withdrawn,
        }
    }
}

/// Why a question cannot be settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotOpen {
    /// It was settled before.
    Settled,
    /// There never was such a question.
    Unknown,
}

/// A question that a later call of the same kind takes up.
#[derive(Debug)]
pub(crate) enum Adopted {
    /// It still waits.
    Waiting(Arc<OpenQuestion>, oneshot::Receiver<End>),
    /// It was settled in the meantime; this is used up.
    Ended(Arc<OpenQuestion>, End),
}

/// A mutex: the real one, or one whose every order is tried.
pub(crate) trait Lock<T> {
    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R;
}

impl<T> Lock<T> for parking_lot::Mutex<T> {
    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut self.lock())
    }
}

#[derive(Debug)]
struct Entry {
    number: u64,
    question: Arc<OpenQuestion>,
    state: State,
    /// What a call must be to take it up.
    key: Option<[u8; 32]>,
}

#[derive(Debug)]
enum State {
    /// A call waits for the answer.
    Awaited(oneshot::Sender<End>),
    /// Its call has ended; the answer waits for the next one.
    Parked,
    /// Settled, and nobody has come for it yet.
    Settled(End),
}

/// All questions. One lock holds them, so every question has one order of events.
#[derive(Debug, Default)]
pub(crate) struct Book {
    open: HashMap<Arc<str>, Entry>,
    parked: HashMap<[u8; 32], Arc<str>>,
    settled: VecDeque<Arc<str>>,
    next: u64,
}

#[derive(Debug)]
pub(crate) struct Register<L = parking_lot::Mutex<Book>> {
    book: L,
    pub(crate) events: broadcast::Sender<DeskEvent>,
}

impl<L: Lock<Book>> Register<L> {
    pub(crate) fn new(book: L, events: broadcast::Sender<DeskEvent>) -> Self {
        Self { book, events }
    }

    /// Lets a question wait; its end comes here.
    pub(crate) fn open(&self, question: Arc<OpenQuestion>) -> oneshot::Receiver<End> {
        let (tell, told) = oneshot::channel();
        self.book.with(|book| {
            let number = book.next;
            book.next += 1;
            let entry = Entry { number, question: question.clone(), state: State::Awaited(tell), key: None };
            book.open.insert(question.id.clone(), entry);
            let _ = self.events.send(DeskEvent::Asked(question));
        });
        told
    }

    /// Notes that a person sees it.
    pub(crate) fn shown(&self, id: &str) -> Result<(), NotOpen> {
        self.book.with(|book| {
            let question = book.waiting(id)?;
            if question.show() {
                let _ = self.events.send(DeskEvent::Shown(question.id.clone()));
            }
            Ok(())
        })
    }

    /// Settles a question. Of several who try, the first succeeds.
    pub(crate) fn settle(&self, id: &str, end: End) -> Result<Arc<OpenQuestion>, NotOpen> {
        self.book.with(|book| {
            let question = book.waiting(id)?;
            let how = end.how();
            let reached = match book.open.get_mut(id) {
                Some(entry) if matches!(entry.state, State::Parked) => {
                    entry.state = State::Settled(end);
                    true
                }
                _ => match book.remove(id).map(|entry| entry.state) {
                    // A call that is gone takes no answer.
                    Some(State::Awaited(tell)) => tell.send(end).is_ok(),
                    _ => false,
                },
            };
            question.over.cancel();
            let how = if reached { how } else { HowSettled::Withdrawn };
            let _ = self.events.send(DeskEvent::Settled { id: question.id.clone(), how });
            if reached { Ok(question) } else { Err(NotOpen::Settled) }
        })
    }

    /// Lets a question wait without its call. With a key, a call with the same key takes it up; there is
    /// one for each key, and its id is given. Nothing if it was settled: its end is where it was awaited.
    pub(crate) fn park(&self, id: &str, key: Option<[u8; 32]>) -> Option<Arc<str>> {
        self.book.with(|book| {
            let other = key.and_then(|key| book.parked.get(&key)).cloned();
            let entry = book.open.get_mut(id)?;
            if !matches!(entry.state, State::Awaited(_)) {
                return None;
            }
            if let Some(other) = other {
                let question = entry.question.clone();
                book.remove(id);
                question.over.cancel();
                let how = HowSettled::Withdrawn;
                let _ = self.events.send(DeskEvent::Settled { id: question.id.clone(), how });
                return Some(other);
            }
            entry.state = State::Parked;
            entry.key = key;
            let id = entry.question.id.clone();
            if let Some(key) = key {
                book.parked.insert(key, id.clone());
            }
            Some(id)
        })
    }

    /// Takes up a parked question, by its id.
    pub(crate) fn adopt(&self, id: &str) -> Option<Adopted> {
        self.book.with(|book| book.adopt(id))
    }

    /// The same by the key of the call.
    pub(crate) fn adopt_same(&self, key: &[u8; 32]) -> Option<Adopted> {
        self.book.with(|book| {
            let id = book.parked.get(key)?.clone();
            book.adopt(&id)
        })
    }

    /// Lets go of a parked question, settled or not.
    pub(crate) fn forget(&self, id: &str) {
        let _ = self.settle(id, End::Withdrawn);
        self.book.with(|book| {
            if book.open.get(id).is_some_and(|entry| matches!(entry.state, State::Settled(_))) {
                book.remove(id);
            }
        });
    }

    /// How many questions are held, settled ones too that nobody has come for.
    pub(crate) fn count(&self) -> usize {
        self.book.with(|book| book.open.len())
    }

    /// The question with this id, if it waits.
    pub(crate) fn find(&self, id: &str) -> Result<Arc<OpenQuestion>, NotOpen> {
        self.book.with(|book| book.waiting(id))
    }

    /// All that wait, oldest first.
    pub(crate) fn waiting(&self) -> Vec<Arc<OpenQuestion>> {
        let mut waiting: Vec<_> = self.book.with(|book| {
            let open = book.open.values().filter(|entry| !matches!(entry.state, State::Settled(_)));
            open.map(|entry| (entry.number, entry.question.clone())).collect()
        });
        waiting.sort_unstable_by_key(|(number, _)| *number);
        waiting.into_iter().map(|(_, question)| question).collect()
    }
}

impl Book {
    fn waiting(&self, id: &str) -> Result<Arc<OpenQuestion>, NotOpen> {
        match self.open.get(id) {
            Some(Entry { state: State::Settled(_), .. }) => Err(NotOpen::Settled),
            Some(entry) => Ok(entry.question.clone()),
            None if self.settled.iter().any(|settled| **settled == *id) => Err(NotOpen::Settled),
            None => Err(NotOpen::Unknown),
        }
    }

    fn remove(&mut self, id: &str) -> Option<Entry> {
        let entry = self.open.remove(id)?;
        if let Some(key) = &entry.key {
            self.parked.remove(key);
        }
        if self.settled.len() == MOST_SETTLED {
            self.settled.pop_front();
        }
        self.settled.push_back(entry.question.id.clone());
        Some(entry)
    }

    fn adopt(&mut self, id: &str) -> Option<Adopted> {
        let entry = self.open.get_mut(id)?;
        match &entry.state {
            State::Awaited(_) => None,
            State::Parked => {
                let (tell, told) = oneshot::channel();
                entry.state = State::Awaited(tell);
                let question = entry.question.clone();
                if let Some(key) = entry.key.take() {
                    self.parked.remove(&key);
                }
                Some(Adopted::Waiting(question, told))
            }
            State::Settled(_) => match self.remove(id)? {
                Entry { question, state: State::Settled(end), .. } => Some(Adopted::Ended(question, end)),
                _ => None,
            },
        }
    }
}
