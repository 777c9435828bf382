//! What all servers offer, put together: the tools in the registry, the resources and prompts in
//! their lists. Made anew when something changed, and told only to whom it is new. Of a server that
//! did not change everything is taken as it was.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use tectum_attend::Attention;
use tectum_core::{Provider, Snapshot, Tectum, ToolInfo, ToolRole, anchors};
use tokio::sync::{Notify, broadcast, watch};

use super::{
    CALL_TOOL, Exposure, FIND_TOOLS, Goods, Keepers, OwnEntries, Roster, Settings,
    find::{self, ToolIndex},
    instructions::Instructions,
    own,
    tools::PeerTools,
};
use crate::{
    client::{Notice, Notices},
    link::Room,
    peer::{Approvals, Surroundings},
    spec::ServerName,
};

/// Federated tools up to which all are listed unless told otherwise.
const MOST_LISTED: usize = 64;
/// Until what servers offer is put together again, for each of them: while thousands come, that
/// would be done all the time.
const FOR_EACH: Duration = Duration::from_micros(200);
/// The least time between two notices of changed attention.
const MOMENT: Duration = Duration::from_millis(200);
/// Remarks on one server's tools that are told, and the characters of one.
const MOST_REMARKS: usize = 50;
const MOST_REMARK: usize = 500;

/// Who hears that something is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// Every client that wants to.
    Everybody,
    /// Nobody, since nobody has seen anything yet.
    Nobody,
}

/// The tools that were put together last, by server.
type ComposedTools = HashMap<ServerName, Arc<PeerTools>>;

/// How many tools of a server can be used, and what is to be said of the others.
type ToolRemarks = (usize, Vec<String>);

/// Puts together what the house and its servers offer.
pub(crate) struct Composer {
    house: Tectum,
    roster: Arc<Roster>,
    approvals: Arc<Approvals>,
    keepers: Keepers,
    exposure: Exposure,
    /// Whether clients may read the record of calls.
    records_sessions: bool,
    /// The news of the house, if it has attention.
    attention: Option<Attention>,
    /// The tools of our own.
    base: ArcSwap<Vec<Arc<dyn Provider>>>,
    index: Arc<ToolIndex>,
    finder: Arc<dyn Provider>,
    pub(super) instructions: Instructions,
    composed: Mutex<ComposedTools>,
    remarks: Mutex<HashMap<ServerName, ToolRemarks>>,
    goods: ArcSwap<Goods>,
    /// True if every server has ever said what it offers.
    whole: AtomicBool,
    /// Raised whenever there is something new about the servers, or the first client came.
    changes: watch::Sender<u64>,
    notices: Notices,
}

impl Composer {
    pub(super) fn new(
        house: Tectum,
        base: Vec<Arc<dyn Provider>>,
        roster: Arc<Roster>,
        keepers: Keepers,
        settings: &Settings,
        around: &Surroundings,
    ) -> Self {
        let index = Arc::new(ToolIndex::default());
        Self {
            house,
            roster,
            keepers,
            exposure: settings.exposure,
            records_sessions: settings.sessions.is_some(),
            attention: settings.attention.clone(),
            base: ArcSwap::from_pointee(base),
            finder: Arc::new(find::provider(&index)),
            index,
            instructions: Instructions::new(around.state.as_deref(), around.approvals.clone()),
            approvals: around.approvals.clone(),
            composed: Mutex::default(),
            remarks: Mutex::default(),
            goods: ArcSwap::default(),
            whole: AtomicBool::new(false),
            changes: watch::Sender::default(),
            notices: around.notices.clone(),
        }
    }

