//! All federated servers behind one endpoint: their tools join the registry, their resources
//! and prompts the lists, and what changes is told to whoever listens.

mod bridge;
mod caller;
mod find;
mod goods;
mod names;
mod parked;
pub mod pins;
mod spool;
mod tasks;
mod tools;
mod translate;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use arc_swap::ArcSwap;
use serde_json::value::RawValue;
use tectum_core::{Fault, NativeSet, NativeTool, Provider, Snapshot, Tectum};
use tokio::sync::{broadcast, mpsc};

pub(crate) use self::{
    bridge::{Failure, Order},
    caller::{Caller, LEVELS},
    find::CALL_TOOL,
    goods::{Goods, Source},
    tasks::EXTENSION as TASKS,
    translate::to_modern,
};
use self::{
    find::{CallTool, FindTools},
    parked::Shelf,
    pins::Pins,
    spool::Spool,
    tasks::Tasks,
    tools::{Keepers, PeerTools},
};
use crate::{
    auth::Authorize,
    link::Door,
    peer::{News, Peer, Surroundings},
    spec::{ServerName, ServerSpec},
    wire::object::Members,
};

/// Notices that a slow listener may fall behind by.
const NOTICES: usize = 1024;
/// How often a server that starts for one call is looked at: far below what its start takes.
const LOOK: std::time::Duration = std::time::Duration::from_millis(10);

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

/// Federated tools up to which all are listed unless told otherwise.
const MOST_LISTED: usize = 64;
/// The tools that every project needs.
const CORE: &[&str] = &[
    "read_file",
    "write_file",
    "edit_file",
    "apply_edits",
    "list_directory",
    "search_files",
    "search_content",
];

/// Something all clients may want to know.
#[derive(Clone, Debug)]
pub(crate) enum Notice {
    /// The list of prompts changed.
    Prompts,
    /// The list of resources changed.
    Resources,
    /// A resource changed, by any of these names.
    Updated(Vec<String>),
    /// A question put to a person elsewhere was answered there.
    ElicitationDone(String),
}

/// How one server is, for people and programs.
#[derive(Clone, Debug, serde::Serialize)]
pub struct ServerStatus {
    /// What it is doing.
    pub state: &'static str,
    /// Since when, in seconds of the epoch.
    pub since: u64,
    /// How many tools it offers.
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
    base: Vec<Arc<dyn Provider>>,
    settings: Settings,
    peers: ArcSwap<BTreeMap<ServerName, Arc<Peer>>>,
    goods: ArcSwap<Goods>,
    shelf: Arc<Shelf>,
    tasks: Arc<Tasks>,
    spool: Option<Arc<Spool>>,
    door: Arc<Door>,
    index: Arc<find::Shared>,
    finder: Arc<dyn Provider>,
    notices: broadcast::Sender<Notice>,
    news: mpsc::UnboundedSender<News>,
    remarks: Mutex<HashMap<ServerName, Vec<String>>>,
    watchers: Mutex<BTreeMap<(ServerName, String), BTreeSet<u64>>>,
    /// What the first client could do, and its number: for whom servers that come later start.
    met: OnceLock<(Arc<str>, u64)>,
    /// From which level on each client wants logs.
    levels: Mutex<BTreeMap<u64, String>>,
}

impl Federation {
    /// A federation whose tools stand beside those of `base` in the house's registry. It has no
    /// servers before [`Federation::apply`], and must be made in a runtime.
    pub fn start(house: Tectum, base: Vec<Arc<dyn Provider>>, settings: Settings) -> Arc<Self> {
        let (news, heard) = mpsc::unbounded_channel();
        let spool = settings.state.as_ref().map(|state| Arc::new(Spool::new(state.join("results"))));
        let index = Arc::new(find::Shared::default());
        let finder =
            NativeSet::new(vec![NativeTool::new(FindTools(index.clone())), NativeTool::new(CallTool)]);
        let federation = Arc::new(Self {
            house,
            base,
            peers: ArcSwap::default(),
            goods: ArcSwap::default(),
            shelf: Arc::default(),
            tasks: Arc::default(),
            door: Arc::new(Door::new(settings.logins.as_deref(), Authorize::of_process())),
            spool,
            index,
            finder: Arc::new(finder),
            notices: broadcast::Sender::new(NOTICES),
            news,
            remarks: Mutex::default(),
            watchers: Mutex::default(),
            met: OnceLock::new(),
            levels: Mutex::default(),
            settings,
        });
        tokio::spawn(hear(Arc::downgrade(&federation), heard));
        federation
    }

