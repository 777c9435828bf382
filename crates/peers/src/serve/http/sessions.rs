//! Sessions of the older era: bounded in number, forgotten when idle, never a credential.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use hyper::{StatusCode, header::HeaderMap};
use tectum_core::SessionId;
use tokio::sync::mpsc;

use super::{Refusal, header, refuse};
use crate::serve::conversation::Conversation;

/// Sessions kept at once; the longest idle one makes room for a new one.
const MOST: usize = 1024;
/// How long an idle session is kept.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// Streams one session may hold open.
const MOST_STREAMS: usize = 4;
/// Messages that may wait on a stream before its client counts as gone.
const STREAM_BOUND: usize = 256;

/// The header a session travels in.
pub(super) const HEADER: &str = "mcp-session-id";

/// All sessions, and the subscriptions of the newer era.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    by_id: Mutex<HashMap<String, Arc<Session>>>,
    listeners: Mutex<Vec<Listener>>,
}

/// A subscription of the newer era: who asked, and the stream it is heard on.
type Listener = (Arc<Conversation>, mpsc::Sender<Vec<u8>>);

/// One session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) client: Arc<Conversation>,
    streams: Mutex<Vec<mpsc::Sender<Vec<u8>>>>,
    used: Mutex<Instant>,
}

impl Sessions {
    /// Opens a session and returns its id: 128 random bits.
    pub(super) fn start(&self) -> Result<(String, Arc<Session>), getrandom::Error> {
        let mut bits = [0_u8; 16];
        getrandom::fill(&mut bits)?;
        let id = bits.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let session = Arc::new(Session {
            client: Conversation::new(SessionId::new(id.as_str())),
            streams: Mutex::default(),
            used: Mutex::new(Instant::now()),
        });
        let mut all = lock(&self.by_id);
        all.retain(|_, session| lock(&session.used).elapsed() < IDLE);
        if all.len() >= MOST
            && let Some(oldest) =
                all.iter().min_by_key(|(_, session)| *lock(&session.used)).map(|(id, _)| id.clone())
        {
            all.remove(&oldest);
        }
        all.insert(id.clone(), session.clone());
        Ok((id, session))
    }

    /// The session a request names.
    pub(super) fn find(&self, headers: &HeaderMap) -> Result<Arc<Session>, Refusal> {
        let Some(id) = header(headers, HEADER) else {
            return Err(refuse(
                StatusCode::BAD_REQUEST,
                "the Mcp-Session-Id header is missing: send initialize first",
            ));
        };
        let found = lock(&self.by_id).get(id).cloned();
        let session =
            found.ok_or_else(|| refuse(StatusCode::NOT_FOUND, "no such session: send initialize again"))?;
        *lock(&session.used) = Instant::now();
        Ok(session)
    }

    /// Ends the session a request names, and its calls with it.
    pub(super) fn end(&self, headers: &HeaderMap) -> Result<Arc<Conversation>, Refusal> {
        let session = self.find(headers)?;
        lock(&self.by_id).retain(|_, other| !Arc::ptr_eq(other, &session));
        session.client.cancel_all();
        Ok(session.client.clone())
    }

    /// Remembers a subscription of the newer era.
    pub(super) fn listen(&self, client: Arc<Conversation>, stream: mpsc::Sender<Vec<u8>>) {
        let mut listeners = lock(&self.listeners);
        listeners.retain(|(_, stream)| !stream.is_closed());
        listeners.push((client, stream));
    }

    /// Tells everybody who listens. A stream that cannot take it is let go.
    pub(super) fn tell(&self, messages: impl Fn(&Conversation) -> Vec<Vec<u8>>) {
        for session in lock(&self.by_id).values() {
            for message in messages(&session.client) {
                lock(&session.streams).retain(|stream| stream.try_send(message.clone()).is_ok());
            }
        }
        lock(&self.listeners).retain(|(client, stream)| {
            !stream.is_closed()
                && messages(client).into_iter().all(|message| stream.try_send(message).is_ok())
        });
    }
}

impl Session {
    /// Opens a stream; the oldest of too many is closed.
    pub(super) fn open_stream(&self) -> mpsc::Receiver<Vec<u8>> {
        let (send, receive) = mpsc::channel(STREAM_BOUND);
        let mut streams = lock(&self.streams);
        streams.retain(|stream| !stream.is_closed());
        if streams.len() >= MOST_STREAMS {
            streams.remove(0);
        }
        // What belongs to no call is asked on the newest of them.
        self.client.set_unasked(send.clone());
        streams.push(send);
        receive
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}
