//! Questions of scripts to a person: one waits for the answer, another one brings it.

use std::time::Duration;

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tectum_approval::{Answer, PersonQuestion, Preview, QuestionKind};
use tectum_core::{Fault, FaultKind};
use utoipa::ToSchema;

use super::{approver::Approver, body::Posted, hooked::Hooks, refusal::Refusal};

/// The time that a script waits for an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest line that stands for a question.
const LONGEST_LINE: usize = 200;
/// Who asks here, in lists and in the journal.
const HOOKS: &str = "hooks";

/// An answer that came.
#[derive(Serialize, ToSchema)]
pub(super) struct AskAnswered {
    /// Always `ok`.
    status: &'static str,
    /// What the person said; true for a yes without words.
    response: Value,
}

/// The answer of a person.
#[derive(Deserialize, ToSchema)]
pub(super) struct AskResponse {
    /// The id of the question, from the event `ask_received`.
    request_id: String,
    /// Anything.
    response: Value,
}

/// The answer was taken.
#[derive(Serialize, ToSchema)]
pub(super) struct AskDone {
    /// Always `ok`.
    status: &'static str,
}

/// Asks a person, and waits up to 60 s for the answer
#[utoipa::path(post, path = "/api/ask", request_body = HashMap<String, Value>, responses(
    (status = 200, description = "The answer", body = AskAnswered),
    (status = 403, description = "A person said no", body = super::refusal::Refused),
    (status = 409, description = "Too many questions wait", body = super::refusal::Refused),
    (status = 504, description = "Nobody answered in time", body = super::refusal::Refused),
))]
pub(super) async fn ask(
    State(hooks): State<Hooks>,
    Posted(data): Posted<Map<String, Value>>,
) -> Result<Json<AskAnswered>, Refusal> {
    let question = PersonQuestion {
        kind: QuestionKind::Ask,
        session: HOOKS.into(),
        client: HOOKS.into(),
        subject: line(&data),
        preview: Preview::None,
        arguments: Value::Bool(true),
        data: data.into(),
    };
    // Dropping it takes the question back, wherever it is shown.
    match tokio::time::timeout(PATIENCE, hooks.desk().ask_person(question)).await {
        Ok(response) => Ok(Json(AskAnswered { status: "ok", response: response? })),
        Err(_) => {
            let message = format!("nobody answered within {} s", PATIENCE.as_secs());
            Err(Fault::new(FaultKind::Timeout, message).hint("ask again when somebody is there").into())
        }
    }
}

/// Brings the answer of a person
#[utoipa::path(post, path = "/api/ask/respond", request_body = AskResponse, security(("token" = [], "approver" = [])),
    responses(
        (status = 200, description = "It was taken", body = AskDone),
        (status = 404, description = "No such question waits", body = super::refusal::Refused),
    ),
)]
pub(super) async fn respond(
    State(hooks): State<Hooks>,
    approver: Approver,
    Posted(AskResponse { request_id, response }): Posted<AskResponse>,
) -> Result<Json<AskDone>, Refusal> {
    let desk = hooks.desk();
    // A call is answered elsewhere, in the one form that counts.
    let asked = desk.find(&request_id).filter(|question| question.kind == QuestionKind::Ask);
    let answer = Answer { response: Some(response), ..Answer::yes() };
    let answered = asked.map(|question| desk.answer(&question.id, answer, approver.place()));
    match answered {
        Some(Ok(_)) => {
            hooks.bus().push("gui.clear_ask", &json!({ "request_id": request_id }));
            Ok(Json(AskDone { status: "ok" }))
        }
        // Somebody else was first, or nobody waits any more.
        Some(Err(Fault { kind: FaultKind::Conflict, .. })) | None => {
            let message = format!("no question {request_id} waits");
            Err(Fault::not_found(message).hint("/api/approvals lists the questions that wait").into())
        }
        Some(Err(fault)) => Err(fault.into()),
    }
}

/// The question in one line: what it calls itself, or all of it.
fn line(data: &Map<String, Value>) -> String {
    let named =
        ["question", "message", "prompt", "title", "tool"].iter().find_map(|name| data.get(*name)?.as_str());
    let mut line =
        named.map_or_else(|| Value::from(data.clone()).to_string(), |text| text.replace(['\n', '\r'], " "));
    line.truncate(line.floor_char_boundary(LONGEST_LINE));
    line
}
