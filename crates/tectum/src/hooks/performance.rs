//! The figures of the program: its own, and those of the user interface that hosts it.

use axum::{Json, extract::State};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::hooked::Hooks;

/// Figures.
#[derive(Serialize, ToSchema)]
pub(super) struct Performance {
    /// `fps`, `frame_time_ms` and `input_lag_ms` of a host that told them; `cpu_percent`, `memory_mb`, `calls`,
    /// `calls_per_second`, `p50_ms` and `p99_ms`.
    performance: Value,
}

/// How fast the host's user interface is, and how fast Tectum is
#[utoipa::path(get, path = "/api/performance", responses((status = 200, description = "The figures", body = Performance)))]
pub(super) async fn get(State(hooks): State<Hooks>) -> Json<Performance> {
    Json(Performance { performance: json!(hooks.runtime().figures()) })
}
