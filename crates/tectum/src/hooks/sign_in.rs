//! Signing in at the console, and out: a code becomes a session, and sessions are listed and ended. Only the
//! approver's credential makes a code, so that an agent, which has the token, cannot sign in.

use axum::{
    Json,
    extract::{Path, Request, State, rejection::PathRejection},
    http::{
        HeaderMap,
        header::{SET_COOKIE, USER_AGENT},
    },
    response::{AppendHeaders, IntoResponse, Response},
};
use serde::{Deserialize, Serialize};
use tectum_core::{Fault, FaultKind};
use tectum_journal::when;
use tectum_state::Moment;
use utoipa::ToSchema;

use super::{
    approver::{Approver, credential},
    body::Posted,
    hooked::Hooks,
    refusal::Refusal,
    sign_ins::{CONSOLE, NewSession, SESSION_LASTS, SessionFacts, only},
};

/// The most bytes of a browser's name.
const MOST_AGENT: usize = 200;

/// A code.
#[derive(Deserialize, ToSchema)]
pub(super) struct CodeGiven {
    /// It is behind `#code=` in the address that `tectum console` prints.
    code: String,
}

/// A session that began.
#[derive(Serialize, ToSchema)]
pub(super) struct SignedIn {
    /// When it ends.
    expires: String,
    /// To be sent as the header `Tectum-Console` with each request.
    key: String,
}

/// An address with a code.
#[derive(Serialize, ToSchema)]
pub(super) struct ConsoleLink {
    /// Works once, for ten minutes.
    url: String,
}

/// The sessions of the console.
#[derive(Serialize, ToSchema)]
pub(super) struct ConsoleSessions {
    /// The oldest first.
    sessions: Vec<ConsoleSession>,
}

/// One of them.
#[derive(Serialize, ToSchema)]
struct ConsoleSession {
    /// Its name.
    id: String,
    /// When it began.
    since: String,
    /// When it was last used.
    last_seen: String,
    /// What the browser calls itself.
    agent: String,
    /// True for the one that asks.
    this: bool,
}

/// A session that ended.
#[derive(Serialize, ToSchema)]
pub(super) struct SessionEnded {
    /// Always `ok`.
    status: &'static str,
}

const ENDED: SessionEnded = SessionEnded { status: "ok" };

/// Exchanges a code for a session
#[utoipa::path(post, path = "/console/sign-in", request_body = CodeGiven, security(()),
    params(("Tectum-Console" = String, Header, description = "Anything: a foreign page cannot send it")),
    responses((status = 200, description = "The session began; its cookie is set", body = SignedIn)))]
pub(super) async fn sign_in(
    State(hooks): State<Hooks>,
    headers: HeaderMap,
    Posted(CodeGiven { code }): Posted<CodeGiven>,
) -> Result<Response, Refusal> {
    if only(&headers, CONSOLE).is_none() {
        return Err(Fault::invalid(format!("the header {CONSOLE} is needed"))
            .hint(format!("send {CONSOLE}: 1"))
            .into());
    }
    let approver = credential(&hooks).await?;
    let mut agent =
        headers.get(USER_AGENT).and_then(|name| name.to_str().ok()).unwrap_or_default().to_owned();
    agent.truncate(agent.floor_char_boundary(MOST_AGENT));
    let session = hooks.sign_ins().exchange(&code, &approver, agent).map_err(random)?;
    let Some(NewSession { cookie, key, expires }) = session else {
        let message =
            "this code does not work: it was used, it is older than ten minutes, or it is another one";
        let fault = Fault::new(FaultKind::Permission, message);
        return Err(fault.hint("`tectum console` prints an address with a new one").into());
    };
    let cookie = cookie_line(&hooks, &cookie, SESSION_LASTS.as_secs());
    let signed = SignedIn { expires: shown(expires), key };
    Ok((AppendHeaders([(SET_COOKIE, cookie)]), Json(signed)).into_response())
}

