//! Searching the web: one question, a few answers, and who gave them.

mod answer;
mod duckduckgo;
mod searxng;

use std::sync::Arc;

use crate::{Egress, Fetcher, PageUrl, Trouble};

pub use answer::{Hit, SearchAnswer};

/// A provider of search.
#[derive(Debug)]
pub struct Search {
    provider: Provider,
    fetcher: Arc<Fetcher>,
}

#[derive(Debug)]
enum Provider {
    /// The page that DuckDuckGo has for browsers without scripts, and where it lies.
    DuckDuckGo(PageUrl),
    /// A server of the user's choice.
    SearXng(PageUrl),
}

impl Search {
    /// DuckDuckGo, by the fetcher that pages are fetched with.
    pub fn duckduckgo(fetcher: Arc<Fetcher>) -> Result<Self, String> {
        Ok(Self { provider: Provider::DuckDuckGo(duckduckgo::PAGE.parse()?), fetcher })
    }

    /// A SearXNG server. The user named it, so it may be anywhere; that holds for searches alone.
    pub fn searxng(server: PageUrl, egress: Egress, proxies_from_environment: bool) -> Self {
        let fetcher = Arc::new(Fetcher::new(egress.and(&server), proxies_from_environment));
        Self { provider: Provider::SearXng(server), fetcher }
    }

    /// Asks.
    pub async fn ask(&self, query: &str) -> Result<SearchAnswer, Trouble> {
        match &self.provider {
            Provider::DuckDuckGo(page) => duckduckgo::ask(&self.fetcher, page, query).await,
            Provider::SearXng(server) => searxng::ask(&self.fetcher, server, query).await,
        }
    }
}

#[cfg(test)]
impl Search {
    pub(crate) fn duckduckgo_at(page: PageUrl, fetcher: Arc<Fetcher>) -> Self {
        Self { provider: Provider::DuckDuckGo(page), fetcher }
    }

    pub(crate) fn searxng_at(server: PageUrl, fetcher: Arc<Fetcher>) -> Self {
        Self { provider: Provider::SearXng(server), fetcher }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
