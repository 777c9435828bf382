//! Whether the house runs, and which paths there are.

use axum::{
    Json,
    extract::State,
    http::{Method, StatusCode, Uri},
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tectum_core::Fault;
use utoipa::ToSchema;

use super::{hooked::Hooks, refusal::Refusal};

/// The answer of a house that runs.
#[derive(Serialize, ToSchema)]
pub(super) struct StatusBody {
    /// Always `ok`.
    status: &'static str,
}

/// All paths.
#[derive(Serialize, ToSchema)]
pub(super) struct Paths {
    /// Each with what its methods do.
    #[schema(value_type = std::collections::HashMap<String, std::collections::HashMap<String, String>>)]
    paths: Value,
}

/// Whether it runs
#[utoipa::path(get, path = "/status", responses((status = 200, description = "It runs", body = StatusBody)))]
pub(super) async fn status() -> Json<StatusBody> {
    // It runs, or this would not be answered.
    Json(StatusBody { status: "ok" })
}

/// The paths that can be asked for
#[utoipa::path(get, path = "/api", responses((status = 200, description = "The paths", body = Paths)))]
pub(super) async fn paths(State(hooks): State<Hooks>) -> Json<Paths> {
    let summary = |operation: &Value| operation["summary"].clone();
    let methods = |item: &Map<String, Value>| -> Map<String, Value> {
        item.iter().map(|(method, operation)| (method.to_uppercase(), summary(operation))).collect()
    };
    let paths = hooks.openapi()["paths"].as_object().into_iter().flatten();
    let paths: Map<String, Value> =
        paths.filter_map(|(path, item)| Some((path.clone(), json!(methods(item.as_object()?))))).collect();
    Json(Paths { paths: paths.into() })
}

/// The description of this API, as OpenAPI 3.1
#[utoipa::path(get, path = "/api/openapi.json", responses((status = 200, description = "The description", body = Value)))]
pub(super) async fn openapi(State(hooks): State<Hooks>) -> Json<Value> {
    Json(hooks.openapi().clone())
}

/// The answer on every other path.
pub(super) async fn nothing_here(State(hooks): State<Hooks>, uri: Uri) -> Refusal {
    let paths = hooks.openapi()["paths"].as_object().into_iter().flatten();
    let paths = paths.map(|(path, _)| path.as_str()).collect::<Vec<_>>().join(", ");
    Fault::not_found(format!("nothing is served at {}", uri.path()))
        .hint(format!("MCP is at /mcp, the hook API has {paths}"))
        .into()
}

/// The path is right and the verb is not; the `Allow` header is added by the router.
pub(super) async fn wrong_method(method: Method, uri: Uri) -> Refusal {
    let fault = Fault::invalid(format!("{} does not take {method}", uri.path()));
    Refusal::with(StatusCode::METHOD_NOT_ALLOWED, fault.hint("the Allow header names the methods it takes"))
}
