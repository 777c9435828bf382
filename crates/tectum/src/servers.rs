//! The servers of a running house: started from the files that name them, changed when those
//! files change, and told about where `tectum list` can see it.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tectum_core::Tectum;
use tectum_peers::{
    federation::{Exposure, Federation, ServerStatus, Settings},
    observe::Observers,
    spec::ServerSpec,
    visible::visible,
};
use tokio::task::JoinHandle;

use crate::{
    Config, Sources,
    config::{
        self,
        servers::{Held, Live, Resolved, Stamp, Why},
    },
    hooks::Hooks,
    house, observers, state,
    status::Record,
};

/// How often the record of states is brought up to date, and approvals are looked for.
const TICK: Duration = Duration::from_secs(1);

/// How long the first client's first word goes before what it does not need.
const FIRST_WORD: Duration = Duration::from_millis(5);

/// A house with its servers.
#[derive(Debug)]
pub struct Household {
    /// The house.
    pub house: Tectum,
    /// Its servers.
    pub federation: Arc<Federation>,
    observers: Option<Arc<Observers>>,
    keeping: Option<JoinHandle<()>>,
    record: Option<Record>,
}

impl Household {
    /// Builds the house. What its servers offer is not read before somebody asks for it or
    /// [`Household::settled`] is awaited, and none is started; but those that are required are
    /// waited for. Must be called in a runtime.
    pub async fn start(config: &Config, live: Live) -> Result<Self, StartError> {
        let place = directory(config);
        let mut kept = Kept { live, approvals: None, place, held: Arc::default(), told: Some(Vec::new()) };
        // Only the files know whether a server is required, and most settings say at once that none is.
        let specs = config::servers::may_require(config).then(|| kept.specs());
        let required = specs.iter().flatten().any(|spec| spec.required);
        let household = Self::found(config, kept, specs, true)?;
        if required {
            household.federation.require().await.map_err(StartError::Required)?;
        }
        Ok(household)
    }

    /// The same for one call, or to look at what is known: nothing is watched.
    pub async fn for_one_call(config: &Config, sources: Sources) -> Result<Self, StartError> {
        let (live, place) = (Live::new(sources), directory(config));
        let kept = Kept { live, approvals: None, place, held: Arc::default(), told: None };
        let household = Self::found(config, kept, None, false)?;
        household.federation.settle();
        Ok(household)
    }

    fn found(
        config: &Config,
        kept: Kept,
        specs: Option<Vec<ServerSpec>>,
        keep: bool,
    ) -> Result<Self, StartError> {
        let (base, gate) = house::parts(config).map_err(StartError::Settings)?;
        let snapshot = tectum_core::Snapshot::of(&base);
        let house = if keep { Tectum::new(snapshot, gate) } else { Tectum::for_one_call(snapshot, gate) };
        house.effects().close_with(config.closing);
        let record = kept.place.as_deref().filter(|_| keep).map(Record::new);
        let (place, settings) = (kept.place.clone(), settings(config, kept.held.clone()));
        let kept = Arc::new(Mutex::new(kept));
        let first = kept.clone();
        let first = move || specs.unwrap_or_else(|| lock(&first).specs());
        let federation = Federation::start(house.clone(), base, settings, first);
        let observers =
            keep.then(|| observers::start(config, &house, &federation, place.as_deref())).flatten();
        let observers = observers.map(Arc::new);
        let follow = || keep_up(federation.clone(), observers.clone(), kept, record.clone());
        let keeping = keep.then(|| tokio::spawn(follow()));
        Ok(Self { house, federation, observers, keeping, record })
    }

    /// The hook API of this house.
    pub fn hooks(&self) -> Hooks {
        Hooks::new(self.house.clone(), self.federation.clone(), self.observers.clone())
    }

    /// Names the servers to the house, on a thread beside us. None is started.
    pub async fn settled(&self) {
        // The first client often waits at the door already, and its first word needs none of this.
        tokio::time::sleep(FIRST_WORD).await;
        let federation = self.federation.clone();
        // It fails only if it panicked, and then there are no servers.
        let _ = tokio::task::spawn_blocking(move || federation.settle()).await;
    }

    /// Ends the servers, and everything they started.
    pub async fn stop(self) {
        if let Some(keeping) = self.keeping {
            keeping.abort();
        }
        if let Some(observers) = self.observers {
            observers.stop().await;
        }
        self.federation.stop().await;
        if let Some(record) = self.record {
            record.remove();
        }
    }
}

/// Why a house with servers could not be started.
#[derive(Debug)]
pub enum StartError {
    /// The settings are wrong.
    Settings(config::Problems),
    /// A server that is required is not there.
    Required(tectum_core::Fault),
}

/// The directory of what is kept about this project's servers.
pub fn directory(config: &Config) -> Option<PathBuf> {
    let state = config.state.as_deref()?;
    Some(state::of_project(state, &config.directory).join("servers"))
}

