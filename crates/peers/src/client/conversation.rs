//! One client's state: what it settled on, which of its calls are in flight, what it was asked,
//! and the way to send it something it did not ask for.

mod asked;

pub(crate) use self::asked::ask_after;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use serde_json::value::RawValue;
use tectum_core::{Approver, Client, SessionId};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{
    Models, Notice, Outbox, SeenFile, TaskNote, Unheard, Wanted, abilities,
    closing::Seen,
    listeners::{Listeners, MOST_WANTED},
    shows_forms,
};
use crate::{
    client_table::ClientFacts,
    wire::{Members, Object, frame, rpc},
};

/// The conversation over standard input and output, of which a process has one. Those of relays begin
/// with it.
pub(crate) const STDIO: &str = "stdio";
/// Calls of one client that may be in flight together.
const MOST_IN_FLIGHT: usize = 1024;

/// An answer of a client's: its result or its error, as it was written.
type ClientAnswer = Result<Box<RawValue>, Box<RawValue>>;

/// One client.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) session: SessionId,
    key: u64,
    /// Cancelled when it leaves; `None` where every request is a client of its own.
    pub(crate) left: Option<CancellationToken>,
    initialized: AtomicBool,
    version: OnceLock<&'static str>,
    capabilities: OnceLock<Arc<str>>,
    abilities: OnceLock<Arc<str>>,
    introduced: OnceLock<Introduced>,
    /// Set when it can put a form to its person.
    forms: AtomicBool,
    level: Mutex<Option<String>>,
    in_flight: Mutex<HashMap<Arc<str>, CancellationToken>>,
    /// What its models have seen. Requests of a client without sessions share one table, each client
    /// under a key of its own.
    models: OnceLock<(Arc<Models>, String)>,
    /// Its subscriptions of the newer era.
    pub(crate) listeners: Listeners,
    watched: Mutex<BTreeSet<String>>,
    questions: Mutex<HashMap<u64, oneshot::Sender<ClientAnswer>>>,
    /// The queue for messages that belong to no call, where the client has one.
    unasked: Mutex<Option<Outbox>>,
    /// Who asks about its calls where it cannot ask its own person.
    approver: OnceLock<Arc<dyn Approver>>,
    /// The counter of what clients miss.
    pub(crate) unheard: Unheard,
}

/// Who a client said it is.
#[derive(Debug)]
struct Introduced {
    client: Arc<Client>,
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
pub(crate) struct CallSeat {
    conversation: Arc<Conversation>,
    id: Arc<str>,
}

impl Conversation {
    /// A new client, and the counter of what it misses.
    pub(crate) fn new(session: SessionId, unheard: Unheard) -> Arc<Self> {
        Self::leaving(session, unheard, Some(CancellationToken::new()))
    }

    /// The client of one request, which has no session that could end.
    pub(crate) fn of_one_request(session: SessionId, unheard: Unheard) -> Arc<Self> {
        Self::leaving(session, unheard, None)
    }

