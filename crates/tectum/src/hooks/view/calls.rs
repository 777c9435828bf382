//! The screen *Activity*: calls as a list that is read a page at a time.

use std::io;

use axum::{Json, extract::State};
use serde::Deserialize;
use serde_json::{Value, json};
use tectum_core::Fault;
use tectum_journal::index::{self, Hit, Index, Term};
use utoipa::IntoParams;

use super::{
    super::{hooked::Hooks, refusal::Refusal},
    query::{Wanted, cursor, stretch},
    records,
};

/// Calls of a page, if nobody says how many, and the most.
const USUAL: usize = 200;
const MOST: usize = 1000;
/// Calls that are looked at for a page before it is given as it is.
const LOOKED_AT: usize = 5000;

/// Which calls.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(in super::super) struct CallsWanted {
    /// Only older ones than this cursor.
    before: Option<String>,
    /// Only newer ones than this cursor.
    after: Option<String>,
    /// How many, at most 1000.
    limit: Option<usize>,
    /// The tool; `*` stands for anything.
    tool: Option<String>,
    /// The server of the tool.
    server: Option<String>,
    /// A part of the client's name.
    client: Option<String>,
    /// The whole name of the session.
    session: Option<String>,
    /// `allowed`, `asked`, `denied` or `refused`.
    verdict: Option<String>,
    /// Only those that failed.
    failed: Option<bool>,
    /// Words, beginnings (`conf*`) and `"texts"`.
    q: Option<String>,
    /// Since when: `2h`, `yesterday`, `2026-11-17`.
    since: Option<String>,
    /// Until when.
    until: Option<String>,
}

/// Calls, the newest first
#[utoipa::path(get, path = "/api/console/calls", params(CallsWanted), responses(
    (status = 200, description = "A page of calls, and the cursor of the next", body = Value),
    (status = 400, description = "A parameter cannot be read", body = super::super::refusal::Refused),
    (status = 409, description = "The journal cannot be read", body = super::super::refusal::Refused),
))]
pub(in super::super) async fn list(
    State(hooks): State<Hooks>,
    Wanted(wanted): Wanted<CallsWanted>,
) -> Result<Json<Value>, Refusal> {
    let search = Search::new(&wanted)?;
    let page = records::ask(&hooks, move |index| search.page(index)).await?;
    Ok(Json(page.unwrap_or_else(|| json!({ "calls": [], "next": null, "total_known": 0 }))))
}

/// What is looked for.
struct Search {
    query: index::Query,
    verdict: Option<String>,
    server: Option<String>,
    limit: usize,
    /// True if nothing is left out.
    is_all: bool,
}

impl Search {
    fn new(wanted: &CallsWanted) -> Result<Self, Fault> {
        let list = |text: &Option<String>| text.clone().into_iter().filter(|text| !text.is_empty()).collect();
        let (from, to) = stretch(wanted.since.as_deref(), wanted.until.as_deref())?;
        let before = wanted.before.as_deref().map(cursor).transpose()?;
        let after = wanted.after.as_deref().map(cursor).transpose()?;
        let verdict = wanted.verdict.clone().filter(|text| !text.is_empty());
        let server = wanted.server.clone().filter(|text| !text.is_empty());
        let mut tools: Vec<String> = list(&wanted.tool);
        if tools.is_empty() {
            tools.extend(server.iter().map(|server| format!("{server}__*")));
        }
        let verdicts = match verdict.as_deref() {
            None | Some("allowed" | "refused") => Vec::new(),
            Some("asked" | "denied") => vec!["ask".to_owned()],
            Some(other) => {
                return Err(Fault::invalid(format!("there is no verdict `{other}`"))
                    .hint("write allowed, asked, denied or refused"));
            }
        };
        let query = index::Query {
            terms: wanted.q.as_deref().map(Term::all).unwrap_or_default(),
            tools,
            sessions: list(&wanted.session),
            clients: list(&wanted.client),
            failed: wanted.failed == Some(true) || matches!(verdict.as_deref(), Some("denied" | "refused")),
            verdicts,
            from: Some(after.map_or(from, |after| from.max(after.saturating_add(1)))),
            to: Some(before.map_or(to, |before| to.min(before))),
            oldest_first: after.is_some() && before.is_none(),
            ..index::Query::default()
        };
        let is_all = [&wanted.q, &wanted.tool, &wanted.client, &wanted.session, &wanted.since, &wanted.until]
            .iter()
            .all(|text| text.as_ref().is_none_or(|text| text.is_empty()))
            && verdict.is_none()
            && server.is_none()
            && !query.failed;
        let limit = wanted.limit.unwrap_or(USUAL).clamp(1, MOST);
        Ok(Self { query, verdict, server, limit, is_all })
    }

    fn fits(&self, row: &Value) -> bool {
        let is = |member: &str, wanted: &Option<String>| {
            wanted.as_ref().is_none_or(|wanted| row[member] == wanted.as_str())
        };
        is("verdict", &self.verdict) && is("server", &self.server)
    }

    fn page(mut self, index: &mut Index) -> io::Result<Value> {
        let total = if self.is_all { Some(index.calls_known()?) } else { None };
        let (mut rows, mut looked_at, mut next) = (Vec::new(), 0, None);
        loop {
            let found = index.search(&self.query, self.limit - rows.len())?;
            for Hit { entry, at, .. } in &found.hits {
                looked_at += 1;
                next = Some(*at);
                let row = records::row(entry);
                if self.fits(&row) {
                    rows.push(row);
                }
            }
            if !found.more || found.hits.is_empty() {
                next = None;
                break;
            }
            if rows.len() >= self.limit || looked_at >= LOOKED_AT {
                break;
            }
            if self.query.oldest_first {
                self.query.from = next.map(|at| at + 1);
            } else {
                self.query.to = next;
            }
        }
        if self.query.oldest_first {
            rows.reverse();
        }
        let next = next.map(|at| at.to_string());
        Ok(json!({ "calls": rows, "next": next, "total_known": total }))
    }
}
