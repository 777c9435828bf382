//! Observers: servers that get a copy of every call. They are found among the federated servers by
//! what they offer, come and go with them, and share their sessions. A call cannot tell whether
//! anybody watches: copies are taken from a ring, each observer at its own pace.

mod asking;
mod audit;
mod copies;
mod counts;
mod marks;
mod observation;
mod pace;
mod rota;
mod schema;
mod sink;
mod trial;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, OnceLock, atomic::Ordering},
    time::Duration,
};

use globset::GlobSet;
use parking_lot::Mutex;
use tectum_core::{TapWatcher, Tectum};
use tectum_redact::Redactor;
use tokio::{
    sync::{Notify, watch},
    task::{JoinHandle, JoinSet},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

pub use self::{
    counts::{ObserverStatus, Tally, Totals},
    trial::{Trial, observers_of, try_observer},
};

use self::{
    asking::Asking,
    copies::{Copies, Reader},
    counts::Counts,
    rota::{FEW, Release, Rota},
    sink::Sink,
};
use crate::{
    federation::{Federation, globs},
    peer::{Peer, State},
    spec::ServerName,
};

/// The time the last copies may take when the house closes.
const LAST_COPIES: Duration = Duration::from_secs(1);
/// The interval at which a server that is on its way is looked at when the house closes.
const LOOK: Duration = Duration::from_millis(10);

/// Stands for the names of all servers among those that are muted.
pub const EVERYBODY: &str = "*";

/// The settings of observers.
#[derive(Debug, Default)]
pub struct ObserverSettings {
    /// Globs over the names of servers that get no copies.
    pub exclude: Vec<String>,
    /// Servers that get none for now.
    pub muted: BTreeSet<String>,
}

/// The observers of a house.
pub struct Observers {
    shared: Arc<Shared>,
    watcher: TapWatcher,
    keeping: JoinHandle<()>,
    pacing: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    house: Tectum,
    federation: Arc<Federation>,
    copies: Arc<Copies>,
    run: Arc<str>,
    exclude: GlobSet,
    muted: watch::Sender<BTreeSet<String>>,
    rota: Arc<Rota>,
    seats: Mutex<BTreeMap<ServerName, Seat>>,
    asking: Asking,
    /// The next copy of those that were changed and have not come back yet.
    left: Mutex<BTreeMap<ServerName, u64>>,
    /// Counters outlive a server's restart.
    counts: Mutex<BTreeMap<ServerName, Arc<Counts>>>,
    /// The servers that there were when the first client came.
    initial: OnceLock<BTreeSet<ServerName>>,
    last: CancellationToken,
}

/// An observer that is served.
#[derive(Debug)]
struct Seat {
    peer: Arc<Peer>,
    counts: Arc<Counts>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Observers {
    /// Opens the copies of a house for those of its servers that take them. Waits for nobody;
    /// must be called in a runtime.
    pub fn start(
        house: &Tectum,
        federation: &Arc<Federation>,
        redactor: Redactor,
        settings: ObserverSettings,
    ) -> Self {
        let (copies, watcher) = Copies::watching(house, redactor);
        let run = format!("r-{:016x}", getrandom::u64().unwrap_or_default());
        let shared = Arc::new(Shared {
            house: house.clone(),
            federation: federation.clone(),
            run: run.into(),
            exclude: globs(&settings.exclude),
            muted: watch::Sender::new(settings.muted),
            rota: Arc::new(Rota::new(copies.next())),
            seats: Mutex::default(),
            asking: Asking::default(),
            left: Mutex::default(),
            counts: Mutex::default(),
            initial: OnceLock::new(),
            last: CancellationToken::new(),
            copies,
        });
        let first = Arc::new(Notify::new());
        let pacing = tokio::spawn(pace::keep(shared.copies.clone(), shared.rota.clone(), first.clone()));
        let keeping = tokio::spawn(keep(shared.clone(), first));
        Self { shared, watcher, keeping, pacing }
    }

    /// The state of the observers.
    pub fn status(&self) -> BTreeMap<String, ObserverStatus> {
        self.shared.status()
    }

    /// The tally of all copies so far.
    pub fn totals(&self) -> Totals {
        let made = self.shared.copies.copied();
        let mut totals = Totals { made, ..Totals::default() };
        self.shared.counts.lock().values().for_each(|counts| totals.copies.add(*counts.tally.lock()));
        totals
    }

    /// The servers that get no copies for now.
    pub fn muted(&self) -> BTreeSet<String> {
        self.shared.muted.borrow().clone()
    }

    /// Makes these the servers that get no copies for now.
    pub fn mute(&self, names: BTreeSet<String>) {
        self.shared.muted.send_if_modified(|muted| {
            let changed = *muted != names;
            *muted = names;
            changed
        });
    }

    /// Sends what is there to those who take it, for a short time, and ends.
    pub async fn stop(&self) {
        self.keeping.abort();
        self.pacing.abort();
        let until = Instant::now() + LAST_COPIES;
        self.shared.met(until).await;
        self.shared.asking.stop();
        let (rota, upto) = (&self.shared.rota, self.shared.copies.next());
        rota.set(Release { upto, ..rota.release() });
        // No call is left that could wait.
        rota.rest(false);
        self.shared.last.cancel();
        let seats = std::mem::take(&mut *self.shared.seats.lock());
        let stops: Vec<CancellationToken> = seats.values().map(|seat| seat.stop.clone()).collect();
        let ending: JoinSet<()> =
            seats.into_values().map(|seat| async move { drop(seat.task.await) }).collect();
        let _ = tokio::time::timeout_at(until, ending.join_all()).await;
        for stop in stops {
            stop.cancel();
        }
        self.shared.house.tap().close(&self.watcher);
        self.shared.copies.clear();
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observers").field("shared", &self.shared).finish_non_exhaustive()
    }
}

/// Follows the servers.
async fn keep(shared: Arc<Shared>, first: Arc<Notify>) {
    let mut changes = shared.federation.composer.changes();
    let mut muted = shared.muted.subscribe();
    let mut asked = false;
    loop {
        tokio::select! {
            // A call without a client: there is somebody to watch all the same.
            () = first.notified(), if !asked => {
                asked = true;
                let federation = shared.federation.clone();
                let _ = tokio::task::spawn_blocking(move || federation.settle()).await;
                look(&shared, asked).await;
            }
            changed = changes.changed() => {
                if changed.is_err() {
                    return;
                }
                asked |= shared.federation.roster.has_client();
                look(&shared, asked).await;
            }
            _ = muted.changed() => look(&shared, asked).await,
        }
    }
}

/// Looks who watches, beside the thread that answers calls: there may be thousands.
async fn look(shared: &Arc<Shared>, asked: bool) {
    let shared = shared.clone();
    // It fails only if it panicked.
    let _ = tokio::task::spawn_blocking(move || shared.look(asked)).await;
}

impl Shared {
    /// Gives every observer its task, and takes it from those that are none any more. Once somebody
    /// is there to watch, servers that nobody ever asked what they offer are started to find out.
    fn look(self: &Arc<Self>, asked: bool) {
        let peers = self.federation.roster.peers();
        let muted = self.muted.borrow().clone();
        if asked {
            let _ = self.initial.set(peers.keys().cloned().collect());
            let included = |name: &ServerName| !self.exclude.is_match(name.as_str());
            self.asking.follow(&self.federation, peers.iter().filter(|(name, _)| included(name)));
        }
        let mut seats = self.seats.lock();
        if self.last.is_cancelled() {
            // Whoever is there is being told the last copies.
            return;
        }
        let mut left = self.left.lock();
        seats.retain(|name, seat| {
            let there = peers.get(name).is_some_and(|peer| Arc::ptr_eq(peer, &seat.peer));
            let stays = there && self.wants(name, &seat.peer) && !is_muted(&muted, name);
            if !stays {
                let next = seat.counts.next();
                seat.stop.cancel();
                // One that was changed goes on where the one before it was.
                if !there {
                    left.insert(name.clone(), *next);
                }
            }
            stays
        });
        left.retain(|name, _| {
            let waits = |peer: &Arc<Peer>| !peer.offer().known || self.wants(name, peer);
            peers.get(name).is_some_and(waits) && !is_muted(&muted, name)
        });
        for (name, peer) in peers.iter() {
            if seats.contains_key(name) || is_muted(&muted, name) || !self.wants(name, peer) {
                continue;
            }
            let reader = match left.remove(name) {
                Some(next) => self.copies.from_number(next),
                None => self.reader(name),
            };
            let counts = self.counts.lock().entry(name.clone()).or_default().clone();
            *counts.next() = reader.next();
            let stop = CancellationToken::new();
            let sink = Sink {
                federation: self.federation.clone(),
                peer: peer.clone(),
                counts: counts.clone(),
                run: self.run.clone(),
                rota: self.rota.clone(),
                stop: stop.clone(),
                last: self.last.clone(),
            };
            tracing::info!(observer = %name, "gets a copy of every call");
            let task = tokio::spawn(sink.run(reader));
            seats.insert(name.clone(), Seat { peer: peer.clone(), counts, stop, task });
        }
        self.rota.rest(seats.len() > FEW);
        self.federation.observed.set(seats.keys().cloned().collect());
    }

    /// An observer that was there from the beginning reads from the beginning, as far as that is
    /// still there: calls made while it was being found are not lost to it. One that came later, or
    /// was away or muted, gets what happens from now on.
    fn reader(&self, name: &ServerName) -> Reader {
        // Before the first client everybody is there from the beginning.
        let is_first = self.initial.get().is_none_or(|initial| initial.contains(name));
        if is_first && !self.counts.lock().contains_key(name) {
            self.copies.from_the_start()
        } else {
            self.copies.from_now()
        }
    }

    /// Meets the servers that are on their way while there is something to tell them: a client that
    /// comes for one call leaves before a new observer has said that it is one.
    async fn met(self: &Arc<Self>, until: Instant) {
        if self.copies.copied() == 0 {
            return;
        }
        let federation = self.federation.clone();
        let _ = tokio::task::spawn_blocking(move || federation.settle()).await;
        self.look(true);
        let comes = |(name, peer): (&ServerName, &Arc<Peer>)| {
            let is_gone = matches!(peer.status().state, State::Down | State::Broken | State::Stopped);
            !is_gone && !peer.offer().known && !self.exclude.is_match(name.as_str())
        };
        while Instant::now() < until && self.federation.roster.peers().iter().any(comes) {
            tokio::time::sleep(LOOK).await;
        }
        self.look(false);
    }

    fn wants(&self, name: &ServerName, peer: &Peer) -> bool {
        !self.exclude.is_match(name.as_str()) && takes_copies(peer)
    }

    fn status(&self) -> BTreeMap<String, ObserverStatus> {
        let peers = self.federation.roster.peers();
        let muted = self.muted.borrow().clone();
        let counts = self.counts.lock();
        let one = |(name, peer): (&ServerName, &Arc<Peer>)| {
            let known = counts.get(name);
            if known.is_none() && !self.wants(name, peer) {
                return None;
            }
            let is_muted = is_muted(&muted, name);
            let idle = known.is_some_and(|counts| counts.idle.load(Ordering::Relaxed));
            let state = if is_muted {
                "muted"
            } else if self.wants(name, peer) && peer.is_connected() && !idle {
                "watching"
            } else {
                "away"
            };
            Some((
                name.to_string(),
                known.map_or_else(|| Counts::default().status(state), |counts| counts.status(state)),
            ))
        };
        peers.iter().filter_map(one).collect()
    }
}

fn is_muted(muted: &BTreeSet<String>, name: &ServerName) -> bool {
    muted.contains(name.as_str()) || muted.contains(EVERYBODY)
}

/// True if a server takes copies, and may: a tool that is withheld gets none.
fn takes_copies(peer: &Peer) -> bool {
    let (offer, standing) = (peer.offer(), peer.standing());
    let observes = schema::observe_of(&offer).is_some() && !standing.withholds(schema::OBSERVE);
    observes || audit::is_declared(&offer) && standing.lost().is_none()
}
