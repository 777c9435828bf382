//! A failure as REST tells it: the status its kind has, and a body that says what to do next.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde::Serialize;
use tectum_core::{Fault, FaultKind};
use utoipa::ToSchema;

/// The answer to a request that cannot be served.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    body: Refused,
}

/// The body of a refusal.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Refused {
    error: RefusedWhy,
}

/// The reason.
#[derive(Debug, Serialize, ToSchema)]
struct RefusedWhy {
    /// The kind of fault.
    #[schema(value_type = String, example = "not_found")]
    kind: FaultKind,
    /// What happened.
    message: String,
    /// What to do next.
    hint: Option<String>,
}

impl Refusal {
    /// A refusal with a status that no kind of fault has.
    pub(super) fn with(status: StatusCode, fault: Fault) -> Self {
        let Fault { kind, message, hint, .. } = fault;
        Self { status, body: Refused { error: RefusedWhy { kind, message, hint } } }
    }

    /// What happened.
    pub(super) fn message(&self) -> &str {
        &self.body.error.message
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        let status =
            StatusCode::from_u16(fault.kind.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self::with(status, fault)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(self.body)).into_response()
    }
}
