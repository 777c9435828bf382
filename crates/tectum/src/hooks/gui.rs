//! What scripts do to the console, and the values it shows. No task here answers a question: that needs the
//! approver's credential.

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
    http::Uri,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tectum_core::Fault;
use url::form_urlencoded;
use utoipa::ToSchema;

use super::{body::Posted, hooked::Hooks, refusal::Refusal, session};

/// The button that shows the present session again.
const RESET: &str = "btn_reset_session";
/// The list of the sessions in the journal.
const SESSIONS: &str = "sessions";
/// Kinds of events that only the house tells: a script that could would deceive whoever reads them.
const RESERVED: [&str; 7] = ["attention.", "call.", "question.", "server.", "mma.", "gui.", "ask_received"];
/// The longest kind of a pushed event.
const LONGEST_KIND: usize = 100;

/// A value.
#[derive(Serialize, ToSchema)]
pub(super) struct ValueBody {
    /// Null if there is no field of that name.
    value: Value,
}

/// The answer to a task.
#[derive(Serialize, ToSchema)]
pub(super) struct Queued {
    /// Always `queued`.
    status: &'static str,
}

/// The value of a field, or of all
#[utoipa::path(get, path = "/api/gui/value", params(("tag" = Option<String>, Query, description = "The name of the field; all fields without it")), responses(
    (status = 200, description = "The value", body = ValueBody),
))]
pub(super) async fn value(State(hooks): State<Hooks>, uri: Uri) -> Result<Json<ValueBody>, Refusal> {
    let mut query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let value = match query.find(|(name, _)| name == "tag") {
        Some((_, tag)) => hooks.console().value(tag.into_owned()).await?,
        None => json!(hooks.console().with(|state| state.fields()).await?),
    };
    Ok(Json(ValueBody { value }))
}

/// The value of this field
#[utoipa::path(get, path = "/api/gui/value/{tag}", params(("tag" = String, Path, description = "The name of the field")), responses(
    (status = 200, description = "The value", body = ValueBody),
    (status = 404, description = "The name is not UTF-8", body = super::refusal::Refused),
))]
pub(super) async fn value_of(
    State(hooks): State<Hooks>,
    tag: Result<Path<String>, PathRejection>,
) -> Result<Json<ValueBody>, Refusal> {
    let Ok(Path(tag)) = tag else {
        return Err(Fault::not_found("the name of a field must be UTF-8").into());
    };
    Ok(Json(ValueBody { value: hooks.console().value(tag).await? }))
}

/// Does something to the console: `set_value`, `click`, `select_tab`, `select_list_item`, `push_event`
#[utoipa::path(post, path = "/api/gui", request_body = std::collections::HashMap<String, Value>, responses(
    (status = 200, description = "It was done", body = Queued),
    (status = 404, description = "There is no such session", body = super::refusal::Refused),
    (status = 409, description = "The journal cannot be read", body = super::refusal::Refused),
))]
pub(super) async fn post(
    State(hooks): State<Hooks>,
    Posted(task): Posted<Map<String, Value>>,
) -> Result<Json<Queued>, Refusal> {
    let action = task.get("action").and_then(Value::as_str).unwrap_or_default().to_owned();
    match action.as_str() {
        "set_value" => set(&hooks, &task, "item", "value").await?,
        "select_tab" => set(&hooks, &task, "tab_bar", "tab").await?,
        "select_list_item" => {
            if word(&task, "listbox")? == SESSIONS {
                let entries = session::recorded(&hooks, Some(word(&task, "item_value")?)).await?;
                hooks.console().with(|state| state.entries = Some(entries)).await?;
            }
            set(&hooks, &task, "listbox", "item_value").await?;
        }
        "click" if word(&task, "item")? == RESET => {
            hooks.console().with(|state| state.entries = None).await?;
        }
        "click" => {}
        "push_event" => {
            let kind = word(&task, "event_type")?;
            pushed(&hooks, &kind, task.get("payload"))?;
            return Ok(Json(Queued { status: "queued" }));
        }
        // Events are also pushed under their own name.
        kind if task.contains_key("payload") => {
            pushed(&hooks, kind, task.get("payload"))?;
            return Ok(Json(Queued { status: "queued" }));
        }
        // Whatever else a console understands; those that listen see it.
        _ => {
            hooks.bus().push("gui.task", &task);
            return Ok(Json(Queued { status: "queued" }));
        }
    }
    hooks.bus().push(&format!("gui.{action}"), &task);
    Ok(Json(Queued { status: "queued" }))
}

/// Sets the field that one member names to the value of another.
async fn set(hooks: &Hooks, task: &Map<String, Value>, name: &str, value: &str) -> Result<(), Fault> {
    let name = word(task, name)?;
    let Some(value) = task.get(value).cloned() else { return Err(lacks(task, value)) };
    hooks.console().with(move |state| state.set(name, value)).await?
}

fn pushed(hooks: &Hooks, kind: &str, payload: Option<&Value>) -> Result<(), Fault> {
    if RESERVED.iter().any(|reserved| kind.starts_with(reserved)) {
        let message = format!("events of the kind `{kind}` come from Tectum itself");
        return Err(Fault::invalid(message).hint("choose another kind"));
    }
    let plain = |c: char| c.is_alphanumeric() || "._-:/".contains(c);
    if kind.is_empty() || kind.len() > LONGEST_KIND || !kind.chars().all(plain) {
        return Err(Fault::invalid("this cannot be the kind of an event")
            .hint(format!("use letters, digits and ._-:/, at most {LONGEST_KIND}")));
    }
    hooks.bus().push(kind, payload.unwrap_or(&Value::Null));
    Ok(())
}

/// A member that must be a text.
fn word(task: &Map<String, Value>, name: &str) -> Result<String, Fault> {
    task.get(name).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| lacks(task, name))
}

fn lacks(task: &Map<String, Value>, name: &str) -> Fault {
    let action = task.get("action").and_then(Value::as_str).unwrap_or_default();
    Fault::invalid(format!("a task `{action}` needs `{name}`"))
        .hint("docs/hooks.md lists the members of each task")
}
