//! The first station: which provider has the tool. Readers see one snapshot from start to end.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwap;
use tokio::sync::watch;

use crate::{Fault, FaultKind, Provider, ToolInfo, ToolName, arguments::nearest};

/// All tools at one moment.
#[derive(Clone, Default)]
pub struct Snapshot {
    providers: HashMap<ToolName, Arc<dyn Provider>>,
    infos: HashMap<ToolName, ToolInfo>,
    order: Vec<ToolName>,
    version: u64,
}

impl Snapshot {
    /// The tools of several providers. A name taken by an earlier provider stays with it.
    pub fn of(providers: &[Arc<dyn Provider>]) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut snapshot = Self { version: NEXT.fetch_add(1, Ordering::Relaxed), ..Self::default() };
        for provider in providers {
            for info in provider.tools().iter() {
                if snapshot.infos.contains_key(&info.name) {
                    tracing::warn!(tool = %info.name, "offered twice; the first provider keeps the name");
                    continue;
                }
                snapshot.order.push(info.name.clone());
                snapshot.infos.insert(info.name.clone(), info.clone());
                snapshot.providers.insert(info.name.clone(), provider.clone());
            }
        }
        snapshot
    }

    /// A number that no other set of tools has.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Leaves all tools out of the list but these; they can still be called.
    pub fn list_only(&mut self, listed: impl Fn(&ToolInfo) -> bool) {
        for info in self.infos.values_mut() {
            info.listed &= listed(info);
        }
    }

    /// True when a client would be told the same about both.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let said = |info: &ToolInfo| {
            let definition = info.server.as_ref().map(|server| server.definition.clone());
            (info.name.clone(), info.listed, definition)
        };
        self.tools().map(said).eq(other.tools().map(said))
    }

    /// The tools, in a stable order.
    pub fn tools(&self) -> impl Iterator<Item = &ToolInfo> {
        self.order.iter().filter_map(|name| self.infos.get(name))
    }

    /// One tool.
    pub fn tool(&self, name: &str) -> Option<&ToolInfo> {
        self.infos.get(name)
    }

    /// The provider of a tool.
    pub fn find(&self, name: &str) -> Result<&Arc<dyn Provider>, Fault> {
        self.providers.get(name).ok_or_else(|| {
            let fault = Fault::new(FaultKind::NotFound, format!("unknown tool: {name}"));
            let known = || self.order.iter().map(|name| &**name);
            // Other programs call their tools `Read` and `Edit`.
            let word = name.to_lowercase();
            let begins = |known: &&str| known.split_once('_').is_some_and(|(first, _)| first == word);
            match nearest(name, known()).or_else(|| known().find(begins)) {
                Some(near) => fault.hint(format!("did you mean `{near}`?")),
                None => fault.hint("tools/list (or `tectum tools`) shows what there is"),
            }
        })
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Snapshot").field(&self.order).finish()
    }
}

/// The tools of the house, now. Replaced as a whole, never changed.
#[derive(Debug)]
pub struct Registry {
    now: ArcSwap<Snapshot>,
    version: watch::Sender<u64>,
}

impl Registry {
    /// A registry with a first snapshot.
    pub fn new(first: Snapshot) -> Self {
        Self { now: ArcSwap::from_pointee(first), version: watch::Sender::new(0) }
    }

    /// What there is now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.now.load_full()
    }

    /// Replaces all of it and tells those who watch.
    pub fn replace(&self, next: Snapshot) {
        self.now.store(Arc::new(next));
        self.version.send_modify(|version| *version += 1);
    }

    /// Replaces all of it by what says the same to clients: nobody need be told.
    pub fn replace_quietly(&self, next: Snapshot) {
        self.now.store(Arc::new(next));
    }

    /// Changes whenever the tools do.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }
}
