//! The address of a server that is reached over HTTP.

/// True if a url is one that can be reached over HTTP.
pub(super) fn is_address(url: &str) -> bool {
    host_and_port(url).is_some() && url.chars().all(|c| !c.is_whitespace() && !c.is_control())
}

/// The host and the port of an address.
pub(super) fn host_and_port(url: &str) -> Option<(&str, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let usual = match scheme.to_ascii_lowercase().as_str() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let authority = rest.split(['/', '?', '#']).next()?;
    let authority = authority.rsplit('@').next()?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port.parse().ok()?),
        _ => (authority, usual),
    };
    (!host.is_empty()).then_some((host, port))
}
