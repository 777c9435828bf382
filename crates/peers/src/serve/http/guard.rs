//! The guard of the listener: our own names, no foreign page, the right token.

use std::net::SocketAddr;

use hyper::{
    StatusCode,
    header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, WWW_AUTHENTICATE},
};
use subtle::ConstantTimeEq;

use super::{RefusedRequest, refuse};

/// The callers that are accepted over HTTP.
#[derive(Clone, Debug)]
pub enum Auth {
    /// A bearer token, compared in constant time.
    Token(String),
    /// Anybody who can connect: loopback only.
    None,
}

/// The set-up of the HTTP side.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The callers that are accepted.
    pub auth: Auth,
    /// Lets `listen` be something else than loopback.
    pub allow_remote: bool,
    /// Further `Host` names that are ours.
    pub hosts: Vec<String>,
}

/// The checks that stand before every route.
#[derive(Debug)]
pub(super) struct Guard {
    hosts: Vec<String>,
    port: u16,
    token: Option<String>,
}

impl Guard {
    /// Our own names are the loopback's, the address listened on, and those configured.
    pub(super) fn new(address: SocketAddr, options: &HttpOptions) -> Self {
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).into();
        if !address.ip().is_unspecified() {
            hosts.push(match address {
                SocketAddr::V4(v4) => v4.ip().to_string(),
                SocketAddr::V6(v6) => format!("[{}]", v6.ip()),
            });
        }
        hosts.extend(options.hosts.iter().map(|host| host.to_ascii_lowercase()));
        let token = match &options.auth {
            Auth::Token(token) => Some(token.clone()),
            Auth::None => None,
        };
        Self { hosts, port: address.port(), token }
    }

    /// Refuses what must not be answered.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), RefusedRequest> {
        self.check_names(headers)?;
        self.check_token(headers)
    }

    /// Refuses names that are not ours, and pages of others.
    pub(super) fn check_names(&self, headers: &HeaderMap) -> Result<(), RefusedRequest> {
        let forbidden = |why: &str| Err(refuse(StatusCode::FORBIDDEN, why));
        match only(headers, &HOST) {
            Some(Some(host)) if self.is_ours(host) => {}
            _ => return forbidden("this Host name is not ours; add it to [http] hosts if it should be"),
        }
        match only(headers, &ORIGIN) {
            None => {}
            Some(Some(origin)) if self.is_our_page(origin) => {}
            _ => return forbidden("pages of another origin may not call this server"),
        }
        Ok(())
    }

    /// Refuses who does not show the token.
    pub(super) fn check_token(&self, headers: &HeaderMap) -> Result<(), RefusedRequest> {
        if self.is_authorized(headers) {
            return Ok(());
        }
        let why = if headers.contains_key(AUTHORIZATION) {
            "this is not the bearer token of this server; `tectum up` says where that is kept"
        } else {
            "a bearer token is needed; `tectum up` says where it is kept"
        };
        let mut response = refuse(StatusCode::UNAUTHORIZED, why);
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"tectum\""));
        Err(response)
    }

    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = split_port(host);
        let port_fits = port.is_none_or(|port| port.parse::<u16>().is_ok());
        port_fits && self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(name))
    }

    /// A page may call us only if we served it: same names, same port.
    fn is_our_page(&self, origin: &str) -> bool {
        let Some(rest) = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) else {
            return false;
        };
        let (name, port) = split_port(rest);
        let port = match port {
            Some(port) => port.parse().ok(),
            None if origin.starts_with("https") => Some(443),
            None => Some(80),
        };
        port == Some(self.port) && self.hosts.iter().any(|ours| ours.eq_ignore_ascii_case(name))
    }

    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let Some(Some(given)) = only(headers, &AUTHORIZATION) else { return false };
        let Some((scheme, given)) = given.split_once(' ') else { return false };
        scheme.eq_ignore_ascii_case("bearer") && bool::from(given.trim().as_bytes().ct_eq(token.as_bytes()))
    }
}

/// Nothing, one readable value (`Some(Some)`), or something that cannot be trusted (`Some(None)`).
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<Option<&'h str>> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    Some(if values.next().is_some() { None } else { first.to_str().ok() })
}

/// `name:port`, where the name may be an address in brackets.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    if let Some(end) = authority.bytes().position(|byte| byte == b']') {
        let (name, rest) = authority.split_at(end + 1);
        return (name, rest.strip_prefix(':').or((!rest.is_empty()).then_some("")));
    }
    match authority.bytes().rposition(|byte| byte == b':') {
        Some(colon) => (&authority[..colon], Some(&authority[colon + 1..])),
        None => (authority, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn check(lines: &[(&str, &str)], expect: u16) {
        let options = HttpOptions {
            listen: ([127, 0, 0, 1], 8999).into(),
            auth: Auth::Token(TOKEN.into()),
            allow_remote: false,
            hosts: vec!["box.example".into()],
        };
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            headers.append(name, HeaderValue::from_str(value).expect("a value"));
        }
        let got = Guard::new(options.listen, &options)
            .check(&headers)
            .map_or_else(|r| r.status().as_u16(), |()| 200);
        assert_eq!(got, expect, "{lines:?}");
    }

    #[test]
    fn hosts() {
        let token = ("authorization", concat!("Bearer ", "0123456789abcdef0123456789abcdef"));
        for host in ["localhost:8999", "127.0.0.1", "[::1]:8999", "LOCALHOST", "box.example"] {
            check(&[("host", host), token], 200);
        }
        for host in
            ["evil.example", "127.0.0.1.evil.example", "localhost:8999:1", "localhost@evil", "", "[::1]x"]
        {
            check(&[("host", host), token], 403);
        }
        check(&[token], 403);
        check(&[("host", "localhost"), ("host", "localhost"), token], 403);
    }

    #[test]
    fn origins() {
        let good = [("host", "localhost:8999"), ("authorization", "bearer 0123456789abcdef0123456789abcdef")];
        let with = |origin| [good[0], good[1], ("origin", origin)];
        check(&with("http://localhost:8999"), 200);
        check(&with("http://127.0.0.1:8999"), 200);
        for origin in [
            "null",
            "http://evil.example",
            "http://localhost:3000",
            "http://localhost",
            "file://",
            "localhost:8999",
        ] {
            check(&with(origin), 403);
        }
        check(
            &[good[0], good[1], ("origin", "http://localhost:8999"), ("origin", "http://localhost:8999")],
            403,
        );
    }

    #[test]
    fn tokens() {
        let host = ("host", "localhost");
        check(&[host], 401);
        for wrong in [
            "Bearer",
            "Bearer ",
            "Bearer 0123456789abcdef0123456789abcdee",
            "Basic 0123456789abcdef0123456789abcdef",
        ] {
            check(&[host, ("authorization", wrong)], 401);
        }
    }
}
