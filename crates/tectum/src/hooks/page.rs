//! The files of the console's page. They hold no data, so everybody on this machine may read them. They are part of
//! the program; a build for development reads them from the disk, so that a change is seen at once.

use std::{borrow::Cow, io::Write as _};

use axum::{
    extract::{Path, rejection::PathRejection},
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{
            ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
            IF_NONE_MATCH, REFERRER_POLICY, VARY,
        },
    },
    response::{IntoResponse, Redirect, Response},
};
use flate2::{Compression, write::GzEncoder};
use tectum_core::Fault;

use super::refusal::Refusal;

/// The page may load what we serve and nothing else, and may not be framed.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; font-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/// The headers of every file.
const HEADERS: [(HeaderName, &str); 5] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    // It is asked for each time, and answered from memory if it is the same.
    (CACHE_CONTROL, "no-cache"),
    (VARY, "Accept-Encoding"),
];

/// The files by name.
macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../console/", $name)))),*]
    };
}

/// All files, each named here once.
const FILES: &[(&str, &[u8])] = files![
    "app.js",
    "call-list.js",
    "call-pane.js",
    "chart-bars.js",
    "chart-columns.js",
    "chart-gantt.js",
    "chart-graph.js",
    "chart-heat.js",
    "chart-map.js",
    "chart-strip.js",
    "chart.js",
    "diff.js",
    "form.js",
    "format.js",
    "icon-waiting.svg",
    "icon.svg",
    "icons.js",
    "index.html",
    "keys.js",
    "net.js",
    "notices.js",
    "parts.css",
    "parts.js",
    "patch.js",
    "question-pane.js",
    "rail.js",
    "router.js",
    "rule-text.js",
    "screen-activity.js",
    "screen-approvals.js",
    "screen-attention.js",
    "screen-context.js",
    "screen-now.js",
    "screen-orchestration.js",
    "screen-policy.js",
    "screen-servers.js",
    "screen-sessions.js",
    "screen-tools.js",
    "screens.css",
    "server-mark.js",
    "server-new.js",
    "sign-in.js",
    "sign-ins.js",
    "store.js",
    "stream.js",
    "style.css",
    "syntax.js",
    "table.js",
    "text.js",
    "tips.js",
    "values.js",
    "view.js",
    "virtual.js",
];

/// Leads to the console
#[utoipa::path(get, path = "/", security(()), responses((status = 303, description = "It is at /console/")))]
pub(super) async fn root() -> Redirect {
    Redirect::to("/console/")
}

/// Leads to the console
#[utoipa::path(get, path = "/console", security(()), responses((status = 303, description = "It is at /console/")))]
pub(super) async fn bare() -> Redirect {
    Redirect::to("/console/")
}

/// The console's page
#[utoipa::path(get, path = "/console/", security(()), responses(
    (status = 200, description = "The page", body = String, content_type = "text/html; charset=utf-8"),
    (status = 304, description = "It is the one that `If-None-Match` names"),
))]
pub(super) async fn index(headers: HeaderMap) -> Response {
    served("index.html", &headers).unwrap_or_else(|| missing("index.html").into_response())
}

/// A file of the console's page
#[utoipa::path(get, path = "/console/{file}", security(()), params(("file" = String, Path, description = "Its name")), responses(
    (status = 200, description = "The file", body = String, content_type = "text/javascript; charset=utf-8"),
    (status = 304, description = "It is the one that `If-None-Match` names"),
    (status = 404, description = "There is no such file", body = super::refusal::Refused),
))]
pub(super) async fn file(name: Result<Path<String>, PathRejection>, headers: HeaderMap) -> Response {
    let name = name.map_or_else(|_| String::new(), |Path(name)| name);
    served(&name, &headers).unwrap_or_else(|| missing(&name).into_response())
}

/// Whether everybody may ask for this path.
pub(super) fn is_public(path: &str) -> bool {
    let file = path.strip_prefix("/console/");
    path == "/" || path == "/console" || file.is_some_and(|name| name.is_empty() || name.contains('.'))
}

fn missing(name: &str) -> Refusal {
    Fault::not_found(format!("the console has no file {name}")).hint("the page is at /console/").into()
}

fn served(name: &str, headers: &HeaderMap) -> Option<Response> {
    let bytes = content(name)?;
    let tag = format!("\"{}\"", &blake3::hash(&bytes).to_hex()[..16]);
    let is_known = headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let small = if is_known || !takes_gzip(headers) { None } else { gzipped(&bytes) };
    let is_small = small.is_some();
    let mut answer = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(CONTENT_TYPE, kind(name))], small.unwrap_or_else(|| bytes.into_owned())).into_response(),
    };
    let head = answer.headers_mut();
    head.extend(is_small.then(|| (CONTENT_ENCODING, HeaderValue::from_static("gzip"))));
    head.extend(HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value))));
    head.extend(HeaderValue::from_str(&tag).ok().map(|tag| (ETAG, tag)));
    Some(answer)
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let takes = headers.get(ACCEPT_ENCODING).and_then(|takes| takes.to_str().ok()).unwrap_or_default();
    takes.split(',').any(|one| one.trim() == "gzip")
}

/// A third of the bytes; a browser asks for a file again only when it changed, so nothing is kept.
fn gzipped(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(bytes).ok()?;
    out.finish().ok()
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json" | "webmanifest") => "application/json",
        _ => "application/octet-stream",
    }
}

/// What is in a file. The list is asked first: nothing else is read, wherever a name leads.
fn content(name: &str) -> Option<Cow<'static, [u8]>> {
    let embedded = || FILES.iter().find(|(known, _)| *known == name).map(|(_, bytes)| Cow::Borrowed(*bytes));
    if !cfg!(debug_assertions) {
        return embedded();
    }
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    let path = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/console")).join(name);
    let read = is_plain.then(|| tectum_state::read(&path).ok().flatten()).flatten();
    read.map(Cow::Owned).or_else(embedded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_in_the_program_and_they_stay_small() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/console");
        let mut there: Vec<String> = tectum_state::list(std::path::Path::new(folder))
            .expect("listed")
            .iter()
            .map(|entry| entry.path.file_name().expect("a name").to_string_lossy().into_owned())
            .collect();
        there.sort();
        let mut embedded: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        embedded.sort_unstable();
        assert_eq!(embedded, there, "each file of crates/tectum/console stands in FILES");
        let sent: usize = FILES.iter().map(|(_, bytes)| gzipped(bytes).expect("gzip").len()).sum();
        assert!(sent < 150_000, "{sent} bytes are sent to a browser that comes for the first time");
        for (name, _) in FILES {
            assert!(is_public(&format!("/console/{name}")), "{name}");
            assert_ne!(kind(name), "application/octet-stream", "{name}");
        }
    }

    #[test]
    fn names_lead_nowhere_else() {
        for name in ["", ".", "..", "../Cargo.toml", "/etc/passwd", "index.html/", "absent.js"] {
            assert!(content(name).is_none(), "{name}");
        }
        for private in ["/console/sessions", "/console/code", "/api", "/mcp", "/consolex"] {
            assert!(!is_public(private), "{private}");
        }
    }
}
