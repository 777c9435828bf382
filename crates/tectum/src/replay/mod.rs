//! Replay: the recorded calls of a session again, and the first one that ends otherwise. Against the recorded
//! results it needs no disk, no network and no server, so that a session becomes a test:
//!
//! ```ignore
//! let config = tectum::Config::built_in(".")?;
//! let session = tectum::replay::Session::read("tests/session.jsonl".as_ref())?;
//! let replayed = tectum::replay::offline(&config, &session).await?;
//! assert!(replayed.first().is_none(), "{replayed}");
//! ```

mod difference;
mod folder;
mod recorded;
mod session;

pub use self::{
    difference::Difference,
    folder::{SESSION_FILE, SETTINGS_FILE, folder},
    session::Session,
};

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde_json::value::RawValue;
use tectum_approval::Decided;
use tectum_core::{Call, CallId, Fault, FaultKind, Outcome, SessionId, Snapshot, Tectum};
use tectum_journal::{Asked, Ending, Entry};
use tectum_redact::Redactor;

use self::{difference::View, recorded::RecordedTools};
use crate::{Config, Problems, house, servers::Household, state::canonical};

/// What a replay found.
#[derive(Debug, Default)]
pub struct Replayed {
    /// The calls that were made again.
    pub calls: usize,
    /// The number of those that were not, by the reason.
    pub left_out: BTreeMap<LeftOut, usize>,
    /// The calls that ended otherwise, in their order.
    pub differences: Vec<Difference>,
}

/// A reason not to make a call again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// The record has not all of it.
    TooLarge,
    /// There was no such tool, and there is none.
    Unknown,
    /// It may change something.
    Changes,
    /// A rule or a person refused it.
    Refused,
    /// It looks into the record, which is another one now.
    History,
    /// Its server is not configured here, does not run, or has no such tool any more.
    ServerAway,
    /// Its server does not say that the tool only reads.
    ServerChanges,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge => "too large for the record",
            Self::Unknown => "of a tool that does not exist",
            Self::Changes => "may change something",
            Self::Refused => "refused when it was recorded",
            Self::History => "looks into the record itself",
            Self::ServerAway => "of a server that is not here or has no such tool",
            Self::ServerChanges => "of a server that does not say that the tool only reads",
        })
    }
}

impl Replayed {
    /// The first call that ended otherwise.
    pub fn first(&self) -> Option<&Difference> {
        self.differences.first()
    }

    /// The calls that were not made again.
    pub fn skipped(&self) -> usize {
        self.left_out.values().sum()
    }

    /// Counts one that is not made again.
    pub fn leave_out(&mut self, why: LeftOut) {
        *self.left_out.entry(why).or_default() += 1;
    }

    fn compare(&mut self, entry: &Entry, outcome: &Outcome, view: &View<'_>) {
        self.calls += 1;
        self.differences.extend(Difference::between(entry, outcome, view));
    }
}

impl fmt::Display for Replayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} calls made again, {} not, {} ended otherwise",
            self.calls,
            self.skipped(),
            self.differences.len()
        )?;
        self.first().map_or(Ok(()), |first| write!(f, "{first}"))
    }
}

/// Makes the calls again with what was recorded as their results: each is found, its arguments are read, the
/// rules judge it, a person's recorded answer is given, and the recorded result comes back. Nothing is
/// executed.
pub async fn offline(config: &Config, session: &Session) -> Result<Replayed, Problems> {
    let house::Parts { catalog, gate, .. } = house::parts(config, None, house::Around::default())?;
    let tools = RecordedTools::new(&catalog, house::open_allowlist(config)?, session);
    let house = Tectum::for_one_call(Snapshot::of(&[Arc::new(tools)]), gate);
    let here = canonical(&config.directory).display().to_string();
    let moved = session.directory.as_deref().filter(|recorded| *recorded != here);
    let moved = moved.map(|recorded| (here.as_str(), recorded));
    let redactor = redactor(config);
    let view = View { redactor: &redactor, moved, structured: true };
    let mut replayed = Replayed::default();
    for entry in &session.entries {
        if is_unknown(&house, entry) {
            replayed.leave_out(LeftOut::Unknown);
            continue;
        }
        match again(entry, moved) {
            Some(call) => replayed.compare(entry, &made(&house, entry, call).await, &view),
            None => replayed.leave_out(LeftOut::TooLarge),
        }
    }
    Ok(replayed)
}

/// Executes again what only reads, in this house, and tells what changed since.
pub async fn live(config: &Config, household: &Household, session: &Session) -> Replayed {
    let redactor = redactor(config);
    let view = View { redactor: &redactor, moved: None, structured: false };
    let mut replayed = Replayed::default();
    for entry in &session.entries {
        let left_out = match left_out(entry) {
            None if is_unknown(&household.house, entry) => Some(LeftOut::Unknown),
            None if !was_executed(entry) => Some(LeftOut::Refused),
            None if entry.server.is_some() => only_reads(household, entry).await.err(),
            None if entry.effect.as_deref() != Some("read") => Some(LeftOut::Changes),
            left_out => left_out,
        };
        match (left_out, again(entry, None)) {
            (None, Some(call)) => replayed.compare(entry, &made(&household.house, entry, call).await, &view),
            (why, _) => replayed.leave_out(why.unwrap_or(LeftOut::TooLarge)),
        }
    }
    replayed
}

