//! The news of the house: what is watched, what was told to whom, and what is pinned or muted.

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tectum_attend::Attention;
use tectum_core::Fault;
use tectum_journal::when;

use super::{
    body::Posted,
    hooked::Hooks,
    refusal::{Refusal, Refused},
};

/// Members that are times.
const TIMES: [&str; 8] = ["at", "since", "last", "seen", "read_at", "changed_at", "told_at", "acknowledged"];

/// The news of the house, who was told of them, and what is watched
///
/// Times are RFC 3339. 404 where attention is off.
#[utoipa::path(get, path = "/api/attention", responses(
    (status = 200, description = "Organs and news", body = Value),
    (status = 404, description = "Attention is off", body = Refused),
))]
pub(super) async fn all(State(hooks): State<Hooks>) -> Result<Json<Value>, Refusal> {
    let attention = on(&hooks)?;
    let mut shown = attention.shown();
    date(&mut shown);
    Ok(Json(shown))
}

/// One piece of news, with every number that made it one
#[utoipa::path(get, path = "/api/attention/news/{id}", params(("id" = String, Path, description = "Its id, such as n17")), responses(
    (status = 200, description = "The news", body = Value),
    (status = 404, description = "Attention is off, or there is no such news", body = Refused),
))]
pub(super) async fn one(
    State(hooks): State<Hooks>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Refusal> {
    let attention = on(&hooks)?;
    let Path(id) = id.map_err(|_| Fault::not_found("an id of news must be UTF-8"))?;
    let found = id.parse().ok().and_then(|id| attention.why(id));
    let mut found = found.ok_or_else(|| {
        Fault::not_found(format!("there is no news `{id}`")).hint("GET /api/attention lists what there is")
    })?;
    date(&mut found);
    Ok(Json(found))
}

/// What is chosen about an organ.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OrganChoice {
    /// Whether it is told whenever anything changes.
    pin: Option<bool>,
    /// Whether it is never told.
    mute: Option<bool>,
}

/// Pins or mutes an organ, or takes that back
#[utoipa::path(post, path = "/api/attention/organs/{name}",
    params(("name" = String, Path, description = "Its name, such as internal:files")),
    request_body = OrganChoice,
    responses(
        (status = 200, description = "Done", body = Value),
        (status = 400, description = "Neither is given", body = Refused),
        (status = 404, description = "Attention is off, or there is no such organ", body = Refused),
    ))]
pub(super) async fn choose(
    State(hooks): State<Hooks>,
    name: Result<Path<String>, PathRejection>,
    Posted(choice): Posted<OrganChoice>,
) -> Result<Json<Value>, Refusal> {
    let attention = on(&hooks)?;
    let Path(name) = name.map_err(|_| Fault::not_found("an organ's name must be UTF-8"))?;
    if choice.pin.is_none() && choice.mute.is_none() {
        return Err(Fault::invalid("neither `pin` nor `mute` is given").hint(r#"send {"pin": true}"#).into());
    }
    attention.focus_on(&name, choice.pin, choice.mute).map_err(|why| {
        Fault::not_found(format!("there is no organ `{}`", why.organ))
            .hint(format!("there are: {}", why.known.join(", ")))
    })?;
    Ok(Json(json!({ "status": "ok" })))
}

fn on(hooks: &Hooks) -> Result<&Attention, Refusal> {
    hooks.attention().ok_or_else(|| {
        Fault::not_found("attention is off")
            .hint("set `[attention] organs = \"internal\"` in tectum.toml")
            .into()
    })
}

/// Writes times as the hook API does.
fn date(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(date),
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                match value.as_f64().filter(|_| TIMES.contains(&&**name)) {
                    Some(seconds) => *value = when::rfc3339((seconds.max(0.0) * 1e6) as u64).into(),
                    None => date(value),
                }
            }
        }
        _ => {}
    }
}