    /// Makes these the servers. Those whose spec did not change are left alone, with their
    /// calls in flight. The others end; those that ran start again, and new ones start if a
    /// client is there to see their tools.
    pub async fn apply(&self, specs: Vec<ServerSpec>) {
        let before = self.peers.load_full();
        let mut peers = BTreeMap::new();
        let (mut ended, mut begun) = (Vec::new(), Vec::new());
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
        for (name, peer) in before.iter() {
            if !peers.get(name).is_some_and(|kept| Arc::ptr_eq(kept, peer)) {
                ended.push(peer.clone());
            }
        }
        self.peers.store(Arc::new(peers));
        self.recompose();
        for (peer, ran) in begun {
            self.resume(&peer, ran).await;
        }
        // The old ones end beside us: a slow end delays nobody.
        for peer in ended {
            tokio::spawn(async move { peer.stop().await });
        }
    }

    /// How every server is.
    pub fn status(&self) -> BTreeMap<String, ServerStatus> {
        let remarks = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        let one = |(name, peer): (&ServerName, &Arc<Peer>)| {
            let status = peer.status();
            let since = status.since.duration_since(std::time::UNIX_EPOCH).map_or(0, |age| age.as_secs());
            let offer = peer.offer();
            let mut said = remarks.get(name).cloned().unwrap_or_default();
            said.extend(offer.left_out.iter().cloned());
            let status = ServerStatus {
                state: status.state.word(),
                since,
                tools: offer.tools.len(),
                starts: status.starts,
                error: status.error,
                remarks: said,
            };
            (name.to_string(), status)
        };
        self.peers.load().iter().map(one).collect()
    }

    /// Waits until every server that must be there is, or names those that are not.
    pub async fn require(&self) -> Result<(), Fault> {
        let peers = self.peers.load_full();
        for peer in peers.values().filter(|peer| peer.spec.required) {
            let class = peer.class(&"{}".into(), 0);
            peer.link(&class).await?;
        }
        Ok(())
    }

    /// Ends all servers, and everything they started.
    pub async fn stop(&self) {
        let peers = self.peers.swap(Arc::default());
        let ending: tokio::task::JoinSet<()> =
            peers.values().cloned().map(|peer| async move { peer.stop().await }).collect();
        ending.join_all().await;
    }

    /// A client is there: servers that were never met are started, so that it sees their tools.
    pub(crate) fn wake(&self, caller: &Caller) {
        let (abilities, key) = self.met.get_or_init(|| (caller.abilities(), caller.key()));
        for peer in self.peers.load().values().filter(|peer| !peer.offer().known) {
            open(peer, abilities, *key);
        }
    }

    /// A server takes the place of one that ended, or is new: it hears what its clients want,
    /// and starts if somebody would miss it.
    async fn resume(&self, peer: &Arc<Peer>, ran: bool) {
        if let Some(level) = self.lowest_level() {
            peer.level(level).await;
        }
        let uris = {
            let watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
            watched(&watchers, &peer.spec.name)
        };
        let missed = ran || !uris.is_empty() || !peer.offer().known;
        if !uris.is_empty() {
            peer.subscribe(uris).await;
        }
        if let Some((abilities, key)) = self.met.get().filter(|_| missed) {
            open(peer, abilities, *key);
        }
    }

