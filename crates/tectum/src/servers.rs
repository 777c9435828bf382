//! The servers of a running house: started from the files that name them, changed when those
//! files change, and told about where `tectum list` can see it.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use parking_lot::Mutex;
use tectum_attend::{Attention, ReaderKey};
use tectum_core::{Tectum, security::ControlFiles};
use tectum_engine::RoundNews;
use tectum_journal::{History, Writer};
use tectum_peers::{
    child::lineage,
    federation::{Federation, ServerStatus, SessionPages, Settings},
    observe::Observers,
    serve::LineServer,
    spec::{ServerSpec, Transport},
    visible::visible,
};
use tectum_state::Stamp;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

use crate::{
    Config, Sources,
    attention::{self, Watching},
    config::{
        self,
        servers::{Held, Live, Resolved, Why},
    },
    hooks::{HookParts, Hooks, HouseFacts},
    house::{self, Around},
    houses::{self, Attending, Door},
    journal, observers,
    reload::{self, Answering, Look, Policy},
    rulebook, state,
    status::Record,
    telemetry::HouseTelemetry,
};

/// The interval at which requests for new settings are looked for.
const ASKED: Duration = Duration::from_millis(250);
/// The number of these looks after which the record of states is brought up to date and changed files
/// are looked for.
const LOOKS: u32 = 4;
/// So much later for each server: with thousands that is work for a whole core, and calls would have to
/// share it.
const FOR_EACH: Duration = Duration::from_millis(2);

/// The command of a house that listens on HTTP.
pub const UP: &str = "up";

/// The time for which the first client's first message goes before everything it does not need.
const FIRST_WORD: Duration = Duration::from_millis(5);

/// A house with its servers.
#[derive(Debug)]
pub struct Household {
    /// The house.
    pub house: Tectum,
    /// Its servers.
    pub federation: Arc<Federation>,
    observers: Option<Arc<Observers>>,
    journal: Option<Writer>,
    attention: Option<Attention>,
    watching: Option<Watching>,
    keeping: Option<JoinHandle<()>>,
    records: Vec<Record>,
    telemetry: HouseTelemetry,
    hooks: Hooks,
    look: Look,
}

impl Household {
    /// Builds the house. What its servers offer is not read before somebody asks for it or
    /// [`Household::settled`] is awaited, and none is started; but those that are required are
    /// waited for. The command is the one that was started, for the journal. Must be called in a
    /// runtime.
    pub async fn start(config: &Config, live: Live, command: &str) -> Result<Self, StartError> {
        let place = directory(config);
        let mut kept = FollowedFiles::new(live, config, place, Some(Vec::new()));
        // Only the files know whether a server is required, and most settings say at once that none is.
        let specs = config::servers::may_require(config).then(|| kept.read());
        let required = specs.iter().flatten().any(|spec| spec.required);
        let household = Self::found(config, kept, specs, Some(command))?;
        if required {
            household.federation.require().await.map_err(StartError::Required)?;
        }
        Ok(household)
    }

    /// The same for one call, or to look at what is known: nothing is watched.
    pub async fn for_one_call(config: &Config, sources: Sources) -> Result<Self, StartError> {
        let (live, place) = (Live::new(sources), directory(config));
        let kept = FollowedFiles::new(live, config, place, None);
        let household = Self::found(config, kept, None, None)?;
        household.federation.settle();
        Ok(household)
    }

