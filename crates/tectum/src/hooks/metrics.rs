//! The figures of a house in the text format of Prometheus.

use axum::{
    extract::State,
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
};
use tectum_core::Fault;

use super::{hooked::Hooks, refusal::Refusal};

/// Figures for Prometheus
#[utoipa::path(get, path = "/metrics", responses(
    (status = 200, description = "The figures", body = String, content_type = "text/plain"),
    (status = 404, description = "This build has none", body = super::refusal::Refused),
))]
pub(super) async fn all(State(hooks): State<Hooks>) -> Result<Response, Refusal> {
    let page = hooks.telemetry().page().await;
    let page =
        page.ok_or_else(|| Fault::not_found("this build has no figures").hint("build it with telemetry"))?;
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], page).into_response())
}