    /// Meets the servers that may have a tool of this name and were never met. For one call
    /// alone: a client is not kept waiting for servers.
    pub async fn meet(&self, tool: &str) {
        let peers = self.peers.load_full();
        for (name, peer) in peers.iter().filter(|(_, peer)| !peer.offer().known) {
            let its = tool.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with("__"));
            if !its && peer.spec.prefix {
                continue;
            }
            if let Err(fault) = peer.link(&peer.class(&"{}".into(), 0)).await {
                tracing::warn!(server = %name, %fault, "could not be asked for its tools");
                continue;
            }
            let listed = async {
                while !peer.offer().known && peer.status().error.is_none() {
                    tokio::time::sleep(LOOK).await;
                }
            };
            let _ = tokio::time::timeout(peer.spec.start_timeout, listed).await;
        }
        self.recompose();
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
        let server = self.tasks.server(id)?;
        let peer = self.peers.load().get(&server)?.clone();
        Some(Source { peer, own: id.into() })
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
        Keepers { shelf: self.shelf.clone(), spool: self.spool.clone(), tasks: self.tasks.clone() }
    }

    /// A result that was too large to be passed on, in ranges; `None` for any other address.
    pub(crate) async fn kept(&self, uri: &str) -> Option<std::io::Result<Box<RawValue>>> {
        let spool = self.spool.clone().filter(|_| uri.starts_with(spool::ADDRESS))?;
        let uri = uri.to_owned();
        let read = tokio::task::spawn_blocking(move || spool.read(&uri)).await;
        Some(read.unwrap_or_else(|_| Err(std::io::Error::other("it could not be read"))))
    }

    /// What a person approved holds from now on.
    pub fn reload_approvals(&self) {
        self.recompose();
    }

    /// From which level on a client wants logs. Servers of the older era log for all clients
    /// alike, so they hear the lowest level, and each client is passed what it wants.
    pub(crate) async fn level(&self, client: u64, level: &str) {
        self.levels.lock().unwrap_or_else(PoisonError::into_inner).insert(client, level.to_owned());
        let Some(lowest) = self.lowest_level() else { return };
        for peer in self.peers.load_full().values() {
            peer.level(lowest.clone()).await;
        }
    }

    fn lowest_level(&self) -> Option<String> {
        let levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        let rank = |level: &&String| LEVELS.iter().position(|known| known == level);
        levels.values().min_by_key(rank).cloned()
    }

    /// A client watches a resource, or does so no longer.
    pub(crate) async fn watch(&self, client: u64, source: &Source, on: bool) {
        let server = source.peer.spec.name.clone();
        let uris = {
            let mut watchers = self.watchers.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (server.clone(), source.own.to_string());
            match on {
                true => drop(watchers.entry(key).or_default().insert(client)),
                false => {
                    if let Some(clients) = watchers.get_mut(&key) {
                        clients.remove(&client);
                    }
                }
            }
            watchers.retain(|_, clients| !clients.is_empty());
            watched(&watchers, &server)
        };
        source.peer.subscribe(uris).await;
        // A server that is not there changes nothing that anybody hears of.
        if let Some((abilities, key)) = self.met.get().filter(|_| on) {
            open(&source.peer, abilities, *key);
        }
    }

    /// A client left: nothing is watched for it any more.
    pub(crate) async fn unwatch(&self, client: u64) {
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
        for (server, uris) in changed {
            if let Some(peer) = peers.get(&server) {
                peer.subscribe(uris).await;
            }
        }
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings {
            directory: self.settings.directory.clone(),
            state: self.settings.state.clone(),
            guard: self.settings.guard.clone(),
            door: self.door.clone(),
            news: self.news.clone(),
        }
    }

    /// Puts everything together anew.
    fn recompose(&self) {
        let peers = self.peers.load_full();
        let own: BTreeSet<Arc<str>> = self
            .base
            .iter()
            .flat_map(|base| base.tools().iter().map(|info| info.name.clone()).collect::<Vec<_>>())
            .collect();
        let taken = |name: &str| own.contains(name);
        let mut providers = self.base.clone();
        let (mut remarks, mut offered) = (HashMap::new(), Vec::new());
        for (name, peer) in peers.iter() {
            let pins = self.pins(name, peer);
            let tools = PeerTools::of(peer, &self.keepers(), &pins, &taken);
            remarks.insert(name.clone(), tools.remarks.clone());
            offered.push(tools);
        }
        let federated: usize = offered.iter().map(PeerTools::count).sum();
        let (core, search) = match self.settings.exposure {
            Exposure::All => (false, false),
            Exposure::Auto => (false, federated >= MOST_LISTED),
            Exposure::Search => (false, true),
            Exposure::Core => (true, true),
        };
        if search {
            offered.iter_mut().for_each(PeerTools::unlist);
            providers.push(self.finder.clone());
        }
        providers.extend(offered.into_iter().map(|tools| Arc::new(tools) as Arc<dyn Provider>));
        *self.remarks.lock().unwrap_or_else(PoisonError::into_inner) = remarks;
        let mut next = Snapshot::of(&providers);
        if core {
            next.list_only(|info| {
                CORE.contains(&&*info.name) || matches!(&*info.name, "find_tools" | CALL_TOOL)
            });
        }
        self.index.set(next.tools().filter(|info| !info.listed));
        if !next.says_the_same(&self.house.registry().snapshot()) {
            self.house.registry().replace(next);
        } else {
            self.house.registry().replace_quietly(next);
        }
        let goods = Goods::of(&peers);
        let before = self.goods.load_full();
        let (resources, prompts) = (
            goods.resources != before.resources || goods.templates != before.templates,
            goods.prompts != before.prompts,
        );
        self.goods.store(Arc::new(goods));
        if resources {
            let _ = self.notices.send(Notice::Resources);
        }
        if prompts {
            let _ = self.notices.send(Notice::Prompts);
        }
    }
}

