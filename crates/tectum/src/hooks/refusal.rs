//! A failure as REST tells it: the status its kind has, and a body that says what to do next.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use tectum_core::Fault;

/// The answer to a request that cannot be served.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    error: Value,
}

impl Refusal {
    /// The path is right and the verb is not; the `Allow` header is added by the router.
    pub(super) fn method(message: String) -> Self {
        let hint = "the Allow header names the methods it takes";
        Self {
            status: StatusCode::METHOD_NOT_ALLOWED,
            error: json!({ "kind": "invalid_input", "message": message, "hint": hint }),
        }
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        let status =
            StatusCode::from_u16(fault.kind.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, error: json!({ "kind": fault.kind, "message": fault.message, "hint": fault.hint }) }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(json!({ "error": self.error }))).into_response()
    }
}
