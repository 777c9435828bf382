//! What clients want to hear of, log messages from a level on and changes of resources, and what
//! they tell of themselves. Servers are told what all clients want together, and each client is
//! passed its own part.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tectum_core::{Fault, FaultKind};
use tokio::sync::watch;

use super::{Caller, Failure, Federation, LEVELS, Source, abilities, can};
use crate::{serve::Conversation, spec::ServerName};

/// Which resources are watched at which server, and by whom. A server's task reads it at the moment
/// it tells the server, so of two changes the later one is always what holds.
#[derive(Debug, Default)]
pub(crate) struct Watchers(Mutex<BTreeMap<(ServerName, String), BTreeSet<u64>>>);

impl Watchers {
    /// A client watches a resource, by the server's own name for it, or does so no longer; tells
    /// whether that is new.
    fn set(&self, client: u64, server: &ServerName, uri: &str, on: bool) -> bool {
        let (mut watchers, key) = (self.lock(), (server.clone(), uri.to_owned()));
        let clients = watchers.entry(key.clone()).or_default();
        let changed = if on { clients.insert(client) } else { clients.remove(&client) };
        if clients.is_empty() {
            watchers.remove(&key);
        }
        changed
    }

    /// A client watches nothing any more: at which servers that is new.
    fn forget(&self, client: u64) -> BTreeSet<ServerName> {
        let (mut watchers, mut servers) = (self.lock(), BTreeSet::new());
        for ((server, _), clients) in watchers.iter_mut() {
            if clients.remove(&client) {
                servers.insert(server.clone());
            }
        }
        watchers.retain(|_, clients| !clients.is_empty());
        servers
    }

    /// Whether anybody watches this resource of a server's.
    pub(crate) fn watch(&self, server: &ServerName, uri: &str) -> bool {
        self.lock().contains_key(&(server.clone(), uri.to_owned()))
    }

    /// What is watched at a server.
    pub(crate) fn at(&self, server: &ServerName) -> BTreeSet<String> {
        self.lock().keys().filter(|(of, _)| of == server).map(|(_, uri)| uri.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(ServerName, String), BTreeSet<u64>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// From which level on each client wants logs. Servers of the older era log for all clients alike,
/// so they hear the lowest level, and each client is passed what it wants.
#[derive(Debug, Default)]
pub(crate) struct Levels {
    of_clients: Mutex<BTreeMap<u64, String>>,
    lowest: watch::Sender<Option<String>>,
}

impl Levels {
    fn change(&self, change: impl FnOnce(&mut BTreeMap<u64, String>)) {
        let mut levels = self.of_clients.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut levels);
        let rank = |level: &&String| LEVELS.iter().position(|known| known == level);
        let now = levels.values().min_by_key(rank).cloned();
        // Still under the lock: of two changes the later one is what holds.
        self.lowest.send_if_modified(|lowest| std::mem::replace(lowest, now) != *lowest);
    }

    /// The lowest level, now and whenever it changes.
    pub(crate) fn lowest(&self) -> watch::Receiver<Option<String>> {
        self.lowest.subscribe()
    }
}

impl Federation {
    /// From which level on a client wants logs; servers hear of it soon after.
    pub(crate) fn level(&self, client: u64, level: &str) {
        self.levels.change(|levels| drop(levels.insert(client, level.to_owned())));
    }

    /// A client watches a resource: ends when its server has agreed to tell of it, or says why
    /// it does not. The server is started if it has to be: one that is not there changes nothing
    /// that anybody hears of.
    pub(crate) async fn watch(&self, caller: &Caller, source: &Source) -> Result<(), Failure> {
        let (peer, patience) = (&source.peer, source.peer.spec.timeout);
        let new = self.watchers.set(caller.key(), &peer.spec.name, &source.own, true);
        let agreed = async {
            let class = peer.class(&caller.abilities(), caller.session());
            peer.link(&class).await?;
            peer.subscribe_to(source.own.to_string()).await
        };
        let agreed = tokio::time::timeout(patience, agreed).await.unwrap_or_else(|_| {
            let (name, patience) = (&peer.spec.name, patience.as_secs());
            let message = format!("{name} did not agree within {patience} s to tell of changes");
            Err(Fault::new(FaultKind::Timeout, message).into())
        });
        if agreed.is_err() && new {
            self.watch_no_more(caller.key(), source).await;
        }
        agreed
    }

    /// A client watches a resource no longer.
    pub(crate) async fn watch_no_more(&self, client: u64, source: &Source) {
        if self.watchers.set(client, &source.peer.spec.name, &source.own, false) {
            source.peer.subscribe().await;
        }
    }

    /// A client said in its handshake what it can do. Those who left without a word are found out.
    pub(crate) fn joined(self: &Arc<Self>, client: &Arc<Conversation>) {
        for gone in self.clients.join(client) {
            let federation = self.clone();
            tokio::spawn(async move { federation.unwatch(gone).await });
        }
    }

    /// A client's roots are others now: servers that were told of its roots are told of that.
    ///
    /// A connection of the older era is one session, made for all clients that can do the same,
    /// or for one alone with `isolation = "per-client"`. Only the connection that this client's
    /// calls use is told: a server that never heard of roots on a connection must not hear of
    /// their change. Where several clients share it, all of them are behind the one session, so
    /// whatever roots the server remembers of it may be this client's, and asking again is right;
    /// what it then asks goes to the client whose call it asks in, never to another. A server
    /// that is not running, and one of the newer era, asks in its next call anyway.
    pub(crate) fn roots_changed(&self, client: &Conversation) {
        let capabilities = client.capabilities();
        if !can(&capabilities, "roots/list") {
            return;
        }
        let abilities = abilities(&capabilities);
        for peer in self.peers.load().values() {
            let class = peer.class(&abilities, Some(client.key()));
            peer.notify(&class, "notifications/roots/list_changed");
        }
    }

    /// A client left: nothing is watched for it any more, and servers of its own end.
    pub(crate) async fn unwatch(&self, client: u64) {
        self.clients.leave(client);
        self.levels.change(|levels| drop(levels.remove(&client)));
        let peers = self.peers.load_full();
        for peer in peers.values() {
            peer.left(client).await;
        }
        for server in self.watchers.forget(client) {
            if let Some(peer) = peers.get(&server) {
                peer.subscribe().await;
            }
        }
    }
}
