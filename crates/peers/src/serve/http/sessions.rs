//! Sessions of the older era: bounded in number, ended when idle, never a credential. However one
//! ends, its calls and what it watched end with it.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use hyper::{
    StatusCode,
    header::{HeaderMap, HeaderName},
};
use parking_lot::Mutex;
use tectum_core::SessionId;

use super::{RefusedRequest, header, refuse};
use crate::client::{Bounds, Budget, Conversation, Outbox, Queue, Unheard, queue};

/// Sessions kept at once; the longest idle one makes room for a new one.
const MOST: usize = 1024;
/// The time an idle session is kept.
pub(super) const IDLE: Duration = Duration::from_secs(30 * 60);
/// The interval at which idle ones are looked for: what is not idle at a look counts as used then.
pub(super) const LOOK: Duration = Duration::from_secs(60);
/// Streams one session may hold open.
const MOST_STREAMS: usize = 4;
/// The bounds of a stream; a client that exceeds them counts as gone.
const STREAM: Bounds = Bounds { messages: 256, bytes: 1024 * 1024 };

/// The header a session travels in.
pub(super) static HEADER: HeaderName = HeaderName::from_static("mcp-session-id");

/// All sessions, and the subscriptions of the newer era.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    by_id: Mutex<HashMap<String, Arc<Session>>>,
    listeners: Mutex<Vec<SubscribedStream>>,
}

/// A subscription of the newer era: who asked, and the stream it is heard on.
type SubscribedStream = (Arc<Conversation>, Outbox);

/// One session.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) client: Arc<Conversation>,
    streams: Mutex<Vec<Outbox>>,
    used: Mutex<Instant>,
}

/// A session that was opened.
pub(super) struct Started {
    /// Its id: 128 random bits.
    pub(super) id: String,
    pub(super) session: Arc<Session>,
    /// The clients whose sessions ended to make room for it.
    pub(super) ended: Vec<Arc<Conversation>>,
}

impl Sessions {
    /// Opens a session.
    pub(super) fn start(&self, unheard: Unheard) -> Result<Started, getrandom::Error> {
        let mut bits = [0_u8; 16];
        getrandom::fill(&mut bits)?;
        let id = bits.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let session = Arc::new(Session {
            client: Conversation::new(SessionId::new(id.as_str()), unheard),
            streams: Mutex::default(),
            used: Mutex::new(Instant::now()),
        });
        let mut ended = self.end_idle(IDLE);
        let mut all = self.by_id.lock();
        if all.len() >= MOST
            // One that is busy goes only where all are.
            && let Some(oldest) =
                all.iter().min_by_key(|(_, one)| (one.is_busy(), *one.used.lock())).map(|(id, _)| id.clone())
            && let Some(oldest) = all.remove(&oldest)
        {
            ended.push(oldest.ended());
        }
        all.insert(id.clone(), session.clone());
        Ok(Started { id, session, ended })
    }

    /// Ends the sessions that were idle this long, and their calls with them.
    pub(super) fn end_idle(&self, idle: Duration) -> Vec<Arc<Conversation>> {
        let mut ended = Vec::new();
        self.by_id.lock().retain(|_, session| {
            let busy = session.is_busy();
            if busy {
                *session.used.lock() = Instant::now();
            }
            let keep = busy || session.used.lock().elapsed() < idle;
            if !keep {
                ended.push(session.ended());
            }
            keep
        });
        ended
    }

    /// The session a request names.
    pub(super) fn find(&self, headers: &HeaderMap) -> Result<Arc<Session>, RefusedRequest> {
        let Some(id) = header(headers, &HEADER) else {
            return Err(refuse(
                StatusCode::BAD_REQUEST,
                "the Mcp-Session-Id header is missing: send initialize first",
            ));
        };
        let found = self.by_id.lock().get(id).cloned();
        let session =
            found.ok_or_else(|| refuse(StatusCode::NOT_FOUND, "no such session: send initialize again"))?;
        *session.used.lock() = Instant::now();
        Ok(session)
    }

    /// Ends the session a request names, and its calls with it.
    pub(super) fn end(&self, headers: &HeaderMap) -> Result<Arc<Conversation>, RefusedRequest> {
        let session = self.find(headers)?;
        self.by_id.lock().retain(|_, other| !Arc::ptr_eq(other, &session));
        Ok(session.ended())
    }

    /// Remembers a subscription of the newer era.
    pub(super) fn listen(&self, client: Arc<Conversation>, stream: Outbox) {
        let mut listeners = self.listeners.lock();
        listeners.retain(|(_, stream)| !stream.is_closed());
        listeners.push((client, stream));
    }

