//! Meeting servers: for whom they are started, and who waits until they have said what they offer.

use std::{sync::Arc, time::Duration};

use tectum_core::Fault;
use tectum_state::Lasts;
use tokio::sync::{Mutex, Semaphore, SemaphorePermit};

use super::{Caller, Federation, compose::Told};
use crate::peer::{Peer, State, late_word};

/// How often a server that starts for one call is looked at: far below what its start takes.
const LOOK: Duration = Duration::from_millis(10);

/// Servers that start at the same time without anybody waiting for them: all of thousands at once would
/// take every file and every core.
const MOST_STARTS: usize = 128;
/// Between those that had to wait for others: calls have their turn in between.
const APART: Duration = Duration::from_millis(2);

/// Turns to start servers that nobody waits for.
pub(super) struct Starts {
    turns: Semaphore,
    apart: Mutex<()>,
}

impl Default for Starts {
    fn default() -> Self {
        Self { turns: Semaphore::new(MOST_STARTS), apart: Mutex::default() }
    }
}

impl Starts {
    async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        if let Ok(turn) = self.turns.try_acquire() {
            return Some(turn);
        }
        let turn = self.turns.acquire().await.ok();
        let _one_at_a_time = self.apart.lock().await;
        tokio::time::sleep(APART).await;
        turn
    }
}

impl Federation {
    /// Waits until every server that must be there is, or names those that are not.
    pub async fn require(self: &Arc<Self>) -> Result<(), Fault> {
        self.settle();
        let peers = self.peers.load_full();
        for peer in peers.values().filter(|peer| peer.spec.required) {
            let class = peer.class(&"{}".into(), None);
            peer.link(&class).await?;
        }
        Ok(())
    }

    /// A client is there: servers that were never met are started, so that it sees their tools.
    pub(crate) fn wake(self: &Arc<Self>, caller: &Caller) {
        self.settle();
        let (abilities, key) = self.met.get_or_init(|| (caller.abilities(), caller.session()));
        self.changes.send_modify(|change| *change += 1);
        for peer in self.peers.load().values().filter(|peer| !peer.offer().known) {
            self.open(peer, abilities, *key);
        }
    }

    /// Somebody uses what servers offer: those that were never met, since they died before they said
    /// what that is, are tried again. Costs nothing where all were met.
    pub(crate) fn revive(&self) {
        let Some((abilities, key)) = self.met.get().filter(|_| !self.is_whole()) else { return };
        let peers = self.peers.load();
        let unmet = peers.values().filter(|peer| !peer.offer().known);
        for peer in unmet.filter(|peer| has_died(peer)) {
            self.open(peer, abilities, *key);
        }
    }

    /// A client said what it can do: servers are asked what they offer to one like it, if nobody was
    /// there yet who can do as much, or none stayed until they had answered.
    pub(crate) fn meet_client(&self, caller: &Caller) {
        let abilities = caller.abilities();
        for peer in
            self.peers.load().values().filter(|peer| !peer.offer().known || peer.is_unseen_by(&abilities))
        {
            self.open(peer, &abilities, caller.session());
        }
    }

    /// A server takes the place of one that ended, or is new: it hears what its clients want,
    /// and starts if somebody would miss it.
    pub(super) async fn resume(&self, peer: &Arc<Peer>, ran: bool) {
        let watched = !self.watchers.at(&peer.spec.name).is_empty();
        let missed = ran || watched || !peer.offer().known;
        if watched {
            peer.subscribe().await;
        }
        if let Some((abilities, key)) = self.met.get().filter(|_| missed) {
            self.open(peer, abilities, *key);
        }
    }

