//! What the commands share: where the record is, which session is meant, and how a call is shown.

use std::{io, path::PathBuf};

use serde_json::{Value, json};
use tectum::{Config, Fault, journal};
use tectum_journal::{
    Ending, Entry,
    index::{Index, SessionRow},
    report::{self, took},
    segments,
    when::{self, Span},
};

use super::{
    super::{
        failure::Failure,
        options::Shared,
        progress::one_line,
        screen::{Colour, Screen},
    },
    bar::Bar,
};

/// Where the record of this project is.
pub(crate) struct RecordPlace {
    pub(crate) config: Config,
    /// The folder of the journal.
    pub(crate) folder: PathBuf,
}

impl RecordPlace {
    /// As the settings say.
    pub(crate) fn find(shared: &Shared, screen: &Screen) -> Result<Self, Failure> {
        let config = shared.load(Vec::new(), screen)?;
        let folder = journal::directory(&config).ok_or_else(|| {
            Fault::not_found("nothing is recorded here: there is no directory for Tectum's state")
                .hint("set HOME or XDG_STATE_HOME")
        })?;
        Ok(Self { config, folder })
    }

    /// The index, up to date. People see how far it is if that takes longer.
    pub(crate) fn index(&self, screen: &Screen) -> Result<Index, Failure> {
        let mut bar = Bar::new("reading the record", screen);
        Ok(Index::open(&self.folder, &mut |progress| bar.show(progress.done, progress.total))?)
    }

    /// The project's directory by its true name.
    pub(crate) fn directory(&self) -> String {
        tectum::state::canonical(&self.config.directory).display().to_string()
    }
}

/// The session that somebody means: its name, the beginning of it, or `last`, which is the last one of a
/// client and not a call of one's own.
pub(crate) fn session(index: &mut Index, named: &str) -> Result<SessionRow, Failure> {
    let hint = "`tectum log list` shows the sessions";
    let mut found = match named {
        "last" => index.last_session()?.into_iter().collect(),
        named => index.sessions_named(named)?,
    };
    match found.len() {
        1 => Ok(found.remove(0)),
        0 if named == "last" => Err(Fault::not_found("no calls were recorded here yet").into()),
        0 => Err(Fault::not_found(format!("no session is called `{named}`")).hint(hint).into()),
        _ => {
            let names: Vec<&str> = found.iter().take(5).map(|row| row.session.as_str()).collect();
            let fault = Fault::invalid(format!("`{named}` is the beginning of several sessions"));
            Err(fault.hint(format!("write more of it: {}", names.join(", "))).into())
        }
    }
}

/// A stretch of time that somebody wrote.
pub(super) fn time(text: &str) -> Result<Span, String> {
    when::span_now(text).ok_or_else(|| format!("`{text}` is no time: {}", when::FORMS))
}

/// A stretch of time by its options: since when, until when. A day as the end is meant whole.
pub(super) fn between(since: Option<Span>, until: Option<Span>) -> (u64, u64) {
    // `--since yesterday` alone means until now; `--until yesterday` includes that day.
    (since.map_or(0, |span| span.from), until.map_or(u64::MAX, |span| span.to))
}

/// The word for how a call ended, and its colour.
pub(super) fn outcome(entry: &Entry) -> (&'static str, Colour) {
    let word = report::outcome(entry);
    (word, if word == "ok" { Colour::Green } else { Colour::Red })
}

/// A call on one line of so many characters: when, how it ended, how long it took, the tool, its arguments.
pub(super) fn line(entry: &Entry, most: usize, screen: &Screen) -> String {
    let (word, colour) = outcome(entry);
    let told = match &entry.ending {
        Ending::Fault(fault) => format!("{} — {}", fault.message, arguments(entry.args.get())),
        _ => arguments(entry.args.get()),
    };
    let tool = one_line(&entry.tool, 40);
    // The widths of what comes before, and of a sign that something was cut off.
    let rest = most.saturating_sub(8 + 2 + 6 + 2 + 9 + 2 + tool.chars().count() + 2 + 1).max(12);
    let line = format!(
        "{}  {}  {:>9}  {}  {}",
        screen.paint(Colour::Dim, &when::clock(entry.began)),
        screen.paint(colour, &format!("{word:<6}")),
        took(entry.took),
        screen.paint(Colour::Bold, &tool),
        one_line(&told, rest),
    );
    line.trim_end().to_owned()
}

/// Arguments as `tectum call` takes them; others are JSON.
fn arguments(json: &str) -> String {
    let Ok(Value::Object(args)) = serde_json::from_str(json) else { return json.to_owned() };
    let pair = |(key, value): (&String, &Value)| match value {
        Value::String(text) => format!("{key}={text}"),
        value => format!("{key}={value}"),
    };
    args.iter().map(pair).collect::<Vec<_>>().join(" ")
}

/// A call as data: the record itself, with the time as programs read it.
pub(super) fn data(entry: &Entry) -> Value {
    let mut data = serde_json::to_value(entry).unwrap_or_default();
    data["at"] = json!(when::rfc3339(entry.began));
    data["failed"] = json!(entry.ending.failed());
    data
}

/// A name in a column of this width; one that is longer shows that it is cut off.
pub(super) fn fitted(name: &str, width: usize) -> String {
    if name.chars().count() > width { one_line(name, width.saturating_sub(1)) } else { one_line(name, width) }
}

/// The columns of the terminal, for tables that fit. A program may read long lines.
pub(super) fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
    size.filter(|columns| *columns > 0).unwrap_or(240).clamp(40, 240)
}

/// All calls of a session.
pub(crate) fn calls(index: &mut Index, session: &str) -> Result<Vec<Entry>, Failure> {
    Ok(index.calls_of(session)?.collect::<io::Result<Vec<Entry>>>()?)
}

/// Whether anything was recorded at all.
pub(super) fn is_empty(record: &RecordPlace) -> Result<bool, Failure> {
    Ok(segments(&record.folder)?.is_empty())
}