    fn found(
        config: &Config,
        kept: FollowedFiles,
        specs: Option<Vec<ServerSpec>>,
        command: Option<&str>,
    ) -> Result<Self, StartError> {
        let keep = command.is_some();
        let writer = journal::WriterCell::default();
        let history = journal::history(config, &writer);
        let attending = keep.then(|| attention::open(config)).flatten();
        let attention = match &attending {
            Some((attention, _)) => Some(attention.clone()),
            None => attention::peek(config).filter(|_| !keep),
        };
        let around = Around { history: history.clone(), attention: attention.clone(), ..Around::default() };
        let parts = house::parts(config, None, around).map_err(StartError::Settings)?;
        if keep {
            house::sweep(config);
        }
        let base = parts.providers();
        let house::Parts { catalog, offered, gate } = parts;
        let mut kept = kept;
        kept.close_files_of(gate.allowlist().control_files());
        let snapshot = tectum_core::Snapshot::of(&base);
        let house = if keep { Tectum::new(snapshot, gate) } else { Tectum::for_one_call(snapshot, gate) };
        house.effects().close_with(config.closing);
        rulebook::configure(&house, config);
        let command = command.unwrap_or(journal::ONE_CALL);
        let journal = journal::attach(config, &house, command, catalog.runtime());
        journal.iter().for_each(|journal| drop(writer.set(journal.clone())));
        let record = kept.place.as_deref().filter(|_| keep).map(Record::new);
        let answering = config.state.as_deref().filter(|_| keep);
        let answering =
            answering.map(|state| reload::Answering::new(reload::folder(state, &config.directory)));
        let records =
            record.iter().cloned().chain(answering.as_ref().map(reload::Answering::record)).collect();
        // Prometheus finds a house that listens.
        let telemetry =
            if keep { HouseTelemetry::start(config, command == UP) } else { HouseTelemetry::default() };
        let settings = Settings {
            telemetry: telemetry.seam(),
            attention: attention.clone(),
            ..settings(config, kept.held.clone(), history)
        };
        let place = kept.place.clone();
        let kept = Arc::new(Mutex::new(kept));
        let first = kept.clone();
        let first = move || specs.unwrap_or_else(|| first.lock().read());
        let federation = Federation::start(house.clone(), base, settings, first);
        telemetry.look(&federation, journal::directory(config).filter(|_| config.journal.on));
        let observers =
            keep.then(|| observers::start(config, &house, &federation, place.as_deref())).flatten();
        let observers = observers.map(Arc::new);
        let watching =
            attending.and_then(|attending| attention::start(config, attending, &house, &federation));
        let report = reload::Shared::default();
        let shown = kept.clone();
        let hooks = Hooks::new(HookParts {
            house: house.clone(),
            federation: federation.clone(),
            observers: observers.clone(),
            journal: journal.clone(),
            attention: attention.clone(),
            journal_folder: journal::directory(config).filter(|_| config.journal.on),
            policy: report.clone(),
            telemetry: telemetry.clone(),
            runtime: catalog.runtime().clone(),
            state: config.state.clone(),
            settings: Box::new(move || shown.lock().shown()),
            facts: HouseFacts {
                project: config.directory.clone(),
                command: command.to_owned(),
                since: SystemTime::now(),
            },
        });
        let policy = Policy::new(
            house.clone(),
            federation.clone(),
            (catalog, offered),
            config.clone(),
            report.clone(),
        );
        let settings = Following { kept, policy, answering, reads: 0, report: report.clone() };
        let (look, looks) = mpsc::channel(1);
        let follow = || keep_up(federation.clone(), observers.clone(), settings, record, looks);
        let keeping = keep.then(|| tokio::spawn(follow()));
        let look = Look(look);
        Ok(Self {
            house,
            federation,
            observers,
            journal,
            attention,
            watching,
            keeping,
            records,
            telemetry,
            hooks,
            look,
        })
    }

    /// What the house has to tell a model of its own, round by round.
    pub fn round_news(&self) -> Option<RoundNews> {
        let attention = self.attention.clone()?;
        Some(RoundNews::new(move |session| {
            let reader = ReaderKey::new(&session.0, "");
            // The engine shows its models how files changed that they know.
            attention.shows_files(&session.0);
            attention.heard(&reader, "tectum run");
            attention.close_round(&reader).map(|line| line.text())
        }))
    }

    /// The hook API of this house.
    pub fn hooks(&self) -> Hooks {
        self.hooks.clone()
    }

    /// Answers whoever comes to the sockets of this house, as long as what is returned is kept. Must be
    /// called in a runtime.
    pub fn attend(&self, door: Option<Door>, server: LineServer) -> Option<Attending> {
        let look = self.look.clone();
        door.map(|door| Attending::new(door, houses::DoorAnswers { hooks: self.hooks(), server, look }))
    }

