//! What every provider gives and needs: hits, and a download that is either an answer or a block.

use serde::Serialize;

use crate::{Download, Fetched, Fetcher, Format, PageUrl, Trouble};

/// More would be read by nobody, and the query can be made better.
pub(super) const MOST_HITS: usize = 5;
/// What is kept of a title and of a snippet, in characters.
pub(super) const MOST_TITLE: usize = 200;
pub(super) const MOST_SNIPPET: usize = 500;

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

/// The download, or that somebody stands in the way.
pub(super) async fn get(
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
pub(super) fn raw(provider: &'static str, download: Download) -> Result<String, Trouble> {
    let text = download.page(Format::Raw)?.text;
    text.ok_or_else(|| Trouble::Blocked {
        provider,
        why: "it answered with something that is no text".into(),
    })
}

/// Words in one line, and not too many.
pub(super) fn line(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
