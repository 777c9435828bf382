//! Which servers there are: the first of them, known only when somebody needs them, and those that
//! take their place.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{Federation, compose::Told};
use crate::{
    peer::Peer,
    spec::{ServerName, ServerSpec},
};

/// Names the first servers.
type Source = Box<dyn FnOnce() -> Vec<ServerSpec> + Send>;

/// Where the first servers come from, until somebody asks for them.
pub(super) struct First {
    source: Mutex<Option<Source>>,
    settled: AtomicBool,
}

/// What came of naming other servers.
pub(super) struct Replaced {
    /// The new ones, each with whether another of its name ran.
    pub(super) begun: Vec<(Arc<Peer>, bool)>,
    /// Those that have to end.
    pub(super) ended: Vec<Arc<Peer>>,
}

impl Federation {
    /// Makes sure that the servers are known, and that what they offered last stands in the registry
    /// and in the lists. The first who needs that waits for it, on the spot; afterwards it costs
    /// nothing. No server is started for it. Must be called in a runtime, and never while a lock of
    /// the federation is held.
    pub fn settle(self: &Arc<Self>) {
        self.first.once(|first| {
            let begun = self.replace_peers(first()).begun;
            // Whoever reads a list settles first, so nobody has seen another one.
            self.recompose(Told::Nobody);
            let federation = self.clone();
            // A client may have said what it wants to hear before there were servers.
            tokio::spawn(async move { federation.resume_all(begun).await });
        });
    }

    /// Puts these servers in the place of those before.
    pub(super) fn replace_peers(&self, specs: Vec<ServerSpec>) -> Replaced {
        let before = self.peers.load_full();
        let mut peers = BTreeMap::new();
        let mut begun = Vec::new();
        for spec in specs {
            let peer = match before.get(&spec.name) {
                Some(peer) if *peer.spec == spec => peer.clone(),
                old => {
                    let peer = Peer::start(spec, self.surroundings());
                    let ran = old.is_some_and(|old| old.status().starts > 0);
                    begun.push((peer.clone(), ran));
                    peer
                }
            };
            peers.insert(peer.spec.name.clone(), peer);
        }
        let kept = |name: &ServerName, peer: &Arc<Peer>| {
            peers.get(name).is_some_and(|kept: &Arc<Peer>| Arc::ptr_eq(kept, peer))
        };
        let ended = before.iter().filter(|(name, peer)| !kept(name, peer)).map(|(_, peer)| peer.clone());
        let ended = ended.collect();
        self.peers.store(Arc::new(peers));
        Replaced { begun, ended }
    }

    /// The new ones hear what clients want, and start if somebody would miss them.
    pub(super) async fn resume_all(&self, begun: Vec<(Arc<Peer>, bool)>) {
        for (peer, ran) in begun {
            self.resume(&peer, ran).await;
        }
    }
}

impl First {
    pub(super) fn new(source: impl FnOnce() -> Vec<ServerSpec> + Send + 'static) -> Self {
        Self { source: Mutex::new(Some(Box::new(source))), settled: AtomicBool::new(false) }
    }

    /// Does this once; everybody else waits until it is done.
    fn once(&self, settle: impl FnOnce(Source)) {
        if self.settled.load(Ordering::Acquire) {
            return;
        }
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = source.take() {
            settle(source);
        }
        self.settled.store(true, Ordering::Release);
    }

    /// Nobody asks for them any more.
    pub(super) fn forget(&self) {
        drop(self.source.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}
