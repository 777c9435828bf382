//! One call, whole: what it was asked, what its model was sent, and what stations and people said.

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
};
use serde_json::{Value, json, value::RawValue};
use tectum_core::Fault;
use tectum_journal::{Asked, Ending, Entry, index::Hit, report};

use super::{
    super::{hooked::Hooks, refusal::Refusal},
    query::name,
    records,
};

/// One call, whole
#[utoipa::path(get, path = "/api/console/calls/{id}", params(("id" = String, Path, description = "Its id")), responses(
    (status = 200, description = "The call", body = Value),
    (status = 404, description = "It is not in the record", body = super::super::refusal::Refused),
    (status = 409, description = "The journal cannot be read", body = super::super::refusal::Refused),
))]
pub(in super::super) async fn one(
    State(hooks): State<Hooks>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Refusal> {
    Ok(Json(found(&hooks, name(id)?).await?))
}

/// The call of this id.
pub(super) async fn found(hooks: &Hooks, id: String) -> Result<Value, Fault> {
    let wanted = id.clone();
    let found = records::ask(hooks, move |index| index.call(&wanted)).await?.flatten();
    let Hit { entry, .. } = found.ok_or_else(|| {
        Fault::not_found(format!("no call {id} is recorded"))
            .hint("/api/console/calls lists them; the oldest are removed in time")
    })?;
    Ok(whole(&entry))
}

fn whole(entry: &Entry) -> Value {
    let (sent, structured) = sent(&entry.ending);
    let asked = entry.asked.as_ref();
    let more = json!({
        "arguments": entry.args,
        "edited": asked.is_some_and(|asked| asked.instead_of.is_some()),
        "before_edit": asked.and_then(|asked| asked.instead_of.as_ref()),
        "sent": sent,
        "structured": structured,
        "fault": match &entry.ending { Ending::Fault(failure) => json!(failure), _ => Value::Null },
        "directives": entry.directives,
        "effect": entry.effect,
        "paths": entry.paths.iter().map(|path| json!({ "path": path })).collect::<Vec<_>>(),
        "rule": entry.verdict.as_ref().map(|verdict| rule(&verdict.rule)),
        "asked": asked.map(answer),
        "sandbox": entry.sandbox,
        "stations": stations(entry),
        "entry": entry,
        "change": changes(entry),
        "cli": format!("tectum log show {}", entry.id),
    });
    let mut told = records::row(entry);
    if let (Some(told), Value::Object(more)) = (told.as_object_mut(), more) {
        told.extend(more);
    }
    told
}

/// The content of the result and its data, as they are recorded.
fn sent(ending: &Ending) -> (Value, Value) {
    match ending {
        Ending::Native { text: said, structured } => (text(said), json!(structured)),
        Ending::Peer { json, .. } => of_server(json),
        Ending::Fault(_) | Ending::Omitted { .. } => (text(&report::result_text(ending)), Value::Null),
    }
}

/// A text as content.
pub(super) fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

/// The content and the data of a server's result.
pub(super) fn of_server(json: &RawValue) -> (Value, Value) {
    let mut result: Value = serde_json::from_str(json.get()).unwrap_or_default();
    (result["content"].take(), result["structuredContent"].take())
}

/// A rule with its place, which stands behind it in parentheses.
pub(super) fn rule(said: &str) -> Value {
    let place = said.rsplit_once('(').and_then(|(_, place)| place.strip_suffix(')')?.rsplit_once(':'));
    let place = place.and_then(|(file, line)| Some((file, line.parse::<u64>().ok()?)));
    json!({ "text": said, "file": place.map(|(file, _)| file), "line": place.map(|(_, line)| line) })
}

fn answer(asked: &Asked) -> Value {
    json!({
        "id": asked.id,
        "how": if asked.approved { "approved" } else { "denied" },
        "by": asked.by,
        "seconds": asked.waited as f64 / 1e6,
    })
}

/// What is known of where the time went: how long people took. The stations before take microseconds.
fn stations(entry: &Entry) -> Value {
    let waited = entry.asked.as_ref().map_or(0, |asked| asked.waited).min(entry.took);
    let part = |name: &str, began: u64, took: u64| json!({ "name": name, "began_ms": began as f64 / 1000.0, "took_ms": took as f64 / 1000.0 });
    let asked = entry.asked.as_ref().map(|_| part("approval", 0, waited));
    asked.into_iter().chain([part("work", waited, entry.took - waited)]).collect()
}

/// The diffs that the tool told of.
pub(super) fn changes(entry: &Entry) -> Vec<Value> {
    let Ending::Native { structured, .. } = &entry.ending else { return Vec::new() };
    let said: Value = serde_json::from_str(structured.get()).unwrap_or_default();
    let several = said["files"].as_array().into_iter().flatten();
    let one = |said: &Value| {
        let (path, diff) = (said["path"].as_str()?, said["diff"].as_str()?);
        (!diff.is_empty()).then(|| json!({ "path": path, "diff": diff }))
    };
    std::iter::once(&said).chain(several).filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_told_with_its_place() {
        let told = rule("ask rule `write_file` (~/.config/tectum/tectum.toml:12)");
        assert_eq!((&told["file"], &told["line"]), (&json!("~/.config/tectum/tectum.toml"), &json!(12)));
        let told = rule("default allow (default)");
        assert_eq!((&told["file"], &told["line"]), (&Value::Null, &Value::Null));
    }
}
