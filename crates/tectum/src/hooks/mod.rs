//! The hook API: a running house over REST, for scripts and consoles. It shares the address, the guard and the
//! token of MCP over HTTP. A route is one function that describes itself, and one line in [`routes`].

mod approvals;
mod approver;
mod ask;
mod attention;
mod board;
mod body;
mod calls;
mod console;
mod counters;
mod events;
mod facts;
mod gui;
mod hooked;
mod house;
mod metrics;
mod mma;
mod news;
mod observers;
mod openapi;
mod performance;
mod policy;
mod pre_tool_use;
mod project;
mod refusal;
mod session;
mod sources;
mod status;
mod stream;

use std::{
    convert::Infallible,
    sync::{Arc, OnceLock},
};

use axum::{
    Router,
    body::{Body, Bytes},
    http::{Method, StatusCode, Uri},
    response::{IntoResponse, Response},
};
use http_body_util::BodyExt;
use tectum_peers::serve::{Beside, BesideRequest};
use tower::ServiceExt;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(crate) use self::hooked::HookParts;
pub use self::{facts::HouseFacts, hooked::Hooks};
use crate::client_hooks::{NEWS, PRE_TOOL_USE};

/// Requests that come several times a minute, for ever, are no record of anything.
const UNRECORDED: [&str; 5] = ["/metrics", "/api/events", "/api/house", "/api/attention", NEWS];

/// All routes.
fn routes() -> OpenApiRouter<Hooks> {
    OpenApiRouter::new()
        .routes(routes!(status::status))
        .routes(routes!(status::paths))
        .routes(routes!(status::openapi))
        .routes(routes!(house::one))
        .routes(routes!(project::get, project::post))
        .routes(routes!(session::get, session::post))
        .routes(routes!(performance::get))
        .routes(routes!(stream::drain))
        .routes(routes!(stream::follow))
        .routes(routes!(gui::post))
        .routes(routes!(gui::value))
        .routes(routes!(gui::value_of))
        .routes(routes!(ask::ask))
        .routes(routes!(ask::respond))
        .routes(routes!(approvals::all))
        .routes(routes!(approvals::one))
        .routes(routes!(approvals::shown))
        .routes(routes!(approvals::answer))
        .routes(routes!(attention::all))
        .routes(routes!(attention::one))
        .routes(routes!(attention::choose))
        .routes(routes!(mma::status))
        .routes(routes!(mma::diagnostics))
        .routes(routes!(observers::all))
        .routes(routes!(observers::one))
        .routes(routes!(policy::now))
        .routes(routes!(counters::all))
        .routes(routes!(metrics::all))
        .routes(routes!(pre_tool_use::judge))
        .routes(routes!(news::tell))
}

impl Hooks {
    /// As what a listener serves beside MCP.
    pub fn beside(self) -> Beside {
        // Whoever listens here can be shown questions and answer them.
        let surface = Arc::new(self.desk().attach());
        // The first request makes the routes: most houses are never asked.
        let made: Arc<OnceLock<Router>> = Arc::default();
        Beside::new(move |request: BesideRequest| {
            let (hooks, made, surface) = (self.clone(), made.clone(), surface.clone());
            async move {
                let _surface = surface;
                let router = made.get_or_init(|| hooks.router()).clone();
                let answer = hooks.answer(router, request).await;
                answer.map(|body| body.map_err(Into::into).boxed_unsync())
            }
        })
    }

    fn router(&self) -> Router {
        let (routes, described) = routes().split_for_parts();
        self.describe(|| openapi::complete(&described));
        routes
            .method_not_allowed_fallback(status::wrong_method)
            .fallback(status::nothing_here)
            .with_state(self.clone())
    }

    /// Answers a request, and records it.
    async fn answer(&self, router: Router, request: BesideRequest) -> Response {
        let (head, body) = request.into_parts();
        // Whoever asks once may ask again what calls do. Prometheus does not.
        if head.uri.path().starts_with("/api/") {
            self.flight();
        }
        let asked = (head.method.clone(), head.uri.clone());
        let (body, answer) = match body::read(body).await {
            // A coding agent goes on after any other status than 200.
            Err(refusal) if head.uri.path() == PRE_TOOL_USE => {
                (Bytes::new(), pre_tool_use::unread(&head.uri, &refusal))
            }
            Err(refusal) => (Bytes::new(), refusal.into_response()),
            Ok(body) => {
                let answered: Result<_, Infallible> =
                    router.oneshot(axum::http::Request::from_parts(head, Body::from(body.clone()))).await;
                let answer = match answered {
                    Ok(answer) => answer,
                    Err(never) => match never {},
                };
                (body, answer)
            }
        };
        self.record(&asked, &body, answer.status());
        answer
    }

    fn record(&self, (method, uri): &(Method, Uri), body: &Bytes, status: StatusCode) {
        let Some(journal) = self.journal().filter(|_| !UNRECORDED.contains(&uri.path())) else { return };
        let path = uri.path_and_query().map_or(uri.path(), |path| path.as_str());
        journal.hook(method.as_str(), path, &String::from_utf8_lossy(body), status.as_u16());
    }
}