    /// Meets the servers that may have a tool of this name and were never met. For one call
    /// alone: a client is not kept waiting for servers.
    pub async fn meet(self: &Arc<Self>, tool: &str) -> Result<(), Fault> {
        self.settle();
        let peers = self.peers.load_full();
        for (name, peer) in peers.iter().filter(|(_, peer)| !peer.offer().known) {
            let its = tool.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with("__"));
            if !its && peer.spec.prefix {
                continue;
            }
            match self.meet_server(peer).await {
                // The name says whose the tool is: why that server is away is the answer.
                Err(fault) if its => return Err(fault),
                _ => {}
            }
        }
        self.recompose(Told::Everybody);
        match self.why_held(tool) {
            Some(why) => Err(Fault::not_found(format!("unknown tool: {tool}: {why}"))),
            None => Ok(()),
        }
    }

    /// Meets every server that was never met, all at the same time, and says why others are away.
    /// For somebody who is shown the tools once, before the work begins.
    pub async fn meet_all(self: &Arc<Self>) -> Vec<(String, Fault)> {
        self.settle();
        let peers = self.peers.load_full();
        let strangers = peers.iter().filter(|(_, peer)| !peer.offer().known);
        let met = strangers.map(async |(name, peer)| (name.to_string(), self.meet_server(peer).await));
        let met = futures_util::future::join_all(met).await;
        self.recompose(Told::Everybody);
        met.into_iter().filter_map(|(name, met)| Some((name, met.err()?))).collect()
    }

    /// How long a first list waits, where that was said.
    pub(crate) fn first_wait(&self) -> Option<Duration> {
        self.settings.first_wait
    }

    /// Whether a first list has to wait for any server: for one that was never met, did not fail and
    /// was not waited for so long yet.
    pub(crate) fn is_pending(&self, patience: Duration) -> bool {
        self.peers.load().values().any(|peer| peer.is_on_its_way() && peer.is_worth_waiting_for(patience))
    }

    /// Waits until the servers that were never met have said what they offer, all at the same time, but
    /// no longer than this since somebody first waited for each of them: one that hangs costs it once.
    pub(crate) async fn first_offers(self: &Arc<Self>, patience: Duration) {
        while self.is_pending(patience) {
            tokio::time::sleep(LOOK).await;
        }
        for peer in self.peers.load().values().filter(|peer| peer.is_on_its_way()) {
            self.remember_late(peer);
        }
        self.recompose(Told::Everybody);
    }

    /// How long a call may take of a tool of this name, if a server may still say that it has it.
    pub(crate) fn time_until_offered(&self, tool: &str) -> Option<Duration> {
        let its = |peer: &Peer| {
            !peer.spec.prefix
                || tool.strip_prefix(peer.spec.name.as_str()).is_some_and(|rest| rest.starts_with("__"))
        };
        let peers = self.peers.load();
        let coming = peers.values().filter(|peer| peer.is_on_its_way() && its(peer));
        coming.map(|peer| peer.spec.timeout).max()
    }

    /// Leaves word that a server did not come in time, so that the next start does not wait for it.
    fn remember_late(&self, peer: &Peer) {
        let state = self.settings.state.as_deref();
        let Some((file, word)) = state.map(|state| late_word(state, &peer.spec)) else { return };
        self.approvals.write(&file.clone(), move || {
            if let Err(error) = tectum_state::replace(&file, word.as_bytes(), Lasts::Process) {
                tracing::debug!(%error, "that a server did not come in time could not be kept");
            }
        });
    }

    /// Waits until a server has said what it offers, if it never did.
    pub(crate) async fn meet_server(&self, peer: &Arc<Peer>) -> Result<(), Fault> {
        let (abilities, client) = self.first_client();
        peer.link(&peer.class(&abilities, client)).await?;
        let listed = async {
            while !peer.offer().known && peer.status().error.is_none() {
                tokio::time::sleep(LOOK).await;
            }
        };
        let _ = tokio::time::timeout(peer.spec.start_timeout, listed).await;
        Ok(())
    }

    /// What the first client could do, and its number; one that can do nothing until it came.
    pub(crate) fn first_client(&self) -> (Arc<str>, Option<u64>) {
        self.met.get().cloned().unwrap_or_else(|| ("{}".into(), None))
    }

    /// Starts a server beside us, in turn with others. Nobody waits for it, so why it could not be
    /// started is said here.
    fn open(&self, peer: &Arc<Peer>, abilities: &Arc<str>, client: Option<u64>) {
        let (peer, class) = (peer.clone(), peer.class(abilities, client));
        let starts = self.starts.clone();
        tokio::spawn(async move {
            let _turn = starts.turn().await;
            if let Err(fault) = peer.link(&class).await {
                tracing::warn!(server = %peer.spec.name, "{}", fault.message);
            }
        });
    }

    /// A turn to start a server that nobody waits for.
    pub(crate) async fn turn_to_start(&self) -> Option<SemaphorePermit<'_>> {
        self.starts.turn().await
    }

    /// Whether a client was ever there.
    pub(crate) fn has_client(&self) -> bool {
        self.met.get().is_some()
    }
}

/// True for a server that was started and failed, and is not being started again. One that waits for
/// its turn to start has not failed.
fn has_died(peer: &Peer) -> bool {
    let status = peer.status();
    status.error.is_some() && !matches!(status.state, State::Starting | State::Stopped)
}