    fn leaving(session: SessionId, unheard: Unheard, left: Option<CancellationToken>) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self {
            session,
            key: NEXT.fetch_add(1, Ordering::Relaxed),
            left,
            initialized: AtomicBool::new(false),
            version: OnceLock::new(),
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
            approver: OnceLock::new(),
            unheard,
        })
    }

    /// Tells this client apart from every other one.
    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// The version of the older era that its handshake settled on.
    pub(crate) fn settle_on(&self, version: &'static str) {
        let _ = self.version.set(version);
    }

    /// The same, once it is known.
    pub(crate) fn version(&self) -> Option<&'static str> {
        self.version.get().copied()
    }

    /// The handshake is over.
    pub(crate) fn set_initialized(&self) {
        self.initialized.store(true, Ordering::Relaxed);
    }

    /// True when unasked messages of the older era may be sent.
    pub(crate) fn is_initialized(&self) -> bool {
        self.initialized.load(Ordering::Relaxed)
    }

    /// The capabilities that its handshake declared.
    pub(crate) fn capabilities(&self) -> Arc<str> {
        self.capabilities.get().cloned().unwrap_or_else(|| "{}".into())
    }

    /// The capabilities that servers may make use of, read out of the declared ones once.
    pub(crate) fn abilities(&self) -> Arc<str> {
        match self.capabilities.get() {
            Some(capabilities) => self.abilities.get_or_init(|| abilities(capabilities)).clone(),
            None => "{}".into(),
        }
    }

    /// Remembers the capabilities that its handshake declared.
    pub(crate) fn set_capabilities(&self, capabilities: &str) {
        let _ = self.capabilities.set(capabilities.into());
        self.forms.store(shows_forms(&self.capabilities()), Ordering::Relaxed);
    }

    /// True when its person can be asked with a form, on the stream of a call or beside it.
    pub(crate) fn can_show_forms(&self, outbox: Option<&Outbox>) -> bool {
        self.forms.load(Ordering::Relaxed) && (outbox.is_some() || self.unasked.lock().is_some())
    }

    /// The facts about clients like it.
    pub(crate) fn facts(&self) -> &'static ClientFacts {
        self.introduced.get().map_or(ClientFacts::unknown(), |client| client.facts)
    }

    /// Who asks about its calls where it cannot ask its own person; made once.
    pub(crate) fn approver(&self, make: impl FnOnce() -> Arc<dyn Approver>) -> Arc<dyn Approver> {
        self.approver.get_or_init(make).clone()
    }

    /// The name it gave itself; empty when it gave none.
    pub(crate) fn name(&self) -> &str {
        self.introduced.get().map_or("", |introduced| &introduced.client.name)
    }

    /// The client as calls carry it.
    pub(crate) fn client(&self) -> Arc<Client> {
        let stranger = || Arc::new(Client { door: self.door(), ..Client::default() });
        self.introduced.get().map_or_else(stranger, |introduced| introduced.client.clone())
    }

    fn door(&self) -> &'static str {
        if self.session.0.starts_with(STDIO) { STDIO } else { "http" }
    }

    /// Remembers name and version from its `clientInfo`; the first one counts.
    pub(crate) fn introduce(&self, info: &RawValue) {
        if self.introduced.get().is_none() {
            let members = Members::of(info.get()).unwrap_or_default();
            let word = |name: &str| members.text(name).unwrap_or_default();
            let (name, version) = (word("name"), word("version"));
            let facts = ClientFacts::find(&name, &version);
            let client = Arc::new(Client { door: self.door(), name, version });
            let _ = self.introduced.set(Introduced { client, facts });
        }
    }

    /// From which level on it wants log messages.
    pub(crate) fn level(&self) -> Option<String> {
        self.level.lock().clone()
    }

    /// Sets that level.
    pub(crate) fn set_level(&self, level: &str) {
        *self.level.lock() = Some(level.to_owned());
    }

    /// Sets the queue for messages that belong to no call.
    pub(crate) fn set_unasked(&self, outbox: Option<Outbox>) {
        *self.unasked.lock() = outbox;
    }

    /// How many calls are in flight.
    pub(crate) fn running(&self) -> usize {
        self.in_flight.lock().len()
    }

    /// It has no session: what its models saw is kept in this table, under a key that all its requests
    /// share.
    pub(crate) fn share(&self, models: &Arc<Models>, name: String) {
        let _ = self.models.set((models.clone(), name));
    }

    /// What its model has seen; a client may have several, each in a thread of its own.
    pub(crate) fn seen(&self, thread: &str) -> Arc<Seen> {
        let (models, name) = self.models.get_or_init(Default::default);
        models.get(&format!("{name}\0{thread}"))
    }

    /// The files that its models know.
    pub(crate) fn known_files(&self) -> Vec<SeenFile> {
        self.models.get().map(|(models, _)| models.known()).unwrap_or_default()
    }

    /// True when a call with this id has not ended yet.
    pub(crate) fn is_in_flight(&self, id: &str) -> bool {
        self.in_flight.lock().contains_key(id)
    }

    /// Registers a call as in flight, before anything of it begins.
    pub(crate) fn seat(self: &Arc<Self>, id: &str, cancel: &CancellationToken) -> Result<CallSeat, Refused> {
        let mut calls = self.in_flight.lock();
        if calls.contains_key(id) {
            return Err(Refused::DuplicateId);
        }
        if calls.len() >= MOST_IN_FLIGHT {
            return Err(Refused::TooMany);
        }
        let id: Arc<str> = id.into();
        calls.insert(id.clone(), cancel.clone());
        Ok(CallSeat { conversation: self.clone(), id })
    }

    /// Cancels the call with this id, or ends the subscription and gives back what it was about.
    pub(crate) fn cancel(&self, id: &str) -> Option<Wanted> {
        if let Some(call) = self.in_flight.lock().get(id) {
            call.cancel();
        }
        self.listeners.end(id)
    }

    /// The client is gone: nobody waits for its calls any more, and it answers nothing.
    pub(crate) fn cancel_all(&self) {
        for call in self.in_flight.lock().values() {
            call.cancel();
        }
        self.questions.lock().clear();
        if let Some(left) = &self.left {
            left.cancel();
        }
    }

    /// True when it is subscribed to this resource, in either era.
    pub(crate) fn wants_resource(&self, uri: &str) -> bool {
        self.watched.lock().contains(uri) || self.listeners.want_resource(uri)
    }

    /// True when it watches as many resources as it may.
    pub(crate) fn watches_enough(&self) -> bool {
        self.watched.lock().len() >= MOST_WANTED
    }

    /// Subscribes to a resource or unsubscribes from it; true when that is new.
    pub(crate) fn watch(&self, uri: &str, on: bool) -> bool {
        let mut watched = self.watched.lock();
        if on { watched.insert(uri.to_owned()) } else { watched.remove(uri) }
    }

    /// The notifications to send for a notice.
    pub(crate) fn noticed(&self, notice: &Notice) -> Vec<Vec<u8>> {
        let mut messages = Vec::from_iter(self.unasked_message(notice));
        messages.extend(self.listeners.tell(notice));
        messages
    }

    /// The notification for a client of the older era. Task notifications go to the owner of the task
    /// even without a subscription.
    fn unasked_message(&self, notice: &Notice) -> Option<Vec<u8>> {
        let list = |method: &str| self.is_initialized().then(|| frame::notification(method, "{}"));
        match notice {
            Notice::Tools => list("notifications/tools/list_changed"),
            Notice::Prompts => list("notifications/prompts/list_changed"),
            Notice::Resources => list("notifications/resources/list_changed"),
            Notice::Updated { names, .. } => {
                let watched = self.watched.lock();
                let uri = names.iter().find(|name| watched.contains(*name))?;
                let params = Object::new().text("uri", uri).end();
                Some(frame::notification("notifications/resources/updated", &params))
            }
            Notice::ElicitationDone { params, .. } => self
                .is_initialized()
                .then(|| frame::notification("notifications/elicitation/complete", params)),
            Notice::Task(note) => {
                let its = note.owner == Some(self.key) && !self.listeners.want_task(&note.id);
                its.then(|| frame::notification(TaskNote::METHOD, &note.params(None)))
            }
        }
    }
}

impl Drop for CallSeat {
    fn drop(&mut self) {
        self.conversation.in_flight.lock().remove(&self.id);
    }
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
