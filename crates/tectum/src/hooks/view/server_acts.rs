//! What can be done with servers, as the commands do it: added, imported, switched, restarted, trusted, approved.

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tectum_core::Fault;
use tectum_peers::spec::ServerName;
use utoipa::ToSchema;

use super::{
    super::{approver::Approver, body::Posted, hooked::Hooks, refusal::Refusal},
    command,
};

/// A new server.
#[derive(Deserialize, ToSchema)]
pub(in super::super) struct NewServer {
    /// Its name: letters, digits, - and single _.
    name: String,
    /// The program and its arguments.
    #[serde(default)]
    command: Vec<String>,
    /// The URL of a server that runs already.
    url: Option<String>,
    /// Environment variables of the program, each `NAME=value`.
    #[serde(default)]
    env: Vec<String>,
    /// Headers of every request, each `Name: value`.
    #[serde(default)]
    headers: Vec<String>,
    /// The working directory of the program.
    cwd: Option<String>,
    /// Only show what would change.
    #[serde(default)]
    dry_run: bool,
}

/// Servers of another program.
#[derive(Deserialize, ToSchema)]
pub(in super::super) struct ImportWanted {
    /// The program, such as `claude` or `cursor`; without one, what can be imported is listed.
    from: Option<String>,
    /// Only show what would change; true if absent.
    dry_run: Option<bool>,
}

/// The details of an act.
#[derive(Deserialize, ToSchema)]
pub(in super::super) struct ActDetails {
    /// The tool whose change is approved; all that changed without one.
    tool: Option<String>,
}

/// Does something with a server: restart, trust, enable, disable, remove or approve
#[utoipa::path(post, path = "/api/console/servers/{name}/{act}", request_body = ActDetails,
    security(("token" = [], "approver" = [])),
    params(("name" = String, Path, description = "Its name"), ("act" = String, Path, description = "What is done")),
    responses(
        (status = 200, description = "It was done", body = Value),
        (status = 404, description = "No such server or act", body = super::super::refusal::Refused),
        (status = 409, description = "It cannot be done", body = super::super::refusal::Refused),
    ),
)]
pub(in super::super) async fn act(
    State(hooks): State<Hooks>,
    _: Approver,
    path: Result<Path<(String, String)>, PathRejection>,
    Posted(ActDetails { tool }): Posted<ActDetails>,
) -> Result<Json<Value>, Refusal> {
    let Path((name, act)) = path.map_err(|_| Fault::not_found("the name in the path is not UTF-8"))?;
    // What is no name of a server could be an option.
    let name =
        ServerName::parse(&name).map_err(|_| Fault::not_found(format!("there is no server `{name}`")))?;
    let name = name.as_str();
    let words = match act.as_str() {
        "restart" | "enable" | "disable" | "remove" => vec![act.as_str(), "--", name],
        "trust" => vec!["trust", "--yes", "--", name],
        "approve" => ["approve-tools", "--yes", "--", name].into_iter().chain(tool.as_deref()).collect(),
        other => {
            let fault = Fault::not_found(format!("nothing is called `{other}`"));
            return Err(fault.hint("restart, trust, enable, disable, remove or approve").into());
        }
    };
    done(&hooks, &words, false).await
}

/// Adds a server
#[utoipa::path(post, path = "/api/console/servers", request_body = NewServer, security(("token" = [], "approver" = [])),
    responses(
        (status = 200, description = "The change of the settings", body = Value),
        (status = 409, description = "There is one of that name", body = super::super::refusal::Refused),
    ),
)]
pub(in super::super) async fn add(
    State(hooks): State<Hooks>,
    _: Approver,
    Posted(new): Posted<NewServer>,
) -> Result<Json<Value>, Refusal> {
    let name = ServerName::parse(&new.name).map_err(Fault::invalid)?;
    let option = |option: &str, value: &String| format!("--{option}={value}");
    let mut options: Vec<String> = new.url.iter().map(|url| option("url", url)).collect();
    options.extend(new.cwd.iter().map(|cwd| option("cwd", cwd)));
    options.extend(new.env.iter().map(|pair| option("env", pair)));
    options.extend(new.headers.iter().map(|pair| option("header", pair)));
    options.extend(new.dry_run.then(|| "--dry-run".to_owned()));
    let mut words = vec!["add", name.as_str()];
    words.extend(options.iter().map(String::as_str));
    if !new.command.is_empty() {
        words.push("--");
        words.extend(new.command.iter().map(String::as_str));
    }
    done(&hooks, &words, new.dry_run).await
}

/// Uses the servers of another program
#[utoipa::path(post, path = "/api/console/servers/import", request_body = ImportWanted,
    security(("token" = [], "approver" = [])),
    responses(
        (status = 200, description = "What was found, and the change of the settings", body = Value),
        (status = 404, description = "No such program, or it has no servers", body = super::super::refusal::Refused),
        (status = 409, description = "It cannot be done", body = super::super::refusal::Refused),
    ),
)]
pub(in super::super) async fn import(
    State(hooks): State<Hooks>,
    _: Approver,
    Posted(ImportWanted { from, dry_run }): Posted<ImportWanted>,
) -> Result<Json<Value>, Refusal> {
    let Some(from) = from else {
        let found = command::run(&hooks, &["import"]).await?;
        return Ok(Json(json!({ "diff": "", "done": false, "found": found })));
    };
    let dry_run = dry_run.unwrap_or(true);
    let mut words = vec!["import"];
    words.extend(dry_run.then_some("--dry-run"));
    words.extend(["--", &from]);
    done(&hooks, &words, dry_run).await
}

async fn done(hooks: &Hooks, words: &[&str], dry_run: bool) -> Result<Json<Value>, Refusal> {
    let said = command::run(hooks, words).await?;
    let diff = said["diff"].as_str().unwrap_or_default();
    Ok(Json(json!({
        "done": !dry_run,
        "diff": diff,
        "found": said.get("servers").cloned().unwrap_or_else(|| json!([])),
        "notes": said.get("notes").cloned().unwrap_or_else(|| json!([])),
    })))
}
