//! What can go wrong between us and a model's server, in words that say what to do, and whether
//! it is worth trying again. Addresses are told without what may be secret in them.

use std::time::{Duration, SystemTime};

use reqwest::{
    StatusCode, Url,
    header::{DATE, HeaderMap, LOCATION, RETRY_AFTER},
};
use serde_json::Value;
use tectum_core::{Fault, FaultKind, fault::bottom};

use super::place::Place;

/// The longest pause, also where a server asks for one. It is better to be told than to hang.
pub(super) const MOST_PAUSE: Duration = Duration::from_secs(60);
/// The tries of a request. A refused connection rarely comes back, so it gets fewer.
pub(super) const TRIES: u32 = 5;
const TRIES_TO_CONNECT: u32 = 3;

/// Characters of a server's own words that are repeated.
const QUOTED: usize = 300;

/// A failure, and what may still be tried.
pub(super) struct Trouble {
    pub(super) fault: Fault,
    /// The tries of the request, all in all.
    pub(super) tries: u32,
    /// The pause that the server asks for.
    pub(super) wait: Option<Duration>,
}

impl Trouble {
    fn upstream(message: String, tries: u32) -> Self {
        Self { fault: Fault::new(FaultKind::Upstream, message), tries, wait: None }
    }

    /// The request could not be sent.
    pub(super) fn unsent(url: &Url, error: &reqwest::Error) -> Self {
        let (what, tries) = if error.is_connect() {
            ("cannot be reached", TRIES_TO_CONNECT)
        } else {
            ("did not answer", TRIES)
        };
        let mut trouble =
            Self::upstream(format!("the model at {} {what}: {}", origin(url), words(error)), tries);
        trouble.fault.hint = Some("is the server running, and is the address right?".into());
        trouble
    }

    /// Nothing came for too long.
    pub(super) fn silent(url: &Url, patience: Duration) -> Self {
        let message = format!("the model at {} was silent for {} s", origin(url), patience.as_secs());
        // It would be silent again for as long.
        let fault = Fault::new(FaultKind::Timeout, message).hint("try again, or use a smaller model");
        Self { fault, tries: 1, wait: None }
    }

    /// The answer broke off.
    pub(super) fn broken(url: &Url, why: &str) -> Self {
        Self::upstream(format!("the answer of the model at {} broke off: {why}", origin(url)), TRIES)
    }

    /// The answer is none.
    pub(super) fn nonsense(url: &Url, why: &str) -> Self {
        let message = format!("the model at {} gave no answer that can be read: {why}", origin(url));
        let mut trouble = Self::upstream(message, 1);
        trouble.fault.hint = Some("is this the address of an API for chat completions, with its /v1?".into());
        trouble
    }

    /// The server said no.
    pub(super) fn refused(
        place: &Place,
        url: &Url,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Self {
        let again = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT)
            || status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED;
        let wait = again.then(|| wanted(headers)).flatten();
        let mut fault = refusal(place, url, status, headers, body);
        if let Some(wait) = wait.filter(|wait| *wait > MOST_PAUSE) {
            fault.hint = Some(format!("it asks to wait {} s: try again then", wait.as_secs()));
        }
        Self { fault, tries: if again { TRIES } else { 1 }, wait }
    }

    /// Something was changed that makes the next try another one.
    pub(super) fn at_once(fault: Fault) -> Self {
        Self { fault, tries: TRIES, wait: Some(Duration::ZERO) }
    }

    /// The same without another try: somebody has heard a part of the answer.
    pub(super) fn final_one(mut self) -> Self {
        self.tries = 1;
        self
    }
}

/// True if a server refuses to stream, or to say what a stream cost.
pub(super) fn dislikes_streams(status: StatusCode, body: &[u8]) -> bool {
    matches!(status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY | StatusCode::NOT_IMPLEMENTED)
        && String::from_utf8_lossy(body).to_lowercase().contains("stream")
}

/// A refusal in our words.
pub(super) fn refusal(
    place: &Place,
    url: &Url,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> Fault {
    let (at, said) = (origin(url), said(body));
    if status.is_redirection() {
        let to = headers.get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or("nowhere");
        let to: String = to.chars().take(QUOTED).collect();
        return Fault::new(FaultKind::Upstream, format!("the model at {at} redirects to {to}"))
            .hint("use that address, if it is the right one");
    }
    let message = format!("the model at {at} answered HTTP {status}{said}");
    match status {
        StatusCode::UNAUTHORIZED => Fault::new(FaultKind::Permission, message).hint(key_hint(place)),
        StatusCode::FORBIDDEN => {
            Fault::new(FaultKind::Permission, message).hint("the key may not use this model")
        }
        StatusCode::NOT_FOUND => Fault::new(FaultKind::Upstream, message).hint(format!(
            "is `{}` a model of this server, and does the address end as its API does (often /v1)?",
            place.model
        )),
        StatusCode::PAYLOAD_TOO_LARGE => too_long(message),
        StatusCode::BAD_REQUEST if said.contains("context") && said.contains("length") => too_long(message),
        _ => Fault::new(FaultKind::Upstream, message),
    }
}

fn too_long(message: String) -> Fault {
    Fault::new(FaultKind::TooLarge, message)
        .hint("say how many tokens the model takes, so that the conversation is compacted in time")
}

fn key_hint(place: &Place) -> String {
    match &place.key_env {
        Some(name) if std::env::var_os(name).is_none() => format!("set {name} to the key"),
        Some(name) => format!("the key in {name} is not accepted: set {name} to one that is"),
        None => "put the key into an environment variable, such as MODEL_API_KEY, and name that variable \
                 (--api-key-env)"
            .to_owned(),
    }
}

/// The pause that a server asks for, where it does: in a number, or as a moment.
fn wanted(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| -> Option<&str> { Some(headers.get(name)?.to_str().ok()?.trim()) };
    let number = |name: &str| text(name)?.parse::<f64>().ok();
    let seconds = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number(RETRY_AFTER.as_str()));
    if let Some(seconds) = seconds {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let moment = |name: &str| httpdate::parse_http_date(text(name)?).ok();
    // The server's own clock says how far off its moment is; ours may go differently.
    let now = moment(DATE.as_str()).unwrap_or_else(SystemTime::now);
    // A moment that is over says nothing, and the pauses are the usual ones.
    moment(RETRY_AFTER.as_str())?.duration_since(now).ok()
}

/// A server's own words about its refusal.
fn said(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let own = serde_json::from_str::<Value>(&text).ok().and_then(|value| message(&value));
    let text =
        own.unwrap_or_else(|| if text.trim_start().starts_with('<') { String::new() } else { text.into() });
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return String::new();
    }
    format!(": {}", line.chars().take(QUOTED).collect::<String>())
}

