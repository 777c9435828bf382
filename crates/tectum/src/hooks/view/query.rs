//! What the parameters of a route mean: cursors, stretches of time, and what is wrong with them.

use axum::{
    extract::{FromRequestParts, Path, rejection::PathRejection},
    http::request::Parts,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tectum_core::Fault;
use tectum_journal::when::{self, Span};
use url::form_urlencoded;

use super::super::refusal::Refusal;

/// Parameters that are no texts.
const NUMBERS: [&str; 2] = ["limit", "buckets"];
const FLAGS: [&str; 1] = ["failed"];

/// The parameters of a request; empty texts count as absent.
pub(in super::super) struct Wanted<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Wanted<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        let given = query.filter(|(name, value)| !value.is_empty() || !is_text(name));
        let members: Map<String, Value> =
            given.map(|(name, value)| (name.to_string(), typed(&name, &value))).collect();
        serde_json::from_value(members.into()).map(Self).map_err(|error| {
            let hint = "/api/openapi.json describes the parameters of every path";
            Fault::invalid(format!("a parameter cannot be read: {error}")).hint(hint).into()
        })
    }
}

fn is_text(name: &str) -> bool {
    !NUMBERS.contains(&name) && !FLAGS.contains(&name)
}

/// A value as its parameter has it; one that does not fit stays a text, which is refused.
fn typed(name: &str, value: &str) -> Value {
    let number = || value.parse::<u64>().ok().map(Value::from);
    let flag = || value.parse::<bool>().ok().map(Value::from);
    let other = if NUMBERS.contains(&name) {
        number()
    } else if FLAGS.contains(&name) {
        flag()
    } else {
        None
    };
    other.unwrap_or_else(|| value.into())
}

/// The name in a path.
pub(super) fn name(path: Result<Path<String>, PathRejection>) -> Result<String, Fault> {
    path.map(|Path(name)| name).map_err(|_| Fault::not_found("the name in the path is not UTF-8"))
}

/// A cursor of a page.
pub(super) fn cursor(text: &str) -> Result<u64, Fault> {
    text.parse()
        .map_err(|_| Fault::invalid(format!("`{text}` is no cursor")).hint("send `next` of the page before"))
}

/// A stretch of time by its ends, in microseconds since 1970.
pub(super) fn stretch(since: Option<&str>, until: Option<&str>) -> Result<(u64, u64), Fault> {
    let time = |text: Option<&str>| -> Result<Option<Span>, Fault> {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
        let span = when::span_now(text);
        span.map(Some).ok_or_else(|| Fault::invalid(format!("`{text}` is no time")).hint(when::FORMS))
    };
    let (since, until) = (time(since)?, time(until)?);
    Ok((since.map_or(0, |span| span.from), until.map_or(u64::MAX, |span| span.to)))
}
