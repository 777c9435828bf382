//! The conversation in view: the calls of the present session as the journal has them, those of an earlier
//! one that somebody chose, or what a script put there.

use std::path::Path;

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tectum_core::Fault;
use tectum_journal::{Entry, index::Index, report, when};
use utoipa::ToSchema;

use super::{
    body::Posted,
    hooked::Hooks,
    project::{UPDATED, Updated},
    refusal::Refusal,
};

/// The most calls that are shown, the last ones.
const MOST_ENTRIES: usize = 200;
/// The most bytes of an entry's text.
const MOST_TEXT: usize = 4 * 1024;

/// A session.
#[derive(Serialize, Deserialize, ToSchema)]
pub(super) struct SessionBody {
    session: SessionEntries,
}

/// Its entries.
#[derive(Serialize, Deserialize, ToSchema)]
pub(super) struct SessionEntries {
    /// Calls with `role`, `ts`, `tool`, `arguments`, `ok` and `content`, or what was put there.
    entries: Vec<Value>,
}

/// The session in view
#[utoipa::path(get, path = "/api/session", responses(
    (status = 200, description = "The session", body = SessionBody),
    (status = 409, description = "The journal cannot be read", body = super::refusal::Refused),
))]
pub(super) async fn get(State(hooks): State<Hooks>) -> Result<Json<SessionBody>, Refusal> {
    let entries = match hooks.console().with(|state| state.entries.clone()).await? {
        Some(entries) => entries,
        None => recorded(&hooks, None).await?,
    };
    Ok(Json(SessionBody { session: SessionEntries { entries } }))
}

/// Shows these entries in its place
#[utoipa::path(post, path = "/api/session", request_body = SessionBody,
    responses((status = 200, description = "They are shown", body = Updated)))]
pub(super) async fn post(
    State(hooks): State<Hooks>,
    Posted(body): Posted<SessionBody>,
) -> Result<Json<Updated>, Refusal> {
    hooks.console().with(|state| state.entries = Some(body.session.entries)).await?;
    hooks.bus().push("gui.session", &Value::Null);
    Ok(Json(UPDATED))
}

/// The calls of a session in the journal: of the one with this name, or of the last one.
pub(super) async fn recorded(hooks: &Hooks, name: Option<String>) -> Result<Vec<Value>, Fault> {
    let Some(folder) = hooks.journal_folder() else {
        return match name {
            None => Ok(Vec::new()),
            Some(_) => Err(Fault::not_found("there are no earlier sessions, because the journal is off")
                .hint("set `[journal] on = true` in tectum.toml")),
        };
    };
    let reading = tokio::task::spawn_blocking(move || read(&folder, name.as_deref()));
    reading.await.map_err(|_| Fault::internal("the journal could not be read"))?
}

fn read(folder: &Path, name: Option<&str>) -> Result<Vec<Value>, Fault> {
    let unreadable = |error: std::io::Error| {
        Fault::conflict(format!("the journal cannot be read: {error}")).hint("`tectum log verify` says more")
    };
    let mut index = Index::open(folder, &mut |_| ()).map_err(unreadable)?;
    let row = match name {
        None => index.last_session().map_err(unreadable)?,
        Some(name) => {
            let mut found = index.sessions_named(name).map_err(unreadable)?;
            if found.len() != 1 {
                let message = format!("`{name}` is the name of {} sessions", found.len());
                return Err(Fault::not_found(message).hint("`tectum log list` shows their names"));
            }
            found.pop()
        }
    };
    let Some(row) = row else { return Ok(Vec::new()) };
    let calls = index.calls_of(&row.session).map_err(unreadable)?;
    let calls = calls.collect::<Result<Vec<Entry>, _>>().map_err(unreadable)?;
    Ok(calls[calls.len().saturating_sub(MOST_ENTRIES)..].iter().map(told).collect())
}

fn told(call: &Entry) -> Value {
    let mut text = report::result_text(&call.ending);
    text.truncate(text.floor_char_boundary(MOST_TEXT));
    let arguments = Some(&call.args).filter(|args| args.get().len() <= MOST_TEXT);
    json!({
        "role": "tool",
        "ts": when::rfc3339(call.began),
        "id": call.id,
        "tool": call.tool,
        "arguments": arguments,
        "ok": !call.ending.failed(),
        "content": text,
    })
}
