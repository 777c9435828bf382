//! The policy of a running house: made anew when the settings change and put in place as a whole.
//! Settings that are wrong leave the last good policy where it is, and that is told.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tectum_core::{Provider, Tectum, security::ControlFiles};
use tectum_peers::federation::Federation;
use tectum_state::Lasts;
use tokio::sync::{mpsc, oneshot};

use crate::{
    config::{
        Config, Problem,
        keys::{self, KEYS, Key},
    },
    house::{self, Catalog, Parts},
    offered::Offered,
    rulebook, state,
    status::{self, Record},
};

/// The policy that holds, for whoever asked for a new one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The number of times the policy was replaced since the start.
    pub version: u64,
    /// The keys that changed when it was replaced last.
    pub changed: Vec<String>,
    /// Keys that changed since the start and count only from the next start on.
    pub at_next_start: Vec<String>,
    /// The problems of the settings as they are now. The policy before them holds.
    pub problems: Vec<String>,
}

/// The report of a running house, for several readers.
pub type Shared = Arc<Mutex<Report>>;

/// Follows the settings of a running house.
pub(crate) struct Policy {
    house: Tectum,
    federation: Arc<Federation>,
    catalog: Arc<Catalog>,
    offered: Option<Offered>,
    /// The settings that hold.
    config: Config,
    /// The settings of the start.
    first: Config,
    report: Shared,
}

impl Policy {
    /// The policy that was built from these settings.
    pub(crate) fn new(
        house: Tectum,
        federation: Arc<Federation>,
        built: (Arc<Catalog>, Option<Offered>),
        config: Config,
        report: Shared,
    ) -> Self {
        let (catalog, offered) = built;
        Self { house, federation, catalog, offered, first: config.clone(), config, report }
    }

    /// Puts these settings in force. Calls that run keep what they were granted; every call that
    /// begins afterwards is judged by the new policy alone. No tool changes `files`, nor what else is
    /// among the files that are returned.
    pub(crate) fn follow(
        &mut self,
        config: Option<&Config>,
        problems: &[Problem],
        files: Vec<PathBuf>,
    ) -> Arc<ControlFiles> {
        let mut problems: Vec<String> = problems.iter().map(told).collect();
        let since = |before: &Config| config.map(|config| changes(before, config)).unwrap_or_default();
        let mut live: Vec<&Key> = since(&self.config).into_iter().filter(|key| is_live(key)).collect();
        let later: Vec<&Key> = since(&self.first).into_iter().filter(|key| !is_live(key)).collect();
        if let Some(config) = config.filter(|_| !live.is_empty()) {
            match house::parts(config, Some(&self.catalog), self.catalog.around()) {
                Ok(parts) => {
                    parts.gate.allowlist().control_files().close_files(files);
                    self.replace(parts, config);
                }
                Err(wrong) => {
                    problems.extend(wrong.0.iter().map(told));
                    tracing::warn!(
                        "the settings changed and are invalid; the last valid ones stay in effect: {wrong}"
                    );
                    live.clear();
                }
            }
        }
        let names = |keys: &[&Key]| keys.iter().map(|key| key.path()).collect::<Vec<_>>();
        let mut report = self.report.lock();
        report.problems = problems;
        if config.is_some() {
            report.at_next_start = names(&later);
        }
        if !live.is_empty() {
            report.version += 1;
            report.changed = names(&live);
            tracing::info!("new settings in effect: {}", report.changed.join(", "));
        }
        self.house.gate().allowlist().control_files().clone()
    }

