//! All federated servers behind one endpoint: their tools join the registry, their resources
//! and prompts the lists, and what changes is told to whoever listens.

mod asking;
mod bridge;
mod compose;
mod definitions;
mod directives;
mod find;
mod goods;
mod instructions;
mod lean;
mod names;
mod observed;
mod own;
mod parked;
mod profiles;
mod review;
mod roster;
mod settings;
mod spool;
mod subscriptions;
mod task_routes;
mod tools;
mod translate;
mod watched;

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::value::RawValue;
use tectum_attend::Attention;
use tectum_core::{Fault, Provider, SessionId, Tectum};
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

pub(crate) use self::{
    bridge::Order,
    find::{CALL_TOOL, FIND_TOOLS},
    goods::{Goods, Source},
    own::SESSIONS,
    parked::Shelf,
    roster::Peers,
    spool::ADDRESS as RESULTS,
    tools::globs,
    translate::{asking as asking_result, input_required, to_modern},
};
use self::{
    compose::{Audience, Composer, follow_anchors, follow_attention, follow_offers},
    observed::Observed,
    own::OwnEntries,
    parked::ParkedQuestion,
    roster::Roster,
    spool::Spool,
    subscriptions::Subscriptions,
    task_routes::TaskRoutes,
    tools::Keepers,
};
pub use self::{
    profiles::{Patterns, Profile, Profiles},
    review::Review,
    settings::{Exposure, SessionPages, Settings},
    watched::{ResourceChanges, ResourceState, WatchedResource},
};
pub use crate::peer::{Change, Subject};
use crate::{
    auth::Authorize,
    client::{Caller, ClientForms, Clients, Conversation, NoticeReader, Notices, Unheard},
    client_table::ClientFacts,
    lineage::Lineage,
    link::Door,
    peer::{Approvals, Failure, Levels, Peer, Surroundings, Tasks, Watchers},
    spec::ServerSpec,
    wire::Members,
};

/// How long the last writes may take when the house closes.
const LAST_WRITES: Duration = Duration::from_secs(5);

/// How one server is, for people and programs.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ServerStatus {
    /// Its state, in one word.
    pub state: &'static str,
    /// Since when, in seconds of the epoch.
    pub since: u64,
    /// How many of its tools can be used; what is left out or withheld is not among them.
    pub tools: usize,
    /// How often it was started.
    pub starts: u64,
    /// The present error, or the last one.
    pub error: Option<String>,
    /// Remarks on renamed and left out parts of its offer.
    pub remarks: Vec<String>,
}

