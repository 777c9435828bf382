//! News for the hooks of coding agents, in the words of each. It never denies anything: who cannot be told
//! goes on.

use axum::{Json, extract::State, http::Uri};
use serde_json::{Map, Value, json};

use super::{body::Posted, hooked::Hooks, refusal::Refused};
use crate::client_hooks::NewsClient;

/// News for the model behind a coding agent's hook: at most one line, told once
#[utoipa::path(post, path = "/hooks/attention",
    params(("client" = Option<String>, Query, description = "Whose hook it is: claude, codex, cursor, vscode, gemini or goose")),
    request_body = std::collections::HashMap<String, Value>,
    responses(
        (status = 200, description = "What the client's model reads; an empty object where there is nothing", body = std::collections::HashMap<String, Value>),
        (status = 400, description = "The body is no JSON object", body = Refused),
    ))]
pub(super) async fn tell(
    State(hooks): State<Hooks>,
    uri: Uri,
    Posted(request): Posted<Map<String, Value>>,
) -> Json<Value> {
    let client = uri.query().and_then(|query| query.strip_prefix("client=")).and_then(NewsClient::named);
    Json(match (client, hooks.attention()) {
        (Some(client), Some(attention)) => client.answer(attention, &request),
        _ => json!({}),
    })
}
