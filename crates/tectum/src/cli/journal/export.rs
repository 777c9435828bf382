//! `tectum log export`: calls for other programs and for people.

use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use tectum::Fault;
use tectum_journal::{
    Entry,
    index::{Index, Query, SessionRow},
    report,
    when::Span,
};

use super::{
    super::{failure::Failure, screen::Screen},
    bar::Bar,
    otel,
    record::{RecordPlace, between, session, time},
};

/// Calls that are read before they are written.
const PAGE: usize = 1_000;

/// Write calls as JSON lines, as a Markdown report or as OpenTelemetry events.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The session: its name, the beginning of it, or `last`; all sessions without one
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    /// The format: one record a line, a report, or OTLP/JSON log records with the GenAI names
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    format: Format,
    /// Calls since then: 2h, yesterday, 2026-11-17
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Span>,
    /// Calls until then
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<Span>,
    /// Write to this new file, for you alone, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What calls are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Jsonl,
    Markdown,
    Otel,
}

impl Export {
    pub(super) fn run(self, record: &RecordPlace, screen: &Screen) -> Result<(), Failure> {
        let mut index = record.index(screen)?;
        let row = match &self.session {
            Some(named) => Some(session(&mut index, named)?),
            None => None,
        };
        match &self.output {
            None => self.write(&mut index, row.as_ref(), io::stdout().lock(), screen),
            Some(path) => {
                let file = new_file(path)?;
                self.write(&mut index, row.as_ref(), file, screen)
            }
        }
    }

    fn write(
        &self,
        index: &mut Index,
        row: Option<&SessionRow>,
        out: impl Write,
        screen: &Screen,
    ) -> Result<(), Failure> {
        let mut out = BufWriter::new(out);
        let mut done = || {
            if self.format == Format::Markdown {
                out.write_all(report::head(row).as_bytes())?;
            }
            self.each(index, row, screen, &mut |entry| match self.format {
                Format::Jsonl => {
                    serde_json::to_writer(&mut out, entry)?;
                    out.write_all(b"\n")
                }
                Format::Markdown => out.write_all(report::call(entry).as_bytes()),
                Format::Otel => writeln!(out, "{}", otel::event(entry)),
            })?;
            out.flush()
        };
        match done() {
            // A reader that left early, such as `head`, is no failure of ours.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Failure::Silent(0)),
            done => Ok(done?),
        }
    }

    /// All calls that are meant, the oldest first, a page at a time.
    fn each(
        &self,
        index: &mut Index,
        row: Option<&SessionRow>,
        screen: &Screen,
        write: &mut dyn FnMut(&Entry) -> io::Result<()>,
    ) -> io::Result<()> {
        let (from, to) = between(self.since, self.until);
        let sessions = row.iter().map(|row| row.session.clone()).collect();
        let mut query =
            Query { sessions, from: Some(from), to: Some(to), oldest_first: true, ..Query::default() };
        let total = match row {
            Some(row) => row.total.calls,
            None => index.by_tool(from, to, None)?.iter().map(|total| total.calls).sum(),
        };
        let (mut bar, mut done) = (Bar::new("writing", screen), 0);
        loop {
            let found = index.page(&query, PAGE)?;
            for entry in &found.entries {
                write(entry)?;
                done += 1;
                bar.show(done, total);
            }
            match found.next {
                Some(next) => query.from = Some(next),
                None => return Ok(()),
            }
        }
    }
}

/// A new file for its owner. One that is there is not written over.
fn new_file(path: &Path) -> Result<std::fs::File, Failure> {
    tectum_state::create(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Fault::conflict(format!("{} is there already", path.display())).hint("name a new file").into()
        }
        _ => Fault::invalid(format!("{}: {error}", path.display())).into(),
    })
}
