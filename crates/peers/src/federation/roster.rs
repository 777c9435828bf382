//! The list of servers: the first of them, known only when somebody needs them, and those that take
//! their place; for whom they are started, and who waits until they have said what they offer.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tectum_core::Fault;
use tectum_state::Lasts;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{
    client::Caller,
    peer::{self, Peer, State, Surroundings, late_word},
    spec::{ServerName, ServerSpec},
};

/// Servers that start at the same time without anybody waiting for them: all of thousands at once would
/// take every file and every core.
const MOST_STARTS: usize = 128;
/// Between those that had to wait for others: calls have their turn in between.
const APART: Duration = Duration::from_millis(2);
/// The interval at which a server that starts for one call is looked at: far below what its start
/// takes.
const LOOK: Duration = Duration::from_millis(10);

/// All servers, by name.
pub(crate) type Peers = BTreeMap<ServerName, Arc<Peer>>;

/// Names the first servers.
type FirstSpecs = Box<dyn FnOnce() -> Vec<ServerSpec> + Send>;

/// The servers.
pub(crate) struct Roster {
    /// Names the first servers, until somebody asks for them.
    first: Mutex<Option<FirstSpecs>>,
    settled: AtomicBool,
    peers: ArcSwap<Peers>,
    around: Surroundings,
    /// Servers that are named and do not start, with the reason.
    held: Arc<Mutex<BTreeMap<String, String>>>,
    /// The capabilities and the session of the first client: for whom servers that come later start.
    met: OnceLock<(Arc<str>, Option<u64>)>,
    /// Turns to start servers that nobody waits for.
    pub(crate) starts: Arc<Starts>,
}

/// Turns to start servers that nobody waits for.
pub(crate) struct Starts {
    turns: Semaphore,
    apart: tokio::sync::Mutex<()>,
}

/// The servers that began and ended when others were named.
pub(super) struct Replaced {
    /// The new ones, each with whether another of its name ran.
    pub(super) begun: Vec<(Arc<Peer>, bool)>,
    /// Those that have to end.
    pub(super) ended: Vec<Arc<Peer>>,
}

impl Starts {
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        if let Ok(turn) = self.turns.try_acquire() {
            return Some(turn);
        }
        let turn = self.turns.acquire().await.ok();
        let _one_at_a_time = self.apart.lock().await;
        tokio::time::sleep(APART).await;
        turn
    }
}

impl Roster {
    pub(super) fn new(
        first: impl FnOnce() -> Vec<ServerSpec> + Send + 'static,
        around: Surroundings,
        held: Arc<Mutex<BTreeMap<String, String>>>,
    ) -> Self {
        Self {
            first: Mutex::new(Some(Box::new(first))),
            settled: AtomicBool::new(false),
            peers: ArcSwap::default(),
            around,
            held,
            met: OnceLock::new(),
            starts: Arc::new(Starts {
                turns: Semaphore::new(MOST_STARTS),
                apart: tokio::sync::Mutex::default(),
            }),
        }
    }

    /// The servers as they are now.
    pub(crate) fn peers(&self) -> Arc<Peers> {
        self.peers.load_full()
    }

    /// Makes the first servers known, once; everybody else waits until `then` is done as well.
    pub(super) fn settle_once(&self, then: impl FnOnce(Vec<(Arc<Peer>, bool)>)) {
        if self.settled.load(Ordering::Acquire) {
            return;
        }
        let mut first = self.first.lock();
        if let Some(first) = first.take() {
            then(self.replace(first()).begun);
        }
        self.settled.store(true, Ordering::Release);
    }

