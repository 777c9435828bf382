//! The policy that holds, and the problems of the settings as they are now.

use axum::{Json, extract::State};
use serde_json::{Value, json};

use super::hooked::Hooks;

/// The report, as `tectum reload` gets it.
pub(super) async fn now(State(hooks): State<Hooks>) -> Json<Value> {
    let report = hooks.policy.lock().clone();
    Json(json!({ "policy": report }))
}
