//! One client's state: what it settled on, which of its calls are in flight, and the way to
//! send it something it did not ask for.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use tectum_core::SessionId;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::answer;
use crate::wire::rpc;

/// Calls of one client that may be in flight together.
const MOST_IN_FLIGHT: usize = 1024;
/// Messages that may wait for a client; a client that reads slower than that loses progress notes.
pub(crate) const OUTBOX: usize = 4096;

/// One client.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) session: SessionId,
    initialized: AtomicBool,
    in_flight: Mutex<HashMap<String, CancellationToken>>,
    listeners: Mutex<HashMap<String, Wanted>>,
    dropped: AtomicU64,
}

/// Which changes a modern client listens for.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Wanted {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) tools_list_changed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) prompts_list_changed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) resources_list_changed: bool,
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
    id: String,
}

impl Conversation {
    /// A new client.
    pub(crate) fn new(session: SessionId) -> Arc<Self> {
        Arc::new(Self {
            session,
            initialized: AtomicBool::new(false),
            in_flight: Mutex::default(),
            listeners: Mutex::default(),
            dropped: AtomicU64::new(0),
        })
    }

    /// The handshake is over.
    pub(crate) fn set_initialized(&self) {
        self.initialized.store(true, Ordering::Relaxed);
    }

    /// True when unasked messages of the older era may be sent.
    pub(crate) fn is_initialized(&self) -> bool {
        self.initialized.load(Ordering::Relaxed)
    }

    /// True when a call with this id has not ended yet.
    pub(crate) fn is_in_flight(&self, id: &str) -> bool {
        lock(&self.in_flight).contains_key(id)
    }

    /// Takes a place for a call that could not be answered at once.
    pub(crate) fn seat(self: &Arc<Self>, id: &str, cancel: &CancellationToken) -> Result<Seat, Refused> {
        let mut calls = lock(&self.in_flight);
        if calls.contains_key(id) {
            return Err(Refused::DuplicateId);
        }
        if calls.len() >= MOST_IN_FLIGHT {
            return Err(Refused::TooMany);
        }
        calls.insert(id.to_owned(), cancel.clone());
        Ok(Seat { conversation: self.clone(), id: id.to_owned() })
    }

    /// Cancels the call with this id, or ends the subscription.
    pub(crate) fn cancel(&self, id: &str) {
        if let Some(call) = lock(&self.in_flight).get(id) {
            call.cancel();
        }
        lock(&self.listeners).remove(id);
    }

    /// The client is gone: nobody waits for its calls any more.
    pub(crate) fn cancel_all(&self) {
        for call in lock(&self.in_flight).values() {
            call.cancel();
        }
    }

    /// Remembers a subscription under its request's id.
    pub(crate) fn listen(&self, id: &str, wanted: Wanted) {
        lock(&self.listeners).insert(id.to_owned(), wanted);
    }

    /// What to send when the tools changed.
    pub(crate) fn tools_changed(&self) -> Vec<Vec<u8>> {
        const METHOD: &str = "notifications/tools/list_changed";
        let mut messages = Vec::new();
        if self.is_initialized() {
            messages.push(answer::notification(METHOD, "{}"));
        }
        for (id, wanted) in lock(&self.listeners).iter() {
            if wanted.tools_list_changed {
                messages.push(answer::notification(METHOD, &subscription_meta(id)));
            }
        }
        messages
    }

    /// Sends a message that may be lost; a loss is counted.
    pub(crate) fn try_send(&self, outbox: &mpsc::Sender<Vec<u8>>, message: Vec<u8>) {
        if outbox.try_send(message).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The first message of a subscription.
pub(crate) fn acknowledged(id: &str, wanted: Wanted) -> Vec<u8> {
    let accepted = serde_json::to_string(&wanted).unwrap_or_default();
    let params = format!(
        r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{accepted}}}"#
    );
    answer::notification("notifications/subscriptions/acknowledged", &params)
}

fn subscription_meta(id: &str) -> String {
    format!(r#"{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#)
}

impl Drop for Seat {
    fn drop(&mut self) {
        lock(&self.conversation.in_flight).remove(&self.id);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
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
