//! A session as a regression test: its calls and rules in files, and a test in Rust that replays them.

use std::path::Path;

use serde_json::json;
use tectum::{
    Config, Fault,
    config::show,
    replay::{self, SESSION_FILE, SETTINGS_FILE, Session},
    state::canonical,
};
use tectum_state::Lasts;

use super::super::{
    failure::Failure,
    screen::{Screen, harmless},
};

/// The test; `{directory}` stands for the project's directory.
const TEST: &str = include_str!("as_test.txt");

/// Writes the files into a folder that has none of them, and replays them once.
pub(super) fn write(
    folder: &Path,
    config: &Config,
    session: &Session,
    screen: &Screen,
) -> Result<(), Failure> {
    let mut lines = String::new();
    for entry in &session.entries {
        let line = serde_json::to_string(&**entry).map_err(|error| Fault::internal(error.to_string()))?;
        lines.push_str(&line);
        lines.push('\n');
    }
    let directory = canonical(&config.directory).display().to_string();
    let test = TEST.replace("{directory}", &directory.escape_default().to_string());
    let files = [
        (folder.join(SESSION_FILE), lines),
        (folder.join(SETTINGS_FILE), show::rules(config)),
        (folder.join("replay.rs"), test),
    ];
    for (path, _) in &files {
        if tectum_state::open(path)?.is_some() {
            let fault = Fault::conflict(format!("{} is there already", path.display()));
            return Err(fault.hint("name a folder without a replay in it").into());
        }
    }
    for (path, text) in &files {
        tectum_state::replace(path, text.as_bytes(), Lasts::PowerCut)?;
    }
    let replayed = replay::folder(folder, &directory)?;
    if let Some(first) = replayed.first() {
        screen.warn(&format!("the test fails as it is: {}", harmless(&first.to_string())));
    }
    let written = files.map(|(path, _)| path.display().to_string());
    let data = json!({ "files": written, "passes": replayed.first().is_none() });
    screen.done(&data, &format!("wrote {}", written.join(", ")))
}
