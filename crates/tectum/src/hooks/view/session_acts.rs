//! What can be done with a recorded session: its diffs are shown, it is exported, replayed, and taken back.

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
    http::header::{CONTENT_DISPOSITION, CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tectum_core::{CallId, Fault};
use utoipa::{IntoParams, ToSchema};

use super::{
    super::{approver::Approver, body::Posted, hooked::Hooks, refusal::Refusal},
    command,
    query::{Wanted, name},
    records, sessions,
};

/// The file that is meant.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(in super::super) struct DiffWanted {
    /// Its path, as the session named it.
    #[serde(default)]
    path: String,
}

/// The form of an export.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(in super::super) struct ExportWanted {
    /// `jsonl` (if absent), `markdown` or `otel`.
    format: Option<String>,
}

/// What is taken back.
#[derive(Deserialize, ToSchema)]
pub(in super::super) struct UndoWanted {
    /// Only tell what would be done; true if absent.
    dry_run: Option<bool>,
    /// Take back only this call and those after it.
    since: Option<String>,
}

/// No options.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Nothing {}

/// What a session did to a file
#[utoipa::path(get, path = "/api/console/sessions/{name}/diff", params(("name" = String, Path, description = "Its name"), DiffWanted),
    responses(
        (status = 200, description = "The difference between the file before the session and now", body = Value),
        (status = 400, description = "No path was named", body = super::super::refusal::Refused),
        (status = 404, description = "No such session, or it changed no such file", body = super::super::refusal::Refused),
        (status = 409, description = "The journal or the settings cannot be read", body = super::super::refusal::Refused),
    ),
)]
pub(in super::super) async fn diff(
    State(hooks): State<Hooks>,
    session: Result<Path<String>, PathRejection>,
    Wanted(DiffWanted { path }): Wanted<DiffWanted>,
) -> Result<Json<Value>, Refusal> {
    let session = known(&hooks, name(session)?).await?;
    if path.is_empty() {
        return Err(Fault::invalid("no path was named").hint("send ?path=").into());
    }
    let said = command::run(&hooks, &["undo", "--", &session]).await?;
    let files = said["report"]["files"].as_array().into_iter().flatten();
    let Some(file) = files.clone().find(|file| is_same(&file["path"], &path)) else {
        let message = format!("nothing is kept of what session {session} did to {path}");
        return Err(Fault::not_found(message).hint("only edits keep what was there before").into());
    };
    let state = match file["fate"].as_str().unwrap_or_default() {
        "refused" => "changed since",
        "unchanged" => "as before",
        _ => "as left",
    };
    Ok(Json(json!({ "path": path, "diff": file["diff"], "state": state, "why": file["why"] })))
}

/// The tool that undoes names files by their full paths, or as the project does.
fn is_same(named: &Value, path: &str) -> bool {
    let named = named.as_str().unwrap_or_default();
    named == path || named.strip_suffix(path).is_some_and(|above| above.ends_with('/'))
}

/// A session as a file
#[utoipa::path(get, path = "/api/console/sessions/{name}/export", params(("name" = String, Path, description = "Its name"), ExportWanted),
    responses(
        (status = 200, description = "The calls", body = String, content_type = "application/octet-stream"),
        (status = 400, description = "There is no such format", body = super::super::refusal::Refused),
        (status = 404, description = "There is no such session", body = super::super::refusal::Refused),
        (status = 409, description = "The journal or the settings cannot be read", body = super::super::refusal::Refused),
    ),
)]
pub(in super::super) async fn export(
    State(hooks): State<Hooks>,
    session: Result<Path<String>, PathRejection>,
    Wanted(wanted): Wanted<ExportWanted>,
) -> Result<Response, Refusal> {
    let format = wanted.format.as_deref().unwrap_or("jsonl");
    let ending = match format {
        "jsonl" => "jsonl",
        "markdown" => "md",
        "otel" => "otel.jsonl",
        other => {
            let fault = Fault::invalid(format!("there is no format `{other}`"));
            return Err(fault.hint("write jsonl, markdown or otel").into());
        }
    };
    let session = known(&hooks, name(session)?).await?;
    let body = command::stream(&hooks, &["log", "export", "--format", format, "--", &session]).await?;
    let plain: String = session.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    let head = [
        (CONTENT_TYPE, "application/octet-stream".to_owned()),
        (CONTENT_DISPOSITION, format!("attachment; filename=\"{plain}.{ending}\"")),
    ];
    Ok((head, body).into_response())
}

