//! The policy that holds, and the problems of the settings as they are now.

use axum::{Json, extract::State};
use serde_json::{Value, json};

use super::hooked::Hooks;

/// The settings in effect, and what is wrong with the settings files
#[utoipa::path(get, path = "/api/policy", responses((status = 200, description = "The policy", body = Value)))]
pub(super) async fn now(State(hooks): State<Hooks>) -> Json<Value> {
    let report = hooks.policy().lock().clone();
    Json(json!({ "policy": report }))
}
