//! The journal of a project: where it is, and who writes it.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
};

use tectum_core::{Call, Fault, Recorder, Recording, Seen, SessionId, Tectum};
use tectum_journal::{History, Settings, SyncPolicy, Writer};
use tectum_redact::Redactor;
use tectum_tools::runtime::Runtime;

use crate::{Config, state};

/// The most bytes of one of its files.
const SEGMENT: u64 = 8 << 20;
/// The fewest files of a journal that is full: the oldest goes as a whole.
const FEWEST: u64 = 8;

/// The folder of the record of this project's calls; `None` if nothing is kept on the disk.
pub fn directory(config: &Config) -> Option<PathBuf> {
    let state = config.state.as_deref()?;
    Some(tectum_journal::folder(&state::of_project(state, &config.directory)))
}

/// Notes the time of each call, and passes it on to the journal where there is one.
#[derive(Debug)]
struct Noted {
    runtime: Runtime,
    writer: Option<Writer>,
}

impl Recorder for Noted {
    fn record<'a>(&'a self, seen: Seen<'a>) -> Option<Recording<'a>> {
        self.runtime.note(seen.outcome.took);
        self.writer.as_ref()?.record(seen)
    }

    fn ready_for(&self, change: &Call) -> Result<(), Fault> {
        self.writer.as_ref().map_or(Ok(()), |writer| writer.ready_for(change))
    }
}

/// Notes the times of a house's calls from now on, and records them if that is wanted. The command is the
/// one that was started.
pub(crate) fn attach(config: &Config, house: &Tectum, command: &str, runtime: &Runtime) -> Option<Writer> {
    let writer = writer(config, house, command);
    house.record_with(Arc::new(Noted { runtime: runtime.clone(), writer: writer.clone() }));
    writer
}

fn writer(config: &Config, house: &Tectum, command: &str) -> Option<Writer> {
    let journal = &config.journal;
    let folder = directory(config).filter(|_| journal.on)?;
    let settings = Settings {
        folder,
        sync: match journal.sync {
            // Nobody waits for the end of the interval.
            SyncPolicy::Interval if command == ONE_CALL => SyncPolicy::Off,
            sync => sync,
        },
        segment: SEGMENT.min(journal.keep / FEWEST),
        most: journal.keep,
        longest: journal.longest,
        seed: journal.seed.then(|| house.gate().allowlist().primary().to_owned()),
        command: command.to_owned(),
        directory: config.directory.clone(),
    };
    let (names, texts) = (config.observers.names.clone(), config.observers.texts.clone());
    // Observers may be shown everything; a record hides secrets all the same.
    Some(Writer::new(settings, move || Redactor::new(&names, &texts)))
}

/// The writer of a house, which is made after the tools that ask it what a session is called.
pub(crate) type WriterCell = Arc<OnceLock<Writer>>;

/// What clients of this process may read of the record, if there is one.
pub(crate) fn history(config: &Config, writer: &WriterCell) -> Option<History> {
    let folder = directory(config).filter(|_| config.journal.on)?;
    let writer = writer.clone();
    let name = move |session: &SessionId| match writer.get() {
        Some(writer) => writer.session(session),
        None => session.0.to_string(),
    };
    let directory = state::canonical(&config.directory).display().to_string();
    Some(History::new(folder, directory, config.journal.other_sessions, name))
}

/// The command of a process that makes one call and ends.
pub(crate) const ONE_CALL: &str = "call";
