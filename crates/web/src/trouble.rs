//! Why a page was not read, in words, and what to try next.

use std::time::Duration;

/// Why a page was not read.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// It lies where requests do not go.
    #[error("{address} is not fetched: {why}")]
    Refused {
        /// The address.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// It answered with another status than success.
    #[error("{address} answered {status}{wait}")]
    Status {
        /// The address.
        address: String,
        /// The number.
        status: u16,
        /// How long to wait, if it said so; in words.
        wait: String,
    },
    /// It took too long.
    #[error("{address} was not read within {}s", .after.as_secs())]
    Late {
        /// The address.
        address: String,
        /// How long it was given.
        after: Duration,
    },
    /// It led on and on.
    #[error("{address} redirects more than {most} times")]
    Circle {
        /// The address that was asked for.
        address: String,
        /// How many were followed.
        most: usize,
    },
    /// The name, the connection or the answer is broken.
    #[error("{address} cannot be read: {why}")]
    Broken {
        /// The address.
        address: String,
        /// What happened.
        why: String,
    },
    /// A search was answered with something else than results.
    #[error("{provider} blocked this search: {why}")]
    Blocked {
        /// Who.
        provider: &'static str,
        /// What came instead.
        why: String,
    },
}

impl Trouble {
    /// What to try next.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Refused { .. } => {
                "only public addresses are fetched; a person can allow a host with `[network] allow_hosts` in their \
                 own tectum.toml"
            }
            Self::Status { status: 401 | 403 | 407, .. } => {
                "it wants a login or keeps programs out; no credentials are ever sent"
            }
            Self::Status { status: 404 | 410, .. } => "look for the right address with web_search",
            Self::Status { status: 429 | 503, .. } => "wait before trying it again",
            Self::Status { .. } | Self::Broken { .. } => "check the address, or try another source",
            Self::Late { .. } => "try again later, or another source",
            Self::Circle { .. } => "fetch the address it leads to",
            Self::Blocked { provider: "DuckDuckGo", .. } => {
                "that is not the same as no results; a person can name a SearXNG server with `[network] searxng` in \
                 their own tectum.toml, or wait a while"
            }
            Self::Blocked { .. } => {
                "that is not the same as no results; the server must be up and list `json` under `search.formats`"
            }
        })
    }
}
