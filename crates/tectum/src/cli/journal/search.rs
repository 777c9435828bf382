//! `tectum log search`: calls by words and filters.

use clap::Args;
use serde_json::{Value, json};
use tectum::Fault;
use tectum_journal::{
    index::{Hit, Index, Query, Term},
    report::client,
    when::{self, Span},
};

use super::{
    super::{
        failure::Failure,
        progress::one_line,
        screen::{Colour, Screen},
    },
    bar::Bar,
    record::{RecordPlace, between, columns, outcome, session, time},
};

/// Find calls by words, tool, path, session, client, verdict and time.
#[derive(Debug, Args)]
#[command(after_help = "\
Words are looked for in the names of tools, paths, arguments and results, whatever their case; all of
them must be there. A word* stands for every word that begins so, and \"a text in quotation marks\" must
stand there as it is.

Examples:
  tectum log search timeout --since yesterday
  tectum log search --tool edit_file --path src/config
  tectum log search '\"connection refused\"' --failed --since 2h
  tectum log search --verdict deny")]
pub(crate) struct Search {
    /// What to look for
    #[arg(value_name = "WORDS")]
    words: Vec<String>,
    /// Calls of this tool; * stands for anything
    #[arg(long, value_name = "TOOL")]
    tool: Vec<String>,
    /// Calls that touched this file, or something below this folder
    #[arg(long, value_name = "PATH")]
    path: Vec<String>,
    /// Calls of this session: its name, the beginning of it, or `last`
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Calls of clients with this in their name, or of this door (stdio, http, cli, run)
    #[arg(long, value_name = "CLIENT")]
    client: Vec<String>,
    /// Calls with this verdict of the rules
    #[arg(long, value_name = "VERDICT", value_parser = ["allow", "ask", "deny"])]
    verdict: Vec<String>,
    /// Calls that failed
    #[arg(long)]
    failed: bool,
    /// Calls since then: 2h, yesterday, 2026-11-17, 08:30
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Span>,
    /// Calls until then
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<Span>,
    /// The most calls that are shown
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 20)]
    limit: usize,
    /// Make the index anew from the record first
    #[arg(long)]
    rebuild: bool,
}

impl Search {
    pub(super) fn run(self, record: &RecordPlace, screen: &Screen) -> Result<(), Failure> {
        let mut index = if self.rebuild {
            let mut bar = Bar::new("making the index", screen);
            Index::rebuild(&record.folder, &mut |progress| bar.show(progress.done, progress.total))?
        } else {
            record.index(screen)?
        };
        let text = self.words.join(" ");
        let terms = Term::all(&text);
        if terms.is_empty() && !text.trim().is_empty() {
            let fault = Fault::invalid(format!("there is no word in `{text}`"));
            return Err(fault.hint("look for letters or digits").into());
        }
        let (from, to) = between(self.since, self.until);
        let session = match &self.session {
            Some(named) => Some(session(&mut index, named)?.session),
            None => None,
        };
        let query = Query {
            terms,
            tools: self.tool,
            paths: self.path,
            sessions: session.into_iter().collect(),
            clients: self.client,
            verdicts: self.verdict,
            without: None,
            failed: self.failed,
            from: Some(from),
            to: Some(to),
            directory: record.directory(),
            oldest_first: false,
        };
        let found = index.search(&query, self.limit)?;
        if screen.json {
            let calls: Vec<Value> = found.hits.iter().map(|hit| data(hit, &query.terms)).collect();
            return screen.print_json(&json!({ "calls": calls, "more": found.more }));
        }
        if found.hits.is_empty() {
            return screen.print("no call fits");
        }
        let mut out: String = found.hits.iter().map(|hit| shown(hit, &query.terms, screen)).collect();
        if found.more {
            out.push_str(&screen.paint(Colour::Dim, "there are more: -n COUNT shows them"));
        }
        screen.print(&out)
    }
}

/// A hit on two lines: which call, and the line that it was found by. The session is told where there is room.
fn shown(hit: &Hit, terms: &[Term], screen: &Screen) -> String {
    let entry = &hit.entry;
    let (word, colour) = outcome(entry);
    let columns = columns();
    let (tool, client) =
        (one_line(&entry.tool, 40), one_line(&client(&entry.client.door, &entry.client.name), 24));
    // The call's id, the time and the outcome, with the spaces between them all.
    let wide = 18 + 19 + 6 + 5 * 2 + tool.chars().count() + client.chars().count();
    let session = match wide + entry.session.len() <= columns {
        true => format!("  {}", screen.paint(Colour::Dim, &one_line(&entry.session, 60))),
        false => String::new(),
    };
    format!(
        "{}  {}  {}  {}  {client}{session}\n    {}\n",
        screen.paint(Colour::Dim, &entry.id),
        when::shown(entry.began),
        screen.paint(colour, &format!("{word:<6}")),
        screen.paint(Colour::Bold, &tool),
        one_line(&hit.excerpt(terms, columns.saturating_sub(6)), columns.saturating_sub(5)),
    )
}

fn data(hit: &Hit, terms: &[Term]) -> Value {
    let entry = &hit.entry;
    json!({
        "id": entry.id,
        "at": when::rfc3339(entry.began),
        "session": entry.session,
        "client": client(&entry.client.door, &entry.client.name),
        "tool": entry.tool,
        "verdict": entry.verdict.as_ref().map(|verdict| &verdict.judgement),
        "failed": entry.ending.failed(),
        "took_us": entry.took,
        "paths": entry.paths,
        "excerpt": hit.excerpt(terms, 200),
    })
}
