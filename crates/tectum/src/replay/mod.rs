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
mod recorded;
mod session;

pub use self::{difference::Difference, session::Session};

use std::{fmt, sync::Arc};

use serde_json::value::RawValue;
use tectum_core::{Asker, Call, CallId, Fault, FaultKind, Outcome, SessionId, Snapshot, Tectum};
use tectum_journal::{Asked, Ending, Entry};
use tectum_redact::Redactor;
use tectum_tools::runtime::Runtime;

use self::{difference::View, recorded::RecordedTools};
use crate::{Config, Problems, house};

/// What a replay found.
#[derive(Debug, Default)]
pub struct Replayed {
    /// The calls that were made again.
    pub calls: usize,
    /// The calls that were not: the record does not have all of them, or they are not meant.
    pub skipped: usize,
    /// The calls that ended otherwise, in their order.
    pub differences: Vec<Difference>,
}

impl Replayed {
    /// The first call that ended otherwise.
    pub fn first(&self) -> Option<&Difference> {
        self.differences.first()
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
            self.skipped,
            self.differences.len()
        )?;
        self.first().map_or(Ok(()), |first| write!(f, "{first}"))
    }
}

/// Makes the calls again with what was recorded as their results: each is found, its arguments are read, the
/// rules judge it, a person's recorded answer is given, and the recorded result comes back. Nothing is
/// executed.
pub async fn offline(config: &Config, session: &Session) -> Result<Replayed, Problems> {
    let house::Parts { catalog, gate, .. } = house::parts(config, None, &Runtime::default(), None)?;
    let tools = RecordedTools::new(&catalog, house::open_allowlist(config)?, session);
    let house = Tectum::for_one_call(Snapshot::of(&[Arc::new(tools)]), gate);
    let redactor = redactor(config);
    let view = View { redactor: &redactor, moved: None };
    let mut replayed = Replayed::default();
    for entry in &session.entries {
        // Nobody had such a tool, and nobody has it now.
        let unknown = !recorded::was_known(entry) && house.registry().snapshot().tool(&entry.tool).is_none();
        match call(entry, entry.args.clone()) {
            Some(call) if can_be_made(entry) && !unknown => {
                replayed.compare(entry, &house.call(call).await, &view);
            }
            _ => replayed.skipped += 1,
        }
    }
    Ok(replayed)
}

/// Executes again what only reads, in this house, and tells what changed since.
pub async fn live(config: &Config, house: &Tectum, session: &Session) -> Replayed {
    let redactor = redactor(config);
    let view = View { redactor: &redactor, moved: None };
    let mut replayed = Replayed::default();
    for entry in &session.entries {
        let reads =
            entry.effect.as_deref() == Some("read") && was_executed(entry) && entry.tool != "search_history";
        match call(entry, entry.args.clone()) {
            Some(call) if reads && can_be_made(entry) => {
                replayed.compare(entry, &house.call(call).await, &view);
            }
            _ => replayed.skipped += 1,
        }
    }
    replayed
}

/// Executes everything again in this house, whose directory stands for the recorded one. Tools of servers
/// are left out unless they only read: what they reach is no copy.
pub async fn everything(
    config: &Config,
    house: &Tectum,
    session: &Session,
    (here, recorded): (&str, &str),
) -> Replayed {
    let redactor = redactor(config);
    let view = View { redactor: &redactor, moved: Some((here, recorded)) };
    let mut replayed = Replayed::default();
    for entry in &session.entries {
        let leaves = entry.server.is_some() && entry.effect.as_deref() != Some("read");
        let args = entry.args.get().replace(&escaped(recorded), &escaped(here));
        let args = RawValue::from_string(args).unwrap_or_else(|_| entry.args.clone());
        match call(entry, args) {
            Some(call) if !leaves && can_be_made(entry) && entry.tool != "search_history" => {
                replayed.compare(entry, &house.call(call).await, &view);
            }
            _ => replayed.skipped += 1,
        }
    }
    replayed
}

/// A text as it stands inside of a string of JSON.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.trim_matches('"').to_owned()
}

/// Whether the record has all of a call: of very large arguments or results it has none.
fn can_be_made(entry: &Entry) -> bool {
    !matches!(entry.ending, Ending::Omitted { .. }) && !entry.args.get().starts_with(r#"{"omitted":"#)
}

/// Whether a call came past the rules and the person.
fn was_executed(entry: &Entry) -> bool {
    entry.verdict.as_ref().is_some_and(|verdict| verdict.judgement != "deny")
        && entry.asked.as_ref().is_none_or(|asked| asked.approved)
}

/// The call again, under its own id, with the recorded answer to a question about it.
fn call(entry: &Entry, args: Box<RawValue>) -> Option<Call> {
    let id = CallId::parse(&entry.id)?;
    let ask = match (&entry.asked, &entry.ending) {
        (Some(Asked { approved: true, .. }), _) => None,
        (Some(_), Ending::Fault(fault)) => Some(recorded::fault(fault)),
        _ => Some(Fault::new(FaultKind::Permission, "nobody was asked about this call when it was recorded")),
    };
    let ask = ask.map(|fault| (fault.kind, fault.message, fault.hint));
    let asker = Asker::to(move |_| {
        let answer = match ask.clone() {
            None => Ok(()),
            Some((kind, message, hint)) => Err(Fault { hint, ..Fault::new(kind, message) }),
        };
        Box::pin(async move { answer })
    });
    let session = SessionId::new(entry.session.as_str());
    Some(Call { id, asker, ..Call::new(session, entry.tool.as_str(), args) })
}

/// What the journal hides, too.
fn redactor(config: &Config) -> Redactor {
    Redactor::new(&config.observers.names, &config.observers.texts).unwrap_or_else(|_| Redactor::none())
}
