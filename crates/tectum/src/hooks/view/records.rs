//! The record of calls for the console: the index, asked on a thread that may wait, and rows as they are shown.

use std::io;

use serde_json::{Value, json};
use tectum_core::Fault;
use tectum_journal::{
    Ending, Entry,
    index::{Index, SessionRow},
    when,
};

use super::super::{hooked::Hooks, subject};
use crate::{Config, Sources};

/// Asks the index; `None` where no journal is kept.
pub(super) async fn ask<T: Send + 'static>(
    hooks: &Hooks,
    ask: impl FnOnce(&mut Index) -> io::Result<T> + Send + 'static,
) -> Result<Option<T>, Fault> {
    let Some(folder) = hooks.journal_folder() else { return Ok(None) };
    let asking = tokio::task::spawn_blocking(move || ask(&mut Index::open(&folder, &mut |_| ())?));
    let asked = asking.await.map_err(|_| Fault::internal("the journal could not be read"))?;
    asked.map(Some).map_err(|error| {
        Fault::conflict(format!("the journal cannot be read: {error}")).hint("`tectum log verify` says more")
    })
}

/// A call as a row.
pub(super) fn row(entry: &Entry) -> Value {
    let (fault, message) = match &entry.ending {
        Ending::Fault(failure) => (Some(&failure.kind), Some(&failure.message)),
        _ => (None, None),
    };
    json!({
        "call": entry.id,
        "at": when::rfc3339(entry.began),
        "tool": entry.tool,
        "server": entry.server,
        "session": entry.session,
        "client": tectum_journal::report::client(&entry.client.door, &entry.client.name),
        "subject": subject::of(entry.args.get()),
        "ok": !entry.ending.failed(),
        "fault": fault,
        "message": message,
        "verdict": verdict(entry),
        "took_ms": entry.took as f64 / 1000.0,
        "tokens_in": entry.tokens_in,
        "tokens_out": entry.tokens_out,
    })
}

/// What the rules and people said: `allowed`, `asked` (and approved), `denied` by a person or by silence, `refused`
/// by a rule or a layer.
fn verdict(entry: &Entry) -> &'static str {
    let judged = entry.verdict.as_ref().map(|verdict| verdict.judgement.as_str());
    let is_refused = matches!(&entry.ending, Ending::Fault(failure) if failure.kind == "permission");
    match (&entry.asked, judged) {
        (Some(asked), _) if asked.approved => "asked",
        (Some(_), _) => "denied",
        (None, Some("deny")) => "refused",
        (None, _) if is_refused => "refused",
        (None, _) => "allowed",
    }
}

/// A session as a row.
pub(super) fn session(row: &SessionRow) -> Value {
    json!({
        "name": row.session,
        "door": row.door,
        "client": row.client,
        "first": when::rfc3339(row.first),
        "last": when::rfc3339(row.last),
        "since": when::rfc3339(row.first),
        "calls": row.total.calls,
        "failed": row.total.failed,
        "took_ms": row.total.took as f64 / 1000.0,
        "tokens_in": row.total.tokens_in,
        "tokens_out": row.total.tokens_out,
    })
}

/// The settings in effect, and where they come from, read on a thread that may wait.
pub(super) async fn setup(hooks: &Hooks) -> Result<(Sources, Config), Fault> {
    let hooks = hooks.clone();
    let reading = tokio::task::spawn_blocking(move || hooks.setup());
    reading.await.map_err(|_| Fault::internal("the settings could not be read"))?
}