/// The message of an error, in one of the forms servers have for it.
pub(super) fn message(value: &Value) -> Option<String> {
    let error = value.get("error").filter(|error| !error.is_null())?;
    let text = error["message"].as_str().or_else(|| error.as_str());
    Some(text.map_or_else(|| error.to_string(), str::to_owned))
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// The innermost cause of an error; the address stays out, since it may hold a secret.
pub(super) fn words(error: &reqwest::Error) -> String {
    bottom(error).unwrap_or_else(|| {
        if error.is_timeout() { "it took too long".into() } else { "the request could not be sent".into() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, headers: &[(&'static str, &str)], body: &str) -> Trouble {
        let map = headers.iter().map(|(name, value)| {
            (reqwest::header::HeaderName::from_static(name), value.parse().expect("a value"))
        });
        let url = Url::parse("https://me:secret@host.example/v1?key=secret").expect("an address");
        let status = StatusCode::from_u16(status).expect("a status");
        Trouble::refused(&Place::new("", "m"), &url, status, &map.collect(), body.as_bytes())
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for (status, again) in
            [(429, true), (500, true), (503, true), (400, false), (401, false), (501, false)]
        {
            assert_eq!(refused(status, &[], "").tries > 1, again, "{status}");
        }
    }

    #[test]
    fn servers_say_how_long_to_wait() {
        let wait = |headers: &[(&'static str, &str)]| refused(429, headers, "").wait;
        assert_eq!(wait(&[("retry-after", "3")]), Some(Duration::from_secs(3)));
        assert_eq!(wait(&[("retry-after-ms", "20"), ("retry-after", "3")]), Some(Duration::from_millis(20)));
        for odd in ["-3", "NaN", "1e300", "soon", "Fri, 31 Dec 1999 23:59:59 GMT"] {
            assert_eq!(wait(&[("retry-after", odd)]), None, "{odd}");
        }
        let hint = |headers: &[(&'static str, &str)]| refused(429, headers, "").fault.hint;
        let told = Some("it asks to wait 3600 s: try again then");
        assert_eq!(hint(&[("retry-after", "3600")]).as_deref(), told);

        // A moment is measured on the server's clock, whatever ours says.
        let date = ("date", "Fri, 31 Dec 1999 23:59:59 GMT");
        let until = |moment| wait(&[date, ("retry-after", moment)]);
        assert_eq!(until("Sat, 01 Jan 2000 00:00:29 GMT"), Some(Duration::from_secs(30)));
        assert_eq!(until("Fri, 31 Dec 1999 23:59:59 GMT"), Some(Duration::ZERO));
        assert_eq!(until("Fri, 31 Dec 1999 23:59:58 GMT"), None, "it is over");
        for odd in ["Sat, 41 Jan 2000 00:00:29 GMT", "2000-01-01T00:00:29Z", "tomorrow"] {
            assert_eq!(until(odd), None, "{odd}");
        }
        assert_eq!(hint(&[date, ("retry-after", "Sat, 01 Jan 2000 00:59:59 GMT")]).as_deref(), told);
        // A server that does not say what time it has is measured on ours.
        let far = wait(&[("retry-after", "Fri, 31 Dec 9999 23:59:59 GMT")]).expect("understood");
        assert!(far > Duration::from_secs(3600));
    }

    #[test]
    fn refusals_say_what_to_do_and_no_secrets() {
        for (status, body, kind, expect) in [
            (
                401,
                r#"{"error":{"message":"no key"}}"#,
                FaultKind::Permission,
                "HTTP 401 Unauthorized: no key",
            ),
            (404, r#"{"error":"no such model"}"#, FaultKind::Upstream, "Not Found: no such model"),
            (
                400,
                r#"{"error":{"message":"maximum context length is 9"}}"#,
                FaultKind::TooLarge,
                "context length",
            ),
            (500, "<html>oh</html>", FaultKind::Upstream, "https://host.example answered HTTP 500"),
            (302, "", FaultKind::Upstream, "redirects to nowhere"),
        ] {
            let fault = refused(status, &[], body).fault;
            assert!(fault.kind == kind && fault.message.contains(expect), "{fault:?}");
            assert!(!fault.text().contains("secret") && !fault.text().contains("<html>"), "{fault:?}");
        }
    }

    #[test]
    fn a_missing_key_is_named() {
        let mut place = Place::new("", "m");
        assert!(key_hint(&place).contains("--api-key-env"));
        place.key_env = Some("TECTUM_NO_SUCH_KEY".into());
        assert_eq!(key_hint(&place), "set TECTUM_NO_SUCH_KEY to the key");
        place.key_env = Some("PATH".into());
        assert!(key_hint(&place).contains("the key in PATH is not accepted"));
    }
}
