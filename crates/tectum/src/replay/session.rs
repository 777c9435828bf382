//! The calls of a session, from the record or from a file.

use std::{io, path::Path, sync::Arc};

use tectum_journal::Entry;

/// The recorded calls of a session, in the order they began.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// The calls.
    pub entries: Vec<Arc<Entry>>,
    /// The project's directory when they were recorded, if it may be another one now.
    pub directory: Option<String>,
}

impl Session {
    /// These calls.
    pub fn new(entries: Vec<Entry>) -> Self {
        Self { entries: entries.into_iter().map(Arc::new).collect(), directory: None }
    }

    /// The calls in a file of JSON lines, as `tectum log export` writes it.
    pub fn read(path: &Path) -> io::Result<Self> {
        let bytes = tectum_state::read(path)?.ok_or(io::ErrorKind::NotFound)?;
        let text = String::from_utf8(bytes).map_err(io::Error::other)?;
        let mut entries = Vec::new();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let entry: Entry = serde_json::from_str(line).map_err(|error| {
                io::Error::new(io::ErrorKind::InvalidData, format!("line {}: {error}", number + 1))
            })?;
            entries.push(entry);
        }
        Ok(Self::new(entries))
    }
}
