//! All federated servers behind one endpoint: their tools join the registry, their resources
//! and prompts the lists, and what changes is told to whoever listens.

mod absent;
mod approvals;
mod asking;
mod bridge;
mod caller;
mod compose;
mod definitions;
mod directives;
mod early;
mod find;
mod follow;
mod goods;
mod instructions;
mod lean;
mod meet;
mod names;
mod news;
mod observed;
mod own;
mod parked;
mod pins;
mod profiles;
mod questions;
mod review;
mod settle;
mod spool;
mod standing;
mod tasks;
mod tools;
mod translate;
mod wishes;

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use serde_json::value::RawValue;
use tectum_core::{NativeSet, NativeTool, Provider, Tectum};
use tokio::sync::{Notify, broadcast, mpsc, watch};

pub(crate) use self::{
    approvals::Approvals,
    bridge::{Failure, Order, TOO_MANY},
    caller::{Caller, LEVELS, abilities, ability_names, can, shows_forms},
    find::{CALL_TOOL, FIND_TOOLS},
    follow::Following,
    goods::{Goods, Source},
    news::Notice,
    parked::Shelf,
    questions::{refusal, shown as shown_question},
    standing::{Standing, cleared},
    tasks::{EXTENSION as TASKS, TaskNote, named as named_task},
    translate::{asking as asking_result, input_required, to_modern},
    wishes::{Levels, Watchers},
};
use self::{
    caller::Callers,
    compose::{Composed, Told},
    find::{CallTool, FindTools},
    meet::Starts,
    news::hear,
    observed::Observed,
    settle::First,
    spool::Spool,
    tasks::Tasks,
    tools::Keepers,
};
pub use self::{
    pins::{Change, Subject},
    profiles::{Patterns, Profile, Profiles},
    review::Review,
};
use crate::{
    auth::Authorize,
    lineage::Lineage,
    link::Door,
    peer::{News, Peer, Surroundings},
    serve::{ClientForms, Clients, Unheard},
    spec::{ServerName, ServerSpec},
    wire::object::Members,
};

/// Notices that a slow listener may fall behind by.
const NOTICES: usize = 1024;
/// How long the last writes may take when the house closes.
const LAST_WRITES: Duration = Duration::from_secs(5);
/// What all servers' tasks may tell before it is heard; who tells more waits.
const NEWS: usize = 256;

/// Where the federation finds what no server's spec says.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Where children start that name no directory.
    pub directory: PathBuf,
    /// Where what is known about servers outlives the process; nothing is kept without it.
    pub state: Option<PathBuf>,
    /// Where logins at servers are kept; nobody is logged in without it.
    pub logins: Option<PathBuf>,
    /// The executable whose `guard` command watches over children; without one they are
    /// started directly.
    pub guard: Option<PathBuf>,
    /// Which tools are listed.
    pub exposure: Exposure,
    /// How long a first list waits for servers that were never met; the client decides where absent.
    pub first_wait: Option<Duration>,
    /// Which of the tools each client is listed.
    pub profiles: Profiles,
    /// Servers that are named and do not start, with the reason and what to do, as a client may hear
    /// it. Kept up by whoever names the servers.
    pub held: Arc<Mutex<BTreeMap<String, String>>>,
    /// What clients are given of results.
    pub forms: ClientForms,
}

/// Which tools clients are shown. All of them can be called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exposure {
    /// All, while federated servers bring fewer than 64; beyond that theirs are searched.
    #[default]
    Auto,
    /// All.
    All,
    /// The few every project needs; the others are searched.
    Core,
    /// Our own; those of federated servers are searched.
    Search,
}

/// How one server is, for people and programs.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ServerStatus {
    /// What it is doing.
    pub state: &'static str,
    /// Since when, in seconds of the epoch.
    pub since: u64,
    /// How many of its tools can be used; what is left out or withheld is not among them.
    pub tools: usize,
    /// How often it was started.
    pub starts: u64,
    /// What is wrong, or was last.
    pub error: Option<String>,
    /// What is renamed or left out of its offer.
    pub remarks: Vec<String>,
}

