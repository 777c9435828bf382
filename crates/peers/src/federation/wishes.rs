//! What clients want to hear of, log messages from a level on and changes of resources, and what
//! they tell of themselves. Servers are told what all clients want together, and each client is
//! passed its own part.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, PoisonError},
};

use tectum_core::{Fault, FaultKind};

use super::{Caller, Failure, Federation, LEVELS, Source, abilities, can};
use crate::{serve::Conversation, spec::ServerName};

impl Federation {
    /// From which level on a client wants logs. Servers of the older era log for all clients
    /// alike, so they hear the lowest level, and each client is passed what it wants.
    pub(crate) async fn level(&self, client: u64, level: &str) {
        self.levels.lock().unwrap_or_else(PoisonError::into_inner).insert(client, level.to_owned());
        let Some(lowest) = self.lowest_level() else { return };
        for peer in self.peers.load_full().values() {
            peer.level(lowest.clone()).await;
        }
    }

    pub(super) fn lowest_level(&self) -> Option<String> {
        let levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        let rank = |level: &&String| LEVELS.iter().position(|known| known == level);
        levels.values().min_by_key(rank).cloned()
    }

    /// A client watches a resource: ends when its server has agreed to tell of it, or says why
    /// it does not. The server is started if it has to be: one that is not there changes nothing
    /// that anybody hears of.
    pub(crate) async fn watch(&self, caller: &Caller, source: &Source) -> Result<(), Failure> {
        let (peer, patience) = (&source.peer, source.peer.spec.timeout);
        let (new, uris) = self.set_watched(caller.key(), source, true);
        let agreed = async {
            let class = peer.class(&caller.abilities(), caller.session());
            peer.link(&class).await?;
            peer.subscribe_to(uris, source.own.to_string()).await
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
        let (changed, uris) = self.set_watched(client, source, false);
        if changed {
            source.peer.subscribe(uris).await;
        }
    }

    /// Notes who watches what; tells whether that is new, and what is watched at the server now.
    fn set_watched(&self, client: u64, source: &Source, on: bool) -> (bool, Vec<String>) {
        let server = source.peer.spec.name.clone();
        let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
        let clients = watchers.entry((server.clone(), source.own.to_string())).or_default();
        let changed = if on { clients.insert(client) } else { clients.remove(&client) };
        watchers.retain(|_, clients| !clients.is_empty());
        (changed, watched(&watchers, &server))
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
        self.levels.lock().unwrap_or_else(PoisonError::into_inner).remove(&client);
        let changed: BTreeMap<ServerName, Vec<String>> = {
            let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
            let mut servers = BTreeSet::new();
            for ((server, _), clients) in watchers.iter_mut() {
                if clients.remove(&client) {
                    servers.insert(server.clone());
                }
            }
            watchers.retain(|_, clients| !clients.is_empty());
            servers.into_iter().map(|server| (server.clone(), watched(&watchers, &server))).collect()
        };
        let peers = self.peers.load_full();
        for peer in peers.values() {
            peer.left(client).await;
        }
        for (server, uris) in changed {
            if let Some(peer) = peers.get(&server) {
                peer.subscribe(uris).await;
            }
        }
    }
}

pub(super) fn watched(
    watchers: &BTreeMap<(ServerName, String), BTreeSet<u64>>,
    server: &ServerName,
) -> Vec<String> {
    watchers.keys().filter(|(of, _)| of == server).map(|(_, uri)| uri.clone()).collect()
}