/// Makes a code; needs the approver's credential itself
#[utoipa::path(post, path = "/console/code", security(("token" = [], "approver" = [])), responses(
    (status = 200, description = "An address with a code", body = ConsoleLink),
    (status = 409, description = "The page is served at no address", body = super::refusal::Refused),
))]
pub(super) async fn code(
    State(hooks): State<Hooks>,
    approver: Approver,
) -> Result<Json<ConsoleLink>, Refusal> {
    // A session that made others would not end with the time it was given.
    if approver.session.is_some() {
        let fault = Fault::new(FaultKind::Permission, "a session of the console makes no codes");
        return Err(fault.hint("`tectum console` prints an address with one").into());
    }
    let link = hooks.sign_ins().link().map_err(random)?;
    let nowhere = || {
        Fault::conflict("this Tectum listens at no address, so it has no console")
            .hint("`tectum up` serves one; `tectum top` needs none")
    };
    Ok(Json(ConsoleLink { url: link.ok_or_else(nowhere)? }))
}

/// Ends the session that asks
#[utoipa::path(post, path = "/console/sign-out", security(("token" = [], "approver" = [])), responses(
    (status = 200, description = "It ended; its cookie is taken back", body = SessionEnded),
))]
pub(super) async fn sign_out(State(hooks): State<Hooks>, approver: Approver) -> Response {
    if let Some(session) = &approver.session {
        // One that ended meanwhile is as well.
        hooks.sign_ins().end(&session.id);
    }
    let cookie = cookie_line(&hooks, "", 0);
    (AppendHeaders([(SET_COOKIE, cookie)]), Json(ENDED)).into_response()
}

/// The sessions of the console
#[utoipa::path(get, path = "/console/sessions", security(("token" = [], "approver" = [])),
    responses((status = 200, description = "The sessions", body = ConsoleSessions)))]
pub(super) async fn sessions(State(hooks): State<Hooks>, approver: Approver) -> Json<ConsoleSessions> {
    let this = approver.session.map(|session| session.id);
    let told = |session: SessionFacts| ConsoleSession {
        this: this.as_ref() == Some(&session.id),
        since: shown(session.since),
        last_seen: shown(session.last_seen),
        id: session.id,
        agent: session.agent,
    };
    Json(ConsoleSessions { sessions: hooks.sign_ins().sessions().into_iter().map(told).collect() })
}

/// Ends a session
#[utoipa::path(delete, path = "/console/sessions/{id}", security(("token" = [], "approver" = [])),
    params(("id" = String, Path, description = "Its id")), responses(
    (status = 200, description = "It ended", body = SessionEnded),
    (status = 404, description = "There is no such session", body = super::refusal::Refused),
))]
pub(super) async fn end(
    State(hooks): State<Hooks>,
    _: Approver,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<SessionEnded>, Refusal> {
    let id = id.map(|Path(id)| id).unwrap_or_default();
    if hooks.sign_ins().end(&id) {
        return Ok(Json(ENDED));
    }
    Err(Fault::not_found(format!("no session {id} is signed in")).hint("/console/sessions lists them").into())
}

/// Notes in a request which session it is of. One whose credential was replaced is over.
pub(super) async fn recognize(hooks: &Hooks, request: &mut Request) -> Result<(), Refusal> {
    let Some(session) = hooks.sign_ins().of(request.headers()) else { return Ok(()) };
    if !session.stands_for(&credential(hooks).await?) {
        hooks.sign_ins().end(&session.id);
        return Err(Refusal::with(
            axum::http::StatusCode::UNAUTHORIZED,
            Fault::new(
                FaultKind::Permission,
                "the approver's credential was replaced, so this session is over",
            )
            .hint("`tectum console` prints an address to sign in again"),
        ));
    }
    request.extensions_mut().insert(session);
    Ok(())
}

fn cookie_line(hooks: &Hooks, value: &str, seconds: u64) -> String {
    let name = hooks.sign_ins().cookie_name();
    format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={seconds}")
}

fn shown(time: std::time::SystemTime) -> String {
    when::rfc3339(Moment::micros(time))
}

fn random(error: getrandom::Error) -> Fault {
    Fault::internal(format!("cannot get random numbers: {error}"))
}
