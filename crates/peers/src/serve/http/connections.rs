//! The open connections of a listener, and which of them goes when there are too many.
//!
//! A connection counts as unauthenticated until its first request with a valid token. There are few
//! places for those, and the oldest makes room, so that they keep nobody out.

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::client::Budget;

/// Unauthenticated connections at once.
const MOST_UNAUTHENTICATED: usize = 64;
/// Authenticated ones; fewer where the system allows few descriptors.
const MOST_AUTHENTICATED: usize = 1024;
/// A client that takes no byte for this long is gone.
const STALL: Duration = Duration::from_secs(10);
/// The same while memory is short.
const SHORT_STALL: Duration = Duration::from_secs(1);
/// The interval at which clients that do not read are looked at.
const LOOK: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub(super) struct Connections {
    lists: Mutex<ConnectionLists>,
    most: usize,
    started: Instant,
    /// Told when a client stops reading.
    stall: Arc<Notify>,
}

#[derive(Debug, Default)]
struct ConnectionLists {
    unauthenticated: VecDeque<Arc<Connection>>,
    authenticated: HashMap<u64, Arc<Connection>>,
    next: u64,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    number: u64,
    started: Instant,
    stall: Arc<Notify>,
    /// Ends it.
    pub(super) close: CancellationToken,
    authenticated: AtomicBool,
    /// All that its client has sent so far was read, and it was no whole request.
    waits: AtomicBool,
    /// A request is being answered.
    busy: AtomicBool,
    /// When it was last used, in milliseconds.
    used: AtomicU64,
    /// Since when it takes no bytes, in milliseconds; zero when it does.
    stalled: AtomicU64,
}

/// A connection that is open; forgotten when this is dropped.
struct OpenConnection<'c> {
    connections: &'c Connections,
    number: u64,
}

/// Marks a request that is being answered.
#[derive(Debug)]
pub(super) struct Answering(Arc<Connection>);

impl Connections {
    /// Connections take at most half of the descriptors: files and servers need the others.
    pub(super) fn new() -> Self {
        let descriptors = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let half = descriptors.map_or(usize::MAX, |all| usize::try_from(all / 2).unwrap_or(usize::MAX));
        let most = half.saturating_sub(MOST_UNAUTHENTICATED).clamp(1, MOST_AUTHENTICATED);
        Self::with_most(most)
    }

    fn with_most(most: usize) -> Self {
        Self { lists: Mutex::default(), most, started: Instant::now(), stall: Arc::default() }
    }

    /// The number of connections that may be authenticated.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// A new connection; the oldest unauthenticated one makes room. `None` while all of them are so
    /// new that nobody has read whether they sent a request.
    pub(super) fn open(&self) -> Option<Arc<Connection>> {
        let mut lists = self.lists.lock();
        if lists.unauthenticated.len() >= MOST_UNAUTHENTICATED {
            let waits = |one: &Arc<Connection>| one.waits.load(Ordering::Relaxed);
            let oldest = lists.unauthenticated.iter().position(waits)?;
            lists.unauthenticated.remove(oldest)?.close.cancel();
        }
        lists.next += 1;
        let connection = Arc::new(Connection {
            number: lists.next,
            started: self.started,
            stall: self.stall.clone(),
            close: CancellationToken::new(),
            authenticated: AtomicBool::new(false),
            waits: AtomicBool::new(false),
            busy: AtomicBool::new(false),
            used: AtomicU64::new(0),
            stalled: AtomicU64::new(0),
        });
        lists.unauthenticated.push_back(connection.clone());
        Some(connection)
    }

    /// A request showed a valid token. The idle connection that was used least recently makes room;
    /// false where all are in use.
    pub(super) fn authenticate(&self, connection: &Arc<Connection>) -> bool {
        if connection.authenticated.load(Ordering::Relaxed) {
            return true;
        }
        let mut lists = self.lists.lock();
        if lists.authenticated.len() >= self.most && !lists.close_idle() {
            return false;
        }
        lists.unauthenticated.retain(|one| one.number != connection.number);
        lists.authenticated.insert(connection.number, connection.clone());
        connection.authenticated.store(true, Ordering::Relaxed);
        true
    }

    /// It is closed.
    fn closed(&self, number: u64) {
        let mut lists = self.lists.lock();
        lists.authenticated.remove(&number);
        lists.unauthenticated.retain(|one| one.number != number);
    }