/// Takes back what a session changed
#[utoipa::path(post, path = "/api/console/sessions/{name}/undo", params(("name" = String, Path, description = "Its name")),
    request_body = UndoWanted, security(("token" = [], "approver" = [])),
    responses(
        (status = 200, description = "What became of each file, or would", body = Value),
        (status = 404, description = "There is no such session or call", body = super::super::refusal::Refused),
        (status = 409, description = "The journal or the settings cannot be read", body = super::super::refusal::Refused),
    ),
)]
pub(in super::super) async fn undo(
    State(hooks): State<Hooks>,
    _: Approver,
    session: Result<Path<String>, PathRejection>,
    Posted(UndoWanted { dry_run, since }): Posted<UndoWanted>,
) -> Result<Json<Value>, Refusal> {
    let session = known(&hooks, name(session)?).await?;
    let dry_run = dry_run.unwrap_or(true);
    let since = match since {
        Some(call) if CallId::parse(&call).is_none() => {
            let fault = Fault::invalid(format!("`{call}` is no id of a call"));
            return Err(fault.hint("write it whole, as in c-0123456789abcdef").into());
        }
        since => since.map(|call| format!("--since={call}")),
    };
    let mut words = vec!["undo"];
    words.extend(since.as_deref());
    words.extend((!dry_run).then_some("--yes"));
    words.extend(["--", &session]);
    let said = command::run(&hooks, &words).await?;
    let file = |file: &Value| {
        let refused = (file["fate"] == "refused").then(|| file["why"].clone());
        json!({ "path": file["path"], "what": file["fate"], "refused": refused, "diff": file["diff"], "calls": file["calls"] })
    };
    let files: Vec<Value> = said["report"]["files"].as_array().into_iter().flatten().map(file).collect();
    Ok(Json(json!({
        "files": files,
        "done": !dry_run,
        "moves": said["moves"],
        "not_undone": said["not_undone"],
        "undo": said["report"]["undo"],
    })))
}

/// Makes the calls of a session again with their recorded results
#[utoipa::path(post, path = "/api/console/sessions/{name}/replay", params(("name" = String, Path, description = "Its name")),
    request_body = Nothing, security(("token" = [], "approver" = [])),
    responses(
        (status = 200, description = "What ended otherwise", body = Value),
        (status = 404, description = "There is no such session", body = super::super::refusal::Refused),
        (status = 409, description = "The journal or the settings cannot be read", body = super::super::refusal::Refused),
    ),
)]
pub(in super::super) async fn replay(
    State(hooks): State<Hooks>,
    _: Approver,
    session: Result<Path<String>, PathRejection>,
    Posted(Nothing {}): Posted<Nothing>,
) -> Result<Json<Value>, Refusal> {
    let session = known(&hooks, name(session)?).await?;
    let said = command::run(&hooks, &["replay", "--", &session]).await?;
    let differs = said["differences"].as_array().map_or(0, Vec::len) as u64;
    let calls = said["calls"].as_u64().unwrap_or_default();
    Ok(Json(json!({
        "calls": calls,
        "same": calls.saturating_sub(differs),
        "differs": said["differences"],
        "left_out": said["left_out"],
    })))
}

/// The whole name of a session that there is.
async fn known(hooks: &Hooks, named: String) -> Result<String, Fault> {
    let wanted = named.clone();
    let found = records::ask(hooks, move |index| {
        Ok(index.sessions_named(&wanted)?.into_iter().any(|row| row.session == wanted))
    });
    if found.await?.unwrap_or_default() { Ok(named) } else { Err(sessions::unknown(&named)) }
}
