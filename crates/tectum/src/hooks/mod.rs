//! The hook API: a running house over REST, for scripts and consoles. It shares the address, the guard and the
//! token of MCP over HTTP. A route is one function that describes itself, and one line in [`routes`].

mod approvals;
mod approver;
mod ask;
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
mod observers;
mod openapi;
mod page;
mod performance;
mod policy;
mod pre_tool_use;
mod project;
mod refusal;
mod session;
mod sign_in;
mod sign_ins;
mod sources;
mod status;
mod stream;
mod subject;
mod view;

use std::{
    convert::Infallible,
    sync::{Arc, OnceLock},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::Request,
    http::{
        HeaderMap, HeaderValue, Method, StatusCode, Uri,
        header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS},
    },
    response::{IntoResponse, Response},
};
use http_body_util::BodyExt;
use tectum_peers::serve::{Admission, Beside, BesideRequest};
use tower::ServiceExt;
use utoipa_axum::{router::OpenApiRouter, routes};

pub(crate) use self::hooked::HookParts;
pub use self::{facts::HouseFacts, hooked::Hooks};
use crate::client_hooks::PRE_TOOL_USE;

/// Requests that come several times a minute, for ever, are no record of anything.
const UNRECORDED: [&str; 3] = ["/metrics", "/api/events", "/api/house"];
/// Where people look at things.
const LOOKED_AT: &str = "/api/console/";
/// The body of a request for it is a secret.
const SIGN_IN: &str = "/console/sign-in";

/// All routes.
fn routes() -> OpenApiRouter<Hooks> {
    OpenApiRouter::new()
        .routes(routes!(page::root))
        .routes(routes!(page::bare))
        .routes(routes!(page::index))
        .routes(routes!(page::file))
        .routes(routes!(sign_in::sign_in))
        .routes(routes!(sign_in::code))
        .routes(routes!(sign_in::sign_out))
        .routes(routes!(sign_in::sessions))
        .routes(routes!(sign_in::end))
        .routes(routes!(status::status))
        .routes(routes!(status::paths))
        .routes(routes!(status::openapi))
        .routes(routes!(view::now::now))
        .routes(routes!(view::calls::list))
        .routes(routes!(view::call::one))
        .routes(routes!(view::sessions::list))
        .routes(routes!(view::sessions::one))
        .routes(routes!(view::stats::stats))
        .routes(routes!(view::session_acts::diff))
        .routes(routes!(view::session_acts::export))
        .routes(routes!(view::session_acts::undo))
        .routes(routes!(view::session_acts::replay))
        .routes(routes!(view::tools::all))
        .routes(routes!(view::tool_acts::call))
        .routes(routes!(view::tool_acts::switch))
        .routes(routes!(view::servers::all, view::server_acts::add))
        .routes(routes!(view::server_acts::import))
        .routes(routes!(view::server_acts::act))
        .routes(routes!(view::policy::policy))
        .routes(routes!(view::tool_acts::what_if))
        .routes(routes!(view::context::context))
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
        .routes(routes!(mma::status))
        .routes(routes!(mma::diagnostics))
        .routes(routes!(observers::all))
        .routes(routes!(observers::one))
        .routes(routes!(policy::now))
        .routes(routes!(counters::all))
        .routes(routes!(metrics::all))
        .routes(routes!(pre_tool_use::judge))
}

impl Hooks {
    /// As what a listener serves beside MCP.
    pub fn beside(self) -> Beside {
        // Whoever listens here can be shown questions and answer them.
        let surface = Arc::new(self.desk().attach());
        // The first request makes the routes: most houses are never asked.
        let made: Arc<OnceLock<Router>> = Arc::default();
        let judge = self.clone();
        let beside = Beside::new(move |request: BesideRequest| {
            let (hooks, made, surface) = (self.clone(), made.clone(), surface.clone());
            async move {
                let _surface = surface;
                let router = made.get_or_init(|| hooks.router()).clone();
                let answer = hooks.answer(router, request).await;
                answer.map(|body| body.map_err(Into::into).boxed_unsync())
            }
        });
        beside.admitting(move |request| judge.admit(request.method(), request.uri(), request.headers()))
    }

    /// Who asks without the token: everybody for the page, and whoever is signed in.
    fn admit(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Admission {
        let reads = matches!(*method, Method::GET | Method::HEAD);
        if reads && page::is_public(uri.path()) || *method == Method::POST && uri.path() == SIGN_IN {
            return Admission::Public;
        }
        self.sign_ins().of(headers).map_or(Admission::Refused, |_| Admission::Known)
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
        let most = if head.uri.path() == SIGN_IN { body::SMALL } else { body::MOST };
        let (body, answer) = match body::read(body, most).await {
            // A coding agent goes on after any other status than 200.
            Err(refusal) if head.uri.path() == PRE_TOOL_USE => {
                (Bytes::new(), pre_tool_use::unread(&head.uri, &refusal))
            }
            Err(refusal) => (Bytes::new(), refusal.into_response()),
            Ok(body) => {
                let request = axum::http::Request::from_parts(head, Body::from(body.clone()));
                (body, self.routed(router, request).await)
            }
        };
        self.record(&asked, &body, answer.status());
        answer
    }

    async fn routed(&self, router: Router, mut request: Request) -> Response {
        if let Err(refusal) = sign_in::recognize(self, &mut request).await {
            return refusal.into_response();
        }
        let answered: Result<_, Infallible> = router.oneshot(request).await;
        let mut answer = match answered {
            Ok(answer) => answer,
            Err(never) => match never {},
        };
        let head = answer.headers_mut();
        head.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        head.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        answer
    }

    fn record(&self, (method, uri): &(Method, Uri), body: &Bytes, status: StatusCode) {
        let reads = matches!(*method, Method::GET | Method::HEAD);
        let is_look = reads && (uri.path().starts_with(LOOKED_AT) || page::is_public(uri.path()));
        if is_look || UNRECORDED.contains(&uri.path()) {
            return;
        }
        let Some(journal) = self.journal() else { return };
        let body = if uri.path() == SIGN_IN { &Bytes::new() } else { body };
        let path = uri.path_and_query().map_or(uri.path(), |path| path.as_str());
        journal.hook(method.as_str(), path, &String::from_utf8_lossy(body), status.as_u16());
    }
}
