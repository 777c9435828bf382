//! Where a request may go: the address that is connected is the address that was judged.
//!
//! A name is looked up once, by the resolver that the connection itself uses, and only what passed goes on to
//! it. An IP address in a URL never reaches a resolver and is judged there. A host that the user allowed has a
//! way of its own, so nothing is shared between the two.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    str::FromStr,
    sync::Arc,
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Host;

use crate::{PageUrl, Trouble, machine, why_not_public};

/// A host, and perhaps a port of it, that a user allows whatever its address is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost {
    host: Host,
    port: Option<u16>,
}

impl FromStr for AllowedHost {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let broken =
            || format!("`{text}` is not a host; write \"wiki.example\", \"localhost:3000\" or \"[::1]:80\"");
        if text.contains(['/', '@', '*', '?', '#', '\\', ' ']) {
            return Err(broken());
        }
        // A bare IPv6 address has colons of its own.
        let bare = text.parse::<std::net::Ipv6Addr>().is_ok();
        let url = format!("http://{}/", if bare { format!("[{text}]") } else { text.to_owned() });
        let url: PageUrl = url.parse().map_err(|_| broken())?;
        let said = !bare && text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        Ok(Self { host: url.host().to_owned(), port: said.then(|| url.port()) })
    }
}

impl AllowedHost {
    /// Where a page lies, and nothing else.
    pub(crate) fn of(url: &PageUrl) -> Self {
        Self { host: url.host().to_owned(), port: Some(url.port()) }
    }

    fn is_for(&self, url: &PageUrl) -> bool {
        self.host == url.host().to_owned() && self.port.is_none_or(|port| port == url.port())
    }
}

/// Addresses on their way.
pub(crate) type Found = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// The rules of one fetcher.
#[derive(Clone)]
pub struct Egress {
    allowed: Vec<AllowedHost>,
    /// What an address is, if requests do not go there.
    unfit: fn(IpAddr) -> Option<&'static str>,
    lookup: fn(String) -> Found,
}

/// Which of two ways a request takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Every address is judged.
    Judged,
    /// The user allowed the host.
    Allowed,
}

impl Egress {
    /// Public addresses, and these hosts whatever their address is.
    pub fn new(allowed: Vec<AllowedHost>) -> Self {
        Self { allowed, unfit, lookup }
    }

    /// The same, and one more page's host and port.
    pub(crate) fn and(mut self, url: &PageUrl) -> Self {
        self.allowed.push(AllowedHost::of(url));
        self
    }

    /// Which way a request for this page goes, if any. A name that is not allowed is judged when it is
    /// looked up.
    pub(crate) fn way(&self, url: &PageUrl) -> Result<Way, Trouble> {
        let refused = |why: String| Trouble::Refused { address: url.to_string(), why };
        if self.allowed.iter().any(|allowed| allowed.is_for(url)) {
            if machine::is_own_port(url.port()) {
                return Err(refused("Tectum itself listens on that port".into()));
            }
            return Ok(Way::Allowed);
        }
        let literal: Option<IpAddr> = match url.host() {
            Host::Domain(_) => None,
            Host::Ipv4(ip) => Some(ip.into()),
            Host::Ipv6(ip) => Some(ip.into()),
        };
        match literal.and_then(self.unfit) {
            Some(why) => Err(refused(format!("its host is {why}"))),
            None => Ok(Way::Judged),
        }
    }

    /// The addresses of a name that may be connected.
    pub(crate) async fn addresses(&self, name: &str, way: Way) -> Result<Vec<SocketAddr>, NoWay> {
        let mut found = (self.lookup)(name.to_owned()).await.map_err(NoWay::Unknown)?;
        let Some(first) = found.first().copied() else {
            return Err(NoWay::Unknown(io::Error::other("the name has no address")));
        };
        if way == Way::Judged {
            // What is left of a name with addresses of both kinds is public, and nothing else is connected.
            found.retain(|address| (self.unfit)(address.ip()).is_none());
            if found.is_empty() {
                let why = (self.unfit)(first.ip()).unwrap_or_default();
                return Err(NoWay::Refused(format!("its host resolves to {}, {why}", first.ip())));
            }
        }
        Ok(found)
    }
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Egress").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

fn unfit(ip: IpAddr) -> Option<&'static str> {
    why_not_public(ip).or_else(|| machine::is_of_this_machine(ip).then_some("an address of this machine"))
}

fn lookup(name: String) -> Found {
    Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) })
}

/// Why a name leads nowhere.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoWay {
    #[error("{0}")]
    Refused(String),
    #[error("its host is not known: {0}")]
    Unknown(io::Error),
}

/// The resolver of one way's connections.
pub(crate) struct JudgingResolver {
    pub(crate) egress: Arc<Egress>,
    pub(crate) way: Way,
    /// Names of the proxies that the user chose; they usually have a private address.
    pub(crate) proxies: Vec<String>,
}

impl Resolve for JudgingResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (egress, mut way) = (self.egress.clone(), self.way);
        if self.proxies.iter().any(|proxy| proxy.eq_ignore_ascii_case(name.as_str())) {
            way = Way::Allowed;
        }
        Box::pin(async move {
            let found = egress.addresses(name.as_str(), way).await?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
impl Egress {
    /// For tests of this crate alone: loopback counts as public, and names are looked up in a table.
    pub(crate) fn to_test_servers(
        unfit: fn(IpAddr) -> Option<&'static str>,
        lookup: fn(String) -> Found,
    ) -> Self {
        Self { allowed: Vec::new(), unfit, lookup }
    }
}

#[cfg(test)]
#[path = "egress_tests.rs"]
mod tests;
