//! The house itself: which project it serves, for whom and since when.

use std::time::SystemTime;

use axum::{Json, extract::State};
use serde_json::{Value, json};

use super::{facts::HouseFacts, hooked::Hooks};

/// The project that is served, for whom and since when
#[utoipa::path(get, path = "/api/house", responses((status = 200, description = "The Tectum that answers", body = Value)))]
pub(super) async fn one(State(hooks): State<Hooks>) -> Json<Value> {
    Json(told(&hooks))
}

/// The same for others who tell it.
pub(super) fn told(hooks: &Hooks) -> Value {
    let HouseFacts { project, command, since } = hooks.facts();
    let clients: Vec<Value> = hooks
        .federation()
        .clients()
        .into_iter()
        .map(|(name, version)| json!({ "name": name, "version": version }))
        .collect();
    let servers: serde_json::Map<String, Value> =
        hooks.federation().status().into_iter().map(|(name, status)| (name, json!(status.state))).collect();
    let began = since.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |age| age.as_secs());
    json!({
        "project": project,
        "clients": clients,
        "version": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "command": command,
        "transport": match &**command {
            "up" => "http",
            "run" => "run",
            _ => "stdio",
        },
        "since": began,
        "uptime": since.elapsed().map_or(0, |age| age.as_secs()),
        "servers": servers,
        "questions": hooks.desk().questions().len(),
        "console": hooks.sign_ins().is_served(),
    })
}
