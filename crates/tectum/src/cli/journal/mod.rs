//! `tectum log`: what was recorded, found and shown. Each command is a file; this one owns their names.

mod bar;
mod export;
mod list;
mod otel;
mod record;
mod search;
mod show;
mod stats;
mod tail;
mod verify;

use clap::Subcommand;
use serde_json::json;

use super::{failure::Failure, options::Shared, screen::Screen};
pub(crate) use record::{RecordPlace, calls, session};

/// Show, search and export the record of calls.
#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// List the sessions, the latest first
    List(list::List),
    /// Show a session's calls, or one call whole
    Show(show::Show),
    /// Show the last calls, and with -f each new one as it ends
    Tail(tail::Tail),
    /// Find calls by words, tool, path, session, client, verdict and time
    Search(search::Search),
    /// Sum up calls, errors, time and tokens by tool and by session
    Stats(stats::Stats),
    /// Write calls as JSON lines, as a Markdown report or as OpenTelemetry events
    Export(export::Export),
    /// Check every record and the chain of hashes
    Verify,
    /// Print the folder of the record
    Path,
}

impl LogCommand {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let record = RecordPlace::find(shared, screen)?;
        match self {
            Self::List(list) => list.run(&record, screen),
            Self::Show(show) => show.run(&record, screen),
            Self::Tail(tail) => tail.run(&record, screen),
            Self::Search(search) => search.run(&record, screen),
            Self::Stats(stats) => stats.run(&record, screen),
            Self::Export(export) => export.run(&record, screen),
            Self::Verify => verify::run(&record, screen),
            Self::Path => {
                let path = record.folder.display().to_string();
                screen.answer(&json!({ "path": path }), &path)
            }
        }
    }
}