/// Executes everything again in this house, whose directory stands for the recorded one. Tools of servers
/// are left out unless they only read: what they reach is no copy.
pub async fn everything(
    config: &Config,
    household: &Household,
    session: &Session,
    moved: (&str, &str),
) -> Replayed {
    let redactor = redactor(config);
    let view = View { redactor: &redactor, moved: Some(moved), structured: false };
    let mut replayed = Replayed::default();
    for entry in &session.entries {
        let left_out = match left_out(entry) {
            None if is_unknown(&household.house, entry) => Some(LeftOut::Unknown),
            None if entry.server.is_some() => only_reads(household, entry).await.err(),
            left_out => left_out,
        };
        match (left_out, again(entry, Some(moved))) {
            (None, Some(call)) => replayed.compare(entry, &made(&household.house, entry, call).await, &view),
            (why, _) => replayed.leave_out(why.unwrap_or(LeftOut::TooLarge)),
        }
    }
    replayed
}

/// The reason not to make a call again wherever calls are executed.
pub fn left_out(entry: &Entry) -> Option<LeftOut> {
    match entry {
        entry if !is_whole(entry) => Some(LeftOut::TooLarge),
        entry if entry.tool == "search_history" => Some(LeftOut::History),
        _ => None,
    }
}

/// True if nobody had such a tool, and nobody has it now.
fn is_unknown(house: &Tectum, entry: &Entry) -> bool {
    !recorded::was_known(entry) && house.registry().snapshot().tool(&entry.tool).is_none()
}

/// An error unless the tool of a server is there and only reads, as the server says. The rules and the recorded
/// answer of a person decide about the call itself.
async fn only_reads(household: &Household, entry: &Entry) -> Result<(), LeftOut> {
    let reads = || {
        let snapshot = household.house.registry().snapshot();
        snapshot.tool(&entry.tool).map(|info| info.server.as_ref().is_some_and(|tool| tool.reads))
    };
    if reads().is_none() {
        household.federation.meet(&entry.tool).await.map_err(|_| LeftOut::ServerAway)?;
    }
    match reads() {
        None => Err(LeftOut::ServerAway),
        Some(false) => Err(LeftOut::ServerChanges),
        Some(true) => Ok(()),
    }
}

/// The recorded call as it is made here; `None` if the record has not all of it.
fn again(entry: &Entry, moved: Option<(&str, &str)>) -> Option<Call> {
    if !is_whole(entry) {
        return None;
    }
    let args = moved.and_then(|(here, recorded)| {
        RawValue::from_string(entry.args.get().replace(&escaped(recorded), &escaped(here))).ok()
    });
    call(entry, args.unwrap_or_else(|| entry.args.clone()))
}

/// A text as it stands inside of a string of JSON.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.trim_matches('"').to_owned()
}

/// Whether the record has all of a call: of very large arguments or results it has none.
fn is_whole(entry: &Entry) -> bool {
    !matches!(entry.ending, Ending::Omitted { .. }) && !entry.args.get().starts_with(r#"{"omitted":"#)
}

/// Whether a call came past the rules and the person.
pub fn was_executed(entry: &Entry) -> bool {
    entry.verdict.as_ref().is_some_and(|verdict| verdict.judgement != "deny")
        && entry.asked.as_ref().is_none_or(|asked| asked.approved)
}

/// The call again, under its own id.
fn call(entry: &Entry, args: Box<RawValue>) -> Option<Call> {
    let id = CallId::parse(&entry.id)?;
    let session = SessionId::new(entry.session.as_str());
    Some(Call { id, ..Call::new(session, entry.tool.as_str(), args) })
}

/// Makes a call again, with the recorded answer to a question about it.
async fn made(house: &Tectum, entry: &Entry, call: Call) -> Outcome {
    let approver = match (&entry.asked, &entry.ending) {
        (Some(Asked { approved: true, .. }), _) => Decided::yes(),
        (Some(_), Ending::Fault(fault)) => Decided::no(recorded::fault(fault)),
        _ => {
            let message = "nobody was asked about this call when it was recorded";
            Decided::no(Fault::new(FaultKind::Permission, message))
        }
    };
    house.call_asking(house.registry().snapshot(), call, Some(approver)).await
}

/// What the journal hides, too.
fn redactor(config: &Config) -> Redactor {
    Redactor::new(&config.observers.names, &config.observers.texts).unwrap_or_else(|_| Redactor::none())
}
