//! The judgement of a coding agent's own tools, for its hooks. It always answers 200 with the client's own
//! JSON: a client takes any other status as a reason to go on.

use axum::{
    Json,
    body::Bytes,
    extract::State,
    http::Uri,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use super::{hooked::Hooks, refusal::Refusal};
use crate::client_hooks::{HookReply, HookShape, answer, denial};

/// Judges a coding agent's own tool: allow, ask or deny, in the words of the agent's hooks
#[utoipa::path(post, path = "/hooks/pre-tool-use",
    params(("client" = Option<String>, Query, description = "Whose request it is: claude, codex, cursor or gemini; without it, the fields tell")),
    request_body = Option<Value>,
    responses((status = 200, description = "The decision; what cannot be read is denied", body = std::collections::HashMap<String, Value>)))]
pub(super) async fn judge(State(hooks): State<Hooks>, uri: Uri, request: Bytes) -> Json<Value> {
    Json(body(answer(hooks.house(), named(&uri), &request)))
}

/// The denial of a request whose body could not be read.
pub(super) fn unread(uri: &Uri, refusal: &Refusal) -> Response {
    let reply = denial(named(uri), b"", &format!("Tectum denies this: {}", refusal.message()));
    Json(body(reply)).into_response()
}

fn named(uri: &Uri) -> Option<HookShape> {
    uri.query().and_then(|query| query.strip_prefix("client=")).and_then(HookShape::named)
}

/// The answer in the client's shape; where that is not known, in Claude Code's, which most others read.
fn body(reply: HookReply) -> Value {
    let HookReply { body, reason, .. } = reply;
    body.unwrap_or_else(|| {
        json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason,
        }})
    })
}
