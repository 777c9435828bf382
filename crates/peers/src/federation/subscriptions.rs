//! The subscriptions of clients and their reports about themselves, as the servers hear them.

use std::sync::Arc;

use tectum_core::{Fault, FaultKind};

use super::{Roster, Source};
use crate::{
    client::{Caller, Clients, Conversation, abilities, can},
    peer::{Failure, Levels, Watchers},
};

/// The subscriptions of all clients at all servers.
pub(crate) struct Subscriptions {
    pub(super) roster: Arc<Roster>,
    /// The clients that said what they can do in a handshake.
    pub(super) clients: Arc<Clients>,
    pub(super) watchers: Arc<Watchers>,
    /// From which level on each client wants logs; servers hear of a change soon after.
    pub(crate) levels: Arc<Levels>,
}

impl Subscriptions {
    /// Asks one server after the other to tell of changes of a resource, which the client knows under
    /// this name; the first that agrees does.
    pub(crate) async fn watch(&self, caller: &Caller, name: &str, sources: &[Source]) -> Result<(), Failure> {
        let mut last = Ok(());
        for source in sources {
            last = self.watch_at(caller, name, source).await;
            if last.is_ok() {
                break;
            }
        }
        last
    }

    /// Ends when the server has agreed to tell of the resource, or says why it does not. The server is
    /// started if it has to be: one that is not there changes nothing that anybody hears of.
    async fn watch_at(&self, caller: &Caller, name: &str, source: &Source) -> Result<(), Failure> {
        let (peer, patience) = (&source.peer, source.peer.spec.timeout);
        let new = self.watchers.add(caller.key(), &peer.spec.name, &source.own, name);
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
            self.unwatch(caller.key(), name, std::slice::from_ref(source)).await;
        }
        agreed
    }

    /// A client watches a resource no longer.
    pub(crate) async fn unwatch(&self, client: u64, name: &str, sources: &[Source]) {
        for source in sources {
            if self.watchers.remove(client, &source.peer.spec.name, &source.own, name) {
                source.peer.subscribe().await;
            }
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
        for peer in self.roster.peers().values() {
            let class = peer.class(&abilities, Some(client.key()));
            peer.notify(&class, "notifications/roots/list_changed");
        }
    }

    /// A client left: nothing is watched for it any more, and servers of its own end.
    pub(crate) async fn leave(&self, client: u64) {
        self.clients.leave(client);
        self.levels.set(client, None);
        let peers = self.roster.peers();
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
