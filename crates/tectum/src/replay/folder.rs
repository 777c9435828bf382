//! A recorded session in a folder of its own: what `tectum replay --as-test` writes and its test replays.

use std::path::Path;

use tectum_core::Fault;
use tokio::runtime::Builder;

use super::{Replayed, Session, offline};
use crate::config::Sources;

/// The recorded calls.
pub const SESSION_FILE: &str = "session.jsonl";
/// The rules that held then.
pub const SETTINGS_FILE: &str = "settings.toml";

/// Replays the session in this folder, offline and under the rules that are kept with it. `recorded` is the
/// project's directory at that time; the folder stands for it now. Not to be called from a runtime.
pub fn folder(folder: &Path, recorded: &str) -> Result<Replayed, Fault> {
    let file = folder.join(SESSION_FILE);
    let mut session =
        Session::read(&file).map_err(|error| Fault::invalid(format!("{}: {error}", file.display())))?;
    session.directory = Some(recorded.to_owned());
    let sources = Sources {
        directory: folder.to_owned(),
        file: Some(folder.join(SETTINGS_FILE)),
        ..Sources::default()
    };
    let told = |problems: crate::Problems| Fault::invalid(problems.to_string());
    let config = sources.load().map_err(told)?;
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Fault::internal(error.to_string()))?;
    runtime.block_on(offline(&config, &session)).map_err(told)
}
