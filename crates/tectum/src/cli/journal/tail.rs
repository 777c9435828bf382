//! `tectum log tail`: the last calls, and each new one as it ends.

use std::{collections::HashMap, io, path::Path, time::Duration};

use clap::Args;
use tectum_journal::{Entry, Piece, Record, index::Query, segments};

use super::{
    super::{failure::Failure, screen::Screen},
    record::{RecordPlace, columns, data, line, session},
};

/// Between two looks for new records.
const PAUSE: Duration = Duration::from_millis(200);

/// Show the last calls, and with -f each new one as it ends.
#[derive(Debug, Args)]
pub(crate) struct Tail {
    /// Go on with each new call until Ctrl-C
    #[arg(short, long)]
    follow: bool,
    /// The calls to begin with
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 10)]
    lines: usize,
    /// Only calls of this session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Only calls of this tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
}

impl Tail {
    pub(super) fn run(self, record: &RecordPlace, screen: &Screen) -> Result<(), Failure> {
        let mut index = record.index(screen)?;
        let session = match &self.session {
            Some(named) => Some(session(&mut index, named)?.session),
            None => None,
        };
        let query = Query {
            sessions: session.iter().cloned().collect(),
            tools: self.tool.iter().cloned().collect(),
            ..Query::default()
        };
        let mut read = index.positions()?;
        let mut found = index.search(&query, self.lines)?.hits;
        drop(index);
        found.reverse();
        found.iter().try_for_each(|hit| print(&hit.entry, screen))?;
        let wanted = |entry: &Entry| {
            session.as_ref().is_none_or(|session| *session == entry.session)
                && self.tool.as_ref().is_none_or(|tool| *tool == entry.tool)
        };
        if !self.follow {
            return Ok(());
        }
        loop {
            for entry in news(&record.folder, &mut read)?.iter().filter(|entry| wanted(entry)) {
                print(entry, screen)?;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

fn print(entry: &Entry, screen: &Screen) -> Result<(), Failure> {
    if screen.json {
        return screen.print_json(&data(entry));
    }
    screen.print(&line(entry, columns(), screen))
}

/// The calls that were recorded since the segments were read up to these places.
fn news(folder: &Path, read: &mut HashMap<String, u64>) -> io::Result<Vec<Entry>> {
    let mut new = Vec::new();
    for segment in segments(folder)? {
        let name = segment.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let from = read.entry(name).or_default();
        if segment.size <= *from {
            continue;
        }
        for piece in segment.read_from(*from)?.into_iter().flatten() {
            match piece {
                Piece::Line(line) => {
                    *from = line.next;
                    if let Ok(Record::Call(entry)) = line.record() {
                        new.push(*entry);
                    }
                }
                Piece::Damaged(damage) => *from = damage.offset + damage.length,
                Piece::Torn(_) => {}
            }
        }
    }
    new.sort_by_key(|entry| entry.began);
    Ok(new)
}