    fn replace(&mut self, parts: Parts, config: &Config) {
        let providers = parts.providers();
        let Parts { catalog, offered, gate } = parts;
        let both = self.offered.as_ref().zip(offered.as_ref());
        if both.is_some_and(|(old, new)| old.is_same(new)) {
            self.house.replace_gate(gate);
        } else {
            // First the tools that both policies offer, then the gate, then the tools of the new policy:
            // no tool is ever behind the gate of the other policy.
            let both = both.map(|(old, new)| Arc::new(old.shared(new)) as Arc<dyn Provider>);
            self.federation.rebase(both.into_iter().collect());
            self.house.replace_gate(gate);
            self.federation.rebase(providers);
        }
        self.house.effects().close_with(config.closing);
        rulebook::configure(&self.house, config);
        (self.catalog, self.offered, self.config) = (catalog, offered, config.clone());
    }
}

fn told(problem: &Problem) -> String {
    match &problem.hint {
        Some(hint) => format!("{problem} ({hint})"),
        None => problem.to_string(),
    }
}

/// The keys about which both say something different.
fn changes(before: &Config, now: &Config) -> Vec<&'static Key> {
    let mut changed: Vec<&Key> = KEYS.iter().copied().filter(|key| before.differs(now, key)).collect();
    if before.permissions.consent != now.permissions.consent && !changed.contains(&&keys::ALLOW) {
        changed.push(&keys::ALLOW);
    }
    changed
}

/// True if a running house follows a key; the rest was decided when it started.
pub(crate) fn is_live(key: &Key) -> bool {
    [
        "workspace",
        "permissions",
        "approval",
        "tools",
        "files",
        "diagnostics",
        "shell",
        "context",
        "beads",
        "network",
    ]
    .contains(&key.section)
        || *key == keys::READ
}

/// Whoever can make a running house read its settings now.
#[derive(Clone, Debug)]
pub(crate) struct Look(pub(crate) mpsc::Sender<oneshot::Sender<()>>);

impl Look {
    /// Ends when the house has looked at its files, or is ending.
    pub(crate) async fn now(&self) {
        let (done, looked) = oneshot::channel();
        if self.0.send(done).await.is_ok() {
            let _ = looked.await;
        }
    }
}

/// The folder where running houses of a project are asked to read their settings anew, and answer.
pub fn folder(state: &Path, directory: &Path) -> PathBuf {
    state::of_project(state, directory).join("servers/reload")
}

/// Asks every house of a project to read its settings now. The answers bear the word that is returned.
pub fn ask(folder: &Path) -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    let word: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    tectum_state::replace(&request(folder), word.as_bytes(), Lasts::Process)?;
    Ok(word)
}

/// Every house that runs, with its report if it answered to this word.
pub fn answers(folder: &Path, word: &str) -> Vec<(i32, Option<Report>)> {
    let answer = |(pid, mut fields): (i32, Value)| {
        let answered = fields["answers"] == word;
        (pid, answered.then(|| serde_json::from_value(fields["report"].take()).ok()).flatten())
    };
    status::records(folder).into_iter().map(answer).collect()
}

fn request(folder: &Path) -> PathBuf {
    folder.join("request")
}

/// The side of a running house.
#[derive(Debug)]
pub(crate) struct Answering {
    folder: PathBuf,
    record: Record,
    answered: Option<String>,
}

impl Answering {
    /// From now on `tectum reload` waits for this house, before any client is there.
    pub(crate) fn new(folder: PathBuf) -> Self {
        let record = Record::in_folder(&folder);
        record.put(json!({ "answers": null }));
        Self { folder, record, answered: None }
    }

    /// The word of somebody who asks and has no answer yet.
    pub(crate) fn asked(&self) -> Option<String> {
        let word = tectum_state::read_private(&request(&self.folder)).ok().flatten()?;
        (Some(&word) != self.answered.as_ref()).then_some(word)
    }

    /// Answers: the settings were read after the question, and this is what holds.
    pub(crate) fn answer(&mut self, word: String, report: &Report) {
        self.record.put(json!({ "answers": word, "report": report }));
        self.record.clear_others();
        self.answered = Some(word);
    }

    pub(crate) fn record(&self) -> Record {
        self.record.clone()
    }
}
