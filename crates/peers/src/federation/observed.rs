//! The servers that get copies of calls, and the one of them at the other end of a connection.

use std::{collections::BTreeSet, net::SocketAddr, sync::Arc};

use parking_lot::Mutex;

use super::Peers;
use crate::{child::neighbour, spec::ServerName};

/// The servers that get copies of calls.
#[derive(Debug, Default)]
pub(crate) struct Observed(Mutex<BTreeSet<ServerName>>);

impl Observed {
    /// Makes these the servers that do.
    pub(crate) fn set(&self, names: BTreeSet<ServerName>) {
        *self.0.lock() = names;
    }

    /// True if there is any.
    pub(crate) fn by_anybody(&self) -> bool {
        !self.0.lock().is_empty()
    }

    /// The observer whose process is at the other end of a connection, if one is. Looks through
    /// the system's records on the spot.
    pub(crate) fn at(&self, peers: &Peers, ours: SocketAddr, theirs: SocketAddr) -> Option<Arc<str>> {
        let names = self.0.lock().clone();
        let processes = |name: &ServerName| peers.get(name).map(|peer| peer.processes()).unwrap_or_default();
        let roots: Vec<(u32, &ServerName)> =
            names.iter().flat_map(|name| processes(name).into_iter().map(move |pid| (pid, name))).collect();
        let pids: Vec<u32> = roots.iter().map(|(pid, _)| *pid).collect();
        let found = neighbour::at_other_end(&pids, ours, theirs)?;
        roots.iter().find(|(pid, _)| *pid == found).map(|(_, name)| name.as_str().into())
    }
}
