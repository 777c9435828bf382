//! The questions that wait for a person, over REST: listed, shown, answered.

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
};
use serde::Serialize;
use serde_json::{Value, json};
use tectum_approval::Answer;
use tectum_core::Fault;
use utoipa::ToSchema;

use super::{approver::Approver, body::Posted, hooked::Hooks, refusal::Refusal};

/// The questions that wait.
#[derive(Serialize, ToSchema)]
pub(super) struct Approvals {
    /// The oldest first.
    approvals: Vec<Value>,
}

/// What became of an answer.
#[derive(Serialize, ToSchema)]
pub(super) struct AnswerTaken {
    /// Always `ok`.
    status: &'static str,
    /// The rule that it is remembered by, the change of the settings, and what went wrong with that.
    #[serde(skip_serializing_if = "Value::is_null")]
    remembered: Value,
}

/// An answer, in the one form that counts.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the body; the desk reads it")]
pub(super) struct AnswerForm {
    /// `approve` or `deny`.
    #[schema(pattern = "^(approve|deny)$")]
    decision: String,
    /// How long a yes counts: `once` (if absent), `session` or `project`.
    #[schema(pattern = "^(once|session|project)$")]
    remember: Option<String>,
    /// What the model is told.
    reason: Option<String>,
    /// The arguments to run the call with instead of its own.
    arguments: Option<std::collections::HashMap<String, Value>>,
    /// The answer to a question that is more than yes or no.
    response: Option<Value>,
}

/// The questions that wait for a person, the oldest first
#[utoipa::path(get, path = "/api/approvals", responses((status = 200, description = "The questions", body = Approvals)))]
pub(super) async fn all(State(hooks): State<Hooks>) -> Json<Approvals> {
    let questions = hooks.desk().questions();
    Json(Approvals { approvals: questions.iter().map(|question| json!(question)).collect() })
}

/// One question that waits
#[utoipa::path(get, path = "/api/approvals/{id}", params(("id" = String, Path, description = "Its id")), responses(
    (status = 200, description = "The question", body = Value),
    (status = 404, description = "No such question waits", body = super::refusal::Refused),
))]
pub(super) async fn one(
    State(hooks): State<Hooks>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Refusal> {
    let id = known(id)?;
    let question = hooks.desk().find(&id).ok_or_else(|| unknown(&id))?;
    Ok(Json(json!(question)))
}

/// Says that a person sees a question: its clock begins with the first
#[utoipa::path(post, path = "/api/approvals/{id}/shown", params(("id" = String, Path, description = "Its id")),
    responses(
        (status = 200, description = "It is noted", body = AnswerTaken),
        (status = 404, description = "There never was such a question", body = super::refusal::Refused),
        (status = 409, description = "It is settled", body = super::refusal::Refused),
    ),
)]
pub(super) async fn shown(
    State(hooks): State<Hooks>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<AnswerTaken>, Refusal> {
    hooks.desk().shown(&known(id)?)?;
    Ok(Json(AnswerTaken { status: "ok", remembered: Value::Null }))
}

/// Answers a question; the first answer counts
#[utoipa::path(post, path = "/api/approvals/{id}/answer", params(("id" = String, Path, description = "Its id")),
    request_body = AnswerForm,
    security(("token" = [], "approver" = [])),
    responses(
        (status = 200, description = "It counts", body = AnswerTaken),
        (status = 404, description = "There never was such a question", body = super::refusal::Refused),
        (status = 409, description = "It is settled", body = super::refusal::Refused),
    ),
)]
pub(super) async fn answer(
    State(hooks): State<Hooks>,
    approver: Approver,
    id: Result<Path<String>, PathRejection>,
    Posted(answer): Posted<Answer>,
) -> Result<Json<AnswerTaken>, Refusal> {
    let id = known(id)?;
    let desk = hooks.desk().clone();
    // An answer that is remembered may write a file.
    let answering = tokio::task::spawn_blocking(move || desk.answer(&id, answer, approver.place()));
    let answered = answering.await.map_err(|_| Fault::internal("the answer could not be taken"))??;
    Ok(Json(AnswerTaken { status: "ok", remembered: json!(answered.remembered) }))
}

fn known(id: Result<Path<String>, PathRejection>) -> Result<String, Fault> {
    id.map(|Path(id)| id).map_err(|_| Fault::not_found("the id of a question is UTF-8"))
}

fn unknown(id: &str) -> Fault {
    Fault::not_found(format!("no question {id} waits")).hint("/api/approvals lists those that do")
}