    /// Puts these servers in the place of those before.
    pub(super) fn replace(&self, specs: Vec<ServerSpec>) -> Replaced {
        let before = self.peers.load_full();
        let mut peers = BTreeMap::new();
        let mut begun = Vec::new();
        for spec in specs {
            let peer = match before.get(&spec.name) {
                Some(peer) if *peer.spec == spec => peer.clone(),
                old => {
                    let peer = peer::start(spec, self.around.clone());
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

    /// New servers hear what clients want, and start if somebody would miss them.
    pub(super) async fn resume(&self, begun: Vec<(Arc<Peer>, bool)>) {
        for (peer, ran) in begun {
            let watched = !self.around.watchers.at(&peer.spec.name).is_empty();
            let missed = ran || watched || !peer.offer().known;
            if watched {
                peer.subscribe().await;
            }
            if let Some((abilities, session)) = self.met.get().filter(|_| missed) {
                self.open(&peer, abilities, *session);
            }
        }
    }

    /// Ends all servers, and everything they started. Who asks from now on finds none.
    pub(super) async fn stop(&self) {
        drop(self.first.lock().take());
        let peers = self.peers.swap(Arc::default());
        let ending: tokio::task::JoinSet<()> =
            peers.values().cloned().map(|peer| async move { peer.stop().await }).collect();
        ending.join_all().await;
    }

    /// Waits until every server that must be there is, or names those that are not.
    pub(super) async fn require(&self) -> Result<(), Fault> {
        for peer in self.peers().values().filter(|peer| peer.spec.required) {
            let class = peer.class(&"{}".into(), None);
            peer.link(&class).await?;
        }
        Ok(())
    }

    /// A client is there: servers that were never met are started, so that it sees their tools.
    pub(super) fn wake(&self, caller: &Caller) {
        let (abilities, session) = self.met.get_or_init(|| (caller.abilities(), caller.session()));
        for peer in self.peers.load().values().filter(|peer| !peer.offer().known) {
            self.open(peer, abilities, *session);
        }
    }

    /// Somebody uses what servers offer: those that were never met, since they died before they said
    /// what that is, are tried again.
    pub(super) fn revive(&self) {
        let Some((abilities, session)) = self.met.get() else { return };
        let peers = self.peers.load();
        let unmet = peers.values().filter(|peer| !peer.offer().known);
        for peer in unmet.filter(|peer| has_died(peer)) {
            self.open(peer, abilities, *session);
        }
    }

    /// A client said what it can do: servers are asked what they offer to one like it, if nobody was
    /// there yet who can do as much, or none stayed until they had answered.
    pub(crate) fn meet_client(&self, caller: &Caller) {
        let abilities = caller.abilities();
        let unmet = |peer: &&Arc<Peer>| !peer.offer().known || peer.is_unseen_by(&abilities);
        for peer in self.peers.load().values().filter(unmet) {
            self.open(peer, &abilities, caller.session());
        }
    }

    /// Meets the servers that may have a tool of this name and were never met. For one call
    /// alone: a client is not kept waiting for servers.
    pub(super) async fn meet_for(&self, tool: &str) -> Result<(), Fault> {
        for (name, peer) in self.peers().iter().filter(|(_, peer)| !peer.offer().known) {
            let its = is_of(tool, name);
            if !its && peer.spec.prefix {
                continue;
            }
            match self.meet_server(peer).await {
                // The name says whose the tool is: why that server is away is the answer.
                Err(fault) if its => return Err(fault),
                _ => {}
            }
        }
        Ok(())
    }

    /// Meets every server that was never met, all at the same time, and says why others are away.
    pub(super) async fn meet_all(&self) -> Vec<(String, Fault)> {
        let peers = self.peers();
        let strangers = peers.iter().filter(|(_, peer)| !peer.offer().known);
        let met = strangers.map(async |(name, peer)| (name.to_string(), self.meet_server(peer).await));
        let met = futures_util::future::join_all(met).await;
        met.into_iter().filter_map(|(name, met)| Some((name, met.err()?))).collect()
    }

    /// True if a first list has to wait for any server: for one that was never met, did not fail and
    /// was not waited for so long yet.
    pub(crate) fn is_pending(&self, patience: Duration) -> bool {
        self.peers.load().values().any(|peer| peer.is_on_its_way() && peer.is_worth_waiting_for(patience))
    }

    /// Waits until the servers that were never met have said what they offer, all at the same time, but
    /// no longer than this since somebody first waited for each of them: one that hangs costs it once.
    pub(super) async fn first_offers(&self, patience: Duration) {
        while self.is_pending(patience) {
            tokio::time::sleep(LOOK).await;
        }
        for peer in self.peers.load().values().filter(|peer| peer.is_on_its_way()) {
            self.remember_late(peer);
        }
    }

    /// The time that a call of a tool of this name may take, if a server may still say that it has it.
    pub(crate) fn time_until_offered(&self, tool: &str) -> Option<Duration> {
        let its = |peer: &Peer| !peer.spec.prefix || is_of(tool, &peer.spec.name);
        let peers = self.peers.load();
        let coming = peers.values().filter(|peer| peer.is_on_its_way() && its(peer));
        coming.map(|peer| peer.spec.timeout).max()
    }

    /// Leaves word that a server did not come in time, so that the next start does not wait for it.
    fn remember_late(&self, peer: &Peer) {
        let state = self.around.state.as_deref();
        let Some((file, word)) = state.map(|state| late_word(state, &peer.spec)) else { return };
        self.around.approvals.writer.submit(&file.clone(), move || {
            if let Err(error) = tectum_state::replace(&file, word.as_bytes(), Lasts::Process) {
                tracing::debug!(%error, "that a server did not come in time could not be kept");
            }
        });
    }

    /// Waits until a server has said what it offers, if it never did.
    pub(crate) async fn meet_server(&self, peer: &Arc<Peer>) -> Result<(), Fault> {
        let (abilities, session) = self.first_client();
        peer.link(&peer.class(&abilities, session)).await?;
        let listed = async {
            while !peer.offer().known && peer.status().error.is_none() {
                tokio::time::sleep(LOOK).await;
            }
        };
        let _ = tokio::time::timeout(peer.spec.start_timeout, listed).await;
        Ok(())
    }

    /// The capabilities and the session of the first client; none before one connects.
    pub(crate) fn first_client(&self) -> (Arc<str>, Option<u64>) {
        self.met.get().cloned().unwrap_or_else(|| ("{}".into(), None))
    }

    /// True if a client was ever there.
    pub(crate) fn has_client(&self) -> bool {
        self.met.get().is_some()
    }

    /// Starts a server beside us, in turn with others. Nobody waits for it, so why it could not be
    /// started is said here.
    fn open(&self, peer: &Arc<Peer>, abilities: &Arc<str>, session: Option<u64>) {
        let (peer, class) = (peer.clone(), peer.class(abilities, session));
        let starts = self.starts.clone();
        tokio::spawn(async move {
            let _turn = starts.turn().await;
            if let Err(fault) = peer.link(&class).await {
                tracing::warn!(server = %peer.spec.name, "{}", fault.message);
            }
        });
    }

    /// The reason why the tools of a server are not there.
    pub(super) fn why_absent(&self, server: &str) -> Option<String> {
        let peers = self.peers.load();
        peers.iter().find(|(name, _)| name.as_str() == server).map(|(_, peer)| why(peer))
    }

    /// The reason why a tool is not there whose name is of a server that does not start.
    pub(super) fn why_held(&self, tool: &str) -> Option<String> {
        let (server, _) = tool.split_once("__")?;
        let held = self.held.lock();
        held.get(server).map(|why| format!("the server `{server}` is not started: {why}"))
    }
}

/// True for a tool whose name begins with this server's.
fn is_of(tool: &str, server: &ServerName) -> bool {
    tool.strip_prefix(server.as_str()).is_some_and(|rest| rest.starts_with("__"))
}

/// True for a server that was started and failed, and is not being started again. One that waits for
/// its turn to start has not failed.
fn has_died(peer: &Peer) -> bool {
    let status = peer.status();
    status.error.is_some() && !matches!(status.state, State::Starting | State::Stopped)
}

/// The reason why the tools of a server are not there.
fn why(peer: &Peer) -> String {
    let (name, status, known) = (&peer.spec.name, peer.status(), peer.offer().known);
    let failed = status.error.is_some();
    let said = status.error.map(|error| format!(": {error}")).unwrap_or_default();
    let look = format!("`tectum list -v` shows what it said, `tectum restart {name}` restarts it");
    match status.state {
        _ if known => format!("the server `{name}` offers no such tool; tools/list shows what there is"),
        State::Starting | State::Down if failed => format!(
            "the server `{name}` is not there{said}; it is being started again: try again in a moment; {look}"
        ),
        State::Idle | State::Starting | State::Ready => format!(
            "the server `{name}` has not said yet what it offers{said}; try again in a moment, or look with `tectum list -v`"
        ),
        State::Down | State::Broken | State::Stopped => {
            format!("the server `{name}` is not there{said}; {look}")
        }
    }
}
