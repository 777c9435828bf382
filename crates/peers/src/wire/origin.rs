//! Addresses on the web: which are taken, which are of one origin, and which are on this machine.

use std::net::IpAddr;

use reqwest::Url;

/// An address somebody wrote.
pub(crate) fn parse(url: &str) -> Result<Url, String> {
    let parsed = Url::parse(url).map_err(|error| format!("`{url}` is no address: {error}"))?;
    match parsed.scheme() {
        "http" | "https" if parsed.has_host() => Ok(parsed),
        _ => Err(format!("`{url}` is neither an http:// nor an https:// address")),
    }
}

/// True when both are of one scheme, host and port.
pub(crate) fn same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin() && one.origin().is_tuple()
}

/// True for an address on this machine.
pub fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let named = host == "localhost" || host.ends_with(".localhost");
    named || address.is_ok_and(|ip| ip.is_loopback())
}
