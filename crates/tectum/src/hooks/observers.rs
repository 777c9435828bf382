//! The observers, which get a copy of every call, and the fate of the copies.

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
};
use serde_json::{Value, json};
use tectum_core::Fault;
use tectum_peers::observe::ObserverStatus;

use super::{hooked::Hooks, refusal::Refusal};

/// The observers, which get a copy of every call, and what became of the copies
///
/// The words are those of `tectum observe list --json`.
#[utoipa::path(get, path = "/api/observers", responses((status = 200, description = "The observers", body = Value)))]
pub(super) async fn all(State(hooks): State<Hooks>) -> Json<Value> {
    Json(match hooks.observers() {
        None => json!({ "enabled": false, "copied": 0, "observers": {}, "muted": [] }),
        Some(watching) => json!({
            "enabled": true,
            "copied": watching.totals().made,
            "observers": watching.status(),
            "muted": watching.muted(),
        }),
    })
}

/// The same for one observer
#[utoipa::path(get, path = "/api/observers/{name}", params(("name" = String, Path, description = "Its name")), responses(
    (status = 200, description = "The observer", body = Value),
    (status = 404, description = "There is no such observer", body = super::refusal::Refused),
))]
pub(super) async fn one(
    State(hooks): State<Hooks>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Json<ObserverStatus>, Refusal> {
    let Ok(Path(name)) = name else {
        return Err(Fault::not_found("an observer's name must be UTF-8")
            .hint("names of servers are letters, digits, `-` and `_`")
            .into());
    };
    let Some(watching) = hooks.observers() else {
        return Err(Fault::not_found(format!("there is no observer `{name}`, because observers are off"))
            .hint("set `[observers] discover = true` in tectum.toml, or EFFERENT_COPY_ENABLE=1")
            .into());
    };
    let mut known = watching.status();
    match known.remove(&name) {
        Some(status) => Ok(Json(status)),
        None => {
            let names: Vec<String> = known.into_keys().collect();
            let hint = if names.is_empty() {
                "no server here is an observer".to_owned()
            } else {
                format!("known observers: {}", names.join(", "))
            };
            Err(Fault::not_found(format!("there is no observer `{name}`")).hint(hint).into())
        }
    }
}
