//! The wishes of clients: changes of resources, and log messages from a level on. Servers are told what
//! all clients want together, and each client is passed its own part.

use std::collections::{BTreeMap, BTreeSet};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::{client::LEVELS, spec::ServerName};

/// A resource, by its server and the server's own name for it.
type ResourceKey = (ServerName, String);

/// The resources that are watched at each server: by which client, under which of the resource's names.
/// A server's task reads it at the moment it tells the server, so of two changes the later one is
/// always what holds.
#[derive(Debug, Default)]
pub(crate) struct Watchers(Mutex<BTreeMap<ResourceKey, BTreeSet<(u64, String)>>>);

impl Watchers {
    /// A client watches a resource under a name; true when that is new.
    pub(crate) fn add(&self, client: u64, server: &ServerName, own: &str, name: &str) -> bool {
        self.0.lock().entry((server.clone(), own.to_owned())).or_default().insert((client, name.to_owned()))
    }

    /// A client watches it no longer; true when it did.
    pub(crate) fn remove(&self, client: u64, server: &ServerName, own: &str, name: &str) -> bool {
        let (mut watchers, key) = (self.0.lock(), (server.clone(), own.to_owned()));
        let Some(clients) = watchers.get_mut(&key) else { return false };
        let changed = clients.remove(&(client, name.to_owned()));
        if clients.is_empty() {
            watchers.remove(&key);
        }
        changed
    }

    /// A client watches nothing any more: at which servers that is new.
    pub(crate) fn forget(&self, client: u64) -> BTreeSet<ServerName> {
        let (mut watchers, mut servers) = (self.0.lock(), BTreeSet::new());
        watchers.retain(|(server, _), clients| {
            let before = clients.len();
            clients.retain(|(other, _)| *other != client);
            if clients.len() < before {
                servers.insert(server.clone());
            }
            !clients.is_empty()
        });
        servers
    }

    /// The names that clients watch a server's resource under.
    pub(crate) fn names(&self, server: &ServerName, own: &str) -> Vec<String> {
        let watchers = self.0.lock();
        let clients = watchers.get(&(server.clone(), own.to_owned())).into_iter().flatten();
        let names: BTreeSet<&String> = clients.map(|(_, name)| name).collect();
        names.into_iter().cloned().collect()
    }

    /// The resources that are watched at a server.
    pub(crate) fn at(&self, server: &ServerName) -> BTreeSet<String> {
        self.0.lock().keys().filter(|(of, _)| of == server).map(|(_, own)| own.clone()).collect()
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
    /// A client wants logs from this level on; none any more, where there is no level.
    pub(crate) fn set(&self, client: u64, level: Option<&str>) {
        let mut levels = self.of_clients.lock();
        match level {
            Some(level) => levels.insert(client, level.to_owned()),
            None => levels.remove(&client),
        };
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
