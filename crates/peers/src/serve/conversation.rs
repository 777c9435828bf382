//! One client's state: what it settled on, which of its calls are in flight, what it was asked,
//! and the way to send it something it did not ask for.

mod asked;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use serde_json::value::RawValue;
use tectum_core::SessionId;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{
    answer,
    closing::{Models, Seen},
    listeners::{Listeners, MOST_WANTED, Wanted},
    outbox::Outbox,
    unheard::Unheard,
};
use crate::{
    client_table::ClientFacts,
    federation::{Following, Notice, TaskNote, abilities, shows_forms},
    wire::{
        object::{Members, Object},
        rpc,
    },
};

/// Calls of one client that may be in flight together.
const MOST_IN_FLIGHT: usize = 1024;

/// An answer of a client's: its result or its error, as it was written.
type Answer = Result<Box<RawValue>, Box<RawValue>>;

/// One client.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) session: SessionId,
    key: u64,
    initialized: AtomicBool,
    capabilities: OnceLock<Arc<str>>,
    abilities: OnceLock<Arc<str>>,
    introduced: OnceLock<Introduced>,
    /// Set when it can put a form to its person.
    forms: AtomicBool,
    level: Mutex<Option<String>>,
    in_flight: Mutex<HashMap<Arc<str>, CancellationToken>>,
    /// What its models have seen, or where that stands for all requests of a client without sessions,
    /// and how the client is told from others there.
    models: OnceLock<(Arc<Models>, String)>,
    listeners: Listeners,
    watched: Mutex<BTreeSet<String>>,
    questions: Mutex<HashMap<u64, oneshot::Sender<Answer>>>,
    /// Where messages go that belong to no call, for clients that have such a place.
    unasked: Mutex<Option<Outbox>>,
    unheard: Unheard,
}

/// Who a client said it is.
#[derive(Debug)]
struct Introduced {
    name: String,
    facts: &'static ClientFacts,
}

/// Why a call may not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The id is taken by a call that has not ended.
    DuplicateId,
    /// Too many calls at once.
    TooMany,
}

/// A call's place in the table; gives it back when the call ends.
#[derive(Debug)]
pub(crate) struct Seat {
    conversation: Arc<Conversation>,
    id: Arc<str>,
}