impl Federation {
    /// What was approved of a server's tools, brought up to date with what it offers.
    fn pins(&self, name: &ServerName, peer: &Peer) -> Pins {
        let Some(state) = &self.settings.state else { return Pins::default() };
        let pins = Pins::kept(state, name);
        match pins.updated(&peer.offer().tools) {
            None => pins,
            Some(next) => {
                if let Err(error) = next.keep(state, name) {
                    tracing::warn!(server = %name, %error, "what was approved of its tools could not be kept");
                }
                next
            }
        }
    }
}

impl std::fmt::Debug for Federation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Federation").field("peers", &self.peers.load()).finish_non_exhaustive()
    }
}

/// Starts a server beside us; whoever needs it first hears why it could not be started.
fn open(peer: &Arc<Peer>, abilities: &Arc<str>, client: u64) {
    let (peer, class) = (peer.clone(), peer.class(abilities, client));
    tokio::spawn(async move { drop(peer.link(&class).await) });
}

fn watched(watchers: &BTreeMap<(ServerName, String), BTreeSet<u64>>, server: &ServerName) -> Vec<String> {
    watchers.keys().filter(|(of, _)| of == server).map(|(_, uri)| uri.clone()).collect()
}

/// Takes what the servers' tasks tell.
async fn hear(federation: std::sync::Weak<Federation>, mut news: mpsc::UnboundedReceiver<News>) {
    while let Some(item) = news.recv().await {
        let Some(federation) = federation.upgrade() else { return };
        match item {
            News::Offer => {
                // Several servers often come up together; one composition serves them all.
                let mut others = Vec::new();
                while let Ok(next) = news.try_recv() {
                    if !matches!(next, News::Offer) {
                        others.push(next);
                    }
                }
                federation.recompose();
                for other in others {
                    federation.tell(other);
                }
            }
            other => federation.tell(other),
        }
    }
}

impl Federation {
    fn tell(&self, news: News) {
        let notice = match news {
            News::Offer => return,
            News::Updated { server, uri } => Notice::Updated(self.goods().exposed(&server, &uri)),
            News::ElicitationDone { params } => Notice::ElicitationDone(params),
        };
        let _ = self.notices.send(notice);
    }
}
