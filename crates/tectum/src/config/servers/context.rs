//! The surroundings of the files: the environment, and what is kept in the user's state.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

use tectum_state::Lasts;

use super::{super::Sources, trust::Ledger};
use crate::state;

/// The surroundings of the files.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// This program's own file.
    pub executable: Option<PathBuf>,
    /// Answers that are kept.
    pub inputs: BTreeMap<String, String>,
    /// The number of times each server was restarted by hand.
    pub generations: BTreeMap<String, u64>,
    /// Servers of the project's files that were switched on or off here.
    pub switched: BTreeMap<String, bool>,
    /// The reason why the switched servers are not known; then none of them starts.
    pub switched_lost: Option<String>,
    /// The record of everything a person agreed to.
    pub ledger: Ledger,
    /// The problems of our own state.
    pub notes: Vec<String>,
}

impl Context {
    /// The context of this process, read from the state as it is now.
    pub fn read(sources: &Sources) -> Self {
        let mut context = Self {
            environment: sources.environment.iter().cloned().collect(),
            executable: std::env::current_exe().ok().map(|path| state::canonical(&path)),
            ..Self::default()
        };
        let Some(state) = &sources.state else { return context };
        match Ledger::load(state) {
            Ok(ledger) => context.ledger = ledger,
            Err(why) => context.notes.push(why),
        }
        context.inputs = kept(&inputs_file(state), &mut context.notes);
        context.generations = kept(&generations_file(state), &mut context.notes);
        let directory = state::canonical(&sources.directory);
        match table(&switched_file(state, &directory)) {
            Ok(switched) => context.switched = switched,
            Err(why) => context.switched_lost = Some(why),
        }
        context
    }
}

/// The file that keeps answers to inputs.
pub fn inputs_file(state: &Path) -> PathBuf {
    state.join("inputs.json")
}

/// The file that counts restarts.
pub fn generations_file(state: &Path) -> PathBuf {
    state.join("servers.json")
}

/// The file that keeps which servers of a project's files are switched on or off.
pub fn switched_file(state: &Path, directory: &Path) -> PathBuf {
    state::of_project(state, directory).join("servers/switched.json")
}

/// A table of our own state. One that cannot be read counts as empty, and that is told.
fn kept<V: for<'de> serde::Deserialize<'de>>(path: &Path, notes: &mut Vec<String>) -> BTreeMap<String, V> {
    table(path).unwrap_or_else(|why| {
        notes.push(format!("{why}; it is ignored"));
        BTreeMap::new()
    })
}

fn table<V: for<'de> serde::Deserialize<'de>>(path: &Path) -> Result<BTreeMap<String, V>, String> {
    let text = tectum_state::read_private(path).map(|text| text.unwrap_or_else(|| "{}".into()));
    let table = text.and_then(|text| serde_json::from_str(&text).map_err(io::Error::from));
    table.map_err(|error| format!("{} cannot be read: {error}", path.display()))
}

/// Changes a table of our own state under the lock.
pub fn keep<V>(state: &Path, path: &Path, change: impl FnOnce(&mut BTreeMap<String, V>)) -> io::Result<()>
where
    V: serde::Serialize + for<'de> serde::Deserialize<'de>,
{
    let _lock = state::lock(state)?;
    let text = tectum_state::read_private(path)?.unwrap_or_else(|| "{}".into());
    let mut table = serde_json::from_str(&text).map_err(io::Error::other)?;
    change(&mut table);
    let text = format!("{:#}\n", serde_json::to_value(&table).map_err(io::Error::other)?);
    tectum_state::replace(path, text.as_bytes(), Lasts::PowerCut)
}
