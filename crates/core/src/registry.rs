//! The first station: finds the provider of a tool. Readers see one snapshot from start to end.

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

use crate::{Fault, FaultKind, Provider, ToolInfo, ToolName, ToolRole, nearest};

/// All tools at one moment.
#[derive(Clone, Default)]
pub struct Snapshot {
    providers: HashMap<ToolName, Arc<dyn Provider>>,
    infos: HashMap<ToolName, ToolInfo>,
    order: Vec<ToolName>,
    reader: Option<ToolName>,
    version: u64,
}

impl Snapshot {
    /// The tools of several providers. If two have the same name, the earlier provider keeps it.
    pub fn of(providers: &[Arc<dyn Provider>]) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut snapshot = Self { version: NEXT.fetch_add(1, Ordering::Relaxed), ..Self::default() };
        for provider in providers {
            for info in provider.tools().iter() {
                if snapshot.infos.contains_key(&info.name) {
                    tracing::warn!(tool = %info.name, "offered twice; the first provider keeps the name");
                    continue;
                }
                if info.role == ToolRole::Reader {
                    snapshot.reader.get_or_insert_with(|| info.name.clone());
                }
                snapshot.order.push(info.name.clone());
                snapshot.infos.insert(info.name.clone(), info.clone());
                snapshot.providers.insert(info.name.clone(), provider.clone());
            }
        }
        snapshot
    }

    /// A version number that no other set of tools has.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Lists only these tools; the others can still be called.
    pub fn list_only(&mut self, listed: impl Fn(&ToolInfo) -> bool) {
        for info in self.infos.values_mut() {
            info.listed &= listed(info);
        }
    }

    /// True if both give clients the same definitions.
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

    /// The tool with this name.
    pub fn tool(&self, name: &str) -> Option<&ToolInfo> {
        self.infos.get(name)
    }

    /// True if both define a tool alike.
    pub fn defines_alike(&self, other: &Self, tool: &str) -> bool {
        let said = |tools: &Self| {
            let info = tools.tool(tool)?;
            let theirs = info.server.as_ref().map(|server| server.definition.clone());
            Some((info.description.clone(), info.input_schema.clone(), theirs))
        };
        said(self) == said(other)
    }

    /// The tool whose rules decide which files a model is shown besides its calls.
    pub fn reader(&self) -> Option<&ToolName> {
        self.reader.as_ref()
    }

    /// The provider of a tool.
    pub fn find(&self, name: &str) -> Result<&Arc<dyn Provider>, Fault> {
        self.providers.get(name).ok_or_else(|| {
            let fault = Fault::new(FaultKind::NotFound, format!("unknown tool: {name}"));
            let near = nearest(name, self.order.iter().map(|name| &**name));
            match near.or_else(|| self.by_word(name)) {
                Some(near) => fault.hint(format!("did you mean `{near}`?")),
                None => fault.hint("the list of tools (or `tectum tools`) shows what there is"),
            }
        })
    }
}

impl Snapshot {
    /// The first listed tool whose name begins with this word, or else has it, or else has it in its
    /// description: models write `Read` or `Grep` for a tool that has that word somewhere.
    fn by_word(&self, word: &str) -> Option<&str> {
        let word = word.to_lowercase();
        let has =
            |text: &str| text.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|part| part == word);
        let tools = || self.tools().filter(|info| info.listed);
        let first = |info: &&ToolInfo| info.name.split('_').next() == Some(&word);
        let found = tools().find(first).or_else(|| tools().find(|info| has(&info.name)));
        found.or_else(|| tools().find(|info| has(&info.description))).map(|info| &*info.name)
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Snapshot").field(&self.order).finish()
    }
}

/// The current tools of the house. Replaced as a whole, never changed.
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

    /// The current snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.now.load_full()
    }

    /// Replaces the snapshot and notifies all watchers.
    pub fn replace(&self, next: Snapshot) {
        self.now.store(Arc::new(next));
        self.version.send_modify(|version| *version += 1);
    }

    /// Replaces the snapshot by one that says the same to clients: no watcher is notified.
    pub fn replace_quietly(&self, next: Snapshot) {
        self.now.store(Arc::new(next));
    }

    /// Subscribes to changes of the tools.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.version.subscribe()
    }
}
