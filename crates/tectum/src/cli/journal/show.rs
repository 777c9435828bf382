//! `tectum log show`: a session's calls, or one call whole.

use clap::Args;
use serde_json::{Value, json};
use tectum::{Fault, core::CallId};
use tectum_journal::{
    Entry,
    report::{client, pretty, result_text, took},
    when,
};

use super::{
    super::{
        failure::Failure,
        screen::{Colour, Screen, counted, harmless},
    },
    list,
    record::{RecordPlace, calls, columns, data, line, outcome, session},
};

/// Show a session's calls, or one call whole.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// A session (its name, the beginning of it, or `last`: that of the last client) or the id of a call, as
    /// in c-0123456789abcdef
    #[arg(value_name = "SESSION|CALL", default_value = "last")]
    named: String,
    /// Every call whole
    #[arg(long)]
    full: bool,
}

impl Show {
    pub(super) fn run(self, record: &RecordPlace, screen: &Screen) -> Result<(), Failure> {
        let mut index = record.index(screen)?;
        if CallId::parse(&self.named).is_some() {
            let found = index.call(&self.named)?.ok_or_else(|| {
                Fault::not_found(format!("no call {} is recorded here", self.named))
                    .hint("`tectum log search` finds calls; the oldest are removed in time")
            })?;
            return if screen.json {
                screen.print_json(&data(&found.entry))
            } else {
                screen.print(&whole(&found.entry, screen))
            };
        }
        if self.named.starts_with("c-") {
            let fault = Fault::invalid(format!("`{}` is no id of a call", self.named));
            return Err(fault.hint("write it whole, as in c-0123456789abcdef").into());
        }
        let row = session(&mut index, &self.named)?;
        let entries = calls(&mut index, &row.session)?;
        if screen.json {
            let calls: Vec<Value> = entries.iter().map(data).collect();
            let mut told = list::data(&row);
            told["entries"] = json!(calls);
            return screen.print_json(&told);
        }
        let mut text = format!(
            "{}  {}  {}  {}, {}\n",
            screen.paint(Colour::Bold, &harmless(&row.session)),
            when::shown(row.first),
            harmless(&client(&row.door, &row.client)),
            counted(row.total.calls, "call"),
            counted(row.total.failed, "error"),
        );
        let most = columns().saturating_sub("c-0123456789abcdef  ".len());
        for entry in &entries {
            if self.full {
                text.push_str(&format!("\n{}\n", whole(entry, screen)));
            } else {
                text.push_str(&format!(
                    "{}  {}\n",
                    screen.paint(Colour::Dim, &entry.id),
                    line(entry, most, screen)
                ));
            }
        }
        screen.print(&text)
    }
}

/// One call with everything that is known of it.
fn whole(entry: &Entry, screen: &Screen) -> String {
    let (word, colour) = outcome(entry);
    let mut rows: Vec<(&str, String)> = vec![
        ("call", entry.id.clone()),
        ("session", entry.session.clone()),
        ("client", format!("{} {}", client(&entry.client.door, &entry.client.name), entry.client.version)),
        ("began", when::shown(entry.began)),
        ("took", took(entry.took)),
        ("ended", word.to_owned()),
    ];
    if let Some(server) = &entry.server {
        rows.push(("server", server.clone()));
    }
    if let Some(verdict) = &entry.verdict {
        rows.push(("verdict", format!("{}: {}", verdict.judgement, verdict.rule)));
    }
    if let Some(asked) = &entry.asked {
        let by = asked.by.as_deref().unwrap_or("nobody");
        let answer = if asked.approved { "yes" } else { "no" };
        rows.push(("asked", format!("{by} answered {answer} after {}", took(asked.waited))));
        if let Some(before) = &asked.instead_of {
            rows.push(("instead of", before.get().to_owned()));
        }
    }
    if !entry.paths.is_empty() {
        rows.push(("paths", entry.paths.join(", ")));
    }
    if let Some(sandbox) = &entry.sandbox {
        rows.push(("sandbox", sandbox.clone()));
    }
    let size =
        |bytes: u64, tokens: u64| format!("{}, about {}", counted(bytes, "byte"), counted(tokens, "token"));
    rows.push(("in", size(entry.bytes_in, entry.tokens_in)));
    rows.push(("out", size(entry.bytes_out, entry.tokens_out)));
    let mut text =
        format!("{}  {}\n", screen.paint(Colour::Bold, &harmless(&entry.tool)), screen.paint(colour, word));
    for (what, told) in rows {
        text.push_str(&format!("  {what:<8}  {}\n", harmless(told.trim_end())));
    }
    for (what, told) in [
        ("arguments", pretty(entry.args.get())),
        ("directives", entry.directives.as_deref().map(|raw| pretty(raw.get())).unwrap_or_default()),
        ("result", result_text(&entry.ending)),
    ] {
        if !told.is_empty() {
            text.push_str(&format!("{}\n{}\n", screen.paint(Colour::Cyan, what), harmless(&told)));
        }
    }
    text
}