    /// True if the lists have something of every server there is, if only from memory.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole.load(Ordering::Relaxed)
    }

    /// Tells that there is something new about the servers.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// There is something new.
    pub(super) fn changed(&self) {
        self.changes.send_modify(|change| *change += 1);
    }

    /// The resources and prompts as they are now.
    pub(crate) fn goods(&self) -> Arc<Goods> {
        self.goods.load_full()
    }

    /// One of our own resources as `resources/read` gives it; `None` for any other address.
    pub(crate) fn own_resource(&self, uri: &str) -> Option<Result<Box<RawValue>, String>> {
        let of_attention = self.attention.as_ref().and_then(|attention| own::read_attention(attention, uri));
        of_attention.map(Ok).or_else(|| own::read(&self.house.effects().anchors, uri))
    }

    /// The remarks on a server's tools.
    pub(super) fn remarks(&self, server: &ServerName) -> ToolRemarks {
        self.remarks.lock().get(server).cloned().unwrap_or_default()
    }

    /// The instructions for clients: our own where we have tools of our own, and the servers'.
    pub(super) fn instructions(&self, own: &str) -> Option<String> {
        let own = (!self.base.load().is_empty()).then_some(own);
        self.instructions.text(own, &self.roster.peers())
    }

    /// Puts everything together anew if a person approved something meanwhile.
    pub(super) fn follow_approvals(&self) {
        if self.approvals.is_stale() {
            self.approvals.look_again();
            self.recompose(Audience::Everybody);
        }
    }

    /// Puts everything together anew beside other tools of our own, which may take other names.
    pub(super) fn rebase(&self, base: Vec<Arc<dyn Provider>>) {
        self.base.store(Arc::new(base));
        self.composed.lock().clear();
        self.recompose(Audience::Everybody);
    }

    /// Puts everything together anew.
    pub(super) fn recompose(&self, audience: Audience) {
        // Held to the end: two at once, and the older one could have the last word.
        let mut composed = self.composed.lock();
        let peers = self.roster.peers();
        let base = self.base.load_full();
        let own: BTreeSet<Arc<str>> = base
            .iter()
            .flat_map(|base| base.tools().iter().map(|info| info.name.clone()).collect::<Vec<_>>())
            .collect();
        let finder = |name: &str| matches!(name, FIND_TOOLS | CALL_TOOL);
        let taken = |name: &str| own.contains(name) || finder(name);
        let mut providers = (*base).clone();
        let (mut remarks, mut offered, mut federated) = (HashMap::new(), HashMap::new(), 0);
        let mut whole = true;
        for (name, peer) in peers.iter() {
            let offer = peer.offer();
            whole &= offer.known;
            let standing = self.approvals.standing(&peer.spec, &offer);
            let same = composed.get(name).filter(|tools| tools.is_of(peer, &offer, &standing));
            let tools = same
                .cloned()
                .unwrap_or_else(|| Arc::new(PeerTools::new(peer, &offer, &standing, &self.keepers, &taken)));
            federated += tools.count();
            remarks.insert(name.clone(), (tools.usable(), short(&tools.remarks)));
            providers.push(tools.clone());
            offered.insert(name.clone(), tools);
        }
        self.approvals.keep_only(|name| offered.contains_key(name));
        *composed = offered;
        let (core, search) = match self.exposure {
            Exposure::All => (false, false),
            Exposure::Auto => (false, federated >= MOST_LISTED),
            Exposure::Search => (false, true),
            Exposure::Core => (true, true),
        };
        if search || !peers.is_empty() {
            // Before those of servers, so that none of them can take its names. They can always be
            // called: who saw them in a list may not hear when they leave it.
            providers.insert(base.len(), self.finder.clone());
        }
        *self.remarks.lock() = remarks;
        let mut next = Snapshot::of(&providers);
        if search {
            next.list_only(|info| info.server.is_none());
        } else if whole {
            next.list_only(|info| !finder(&info.name));
        }
        if core {
            let basic = |info: &ToolInfo| matches!(info.role, ToolRole::Basic | ToolRole::Reader);
            next.list_only(|info| basic(info) || finder(&info.name));
        }
        // Nobody takes a list for whole while the one before is replaced.
        self.whole.fetch_and(whole, Ordering::Relaxed);
        let withheld = composed.values().flat_map(|tools| tools.withheld()).map(str::to_owned).collect();
        if audience == Audience::Everybody && !next.says_the_same(&self.house.registry().snapshot()) {
            self.house.registry().replace(next);
        } else {
            self.house.registry().replace_quietly(next);
        }
        self.index.set(&self.house.registry().snapshot(), withheld);
        self.whole.store(whole, Ordering::Relaxed);
        let (resources, prompts) = self.gather();
        self.instructions.keep_word(&peers);
        self.changed();
        if audience == Audience::Nobody {
            return;
        }
        if resources {
            self.notices.send(Notice::Resources);
        }
        if prompts {
            self.notices.send(Notice::Prompts);
        }
    }

    /// The lists of everything but tools, made anew; tells whether clients would see a difference.
    fn gather(&self) -> (bool, bool) {
        let native = !self.base.load().is_empty();
        let (anchors, attention) = (&self.house.effects().anchors, self.attention.as_ref());
        let own = OwnEntries::list(anchors, native, self.records_sessions, attention);
        let goods = Goods::gather(&self.roster.peers(), own);
        let before = self.goods.load_full();
        let resources = goods.resources != before.resources || goods.templates != before.templates;
        let prompts = goods.prompts != before.prompts;
        self.goods.store(Arc::new(goods));
        (resources, prompts)
    }
}