    /// Tells everybody who listens. A stream that cannot take it is let go.
    pub(super) fn tell(&self, messages: impl Fn(&Conversation) -> Vec<Vec<u8>>) {
        for session in self.by_id.lock().values() {
            for message in messages(&session.client) {
                session.streams.lock().retain(|stream| stream.offer(message.clone()));
            }
        }
        self.listeners.lock().retain(|(client, stream)| {
            !stream.is_closed() && messages(client).into_iter().all(|message| stream.offer(message))
        });
    }
}

impl Session {
    /// True while somebody listens, or waits for a call.
    fn is_busy(&self) -> bool {
        self.client.running() > 0 || self.streams.lock().iter().any(|stream| !stream.is_closed())
    }

    /// The session is over: nobody waits for its calls, and its streams end.
    fn ended(&self) -> Arc<Conversation> {
        self.client.cancel_all();
        self.client.set_unasked(None);
        self.streams.lock().clear();
        self.client.clone()
    }

    /// Opens a stream; the oldest of too many is closed.
    pub(super) fn open_stream(&self, budget: Option<Budget>) -> Queue {
        let (send, receive) = queue(STREAM, self.client.unheard.clone(), budget);
        let mut streams = self.streams.lock();
        streams.retain(|stream| !stream.is_closed());
        if streams.len() >= MOST_STREAMS {
            streams.remove(0);
        }
        // What belongs to no call is asked on the newest of them.
        self.client.set_unasked(Some(send.clone()));
        streams.push(send);
        receive
    }
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::*;

    fn start(sessions: &Sessions) -> (Arc<Session>, Vec<u64>) {
        let Started { session, ended, .. } = sessions.start(Unheard::default()).expect("random numbers");
        (session, keys(&ended))
    }

    fn keys(ended: &[Arc<Conversation>]) -> Vec<u64> {
        ended.iter().map(|client| client.key()).collect()
    }

    #[test]
    fn an_idle_session_ends_and_a_busy_one_does_not() {
        let sessions = Sessions::default();
        let (idle, _) = start(&sessions);
        let (listens, _) = start(&sessions);
        let (calls, _) = start(&sessions);
        let stream = listens.open_stream(None);
        let cancel = CancellationToken::new();
        let seat = calls.client.seat("1", &cancel).expect("a seat");
        assert_eq!(keys(&sessions.end_idle(IDLE)), [0_u64; 0]);
        assert_eq!(keys(&sessions.end_idle(Duration::ZERO)), [idle.client.key()]);
        assert!(!cancel.is_cancelled());
        drop(stream);
        assert_eq!(keys(&sessions.end_idle(Duration::ZERO)), [listens.client.key()]);
        drop(seat);
        assert_eq!(keys(&sessions.end_idle(Duration::ZERO)), [calls.client.key()]);
        assert!(sessions.by_id.lock().is_empty());
    }

    #[test]
    fn the_end_of_use_begins_the_time_of_idling() {
        let sessions = Sessions::default();
        let (session, _) = start(&sessions);
        let hour = Duration::from_secs(3600);
        let Some(long_ago) = Instant::now().checked_sub(hour) else { return };
        *session.used.lock() = long_ago;
        let stream = session.open_stream(None);
        assert!(sessions.end_idle(hour).is_empty());
        drop(stream);
        assert!(sessions.end_idle(hour).is_empty(), "it was busy a moment ago");
        *session.used.lock() = long_ago;
        assert_eq!(sessions.end_idle(hour).len(), 1);
    }

    #[test]
    fn the_longest_idle_makes_room_and_a_busy_one_only_where_all_are() {
        let sessions = Sessions::default();
        let started: Vec<Arc<Session>> = (0..MOST).map(|_| start(&sessions).0).collect();
        let mut streams = vec![started[0].open_stream(None)];
        assert_eq!(start(&sessions).1, [started[1].client.key()], "the first one listens");
        let all: Vec<Arc<Session>> = sessions.by_id.lock().values().cloned().collect();
        let calls: Vec<CancellationToken> = all.iter().map(|_| CancellationToken::new()).collect();
        let seat = |(session, call): (&Arc<Session>, _)| session.client.seat("1", call).expect("a seat");
        let _seats: Vec<_> = all.iter().zip(&calls).map(seat).collect();
        streams.extend(all.iter().map(|session| session.open_stream(None)));
        let ended = start(&sessions).1;
        assert_eq!((ended.len(), sessions.by_id.lock().len()), (1, MOST));
        for (number, session) in all.iter().enumerate() {
            let over = ended.contains(&session.client.key());
            assert_eq!(calls[number].is_cancelled(), over, "its calls end with it");
            assert_eq!(streams[number + 1].is_closed(), over, "and its streams");
        }
    }
}
