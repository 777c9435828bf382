//! Counters of what the house did not pass on: nothing is discarded in silence.

use axum::{Json, extract::State};
use serde_json::{Value, json};

use super::hooked::Hooks;

/// Counts of what was dropped since the start
#[utoipa::path(get, path = "/api/counters", responses((status = 200, description = "The counters", body = Value)))]
pub(super) async fn all(State(hooks): State<Hooks>) -> Json<Value> {
    let effects = hooks.house().effects();
    let copies = hooks.observers().as_ref().map(|watching| watching.totals()).unwrap_or_default();
    Json(json!({ "counters": {
        "copies": copies,
        "directives": effects.skipped(),
        "messages": { "unheard": hooks.federation().unheard(), "waited": hooks.federation().waited() },
        "events": { "missed": hooks.bus().missed() },
        "anchors": { "pushed_out": effects.anchors.pushed_out() },
    }}))
}