/// All federated servers.
pub struct Federation {
    pub(crate) settings: Settings,
    /// Which servers there are.
    pub(crate) roster: Arc<Roster>,
    /// The offers of all servers, put together.
    pub(crate) composer: Arc<Composer>,
    /// The subscriptions of clients.
    pub(crate) subscriptions: Subscriptions,
    /// Which server works on which task.
    pub(crate) tasks: TaskRoutes,
    /// The state that outlives one step of a call.
    pub(crate) keepers: Keepers,
    approvals: Arc<Approvals>,
    notices: Notices,
    /// The counter of messages that clients missed.
    pub(crate) unheard: Unheard,
    /// How often an answer could not carry what was to be told in it.
    pub(crate) waited: Arc<AtomicU64>,
    /// Which house this is to those that calls pass through.
    pub(crate) lineage: Arc<Lineage>,
    /// The servers that get copies of calls.
    pub(crate) observed: Observed,
    /// The tasks that put together anew what changed.
    _following: [AbortOnDropHandle<()>; 3],
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
        let state = settings.state.as_deref();
        let around = Surroundings {
            directory: settings.directory.clone(),
            state: settings.state.clone(),
            approvals: Arc::new(Approvals::new(settings.state.clone())),
            guard: settings.guard.clone(),
            door: Arc::new(Door::new(settings.logins.as_deref(), Authorize::of_process())),
            clients: Arc::<Clients>::default(),
            watchers: Arc::<Watchers>::default(),
            tasks: Arc::<Tasks>::default(),
            levels: Arc::<Levels>::default(),
            offers: Arc::new(Notify::new()),
            notices: Notices::default(),
            lineage: Arc::default(),
        };
        let keepers = Keepers {
            callers: Arc::default(),
            shelf: Arc::default(),
            spool: state.map(|state| Arc::new(Spool::new(state.join("results")))),
            tasks: around.tasks.clone(),
        };
        let roster = Arc::new(Roster::new(first, around.clone(), settings.held.clone()));
        let anchors = house.effects().anchors.changes();
        let composer = Composer::new(house, base, roster.clone(), keepers.clone(), &settings, &around);
        let composer = Arc::new(composer);
        let Surroundings { approvals, clients, watchers, tasks, levels, offers, notices, lineage, .. } =
            around;
        let following = [
            AbortOnDropHandle::new(tokio::spawn(follow_offers(composer.clone(), offers))),
            AbortOnDropHandle::new(tokio::spawn(follow_anchors(composer.clone(), anchors))),
            AbortOnDropHandle::new(tokio::spawn(follow_attention(composer.clone()))),
        ];
        Arc::new(Self {
            _following: following,
            subscriptions: Subscriptions { roster: roster.clone(), clients, watchers, levels },
            tasks: TaskRoutes { tasks, roster: roster.clone(), notices: notices.clone() },
            roster,
            composer,
            keepers,
            approvals,
            notices,
            unheard: Unheard::default(),
            waited: Arc::default(),
            lineage,
            observed: Observed::default(),
            settings,
        })
    }

    /// Makes sure that the servers are known, and that what they offered last stands in the registry
    /// and in the lists. The first who needs that waits for it, on the spot; afterwards it costs
    /// nothing. No server is started for it. Must be called in a runtime, and never while a lock of
    /// the federation is held.
    pub fn settle(&self) {
        self.roster.settle_once(|begun| {
            // Whoever reads a list settles first, so nobody has seen another one.
            self.composer.recompose(Audience::Nobody);
            let roster = self.roster.clone();
            // A client may have said what it wants to hear before there were servers.
            tokio::spawn(async move { roster.resume(begun).await });
        });
    }

    /// Makes these the servers. Those whose spec did not change are left alone, with their
    /// calls in flight. The others end; those that ran start again, and new ones start if a
    /// client is there to see their tools.
    pub async fn apply(&self, specs: Vec<ServerSpec>) {
        self.settle();
        let replaced = self.roster.replace(specs);
        self.composer.recompose(Audience::Everybody);
        self.roster.resume(replaced.begun).await;
        // The old ones end beside us: a slow end delays nobody.
        for peer in replaced.ended {
            tokio::spawn(async move { peer.stop().await });
        }
    }

    /// Makes these the tools of our own, and tells clients if they see a difference.
    pub fn rebase(&self, base: Vec<Arc<dyn Provider>>) {
        self.settle();
        self.composer.rebase(base);
    }

    /// Puts in force the approvals as they are on the disk now.
    pub fn follow_approvals(&self) {
        self.composer.follow_approvals();
    }

    /// Waits until every server that must be there is, or names those that are not.
    pub async fn require(&self) -> Result<(), Fault> {
        self.settle();
        self.roster.require().await
    }

    /// Meets the servers that may have a tool of this name and were never met. For one call
    /// alone: a client is not kept waiting for servers.
    pub async fn meet(&self, tool: &str) -> Result<(), Fault> {
        self.settle();
        self.roster.meet_for(tool).await?;
        self.composer.recompose(Audience::Everybody);
        match self.roster.why_held(tool) {
            Some(why) => Err(Fault::not_found(format!("unknown tool: {tool}: {why}"))),
            None => Ok(()),
        }
    }

    /// Meets every server that was never met, all at the same time, and says why others are away.
    /// For somebody who is shown the tools once, before the work begins.
    pub async fn meet_all(&self) -> Vec<(String, Fault)> {
        self.settle();
        let away = self.roster.meet_all().await;
        self.composer.recompose(Audience::Everybody);
        away
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

    /// The clients that are there, by the name and version they gave. Those of the newer era have no
    /// handshake, and are not among them.
    pub fn clients(&self) -> Vec<(String, String)> {
        self.subscriptions.clients.introduced()
    }

    /// The forms of results for clients.
    pub fn forms(&self) -> &ClientForms {
        &self.settings.forms
    }

    /// The news that models are told of.
    pub(crate) fn attention(&self) -> Option<&Attention> {
        self.settings.attention.as_ref()
    }

    /// Which tools a client is listed.
    pub fn profile(&self, client: &str, facts: &ClientFacts) -> Profile {
        self.settings.profiles.profile(client, facts)
    }

    /// How every server is.
    pub fn status(&self) -> BTreeMap<String, ServerStatus> {
        let one = |peer: &Arc<Peer>| {
            let status = peer.status();
            let since = status.since.duration_since(std::time::UNIX_EPOCH).map_or(0, |age| age.as_secs());
            let (tools, mut remarks) = self.composer.remarks(&peer.spec.name);
            remarks.extend(peer.offer().left_out.iter().cloned());
            if peer.dropped() > 0 {
                remarks.push(
                    "it sends more messages that nobody asked for than can be taken: some were dropped"
                        .into(),
                );
            }
            let state = status.state.word();
            ServerStatus { state, since, tools, starts: status.starts, error: status.error, remarks }
        };
        self.roster.peers().iter().map(|(name, peer)| (name.to_string(), one(peer))).collect()
    }

    /// Ends all servers, and everything they started.
    pub async fn stop(&self) {
        self.roster.stop().await;
        let _ = tokio::time::timeout(LAST_WRITES, self.approvals.writer.flushed()).await;
    }

    /// A client is there: servers that were never met are started, so that it sees their tools.
    pub(crate) fn wake(&self, caller: &Caller) {
        self.settle();
        self.roster.wake(caller);
        self.composer.changed();
    }

    /// Somebody uses what servers offer: those that died before they said what that is are tried
    /// again. Costs nothing where all were met.
    pub(crate) fn revive(&self) {
        if !self.composer.is_whole() {
            self.roster.revive();
        }
    }

    /// The reason why a tool is absent, if its name begins with a known server's.
    pub(crate) fn why_absent(&self, tool: &str) -> Option<String> {
        let (server, _) = tool.split_once("__")?;
        if let Some(why) = self.roster.why_held(tool) {
            return Some(why);
        }
        let why = self.roster.why_absent(server);
        // The call is a use of it: the next one may find it.
        self.revive();
        why
    }

    /// Waits until the servers that were never met have said what they offer, but no longer than this.
    pub(crate) async fn first_offers(&self, patience: Duration) {
        self.roster.first_offers(patience).await;
        self.composer.recompose(Audience::Everybody);
    }

    /// A client said in its handshake what it can do. Those who left without a word are found out.
    pub(crate) fn joined(self: &Arc<Self>, client: &Arc<Conversation>) {
        for gone in self.subscriptions.clients.join(client) {
            let federation = self.clone();
            tokio::spawn(async move { federation.subscriptions.leave(gone).await });
        }
    }

    /// The instructions for clients: our own where we have tools of our own, and the servers'. Most
    /// servers say nothing of themselves, and then the first word need not wait until it is known
    /// which servers there are.
    pub(crate) fn instructions(&self, own: &str) -> Option<String> {
        if self.composer.instructions.may_be() {
            self.settle();
        }
        self.composer.instructions(own)
    }

    /// A reader of the notices from now on.
    pub(crate) fn notices(&self) -> NoticeReader {
        self.notices.subscribe(self.unheard.clone())
    }

    /// Carries out a request at a server.
    pub(crate) async fn run(
        &self,
        source: &Source,
        order: Order,
        caller: &Caller,
    ) -> Result<Box<RawValue>, Failure> {
        bridge::run(&source.peer, order, caller, &self.keepers.shelf, None).await
    }

    /// The extensions that any server declares, each as the first one wrote it.
    pub(crate) fn extensions(&self) -> BTreeMap<String, String> {
        let mut all = BTreeMap::new();
        for peer in self.roster.peers().values() {
            let offer = peer.offer();
            for (name, value) in offer.extensions.as_deref().and_then(Members::of).unwrap_or_default().0 {
                all.entry(name.into_owned()).or_insert_with(|| value.get().to_owned());
            }
        }
        all
    }

    /// The record of a session, for the client of one; `None` for any other address.
    pub(crate) async fn session_page(
        &self,
        uri: &str,
        client: &SessionId,
    ) -> Option<Result<Box<RawValue>, String>> {
        let pages = self.settings.sessions.clone()?;
        let (uri, client) = (uri.to_owned(), client.clone());
        let named = own::session_named(&uri)?;
        let read = tokio::task::spawn_blocking(move || pages.read(&named, &client)).await;
        let read = read.unwrap_or_else(|_| Err("it could not be read".into()));
        Some(read.map(|text| own::content(&uri, "text/markdown", &text)))
    }

    /// A result that was too large to be passed on, in ranges.
    pub(crate) async fn kept(&self, uri: String) -> io::Result<Box<RawValue>> {
        let spool = self.keepers.spool.clone().ok_or_else(|| io::Error::other("no results are kept here"))?;
        let read = tokio::task::spawn_blocking(move || spool.read(&uri)).await;
        read.unwrap_or_else(|_| Err(io::Error::other("it could not be read")))
    }
}

impl std::fmt::Debug for Federation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Federation").field("peers", &self.roster.peers()).finish_non_exhaustive()
    }
}