fn settings(config: &Config, held: HeldBack) -> Settings {
    Settings {
        directory: config.directory.clone(),
        state: directory(config),
        logins: config.state.clone(),
        guard: tectum_peers::child::own_guard().ok(),
        exposure: config.federation.exposure.map_or(Exposure::Auto, |exposure| match exposure {
            config::Exposure::All => Exposure::All,
            config::Exposure::Core => Exposure::Core,
            config::Exposure::Search => Exposure::Search,
        }),
        held,
    }
}

/// What is followed while a house is running.
struct Kept {
    live: Live,
    /// As they were before the servers were named to the house.
    approvals: Option<Approvals>,
    place: Option<PathBuf>,
    held: HeldBack,
    /// What was told of servers that are held, where somebody may wonder where they are.
    told: Option<Vec<String>>,
}

/// Servers that do not start, and what clients hear of that.
type HeldBack = Arc<Mutex<BTreeMap<String, String>>>;

impl Kept {
    fn specs(&mut self) -> Vec<ServerSpec> {
        // Looked at before they are read: what changes meanwhile is seen as a change afterwards.
        self.approvals = self.place.as_deref().map(approvals_of);
        self.read()
    }

    /// The servers, if a file that names them changed.
    fn changed_specs(&mut self) -> Option<Vec<ServerSpec>> {
        self.live.is_stale().then(|| self.read())
    }

    /// Reads the files, and tells once of each server that is named and waits for somebody.
    fn read(&mut self) -> Vec<ServerSpec> {
        let Resolved { specs, held, .. } = self.live.specs();
        let reasons = held.iter().map(|held| (held.name.clone(), reason(held))).collect();
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = reasons;
        let Some(told) = &mut self.told else { return specs };
        let waits = held.iter().filter(|held| held.why != Why::Disabled);
        let now: Vec<String> = waits
            .map(|held| {
                let hint = held.hint.as_deref().map(|hint| format!("; {hint}")).unwrap_or_default();
                format!("`{}` is not in use: {}{hint}", held.name, held.message)
            })
            .collect();
        for line in now.iter().filter(|line| !told.contains(line)) {
            tracing::warn!("{}", visible(line));
        }
        *told = now;
        specs
    }

    fn approvals_changed(&mut self) -> bool {
        let (Some(before), Some(place)) = (&self.approvals, &self.place) else { return false };
        let now = approvals_of(place);
        let changed = *before != now;
        self.approvals = Some(now);
        changed
    }
}

/// Why a server does not start, for clients. What a project's file says is not repeated: nobody
/// agreed to it.
fn reason(held: &Held) -> String {
    let message = match held.why {
        Why::Untrusted => "a project's file names it, and no person has agreed to what it says now",
        Why::Disabled | Why::Problem => &held.message,
    };
    match &held.hint {
        Some(hint) => format!("{message}; {hint}"),
        None => format!("{message}; `tectum list` says more"),
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Follows the files, and writes down how the servers are.
async fn keep_up(
    federation: Arc<Federation>,
    observers: Option<Arc<Observers>>,
    kept: Arc<Mutex<Kept>>,
    record: Option<Record>,
) {
    let mut said = None;
    let place = lock(&kept).place.clone();
    let mut muted = place.as_deref().map(|place| Stamp::of(&observers::muted_file(place)));
    loop {
        tokio::time::sleep(TICK).await;
        let changed = lock(&kept).changed_specs();
        if let Some(specs) = changed {
            federation.apply(specs).await;
        }
        let (Some(place), Some(record)) = (&place, &record) else { continue };
        if lock(&kept).approvals_changed() {
            federation.reload_approvals();
        }
        let watched = observers.as_ref().map(|observers| {
            let now = Stamp::of(&observers::muted_file(place));
            if muted.replace(now) != Some(now) {
                observers.mute(observers::muted(place));
            }
            observers.status()
        });
        let status = federation.status();
        let words = Some((words(&status), watched.clone()));
        if words != said {
            if said.is_none() {
                record.clear_others(place);
            }
            record.write(&status, &watched);
            said = words;
        }
    }
}

/// What tells that an approval was given or asked for.
type Approvals = Vec<(PathBuf, Stamp)>;

#[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
fn approvals_of(place: &Path) -> Approvals {
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let pins = paths.filter(|path| path.to_string_lossy().ends_with(".pins.json"));
    let mut found: Approvals = pins.map(|path| (path.clone(), Stamp::of(&path))).collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

fn words(status: &BTreeMap<String, ServerStatus>) -> BTreeMap<String, String> {
    let word = |(name, status): (&String, &ServerStatus)| {
        let ServerStatus { state, tools, starts, error, remarks, .. } = status;
        (name.clone(), format!("{state} {tools} {starts} {error:?} {remarks:?}"))
    };
    status.iter().map(word).collect()
}
