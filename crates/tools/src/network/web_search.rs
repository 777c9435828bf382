//! `web_search`: pages for a query, and who named them.

use std::{fmt::Write as _, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{Card, Ctx, Fault, Reply, Subject, Tool, ToolRole, Wants, World};
use tectum_web::Hit;

use super::{mark::marked, shared::Network, trouble::fault};
use crate::cards::READS;

/// Longer queries are answered by nobody.
const MOST_QUERY: usize = 1_000;

/// Searches.
#[derive(Debug)]
pub struct WebSearch(pub Arc<Network>);

/// Search the web: 5 results with title, URL, snippet.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    query: String,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// Who answered.
    pub provider: &'static str,
    /// The best first; somebody else's words.
    pub results: Vec<Found>,
}

/// One page.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Found {
    /// Its title.
    pub title: String,
    /// Where it lies.
    pub url: String,
    /// A few words of it.
    pub snippet: String,
}

impl From<Hit> for Found {
    fn from(Hit { title, url, snippet }: Hit) -> Self {
        Self { title, url: url.to_string(), snippet }
    }
}

impl Tool for WebSearch {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card {
        name: "web_search",
        title: "Search the web",
        world: World::Open,
        primary: "query",
        max_output: 64 * 1024,
        role: ToolRole::Alias,
        ..READS
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants { subject: Subject::Text(args.query.trim().to_owned()), paths: Vec::new() }
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        let query = args.query.trim();
        if query.is_empty() || query.chars().count() > MOST_QUERY {
            return Err(Fault::invalid(format!("`query` must have 1 to {MOST_QUERY} characters")));
        }
        let answer = tokio::select! {
            answer = self.0.search()?.ask(query) => answer.map_err(fault)?,
            () = ctx.cancel.cancelled() => return Err(ctx.check().err().unwrap_or_else(|| Fault::internal("cancelled"))),
        };
        let provider = answer.provider;
        let results: Vec<Found> = answer.hits.into_iter().map(Found::from).collect();
        if results.is_empty() {
            let text = format!("[{provider} found no results for {query:?}; try other words]");
            return Ok(Reply::new(text, Output { provider, results }));
        }
        let mut words = String::new();
        for (number, Found { title, url, snippet }) in results.iter().enumerate() {
            let _ = writeln!(words, "{}. {title}\n   {url}", number + 1);
            if !snippet.is_empty() {
                let _ = writeln!(words, "   {snippet}");
            }
        }
        let count = results.len();
        let text = format!("[{count} results of {provider} for {query:?}]\n{}", marked(&words));
        Ok(Reply::new(text, Output { provider, results }))
    }
}