    /// Names the servers to the house, on a thread beside us. None is started.
    pub async fn settled(&self) {
        // The first client often waits at the door already, and its first word needs none of this.
        tokio::time::sleep(FIRST_WORD).await;
        let federation = self.federation.clone();
        // It fails only if it panicked, and then there are no servers.
        let _ = tokio::task::spawn_blocking(move || federation.settle()).await;
    }

    /// Prepares what the first call would wait for, beside us. A house that stays does not: some
    /// milliseconds, once, are not worth a megabyte for a house that nobody calls.
    pub fn expect_calls(&self) {
        self.journal.iter().for_each(Writer::warm_up);
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
        if let Some(watching) = self.watching {
            // It waits for the disk. Nobody is answered any more.
            let _ = tokio::task::spawn_blocking(move || watching.stop()).await;
        }
        self.records.iter().for_each(Record::remove);
        self.telemetry.stop().await;
        if let Some(journal) = self.journal {
            // It waits for the disk. Nobody is answered any more.
            let _ = tokio::task::spawn_blocking(move || journal.close()).await;
        }
    }
}

/// The reasons why a house with servers could not be started.
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

fn settings(config: &Config, held: HeldBack, history: Option<History>) -> Settings {
    Settings {
        directory: config.directory.clone(),
        state: directory(config),
        logins: config.state.clone(),
        guard: tectum_peers::child::own_guard().ok(),
        exposure: config.federation.exposure,
        first_wait: config.federation.first_wait,
        profiles: config.tools.profiles.clone(),
        held,
        forms: config.clients.clone(),
        sessions: history.map(|history| SessionPages::new(move |named, client| history.page(named, client))),
        attention: None,
        telemetry: None,
    }
}

/// The files that are followed while a house is running.
struct FollowedFiles {
    live: Live,
    project: PathBuf,
    place: Option<PathBuf>,
    held: HeldBack,
    /// The last report about servers that are held, where somebody may wonder where they are.
    told: Option<Vec<String>>,
    /// Learns which files have a part in the servers.
    control: Option<Arc<ControlFiles>>,
}

/// Servers that do not start, and what clients hear of that.
type HeldBack = Arc<Mutex<BTreeMap<String, String>>>;

impl FollowedFiles {
    fn new(live: Live, config: &Config, place: Option<PathBuf>, told: Option<Vec<String>>) -> Self {
        let project = config.directory.clone();
        Self { live, project, place, held: Arc::default(), told, control: None }
    }

    /// Tools do not change the files that entries of servers take variables from, either.
    fn close_files_of(&mut self, control: &Arc<ControlFiles>) {
        control.close_files(self.live.files());
        self.control = Some(control.clone());
    }

    /// The servers, if a file that names them changed.
    fn changed_specs(&mut self) -> Option<Vec<ServerSpec>> {
        self.live.is_stale().then(|| self.read())
    }

    /// The settings in effect, for people and programs.
    fn shown(&mut self) -> serde_json::Value {
        if self.live.settings().0.is_none() {
            self.read();
        }
        self.live.settings().0.map(config::show::flat).unwrap_or_default()
    }

