//! DuckDuckGo's page for browsers without scripts. It has no contract: whatever is neither results nor the
//! sentence that there are none counts as blocked.

use dom_query::Selection;

use super::answer::{Hit, MOST_HITS, MOST_SNIPPET, MOST_TITLE, SearchAnswer, get, line, raw};
use crate::{Fetcher, PageUrl, Trouble, tree};

pub(super) const PAGE: &str = "https://html.duckduckgo.com/html/";
const NAME: &str = "DuckDuckGo";
/// What the page for suspected programs is made of.
const CHALLENGE: &str = "#challenge-form, [class*='anomaly'], form[action*='anomaly']";

pub(super) async fn ask(fetcher: &Fetcher, page: &PageUrl, query: &str) -> Result<SearchAnswer, Trouble> {
    let broken = |why: String| Trouble::Broken { address: page.to_string(), why };
    let mut url = page.url().clone();
    url.query_pairs_mut().append_pair("q", query);
    let url: PageUrl = url.as_str().parse().map_err(broken)?;
    let html = raw(NAME, get(fetcher, NAME, &url, "text/html").await?)?;
    Ok(SearchAnswer { provider: NAME, hits: hits(&html)? })
}

/// The results on a page.
fn hits(html: &str) -> Result<Vec<Hit>, Trouble> {
    let blocked = |why: &str| Err(Trouble::Blocked { provider: NAME, why: why.into() });
    let Some(document) = tree::parse(html, tree::ENOUGH) else {
        return blocked("it answered with a page that cannot be parsed");
    };
    if document.select(CHALLENGE).exists() {
        return blocked("it wants to know whether a person asks");
    }
    let results = document.select(".result:not(.result--ad):not(.result--no-result)");
    let hits: Vec<Hit> = results.iter().filter_map(|result| hit(&result)).take(MOST_HITS).collect();
    let none = document.select(".no-results, .result--no-result").exists();
    if hits.is_empty() && !none {
        return blocked("it answered with a page that has no results and does not say that there are none");
    }
    Ok(hits)
}

fn hit(result: &Selection<'_>) -> Option<Hit> {
    let link = result.select("a.result__a");
    let url = real(&link.attr("href")?)?;
    let title = line(&link.text(), MOST_TITLE);
    let snippet = line(&result.select(".result__snippet").text(), MOST_SNIPPET);
    (!title.is_empty()).then_some(Hit { title, url, snippet })
}

/// The address behind DuckDuckGo's own: its links lead through a page of theirs, and advertisements through
/// another, which is left out.
fn real(href: &str) -> Option<PageUrl> {
    let base: PageUrl = PAGE.parse().ok()?;
    let url = base.join(href).ok()?;
    let theirs = url
        .url()
        .host_str()
        .is_some_and(|host| host == "duckduckgo.com" || host.ends_with(".duckduckgo.com"));
    if !theirs {
        return Some(url);
    }
    let behind = url.url().query_pairs().find(|(name, _)| name == "uddg")?.1.into_owned();
    behind.parse().ok()
}