/// All federated servers.
pub struct Federation {
    house: Tectum,
    first: First,
    base: ArcSwap<Vec<Arc<dyn Provider>>>,
    settings: Settings,
    peers: ArcSwap<BTreeMap<ServerName, Arc<Peer>>>,
    goods: ArcSwap<Goods>,
    /// The clients of calls that are on their way to a server.
    pub(crate) callers: Arc<Callers>,
    shelf: Arc<Shelf>,
    tasks: Arc<Tasks>,
    spool: Option<Arc<Spool>>,
    door: Arc<Door>,
    index: Arc<find::Shared>,
    finder: Arc<dyn Provider>,
    notices: broadcast::Sender<Notice>,
    offers: Arc<Notify>,
    news: mpsc::Sender<News>,
    approvals: Arc<Approvals>,
    composed: Mutex<Composed>,
    /// Whether every server has ever said what it offers.
    whole: AtomicBool,
    /// How many tools of each server can be used, and what is to be said of the others.
    remarks: Mutex<HashMap<ServerName, (usize, Vec<String>)>>,
    watchers: Arc<Watchers>,
    /// What the first client could do, and its number: for whom servers that come later start.
    met: OnceLock<(Arc<str>, Option<u64>)>,
    /// Raised whenever there is something new about the servers, or the first client came.
    changes: watch::Sender<u64>,
    /// The clients that said what they can do in a handshake.
    clients: Arc<Clients>,
    /// What clients missed.
    pub(crate) unheard: Unheard,
    /// How often an answer could not carry what was to be told in it.
    pub(crate) waited: Arc<AtomicU64>,
    /// From which level on each client wants logs.
    levels: Arc<Levels>,
    /// Which house this is to those that calls pass through.
    pub(crate) lineage: Arc<Lineage>,
    /// The servers that get copies of calls.
    pub(crate) observed: Observed,
    /// Turns to start servers that nobody waits for.
    starts: Arc<Starts>,
}

impl Federation {
    /// A federation whose tools stand beside those of `base` in the house's registry. Which servers
    /// there are at `first` is asked by [`Federation::settle`]. Must be made in a runtime.
    pub fn start(
        house: Tectum,
        base: Vec<Arc<dyn Provider>>,
        settings: Settings,
        first: impl FnOnce() -> Vec<ServerSpec> + Send + 'static,
    ) -> Arc<Self> {
        let (news, heard) = mpsc::channel(NEWS);
        let offers = Arc::new(Notify::new());
        let spool = settings.state.as_ref().map(|state| Arc::new(Spool::new(state.join("results"))));
        let index = Arc::new(find::Shared::default());
        let finder =
            NativeSet::new(vec![NativeTool::new(FindTools(index.clone())), NativeTool::new(CallTool)]);
        let federation = Arc::new(Self {
            house,
            first: First::new(first),
            base: ArcSwap::from_pointee(base),
            peers: ArcSwap::default(),
            goods: ArcSwap::default(),
            callers: Arc::default(),
            shelf: Arc::default(),
            tasks: Arc::default(),
            door: Arc::new(Door::new(settings.logins.as_deref(), Authorize::of_process())),
            spool,
            index,
            finder: Arc::new(finder),
            notices: broadcast::Sender::new(NOTICES),
            offers: offers.clone(),
            news,
            approvals: Arc::new(Approvals::new(settings.state.clone())),
            composed: Mutex::default(),
            whole: AtomicBool::new(false),
            remarks: Mutex::default(),
            watchers: Arc::default(),
            met: OnceLock::new(),
            changes: watch::Sender::default(),
            clients: Arc::default(),
            levels: Arc::default(),
            unheard: Unheard::default(),
            waited: Arc::default(),
            lineage: Arc::default(),
            observed: Observed::default(),
            starts: Arc::default(),
            settings,
        });
        tokio::spawn(hear(Arc::downgrade(&federation), offers, heard));
        let anchors = federation.house.effects().anchors.changes();
        tokio::spawn(own::follow(Arc::downgrade(&federation), anchors));
        federation
    }

    /// Makes these the servers. Those whose spec did not change are left alone, with their
    /// calls in flight. The others end; those that ran start again, and new ones start if a
    /// client is there to see their tools.
    pub async fn apply(self: &Arc<Self>, specs: Vec<ServerSpec>) {
        self.settle();
        let replaced = self.replace_peers(specs);
        self.recompose(Told::Everybody);
        self.resume_all(replaced.begun).await;
        // The old ones end beside us: a slow end delays nobody.
        for peer in replaced.ended {
            tokio::spawn(async move { peer.stop().await });
        }
    }

    /// Makes these the tools of our own, and tells clients if they see a difference.
    pub fn rebase(self: &Arc<Self>, base: Vec<Arc<dyn Provider>>) {
        self.settle();
        self.base.store(Arc::new(base));
        self.recompose_on_new_base();
    }

    /// How many messages clients missed because they did not read in time.
    pub fn unheard(&self) -> u64 {
        self.unheard.count()
    }

    /// How often an answer could not carry what was to be told at the end of a round. It waits for the
    /// next answer.
    pub fn waited(&self) -> u64 {
        self.waited.load(Ordering::Relaxed)
    }

