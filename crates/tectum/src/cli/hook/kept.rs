//! What was written into the files of clients, so that exactly that can be removed again.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use tectum::client_hooks::PlacedHook;
use tectum_state::Lasts;

/// The record in the user's state.
pub(super) struct KeptHooks {
    file: PathBuf,
    placed: BTreeMap<PathBuf, PlacedHook>,
}

impl KeptHooks {
    /// Reads the one in this file. A broken one is worth no more than none: entries are also known by their command.
    pub(super) fn read(file: &Path) -> io::Result<Self> {
        let file = file.to_owned();
        let text = tectum_state::read_private(&file)?;
        let placed = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Ok(Self { file, placed })
    }

    /// What was put into a file.
    pub(super) fn of(&self, file: &Path) -> PlacedHook {
        self.placed.get(file).cloned().unwrap_or_default()
    }

    /// Notes what is in a file from now on.
    pub(super) fn note(&mut self, file: &Path, placed: Option<PlacedHook>) -> io::Result<()> {
        match placed {
            Some(placed) => drop(self.placed.insert(file.to_owned(), placed)),
            None => drop(self.placed.remove(file)),
        }
        let text = serde_json::to_string(&self.placed).map_err(io::Error::other)?;
        tectum_state::replace(&self.file, text.as_bytes(), Lasts::PowerCut)
    }
}
