//! What all servers offer, put together: the tools in the registry, the resources and prompts in
//! their lists. Made anew when something changed, and told only to whom it is new.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, PoisonError},
};

use tectum_core::{Provider, Snapshot};

use super::{CALL_TOOL, Exposure, Federation, Notice, pins::Pins, tools::PeerTools};
use crate::{peer::Peer, spec::ServerName};

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

/// Who hears that something is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// Every client that wants to.
    Everybody,
    /// Nobody, since nobody has seen anything yet.
    Nobody,
}

impl Federation {
    /// Puts everything together anew.
    pub(super) fn recompose(&self, told: Told) {
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
        if told == Told::Everybody && !next.says_the_same(&self.house.registry().snapshot()) {
            self.house.registry().replace(next);
        } else {
            self.house.registry().replace_quietly(next);
        }
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
