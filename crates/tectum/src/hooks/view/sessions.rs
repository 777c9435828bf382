//! The screen *Sessions*: their list, and one of them with its calls, tools and files.

use std::{collections::BTreeMap, io};

use axum::{
    Json,
    extract::{Path, State, rejection::PathRejection},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tectum_core::Fault;
use tectum_journal::{
    Entry,
    index::{Hit, Index, Query, SessionRow, Term},
};
use utoipa::IntoParams;

use super::{
    super::{hooked::Hooks, refusal::Refusal},
    query::{Wanted, cursor, name},
    records,
};

/// Sessions of a page, if nobody says how many, and the most.
const USUAL: usize = 100;
const MOST: usize = 1000;
/// The calls of a session that are told, the last ones.
const MOST_CALLS: usize = 5000;

/// Which sessions.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(in super::super) struct SessionsWanted {
    /// Only older ones than this cursor.
    before: Option<String>,
    /// How many, at most 1000.
    limit: Option<usize>,
    /// A part of the name, the client or the door; or words that a call of it has.
    q: Option<String>,
}

/// Sessions, the latest first
#[utoipa::path(get, path = "/api/console/sessions", params(SessionsWanted), responses(
    (status = 200, description = "A page of sessions, and the cursor of the next", body = Value),
    (status = 400, description = "A parameter cannot be read", body = super::super::refusal::Refused),
    (status = 409, description = "The journal cannot be read", body = super::super::refusal::Refused),
))]
pub(in super::super) async fn list(
    State(hooks): State<Hooks>,
    Wanted(wanted): Wanted<SessionsWanted>,
) -> Result<Json<Value>, Refusal> {
    let before = wanted.before.as_deref().map(place).transpose()?;
    let limit = wanted.limit.unwrap_or(USUAL).clamp(1, MOST);
    let text = wanted.q.unwrap_or_default().trim().to_owned();
    let page = records::ask(&hooks, move |index| {
        let before = before.as_ref().map(|(last, name)| (*last, name.as_str()));
        let mut rows = index.sessions_before(before, &text, limit + 1)?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(|row| format!("{}.{}", row.last, row.session));
        let by_words = if text.is_empty() { Vec::new() } else { having(index, &text)? };
        let news = by_words.into_iter().filter(|found| !rows.iter().any(|row| row.session == found.session));
        let all: Vec<SessionRow> = rows.iter().cloned().chain(news).collect();
        Ok(json!({ "sessions": all.iter().map(records::session).collect::<Vec<_>>(), "next": next }))
    });
    Ok(Json(page.await?.unwrap_or_else(|| json!({ "sessions": [], "next": null }))))
}

/// The sessions of the newest calls that have these words.
fn having(index: &mut Index, text: &str) -> io::Result<Vec<SessionRow>> {
    let terms = Term::all(text);
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let query = Query { terms, ..Query::default() };
    let mut names: Vec<String> = Vec::new();
    for hit in index.search(&query, USUAL)?.hits {
        if !names.contains(&hit.entry.session) {
            names.push(hit.entry.session);
        }
    }
    let mut found = Vec::new();
    for name in names {
        found.extend(index.sessions_named(&name)?.into_iter().filter(|row| row.session == name));
    }
    Ok(found)
}

fn place(text: &str) -> Result<(u64, String), Fault> {
    let (last, name) = text.split_once('.').unwrap_or((text, ""));
    Ok((cursor(last)?, name.to_owned()))
}

/// One session with its calls, tools and files
#[utoipa::path(get, path = "/api/console/sessions/{name}", params(("name" = String, Path, description = "Its name")),
    responses(
        (status = 200, description = "The session", body = Value),
        (status = 404, description = "There is no such session", body = super::super::refusal::Refused),
        (status = 409, description = "The journal cannot be read", body = super::super::refusal::Refused),
    ),
)]
pub(in super::super) async fn one(
    State(hooks): State<Hooks>,
    name_given: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Refusal> {
    let named = name(name_given)?;
    let wanted = named.clone();
    let told = records::ask(&hooks, move |index| {
        let found = index.sessions_named(&wanted)?.into_iter().find(|row| row.session == wanted);
        found.map(|row| whole(index, &row)).transpose()
    });
    Ok(Json(told.await?.flatten().ok_or_else(|| unknown(&named))?))
}

pub(super) fn unknown(name: &str) -> Fault {
    Fault::not_found(format!("no session is called {name}")).hint("/api/console/sessions lists them")
}

fn whole(index: &mut Index, row: &SessionRow) -> io::Result<Value> {
    let totals = index.by_tool(0, u64::MAX, Some(&row.session))?;
    // The last ones: a session may have millions.
    let query = Query { sessions: vec![row.session.clone()], ..Query::default() };
    let found = index.search(&query, MOST_CALLS)?.hits;
    let left_out = row.total.calls.saturating_sub(found.len() as u64);
    let (mut calls, mut files) = (Vec::new(), BTreeMap::<String, [u64; 2]>::new());
    for Hit { entry, .. } in found.iter().rev() {
        calls.push(short(entry));
        // What was refused touched nothing.
        let kind = usize::from(entry.effect.as_deref() == Some("read"));
        entry.paths.iter().for_each(|path| files.entry(path.clone()).or_default()[kind] += 1);
    }
    let tools: Vec<Value> = totals
        .iter()
        .map(|total| {
            json!({
                "tool": total.name,
                "calls": total.calls,
                "failed": total.failed,
                "tokens_in": total.tokens_in,
                "tokens_out": total.tokens_out,
                "took_ms": total.took as f64 / 1000.0,
            })
        })
        .collect();
    let files: Vec<Value> = files
        .iter()
        .map(|(path, [changes, reads])| json!({ "path": path, "changes": changes, "reads": reads }))
        .collect();
    let mut told = records::session(row);
    told["calls_total"] = told["calls"].take();
    told["calls"] = json!(calls);
    told["left_out"] = json!(left_out);
    told["tools"] = json!(tools);
    told["files"] = json!(files);
    Ok(told)
}

fn short(entry: &Entry) -> Value {
    let mut row = records::row(entry);
    if let Some(members) = row.as_object_mut() {
        members.retain(|name, _| ["call", "tool", "at", "took_ms", "ok", "subject"].contains(&name.as_str()));
    }
    row
}