impl Conversation {
    /// A new client, and the counter of what it misses.
    pub(crate) fn new(session: SessionId, unheard: Unheard) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self {
            session,
            key: NEXT.fetch_add(1, Ordering::Relaxed),
            initialized: AtomicBool::new(false),
            capabilities: OnceLock::new(),
            abilities: OnceLock::new(),
            introduced: OnceLock::new(),
            forms: AtomicBool::new(false),
            level: Mutex::default(),
            in_flight: Mutex::default(),
            models: OnceLock::new(),
            listeners: Listeners::default(),
            watched: Mutex::default(),
            questions: Mutex::default(),
            unasked: Mutex::default(),
            unheard,
        })
    }

    /// The counter of what clients miss.
    pub(crate) fn unheard(&self) -> &Unheard {
        &self.unheard
    }

    /// Tells this client apart from every other one.
    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// The handshake is over.
    pub(crate) fn set_initialized(&self) {
        self.initialized.store(true, Ordering::Relaxed);
    }

    /// True when unasked messages of the older era may be sent.
    pub(crate) fn is_initialized(&self) -> bool {
        self.initialized.load(Ordering::Relaxed)
    }

    /// What it can do, as its handshake said.
    pub(crate) fn capabilities(&self) -> Arc<str> {
        self.capabilities.get().cloned().unwrap_or_else(|| "{}".into())
    }

    /// What servers may ask it for, read out of that once.
    pub(crate) fn abilities(&self) -> Arc<str> {
        match self.capabilities.get() {
            Some(capabilities) => self.abilities.get_or_init(|| abilities(capabilities)).clone(),
            None => "{}".into(),
        }
    }

    /// Remembers what its handshake said.
    pub(crate) fn set_capabilities(&self, capabilities: &str) {
        let _ = self.capabilities.set(capabilities.into());
        self.forms.store(shows_forms(&self.capabilities()), Ordering::Relaxed);
    }

    /// True when its person can be asked with a form, on the stream of a call or beside it.
    pub(crate) fn can_show_forms(&self, outbox: Option<&Outbox>) -> bool {
        self.forms.load(Ordering::Relaxed) && (outbox.is_some() || lock(&self.unasked).is_some())
    }

    /// What is known of clients like it.
    pub(crate) fn facts(&self) -> &'static ClientFacts {
        self.introduced.get().map_or(ClientFacts::unknown(), |client| client.facts)
    }

    /// The name it gave itself; empty when it gave none.
    pub(crate) fn name(&self) -> &str {
        self.introduced.get().map_or("", |client| &client.name)
    }

    /// Remembers who it said it is; its first word counts. `info` is its `clientInfo`.
    pub(crate) fn introduce(&self, info: &RawValue) {
        if self.introduced.get().is_none() {
            let members = Members::of(info.get()).unwrap_or_default();
            let word = |name: &str| members.text(name).unwrap_or_default();
            let (name, version) = (word("name"), word("version"));
            let facts = ClientFacts::find(&name, &version);
            let _ = self.introduced.set(Introduced { name, facts });
        }
    }

    /// From which level on it wants log messages.
    pub(crate) fn level(&self) -> Option<String> {
        lock(&self.level).clone()
    }

    /// It said from which level on.
    pub(crate) fn set_level(&self, level: &str) {
        *lock(&self.level) = Some(level.to_owned());
    }

    /// Where messages go that belong to no call.
    pub(crate) fn set_unasked(&self, outbox: Outbox) {
        *lock(&self.unasked) = Some(outbox);
    }

    /// There is no such place any more.
    pub(crate) fn close_unasked(&self) {
        *lock(&self.unasked) = None;
    }

    /// How many calls have a seat.
    pub(crate) fn running(&self) -> usize {
        lock(&self.in_flight).len()
    }

    /// It has no session: what its models saw stands among these, under the name that all its requests
    /// have in common.
    pub(crate) fn share(&self, models: &Arc<Models>, name: String) {
        let _ = self.models.set((models.clone(), name));
    }

    /// What its model has seen; a client may have several, each in a thread of its own.
    pub(crate) fn seen(&self, thread: &str) -> Arc<Seen> {
        let (models, name) = self.models.get_or_init(Default::default);
        models.get(&format!("{name}\0{thread}"))
    }

    /// True when a call with this id has not ended yet.
    pub(crate) fn is_in_flight(&self, id: &str) -> bool {
        lock(&self.in_flight).contains_key(id)
    }

    /// Takes a place for a call, before anything of it begins.
    pub(crate) fn seat(self: &Arc<Self>, id: &str, cancel: &CancellationToken) -> Result<Seat, Refused> {
        let mut calls = lock(&self.in_flight);
        if calls.contains_key(id) {
            return Err(Refused::DuplicateId);
        }
        if calls.len() >= MOST_IN_FLIGHT {
            return Err(Refused::TooMany);
        }
        let id: Arc<str> = id.into();
        calls.insert(id.clone(), cancel.clone());
        Ok(Seat { conversation: self.clone(), id })
    }

    /// Cancels the call with this id, or ends the subscription and gives back what it was about.
    pub(crate) fn cancel(&self, id: &str) -> Option<Wanted> {
        if let Some(call) = lock(&self.in_flight).get(id) {
            call.cancel();
        }
        self.listeners.end(id)
    }

    /// The client is gone: nobody waits for its calls any more, and it answers nothing.
    pub(crate) fn cancel_all(&self) {
        for call in lock(&self.in_flight).values() {
            call.cancel();
        }
        lock(&self.questions).clear();
    }

    /// A subscription begins under its request's id; it is told nothing before it is acknowledged.
    /// False when it has too many.
    pub(crate) fn listen(&self, id: &str, wanted: Wanted) -> bool {
        self.listeners.begin(id, wanted)
    }

    /// Says to a subscription what was agreed to, and what changed since it began. False when the
    /// client listens no longer.
    pub(crate) fn acknowledge(
        &self,
        id: &str,
        agreed: Wanted,
        following: Vec<Following>,
        say: impl FnMut(Vec<u8>),
    ) -> bool {
        self.listeners.acknowledge(id, agreed, following, say)
    }

    /// True when it wants to hear of changes of this resource, in whichever way it said so.
    pub(crate) fn wants_resource(&self, uri: &str) -> bool {
        lock(&self.watched).contains(uri) || self.listeners.want_resource(uri)
    }

    /// True when it watches as many resources as it may.
    pub(crate) fn watches_enough(&self) -> bool {
        lock(&self.watched).len() >= MOST_WANTED
    }

    /// It watches a resource, or does so no longer; tells whether that is new.
    pub(crate) fn watch(&self, uri: &str, on: bool) -> bool {
        let mut watched = lock(&self.watched);
        match on {
            true => watched.insert(uri.to_owned()),
            false => watched.remove(uri),
        }
    }

    /// What to send when the tools changed.
    pub(crate) fn tools_changed(&self) -> Vec<Vec<u8>> {
        self.noticed(&Notice::Tools)
    }

    /// What to send of something all clients may want to know.
    pub(crate) fn noticed(&self, notice: &Notice) -> Vec<Vec<u8>> {
        let mut messages = Vec::from_iter(self.unasked_message(notice));
        messages.extend(self.listeners.tell(notice));
        messages
    }

    /// What is told to a client of the older era; and of a task of its own, to one that did not
    /// ask, since servers may tell of tasks unasked.
    fn unasked_message(&self, notice: &Notice) -> Option<Vec<u8>> {
        let list = |method: &str| self.is_initialized().then(|| answer::notification(method, "{}"));
        match notice {
            Notice::Tools => list("notifications/tools/list_changed"),
            Notice::Prompts => list("notifications/prompts/list_changed"),
            Notice::Resources => list("notifications/resources/list_changed"),
            Notice::Updated(names) => {
                let watched = lock(&self.watched);
                let uri = names.iter().find(|name| watched.contains(*name))?;
                let params = Object::new().text("uri", uri).end();
                Some(answer::notification("notifications/resources/updated", &params))
            }
            Notice::ElicitationDone(params) => self
                .is_initialized()
                .then(|| answer::notification("notifications/elicitation/complete", params)),
            Notice::Task(note) => {
                let its = note.owner == Some(self.key) && !self.listeners.want_task(&note.id);
                its.then(|| answer::notification(TaskNote::METHOD, &note.params(None)))
            }
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        lock(&self.conversation.in_flight).remove(&self.id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Refused {
    /// The error a client gets.
    pub(crate) fn error(self) -> (i32, &'static str) {
        match self {
            Self::DuplicateId => {
                (rpc::code::INVALID_REQUEST, "this id belongs to a request that has not been answered yet")
            }
            Self::TooMany => (rpc::code::INTERNAL, "too many calls in flight: wait for some to end"),
        }
    }
}
