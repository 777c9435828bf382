//! A SearXNG server, by its JSON. An answer without results counts only if its engines answered.

use serde::Deserialize;
use serde_json::Value;

use super::answer::{Hit, MOST_HITS, MOST_SNIPPET, MOST_TITLE, SearchAnswer, get, line, raw};
use crate::{Fetcher, PageUrl, Trouble};

const NAME: &str = "SearXNG";

#[derive(Deserialize)]
struct Answer {
    results: Vec<Value>,
    #[serde(default)]
    unresponsive_engines: Vec<Value>,
}

pub(super) async fn ask(fetcher: &Fetcher, server: &PageUrl, query: &str) -> Result<SearchAnswer, Trouble> {
    let broken = |why: String| Trouble::Broken { address: server.to_string(), why };
    let mut url = server.url().clone();
    let path = url.path().trim_end_matches('/');
    let path = if path.ends_with("/search") { path.to_owned() } else { format!("{path}/search") };
    url.set_path(&path);
    url.query_pairs_mut().append_pair("q", query).append_pair("format", "json");
    let url: PageUrl = url.as_str().parse().map_err(broken)?;
    let json = raw(NAME, get(fetcher, NAME, &url, "application/json").await?)?;
    Ok(SearchAnswer { provider: NAME, hits: hits(&json)? })
}

fn hits(json: &str) -> Result<Vec<Hit>, Trouble> {
    let blocked = |why: String| Err(Trouble::Blocked { provider: NAME, why });
    let Ok(answer) = serde_json::from_str::<Answer>(json) else {
        return blocked("it answered with something that is not its JSON".into());
    };
    let hits: Vec<Hit> = answer.results.iter().filter_map(hit).take(MOST_HITS).collect();
    if hits.is_empty() && !answer.results.is_empty() {
        return blocked("none of its results has a title and an address".into());
    }
    if hits.is_empty() && !answer.unresponsive_engines.is_empty() {
        let count = answer.unresponsive_engines.len();
        return blocked(format!("{count} of its engines did not answer, and the others found nothing"));
    }
    Ok(hits)
}

fn hit(result: &Value) -> Option<Hit> {
    let title = line(result["title"].as_str()?, MOST_TITLE);
    let url = result["url"].as_str()?.parse().ok()?;
    let snippet = line(result["content"].as_str().unwrap_or_default(), MOST_SNIPPET);
    (!title.is_empty()).then_some(Hit { title, url, snippet })
}
