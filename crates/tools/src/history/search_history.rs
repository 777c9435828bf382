//! `search_history`: finds earlier calls of this session in the journal, also those that a model has
//! forgotten since.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{Card, Ctx, Fault, FaultKind, Reply, Subject, Tool, ToolRole, Wants};
use tectum_journal::{
    Entry, History,
    index::{Query, Term},
    report, when,
};

use crate::cards::READS;

/// Calls that are listed unless another number is asked for, and at most.
const USUAL: usize = 20;
const MOST: usize = 100;
/// Characters of a hit's line.
const LINE: usize = 200;

/// Searches the journal.
#[derive(Clone, Debug)]
pub struct SearchHistory {
    history: History,
}

impl SearchHistory {
    /// In this record.
    pub fn new(history: History) -> Self {
        Self { history }
    }
}

/// Find earlier calls by words in arguments and results, newest first; with call_id one call whole.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    #[serde(default)]
    query: String,
    /// Show this call.
    #[serde(default)]
    #[schemars(with = "String")]
    call_id: Option<String>,
    /// A tool; * matches any.
    #[serde(default)]
    #[schemars(with = "String")]
    tool: Option<String>,
    /// A file or folder.
    #[serde(default)]
    #[schemars(with = "String")]
    path: Option<String>,
    /// As in 2h, yesterday.
    #[serde(default)]
    #[schemars(with = "String")]
    since: Option<String>,
    /// Only errors.
    #[serde(default)]
    failed: bool,
    /// Search other sessions too.
    #[serde(default)]
    all_sessions: bool,
    #[serde(default)]
    #[schemars(with = "usize")]
    limit: Option<usize>,
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The calls.
    pub calls: Vec<PastCall>,
    /// True if there are more.
    pub more: bool,
}

/// An earlier call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PastCall {
    /// Its id.
    pub call_id: String,
    /// When it began, in UTC.
    pub at: String,
    /// Its session.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// `ok`, `failed`, `denied` or `fault`.
    pub outcome: String,
    /// The line that it was found by; the whole result where one call was asked for.
    pub text: String,
}

impl Tool for SearchHistory {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card {
        name: "search_history",
        title: "Search history",
        primary: "query",
        max_output: 48 * 1024,
        role: ToolRole::Alias,
        ..READS
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants { subject: Subject::Text(args.query.clone()), paths: Vec::new() }
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        let history = self.history.clone();
        ctx.blocking(move |ctx| match &args.call_id {
            Some(call) => one(&history, ctx, call),
            None => search(&history, ctx, &args),
        })
        .await
    }
}

fn search(history: &History, ctx: &Ctx, args: &Args) -> Result<Reply<Output>, Fault> {
    if args.all_sessions && !history.other_sessions() {
        return Err(Fault::new(FaultKind::Permission, "other sessions may not be searched here").hint(
            "leave `all_sessions` out; a person allows it with `[journal] other_sessions = true` in their own settings",
        ));
    }
    let since = match &args.since {
        None => None,
        Some(text) => Some(
            when::span_now(text)
                .ok_or_else(|| Fault::invalid(format!("`since`: `{text}` is no time")).hint(when::FORMS))?,
        ),
    };
    let terms = Term::all(&args.query);
    let query = Query {
        terms: terms.clone(),
        tools: args.tool.iter().cloned().collect(),
        paths: args.path.iter().cloned().collect(),
        failed: args.failed,
        from: since.map(|span| span.from),
        // What was looked for before would be found first.
        without: (args.tool.as_deref() != Some(SearchHistory::CARD.name))
            .then(|| SearchHistory::CARD.name.to_owned()),
        ..Query::default()
    };
    let most = args.limit.unwrap_or(USUAL).clamp(1, MOST);
    let found = history.search(query, &ctx.session, args.all_sessions, most).map_err(unreadable)?;
    let calls: Vec<PastCall> =
        found.hits.iter().map(|hit| past(&hit.entry, hit.excerpt(&terms, LINE))).collect();
    let mut text = String::new();
    for PastCall { call_id, at, tool, outcome, text: line, .. } in &calls {
        let _ = writeln!(text, "{call_id}  {at}  {tool}  {outcome}\n    {line}");
    }
    match (calls.is_empty(), found.more) {
        (true, _) => text.push_str("No call fits."),
        (_, true) => text.push_str("There are more: narrow it down, or raise `limit`."),
        _ => {}
    }
    Ok(Reply::new(text, Output { calls, more: found.more }))
}

/// One call, with its arguments and its result.
fn one(history: &History, ctx: &Ctx, call: &str) -> Result<Reply<Output>, Fault> {
    let entry = history.call(call, &ctx.session).map_err(unreadable)?.ok_or_else(|| {
        Fault::not_found(format!("no call {call} of this session is recorded"))
            .hint("search with words first; the hits begin with their ids")
    })?;
    let result = report::result_text(&entry.ending);
    let head = format!("{}  {}  {}\n{}\n", entry.id, entry.tool, report::outcome(&entry), entry.args.get());
    let room = ctx.max_output.saturating_sub(head.len() + 64);
    let shown = &result[..result.floor_char_boundary(room.min(result.len()))];
    let cut = result.len() - shown.len();
    let more = if cut > 0 { format!("\n[{cut} more bytes]") } else { String::new() };
    let text = format!("{head}{shown}{more}");
    let output = Output { calls: vec![past(&entry, shown.to_owned())], more: cut > 0 };
    Ok(Reply::new(text, output))
}

fn past(entry: &Entry, text: String) -> PastCall {
    PastCall {
        call_id: entry.id.clone(),
        at: when::rfc3339(entry.began),
        session: entry.session.clone(),
        tool: entry.tool.clone(),
        outcome: report::outcome(entry).to_owned(),
        text,
    }
}

fn unreadable(error: std::io::Error) -> Fault {
    Fault::internal(format!("the record could not be searched: {error}"))
}
