//! `tectum log list`: the sessions.

use clap::Args;
use serde_json::{Value, json};
use tectum_journal::{
    index::SessionRow,
    report::{client, took},
    when::{self, Span},
};

use super::{
    super::{
        failure::Failure,
        screen::{Colour, Screen, counted, harmless},
    },
    record::{RecordPlace, between, columns, fitted, is_empty, time},
};

/// List the sessions, the latest first.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Sessions with calls since then: 2h, yesterday, 2026-11-17
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Span>,
    /// Sessions with calls until then
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<Span>,
    /// The most sessions that are shown
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 20)]
    limit: usize,
}

impl List {
    pub(super) fn run(self, record: &RecordPlace, screen: &Screen) -> Result<(), Failure> {
        let (from, to) = between(self.since, self.until);
        let sessions = if is_empty(record)? {
            Vec::new()
        } else {
            record.index(screen)?.sessions(from, to, self.limit.saturating_add(1))?
        };
        let (more, shown) = (sessions.len() > self.limit, &sessions[..sessions.len().min(self.limit)]);
        if screen.json {
            let sessions: Vec<Value> = shown.iter().map(data).collect();
            return screen.print_json(&json!({ "sessions": sessions, "more": more }));
        }
        if shown.is_empty() {
            let what = if from == 0 && to == u64::MAX {
                "no calls were recorded here yet"
            } else {
                "no sessions then"
            };
            return screen.print(what);
        }
        let mut text = table(shown, screen);
        if more {
            text.push_str(&screen.paint(Colour::Dim, "there are more: -n COUNT shows them"));
        }
        screen.print(&text)
    }
}

/// The columns that the table needs with whole dates.
const WIDE: usize = 96;

fn table(sessions: &[SessionRow], screen: &Screen) -> String {
    let names =
        sessions.iter().map(|row| row.session.chars().count()).max().unwrap_or(0).max("SESSION".len());
    let clients = sessions.iter().map(|row| client(&row.door, &row.client).chars().count());
    let columns = columns();
    let (began, widest): (fn(u64) -> String, _) =
        if columns < WIDE { (when::short, 11) } else { (when::shown, 24) };
    let clients = clients.max().unwrap_or(0).clamp("CLIENT".len(), widest);
    let dates = began(0).len();
    let head = format!(
        "{:<names$}  {:<dates$}  {:<clients$}  {:>6}  {:>6}  {:>9}  {:>7}",
        "SESSION", "BEGAN", "CLIENT", "CALLS", "ERRORS", "TIME", "TOKENS"
    );
    let mut text = format!("{}\n", screen.paint(Colour::Bold, &head));
    for row in sessions {
        let total = &row.total;
        let errors = format!("{:>6}", total.failed);
        let errors = if total.failed > 0 { screen.paint(Colour::Red, &errors) } else { errors };
        text.push_str(&format!(
            "{:<names$}  {:<dates$}  {:<clients$}  {:>6}  {errors}  {:>9}  {:>7}\n",
            harmless(&row.session),
            began(row.first),
            fitted(&client(&row.door, &row.client), clients),
            total.calls,
            took(total.took),
            total.tokens_in + total.tokens_out,
        ));
    }
    let calls: u64 = sessions.iter().map(|row| row.total.calls).sum();
    let sum = format!("{}, {}", counted(sessions.len() as u64, "session"), counted(calls, "call"));
    text + &screen.paint(Colour::Dim, &sum) + "\n"
}

/// A session as data.
pub(super) fn data(row: &SessionRow) -> Value {
    let total = &row.total;
    json!({
        "session": row.session,
        "door": row.door,
        "client": row.client,
        "first": when::rfc3339(row.first),
        "last": when::rfc3339(row.last),
        "calls": total.calls,
        "errors": total.failed,
        "took_us": total.took,
        "tokens_in": total.tokens_in,
        "tokens_out": total.tokens_out,
    })
}