    /// What clients are given of results.
    pub fn forms(&self) -> &ClientForms {
        &self.settings.forms
    }

    /// How every server is.
    pub fn status(&self) -> BTreeMap<String, ServerStatus> {
        let remarks = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        let one = |(name, peer): (&ServerName, &Arc<Peer>)| {
            let status = peer.status();
            let since = status.since.duration_since(std::time::UNIX_EPOCH).map_or(0, |age| age.as_secs());
            let offer = peer.offer();
            let (tools, mut said) = remarks.get(name).cloned().unwrap_or_default();
            said.extend(offer.left_out.iter().cloned());
            if peer.dropped() > 0 {
                said.push(
                    "it sends more messages that nobody asked for than can be taken: some were dropped"
                        .into(),
                );
            }
            let status = ServerStatus {
                state: status.state.word(),
                since,
                tools,
                starts: status.starts,
                error: status.error,
                remarks: said,
            };
            (name.to_string(), status)
        };
        self.peers.load().iter().map(one).collect()
    }

    /// Ends all servers, and everything they started.
    pub async fn stop(&self) {
        // Who asks from now on finds none.
        self.first.forget();
        let peers = self.peers.swap(Arc::default());
        let ending: tokio::task::JoinSet<()> =
            peers.values().cloned().map(|peer| async move { peer.stop().await }).collect();
        ending.join_all().await;
        let _ = tokio::time::timeout(LAST_WRITES, self.approvals.flushed()).await;
    }

    /// Whether the lists have something of every server there is, if only from memory.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole.load(Ordering::Relaxed)
    }

    /// Tells that there is something new about the servers.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// The servers as they are now.
    pub(crate) fn servers(&self) -> Arc<BTreeMap<ServerName, Arc<Peer>>> {
        self.peers.load_full()
    }

    /// The resources and prompts as they are now.
    pub(crate) fn goods(&self) -> Arc<Goods> {
        self.goods.load_full()
    }

    /// What changes from now on.
    pub(crate) fn notices(&self) -> broadcast::Receiver<Notice> {
        self.notices.subscribe()
    }

    /// Carries out a request at a server.
    pub(crate) async fn run(
        &self,
        source: &Source,
        order: Order,
        caller: &Caller,
    ) -> Result<Box<RawValue>, Failure> {
        bridge::run(&source.peer, order, caller, &self.shelf, None).await
    }

    /// The server that works on a task, as where a question about the task goes.
    pub(crate) fn task(&self, id: &str) -> Option<Source> {
        let place = self.tasks.place(id)?;
        let peer = self.peers.load().get(&place.server)?.clone();
        Some(Source { peer, own: place.own })
    }

    /// The extensions that any server declares, each as the first one wrote it.
    pub(crate) fn extensions(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for peer in self.peers.load().values() {
            let offer = peer.offer();
            for (name, value) in offer.extensions.as_deref().and_then(Members::of).unwrap_or_default().0 {
                all.entry(name.into_owned()).or_insert_with(|| value.get().to_owned());
            }
        }
        all
    }

    fn keepers(&self) -> Keepers {
        Keepers {
            callers: self.callers.clone(),
            shelf: self.shelf.clone(),
            spool: self.spool.clone(),
            tasks: self.tasks.clone(),
        }
    }

    /// A result that was too large to be passed on, in ranges; `None` for any other address.
    pub(crate) async fn kept(&self, uri: &str) -> Option<std::io::Result<Box<RawValue>>> {
        let spool = self.spool.clone().filter(|_| uri.starts_with(spool::ADDRESS))?;
        let uri = uri.to_owned();
        let read = tokio::task::spawn_blocking(move || spool.read(&uri)).await;
        Some(read.unwrap_or_else(|_| Err(std::io::Error::other("it could not be read"))))
    }

    /// What a person approved meanwhile holds from now on, and what is gone is withheld.
    pub fn follow_approvals(&self) {
        if self.approvals.is_stale() {
            self.recompose_with_approvals();
        }
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings {
            directory: self.settings.directory.clone(),
            state: self.settings.state.clone(),
            approvals: self.approvals.clone(),
            guard: self.settings.guard.clone(),
            door: self.door.clone(),
            clients: self.clients.clone(),
            watchers: self.watchers.clone(),
            levels: self.levels.clone(),
            offers: self.offers.clone(),
            news: self.news.clone(),
            lineage: self.lineage.clone(),
        }
    }
}

impl std::fmt::Debug for Federation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Federation").field("peers", &self.peers.load()).finish_non_exhaustive()
    }
}
