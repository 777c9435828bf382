//! Searching the web: one question, a few answers, and who gave them.

mod duckduckgo;
mod searxng;

use std::sync::Arc;

use serde::Serialize;

use crate::{Download, Egress, Fetched, Fetcher, Format, PageUrl, Trouble};

/// More would be read by nobody, and the query can be made better.
const MOST_HITS: usize = 5;
/// What is kept of a title and of a snippet, in characters.
const MOST_TITLE: usize = 200;
const MOST_SNIPPET: usize = 500;

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

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchAnswer {
    /// Who answered.
    pub provider: &'static str,
    /// The best first.
    pub hits: Vec<Hit>,
}

/// One page that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// Its title.
    pub title: String,
    /// Where it really lies.
    pub url: PageUrl,
    /// A few words of it.
    pub snippet: String,
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

/// The download, or that somebody stands in the way.
async fn get(
    fetcher: &Fetcher,
    provider: &'static str,
    url: &PageUrl,
    accept: &str,
) -> Result<Download, Trouble> {
    let blocked = |why: String| Err(Trouble::Blocked { provider, why });
    match fetcher.get(url, accept).await {
        Ok(Fetched::Page(download)) if download.status == 200 => Ok(download),
        Ok(Fetched::Page(download)) => blocked(format!("it answered {}", download.status)),
        Ok(Fetched::Elsewhere { to, .. }) => blocked(format!("it redirects to {to}")),
        Err(Trouble::Status { status, wait, .. }) => blocked(format!("it answered {status}{wait}")),
        Err(other) => Err(other),
    }
}

/// The text of it as it came.
fn raw(provider: &'static str, download: Download) -> Result<String, Trouble> {
    let text = download.page(Format::Raw)?.text;
    text.ok_or_else(|| Trouble::Blocked {
        provider,
        why: "it answered with something that is no text".into(),
    })
}

/// Words in one line, and not too many.
fn line(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
