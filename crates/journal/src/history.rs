//! What a client may look up of the record: its own session, and others if the user allows it.

use std::{fmt, io, path::PathBuf, sync::Arc};

use tectum_core::SessionId;

use crate::{
    Entry,
    index::{Found, Hit, Index, Query},
    report,
};

/// The bytes of a page about a session; the newest calls come first to have a place on it.
const MOST_PAGE: usize = 64 * 1024;
/// Calls that are read for a page at once.
const READ: usize = 100;

/// Names a conversation as the record does.
type NameOf = dyn Fn(&SessionId) -> String + Send + Sync;

/// The record as clients of one process may read it. Cheap to clone.
#[derive(Clone)]
pub struct History {
    folder: PathBuf,
    directory: String,
    other_sessions: bool,
    name: Arc<NameOf>,
}

impl History {
    /// Of the journal in this folder, about the project in this directory. `name` tells what a
    /// conversation of this process is called there.
    pub fn new(
        folder: PathBuf,
        directory: String,
        other_sessions: bool,
        name: impl Fn(&SessionId) -> String + Send + Sync + 'static,
    ) -> Self {
        Self { folder, directory, other_sessions, name: Arc::new(name) }
    }

    /// The same with another answer to whether others' sessions may be read.
    pub fn reaching(&self, other_sessions: bool) -> Self {
        Self { other_sessions, ..self.clone() }
    }

    /// Whether sessions of others may be read.
    pub fn other_sessions(&self) -> bool {
        self.other_sessions
    }

    /// Searches the session of this client, or all of them if that is wanted and allowed. Waits for the disk.
    pub fn search(&self, query: Query, client: &SessionId, all: bool, most: usize) -> io::Result<Found> {
        let sessions = if all && self.other_sessions { Vec::new() } else { vec![(self.name)(client)] };
        let query = Query { sessions, directory: self.directory.clone(), ..query };
        self.index()?.search(&query, most)
    }

    /// One call by its id, if this client may read it. Waits for the disk.
    pub fn call(&self, id: &str, client: &SessionId) -> io::Result<Option<Entry>> {
        let found = self.index()?.call(id)?.map(|Hit { entry, .. }| entry);
        Ok(found.filter(|entry| self.other_sessions || entry.session == (self.name)(client)))
    }

    /// The report of a session: of `current`, this client's own, or of one by its name. Waits for the disk.
    pub fn page(&self, named: &str, client: &SessionId) -> Result<String, String> {
        let own = (self.name)(client);
        let session = if named == "current" { &own } else { named };
        if *session != own && !self.other_sessions {
            return Err(
                "only the current session may be read; `[journal] other_sessions = true` in the user's own settings allows others"
                    .into(),
            );
        }
        self.report(session).map_err(|error| error.to_string())?.ok_or_else(|| match named {
            "current" => "no call of this session is recorded yet".into(),
            _ => format!("no session is called {named}"),
        })
    }

    fn report(&self, session: &str) -> io::Result<Option<String>> {
        let mut index = self.index()?;
        let Some(row) = index.sessions_named(session)?.into_iter().find(|row| row.session == session) else {
            return Ok(None);
        };
        let (mut calls, mut size) = (Vec::new(), 0);
        let mut query = Query { sessions: vec![session.to_owned()], ..Query::default() };
        'pages: loop {
            let found = index.search(&query, READ)?;
            for Hit { entry, .. } in &found.hits {
                let text = report::call(entry);
                size += text.len();
                if size > MOST_PAGE && !calls.is_empty() {
                    break 'pages;
                }
                query.to = Some(entry.began);
                calls.push(text);
            }
            if !found.more {
                break;
            }
        }
        let left = row.total.calls.saturating_sub(calls.len() as u64);
        let mut text = report::head(Some(&row));
        if left > 0 {
            text.push_str(&format!("_{left} earlier calls are left out; search_history finds them._\n\n"));
        }
        calls.iter().rev().for_each(|call| text.push_str(call));
        Ok(Some(text))
    }

    fn index(&self) -> io::Result<Index> {
        Index::open(&self.folder, &mut |_| {})
    }
}

impl PartialEq for History {
    fn eq(&self, other: &Self) -> bool {
        let facts = |one: &Self| (one.folder.clone(), one.directory.clone(), one.other_sessions);
        facts(self) == facts(other) && Arc::ptr_eq(&self.name, &other.name)
    }
}

impl Eq for History {}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").field("folder", &self.folder).finish_non_exhaustive()
    }
}
