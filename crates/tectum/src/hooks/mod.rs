//! The hook API: a running house over REST, for scripts and consoles. It shares the address, the
//! guard and the token of MCP over HTTP, and changes nothing about a call.

mod counters;
mod hooked;
mod metrics;
mod observers;
mod policy;
mod refusal;

use std::convert::Infallible;

use axum::{
    Json, Router,
    body::Body,
    http::{Method, Uri},
    routing::get,
};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tectum_core::Fault;
use tectum_peers::serve::{Beside, BesideRequest};
use tower::ServiceExt;

pub use self::hooked::Hooks;
use self::refusal::Refusal;

/// The path of the figures for Prometheus.
const METRICS: &str = "/metrics";

/// The paths that can be asked for, for people and for whoever took a wrong path.
const PATHS: [(&str, &str); 7] = [
    ("/status", "whether it runs"),
    ("/api", "this list"),
    ("/api/observers", "which observers get a copy of every call, and what happened to the copies"),
    ("/api/observers/{name}", "the same for one observer"),
    ("/api/policy", "the settings in effect, and what is wrong with the settings files"),
    ("/api/counters", "what was dropped since the start"),
    (METRICS, "figures for Prometheus"),
];

impl Hooks {
    /// As what a listener serves beside MCP.
    pub fn beside(self) -> Beside {
        let journal = self.journal.clone();
        let routes = self.routes();
        Beside::new(move |request: BesideRequest| {
            // Prometheus asks several times a minute, for ever; that is no record of anything.
            let recorded = journal.clone().filter(|_| request.uri().path() != METRICS);
            let asked = recorded.map(|journal| (journal, request.method().clone(), request.uri().clone()));
            let answering = routes.clone().oneshot(request.map(Body::new));
            async move {
                let answered: Result<_, Infallible> = answering.await;
                let answer = match answered {
                    Ok(answer) => answer,
                    Err(never) => match never {},
                };
                if let Some((journal, method, uri)) = asked {
                    let path = uri.path_and_query().map_or(uri.path(), |path| path.as_str());
                    // No route reads a body.
                    journal.hook(method.as_str(), path, "", answer.status().as_u16());
                }
                answer.map(|body| body.map_err(Into::into).boxed_unsync())
            }
        })
    }

    fn routes(self) -> Router {
        Router::new()
            .route("/status", get(status))
            .route("/api", get(paths))
            .route("/api/observers", get(observers::all))
            .route("/api/observers/{name}", get(observers::one))
            .route("/api/policy", get(policy::now))
            .route("/api/counters", get(counters::all))
            .route(METRICS, get(metrics::all))
            .method_not_allowed_fallback(wrong_method)
            .fallback(nothing_here)
            .with_state(self)
    }
}

/// It runs, or this would not be answered.
async fn status() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

async fn paths() -> Json<Value> {
    let paths: serde_json::Map<String, Value> =
        PATHS.iter().map(|(path, what)| ((*path).to_owned(), json!(what))).collect();
    Json(json!({ "paths": paths }))
}

async fn nothing_here(uri: Uri) -> Refusal {
    let paths = PATHS.map(|(path, _)| path).join(", ");
    Fault::not_found(format!("nothing is served at {}", uri.path()))
        .hint(format!("MCP is at /mcp, the hook API has {paths}"))
        .into()
}

async fn wrong_method(method: Method, uri: Uri) -> Refusal {
    Refusal::method(format!("{} does not take {method}", uri.path()))
}
