//! News for the hooks of coding agents, in the words of each. It always answers 200 and never denies
//! anything: who cannot be told goes on.

use axum::{Json, body::Bytes, extract::State, http::Uri};
use serde_json::{Value, json};

use super::hooked::Hooks;
use crate::client_hooks::NewsClient;

/// News for the model behind a coding agent's hook: at most one line, told once
#[utoipa::path(post, path = "/hooks/attention",
    params(("client" = Option<String>, Query, description = "Whose hook it is: claude, codex, cursor, vscode, gemini or goose")),
    request_body = Option<Value>,
    responses((status = 200, description = "What the client's model reads; an empty object where there is nothing", body = std::collections::HashMap<String, Value>)))]
pub(super) async fn tell(State(hooks): State<Hooks>, uri: Uri, request: Bytes) -> Json<Value> {
    let client = uri.query().and_then(|query| query.strip_prefix("client=")).and_then(NewsClient::named);
    Json(match (client, hooks.attention()) {
        (Some(client), Some(attention)) => client.answer(attention, &request),
        _ => json!({}),
    })
}