    /// Keeps a connection in the lists until dropped.
    pub(super) fn while_open(&self, connection: &Connection) -> impl Drop + Send + '_ {
        OpenConnection { connections: self, number: connection.number }
    }

    /// Gives back descriptors, as far as some can be spared.
    pub(super) fn spare_some(&self) {
        let mut lists = self.lists.lock();
        let before = lists.unauthenticated.len();
        lists.unauthenticated.retain(|one| {
            let waits = one.waits.load(Ordering::Relaxed);
            if waits {
                one.close.cancel();
            }
            !waits
        });
        if lists.unauthenticated.len() == before {
            lists.close_idle();
        }
    }

    /// Ends connections that take no byte for too long, which is sooner while memory is short. Costs
    /// nothing while all clients read.
    pub(super) async fn close_stalled(&self, budget: &Budget) {
        loop {
            self.stall.notified().await;
            while self.close_stalled_for(if budget.is_full() { SHORT_STALL } else { STALL }) {
                tokio::time::sleep(LOOK).await;
            }
        }
    }

    /// True while some are stalled.
    fn close_stalled_for(&self, most: Duration) -> bool {
        let lists = self.lists.lock();
        let all = lists.unauthenticated.iter().chain(lists.authenticated.values());
        let mut some = false;
        for (one, stalled) in all.filter_map(|one| Some((one, one.stalled_for()?))) {
            some = true;
            if stalled >= most {
                one.close.cancel();
            }
        }
        some
    }
}

impl ConnectionLists {
    /// Ends the idle connection that was used least recently, if there is one.
    fn close_idle(&mut self) -> bool {
        let idle = self.authenticated.values().filter(|one| one.is_idle());
        let Some(number) = idle.min_by_key(|one| one.used.load(Ordering::Relaxed)).map(|one| one.number)
        else {
            return false;
        };
        if let Some(idle) = self.authenticated.remove(&number) {
            idle.close.cancel();
        }
        true
    }
}

impl Connection {
    /// A request begins.
    pub(super) fn answering(self: &Arc<Self>) -> Answering {
        self.busy.store(true, Ordering::Relaxed);
        Answering(self.clone())
    }

    /// All that the client sent was read, and it is no whole request.
    pub(super) fn waits_for_more(&self) {
        if !self.waits.load(Ordering::Relaxed) {
            self.waits.store(true, Ordering::Relaxed);
        }
    }

    /// The client took bytes, or could not.
    pub(super) fn wrote(&self, some: bool) {
        let stalled = self.stalled.load(Ordering::Relaxed) != 0;
        if some && stalled {
            self.stalled.store(0, Ordering::Relaxed);
        } else if !some && !stalled {
            self.stalled.store(self.now(), Ordering::Relaxed);
            self.stall.notify_one();
        }
    }

    fn stalled_for(&self) -> Option<Duration> {
        let since = self.stalled.load(Ordering::Relaxed);
        (since != 0).then(|| Duration::from_millis(self.now().saturating_sub(since)))
    }

    fn is_idle(&self) -> bool {
        !self.busy.load(Ordering::Relaxed) && self.stalled.load(Ordering::Relaxed) == 0
    }

    /// Milliseconds; never zero.
    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }
}

impl Drop for OpenConnection<'_> {
    fn drop(&mut self) {
        self.connections.closed(self.number);
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.used.store(self.0.now(), Ordering::Relaxed);
        self.0.busy.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(connections: &Connections) -> Arc<Connection> {
        let connection = connections.open().expect("a place");
        connection.waits_for_more();
        connection
    }

    #[test]
    fn the_oldest_makes_room_once_it_was_read() {
        let connections = Connections::with_most(8);
        let known = open(&connections);
        assert!(connections.authenticate(&known));
        let all: Vec<_> = (0..MOST_UNAUTHENTICATED).map(|_| connections.open().expect("a place")).collect();
        assert!(connections.open().is_none(), "each of them may have sent a request");
        all[1].waits_for_more();
        all[2].waits_for_more();
        assert!(connections.open().is_some());
        let closed: Vec<usize> = (0..all.len()).filter(|one| all[*one].close.is_cancelled()).collect();
        assert_eq!(closed, [1]);
        assert!(!known.close.is_cancelled());
    }

    #[test]
    fn an_idle_connection_makes_room_and_a_busy_one_does_not() {
        let connections = Connections::with_most(2);
        let (one, two, three) = (open(&connections), open(&connections), open(&connections));
        let (first, second) = (one.answering(), two.answering());
        assert!(connections.authenticate(&one) && connections.authenticate(&two));
        assert!(!connections.authenticate(&three), "both are in use");
        two.wrote(false);
        drop(second);
        assert!(!connections.authenticate(&three), "a client has still to read its answer");
        drop(first);
        assert!(connections.authenticate(&three));
        assert!(one.close.is_cancelled() && !two.close.is_cancelled());
        two.wrote(true);
        let four = open(&connections);
        assert!(connections.authenticate(&four) && connections.authenticate(&four));
        drop(connections.while_open(&four));
        assert_eq!(connections.lists.lock().authenticated.len(), 1);
    }
}
