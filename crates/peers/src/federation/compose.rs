//! What all servers offer, put together: the tools in the registry, the resources and prompts in
//! their lists. Made anew when something changed, and told only to whom it is new. Of a server that
//! did not change everything is taken as it was.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, PoisonError, atomic::Ordering},
};

use tectum_core::{Snapshot, ToolInfo, ToolRole};

use super::{CALL_TOOL, Exposure, FIND_TOOLS, Federation, Notice, tools::PeerTools};
use crate::spec::ServerName;

/// Federated tools up to which all are listed unless told otherwise.
const MOST_LISTED: usize = 64;
/// Remarks on one server's tools that are told, and the characters of one.
const MOST_REMARKS: usize = 50;
const MOST_REMARK: usize = 500;
/// Who hears that something is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// Every client that wants to.
    Everybody,
    /// Nobody, since nobody has seen anything yet.
    Nobody,
}

/// What was put together last, one server at a time.
#[derive(Default)]
pub(super) struct Composed {
    tools: HashMap<ServerName, Arc<PeerTools>>,
}

impl Federation {
    /// Puts everything together anew after a person may have approved something.
    pub(super) fn recompose_with_approvals(&self) {
        self.approvals.look_again();
        self.recompose(Told::Everybody);
    }

    /// Puts everything together anew beside other tools of our own, which may take other names.
    pub(super) fn recompose_on_new_base(&self) {
        self.composed.lock().unwrap_or_else(PoisonError::into_inner).tools.clear();
        self.recompose(Told::Everybody);
    }

    /// Puts everything together anew.
    pub(super) fn recompose(&self, told: Told) {
        // Held to the end: two at once, and the older one could have the last word.
        let mut composed = self.composed.lock().unwrap_or_else(PoisonError::into_inner);
        let peers = self.peers.load_full();
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
            let standing = self.approvals.of(&peer.spec, &offer);
            let same = composed.tools.get(name).filter(|tools| tools.is_of(peer, &offer, &standing));
            let tools = same
                .cloned()
                .unwrap_or_else(|| Arc::new(PeerTools::of(peer, &offer, &standing, &self.keepers(), &taken)));
            federated += tools.count();
            remarks.insert(name.clone(), (tools.usable(), short(&tools.remarks)));
            providers.push(tools.clone());
            offered.insert(name.clone(), tools);
        }
        self.approvals.keep_only(|name| offered.contains_key(name));
        composed.tools = offered;
        let (core, search) = match self.settings.exposure {
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
        *self.remarks.lock().unwrap_or_else(PoisonError::into_inner) = remarks;
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
        let withheld =
            composed.tools.values().flat_map(|tools| tools.withheld()).map(str::to_owned).collect();
        if told == Told::Everybody && !next.says_the_same(&self.house.registry().snapshot()) {
            self.house.registry().replace(next);
        } else {
            self.house.registry().replace_quietly(next);
        }
        self.index.set(&self.house.registry().snapshot(), withheld);
        self.whole.store(whole, Ordering::Relaxed);
        let (resources, prompts) = self.gather();
        self.keep_word_of_instructions();
        self.changes.send_modify(|change| *change += 1);
        if told == Told::Nobody {
            return;
        }
        if resources {
            let _ = self.notices.send(Notice::Resources);
        }
        if prompts {
            let _ = self.notices.send(Notice::Prompts);
        }
    }
}

/// What people are told of a server's tools: the first remarks, none of them a page long.
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
    use tectum_core::{Gate, Rules, Tectum, security::Allowlist};

    use super::{super::Settings, *};
    use crate::spec::{Launch, ServerSpec, Transport};

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
            let composed = federation.composed.lock().expect("whole");
            (federation.approvals.counted(), composed.tools.clone())
        };
        federation.settle();
        let (counted, tools) = composed();
        assert_eq!((counted, tools.len()), ((50, 50), 50));
        federation.recompose(Told::Everybody);
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