    /// Reads the files, and tells once of each server that is named and waits for somebody.
    fn read(&mut self) -> Vec<ServerSpec> {
        let Resolved { specs, held, .. } = self.live.specs();
        // Told to everything that is started: what a Tectum below must not start again.
        let launches = specs.iter().filter_map(|spec| match &spec.transport {
            Transport::Stdio(launch) => Some(launch),
            Transport::Http(_) | Transport::Sse(_) => None,
        });
        lineage::serve(&state::canonical(&self.project), launches);
        if let Some(control) = &self.control {
            control.close_files(self.live.files());
        }
        let reasons = held.iter().map(|held| (held.name.clone(), reason(held))).collect();
        *self.held.lock() = reasons;
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
}

/// The reason why a server does not start, for clients. The words of a project's file are not repeated:
/// nobody agreed to them.
fn reason(held: &Held) -> String {
    let message = match held.why {
        Why::Untrusted => "it comes from a project's file and is not approved in its present form",
        Why::Disabled | Why::Problem => &held.message,
    };
    match &held.hint {
        Some(hint) => format!("{message}; {hint}"),
        None => format!("{message}; see `tectum list`"),
    }
}

/// Follows the settings: policy and servers.
struct Following {
    kept: Arc<Mutex<FollowedFiles>>,
    policy: Policy,
    answering: Option<Answering>,
    /// The number of times the settings had been read when the policy followed them.
    reads: u64,
    report: reload::Shared,
}

impl Following {
    /// Reads the files if one of them changed or somebody asked for it, and puts in force what they say.
    async fn look(&mut self, federation: &Arc<Federation>, files: bool) {
        let asked = self.answering.as_ref().and_then(Answering::asked);
        let specs = if asked.is_some() {
            // Whoever is first to need the servers reads the files, too.
            federation.settle();
            Some(self.kept.lock().read())
        } else if files {
            self.kept.lock().changed_specs()
        } else {
            None
        };
        let read = {
            let kept = self.kept.lock();
            let (config, problems) = kept.live.settings();
            let news = kept.live.reads() != self.reads;
            self.reads = kept.live.reads();
            news.then(|| (config.cloned(), problems.to_vec(), kept.live.files().collect::<Vec<_>>()))
        };
        if let Some((config, problems, files)) = read {
            let control = self.policy.follow(config.as_ref(), &problems, files);
            self.kept.lock().close_files_of(&control);
        }
        if let Some(specs) = specs {
            federation.apply(specs).await;
        }
        if let (Some(word), Some(answering)) = (asked, &mut self.answering) {
            let report = self.report.lock().clone();
            answering.answer(word, &report);
        }
    }
}

/// Follows the files, and writes down how the servers are.
async fn keep_up(
    federation: Arc<Federation>,
    observers: Option<Arc<Observers>>,
    mut settings: Following,
    record: Option<Record>,
    mut looks: mpsc::Receiver<oneshot::Sender<()>>,
) {
    let (mut said, mut next) = (None, Instant::now());
    let kept = settings.kept.clone();
    let place = kept.lock().place.clone();
    let mut muted = place.as_deref().map(|place| Stamp::read(&observers::muted_file(place)));
    for look in (0..LOOKS).cycle() {
        let asked = tokio::select! {
            Some(done) = looks.recv() => Some(done),
            () = tokio::time::sleep(ASKED) => None,
        };
        let files = look + 1 == LOOKS;
        settings.look(&federation, files || asked.is_some()).await;
        if let Some(done) = asked {
            // Nobody waits for it any more.
            let _ = done.send(());
        }
        if !files {
            continue;
        }
        let (Some(place), Some(record)) = (&place, &record) else { continue };
        let watched = observers.as_ref().map(|observers| {
            let now = Stamp::read(&observers::muted_file(place));
            if muted.replace(now) != Some(now) {
                observers.mute(observers::muted(place));
            }
            observers.clone()
        });
        if Instant::now() < next {
            continue;
        }
        let (asked, record, before) = (federation.clone(), record.clone(), said.take());
        // Beside the thread that answers calls: there may be thousands. It fails only if it panicked.
        let noted = tokio::task::spawn_blocking(move || {
            asked.follow_approvals();
            let status = asked.status();
            let now = (words(&status), watched.map(|observers| observers.status()));
            if before.is_none() {
                record.clear_others();
            }
            if before.as_ref() != Some(&now) {
                record.write(&status, &now.1);
            }
            (now, status.len())
        });
        if let Ok((now, servers)) = noted.await {
            next = Instant::now() + FOR_EACH * u32::try_from(servers).unwrap_or(u32::MAX);
            said = Some(now);
        }
    }
}

fn words(status: &BTreeMap<String, ServerStatus>) -> BTreeMap<String, String> {
    let word = |(name, status): (&String, &ServerStatus)| {
        let ServerStatus { state, tools, starts, error, remarks, .. } = status;
        (name.clone(), format!("{state} {tools} {starts} {error:?} {remarks:?}"))
    };
    status.iter().map(word).collect()
}
