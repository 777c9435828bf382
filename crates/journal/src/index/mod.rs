//! An index of the journal's calls, for searching and counting: SQLite with full text. It is made from the
//! record, brought up to date whenever somebody reads, and made anew when it is missing, broken or of
//! another version. It is never the truth, and nothing opens it while a call runs.

mod build;
mod query;
mod row;
#[cfg(test)]
mod tests;
mod totals;
mod words;

pub use self::{
    build::Progress,
    query::{Found, Hit, Page, Query, Term},
    totals::{CallNumbers, SessionRow, Total},
};

use std::{
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags};

/// The version of the tables. A file with another one is made anew.
const VERSION: i64 = 2;
/// How long a reader waits while another process writes.
const PATIENCE: Duration = Duration::from_secs(30);

const TABLES: &str = "
CREATE TABLE segments(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, read INTEGER NOT NULL, directory TEXT NOT NULL);
CREATE TABLE tools(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE sessions(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, door TEXT NOT NULL, client TEXT NOT NULL,
  first INTEGER NOT NULL, last INTEGER NOT NULL, calls INTEGER NOT NULL, failed INTEGER NOT NULL,
  took INTEGER NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL);
CREATE INDEX sessions_by_time ON sessions(last);
CREATE TABLE calls(at INTEGER PRIMARY KEY, id INTEGER NOT NULL, segment INTEGER NOT NULL, offset INTEGER NOT NULL,
  session INTEGER NOT NULL, tool INTEGER NOT NULL, took INTEGER NOT NULL, failed INTEGER NOT NULL,
  tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL);
CREATE VIRTUAL TABLE texts USING fts5(words, content='', detail=none, columnsize=0, tokenize=\"ascii tokenchars '_:'\");
INSERT INTO texts(texts, rank) VALUES('hashsize', 4194304);
INSERT INTO texts(texts, rank) VALUES('automerge', 8);
";

/// The index of one journal, as it was when it was opened.
#[derive(Debug)]
pub struct Index {
    /// The folder of the journal.
    journal: PathBuf,
    /// The folder of the index.
    place: PathBuf,
    db: Connection,
}

/// Hears how far the index has come.
pub type Watch<'w> = &'w mut dyn FnMut(Progress);

impl Index {
    /// Opens the index of the journal in this folder and brings it up to date. What is missing, broken or
    /// of another version is made anew.
    pub fn open(journal: &Path, watch: Watch<'_>) -> io::Result<Self> {
        let place = place(journal);
        match existing(&place) {
            Ok(Some(db)) => {
                let mut index = Self { journal: journal.to_owned(), place, db };
                match index.update(watch) {
                    Ok(()) => Ok(index),
                    Err(error) if is_broken(&error) => Self::rebuild(journal, watch),
                    Err(error) => Err(error),
                }
            }
            Ok(None) => Self::rebuild(journal, watch),
            Err(error) if is_broken(&error) => Self::rebuild(journal, watch),
            Err(error) => Err(error),
        }
    }

    /// Makes the index anew from the record. The old one stays until the new one is whole.
    pub fn rebuild(journal: &Path, watch: Watch<'_>) -> io::Result<Self> {
        let place = place(journal);
        tectum_state::make_folder(&file(&place))?;
        let lock = tectum_state::lock(&place.join("lock"))?;
        let (new, file) = (place.join("index.new"), file(&place));
        for name in ["index.new", "index.new-journal"] {
            tectum_state::remove(&place.join(name))?;
        }
        drop(tectum_state::create(&new)?);
        {
            let db = connect(&new)?;
            // A crash leaves a file that nobody takes for the index, so nothing has to be taken back.
            db.execute_batch(
                "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;
                 PRAGMA cache_size=-16384;",
            )
            .map_err(broken)?;
            db.execute_batch(TABLES).map_err(broken)?;
            let mut index = Self { journal: journal.to_owned(), place: place.clone(), db };
            index.read_record(watch)?;
            // Merging left pages that nobody uses.
            index.db.execute_batch("PRAGMA incremental_vacuum;").map_err(broken)?;
            index.db.pragma_update(None, "user_version", VERSION).map_err(broken)?;
        }
        // What was left to take back in the old file is not for the new one.
        tectum_state::remove(&place.join("index.db-journal"))?;
        tectum_state::rename(&new, &file)?;
        drop(lock);
        let db = existing(&place)?.ok_or_else(|| io::Error::other("the new index was removed"))?;
        Ok(Self { journal: journal.to_owned(), place, db })
    }

    /// The folder of the journal.
    pub fn journal(&self) -> &Path {
        &self.journal
    }

    /// Reads what was recorded since.
    pub fn update(&mut self, watch: Watch<'_>) -> io::Result<()> {
        if self.is_current()? {
            return Ok(());
        }
        let _lock = tectum_state::lock(&self.place.join("lock"))?;
        self.read_record(watch)
    }

    /// Asks the index; a broken one is made anew once.
    fn ask<T>(&mut self, ask: impl Fn(&Connection) -> rusqlite::Result<T>) -> io::Result<T> {
        match ask(&self.db).map_err(broken) {
            Err(error) if is_broken(&error) => {
                *self = Self::rebuild(&self.journal, &mut |_| {})?;
                ask(&self.db).map_err(broken)
            }
            other => other,
        }
    }
}

/// The folder of the index, beside the journal's.
pub fn place(journal: &Path) -> PathBuf {
    journal.with_file_name("journal-index")
}

fn file(place: &Path) -> PathBuf {
    place.join("index.db")
}

/// The index that there is, if it is of this version.
fn existing(place: &Path) -> io::Result<Option<Connection>> {
    if tectum_state::open(&file(place))?.is_none() {
        return Ok(None);
    }
    let db = connect(&file(place))?;
    // Lost power may break it, and then it is made anew.
    db.execute_batch("PRAGMA synchronous=OFF; PRAGMA cache_size=-16384;").map_err(broken)?;
    let version: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(broken)?;
    Ok((version == VERSION).then_some(db))
}

fn connect(file: &Path) -> io::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags).map_err(broken)?;
    db.busy_timeout(PATIENCE).map_err(broken)?;
    Ok(db)
}

/// An error of the database; one that says that the file is broken can be told from the others.
fn broken(error: rusqlite::Error) -> io::Error {
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => io::ErrorKind::InvalidData,
        // Tables that are not there: the file was cut off, or is somebody else's.
        Some(ErrorCode::Unknown) => io::ErrorKind::InvalidData,
        Some(ErrorCode::DiskFull) => io::ErrorKind::StorageFull,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, format!("the index of the journal: {error}"))
}

fn is_broken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidData
}