/// Puts everything together anew whenever a server offers another thing.
pub(super) async fn follow_offers(composer: Arc<Composer>, offers: Arc<Notify>) {
    loop {
        offers.notified().await;
        let composing = composer.clone();
        // Several servers often come up together; one composition serves them all. It may be of
        // thousands of tools, so it is made beside those who call some. It fails only if it panicked.
        let _ = tokio::task::spawn_blocking(move || composing.recompose(Audience::Everybody)).await;
        let servers = u32::try_from(composer.roster.peers().len()).unwrap_or(u32::MAX);
        tokio::time::sleep(FOR_EACH * servers).await;
    }
}

/// Tells clients of anchors that come, change and go.
pub(super) async fn follow_anchors(
    composer: Arc<Composer>,
    mut changes: broadcast::Receiver<anchors::Change>,
) {
    loop {
        let change = changes.recv().await;
        let (key, listed) = match &change {
            Ok(anchors::Change::Updated(key)) => (Some(key), false),
            Ok(anchors::Change::Set(key) | anchors::Change::Removed(key)) => (Some(key), true),
            // Some were missed; the list tells what there is.
            Err(broadcast::error::RecvError::Lagged(_)) => (None, true),
            Err(broadcast::error::RecvError::Closed) => return,
        };
        if listed && composer.gather().0 {
            composer.notices.send(Notice::Resources);
        }
        if let Some(key) = key {
            let notice = Notice::Updated { names: own::names(key), room: Room::default() };
            composer.notices.send(notice);
        }
    }
}

/// Tells clients that the resources about attention changed. Several changes in a moment are one.
pub(super) async fn follow_attention(composer: Arc<Composer>) {
    let Some(mut changes) = composer.attention.as_ref().map(Attention::changes) else { return };
    while changes.changed().await.is_ok() {
        composer.notices.send(Notice::Updated { names: own::attention_names(), room: Room::default() });
        tokio::time::sleep(MOMENT).await;
    }
}

/// The first remarks on a server's tools, none of them a page long.
fn short(remarks: &[String]) -> Vec<String> {
    let cut = |remark: &String| match remark.char_indices().nth(MOST_REMARK) {
        Some((end, _)) => format!("{} ...", &remark[..end]),
        None => remark.clone(),
    };
    let mut told: Vec<String> = remarks.iter().take(MOST_REMARKS).map(cut).collect();
    if remarks.len() > MOST_REMARKS {
        told.push(format!("and {} more like these", remarks.len() - MOST_REMARKS));
    }
    told
}

#[cfg(test)]
mod tests {
    use tectum_core::{Gate, Rules, security::Allowlist};

    use super::*;
    use crate::{
        federation::{Federation, Settings},
        spec::{Launch, ServerSpec, Transport},
    };

    fn spec(number: usize) -> ServerSpec {
        let launch = Launch { command: "true".into(), args: Vec::new(), env: Default::default(), cwd: None };
        let name = ServerName::parse(&format!("s{number}")).expect("a name");
        ServerSpec::new(name, Transport::Stdio(launch))
    }

    #[tokio::test]
    async fn of_servers_that_did_not_change_nothing_is_read_or_made() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let allowlist = Allowlist::builder().base(scratch.path()).build().expect("opens");
        let house = Tectum::new(Snapshot::of(&[]), Gate::new(Rules::default(), Arc::new(allowlist)));
        let settings = Settings { state: Some(scratch.path().join("state")), ..Settings::default() };
        let specs: Vec<ServerSpec> = (0..50).map(spec).collect();
        let first = specs.clone();
        let federation = Federation::start(house, Vec::new(), settings, move || first);
        let composed = || {
            let composer = &federation.composer;
            (composer.approvals.counted(), composer.composed.lock().clone())
        };
        federation.settle();
        let (counted, tools) = composed();
        assert_eq!((counted, tools.len()), ((50, 50), 50));
        federation.composer.recompose(Audience::Everybody);
        assert_eq!(composed().0, (50, 50));

        let mut changed = specs.clone();
        changed[7].generation += 1;
        federation.apply(changed).await;
        let (counted, next) = composed();
        assert_eq!(counted, (51, 50), "one file is looked at, and it says what it said");
        let anew = tools.iter().filter(|(name, tools)| !Arc::ptr_eq(tools, &next[*name]));
        assert_eq!(anew.map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["s7"]);

        federation.follow_approvals();
        assert_eq!(composed().0, (51, 50));
        federation.apply(specs[..3].to_vec()).await;
        assert_eq!(composed().1.len(), 3);
        federation.stop().await;
    }
}
