//! A session as a regression test: its calls in a file, and a test in Rust that replays them.

use std::path::Path;

use serde_json::json;
use tectum::{Fault, replay::Session};
use tectum_state::Lasts;

use super::super::{failure::Failure, screen::Screen};

const TEST: &str = r#"//! Replays the calls in session.jsonl, offline. Written by `tectum replay --as-test`.

#[tokio::test]
async fn the_session_ends_as_recorded() {
    let here = std::path::Path::new(file!()).parent().expect("a folder");
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(here);
    // `file!` begins at the workspace in some layouts, and at the package in others.
    let file = [here.join("session.jsonl"), std::path::Path::new(file!()).with_file_name("session.jsonl")]
        .into_iter()
        .find(|file| file.is_file())
        .expect("session.jsonl stands beside this test");
    let session = tectum::replay::Session::read(&file).expect("the recorded calls");
    let config = tectum::Config::built_in(".").expect("the built-in settings");
    let replayed = tectum::replay::offline(&config, &session).await.expect("a house");
    assert!(replayed.first().is_none(), "{replayed}");
}
"#;

/// Writes the two files into a folder that has neither.
pub(super) fn write(folder: &Path, session: &Session, screen: &Screen) -> Result<(), Failure> {
    let mut lines = String::new();
    for entry in &session.entries {
        let line = serde_json::to_string(&**entry).map_err(|error| Fault::internal(error.to_string()))?;
        lines.push_str(&line);
        lines.push('\n');
    }
    let files = [(folder.join("session.jsonl"), lines.as_str()), (folder.join("replay.rs"), TEST)];
    for (path, _) in &files {
        if tectum_state::open(path)?.is_some() {
            let fault = Fault::conflict(format!("{} is there already", path.display()));
            return Err(fault.hint("name a folder without a replay in it").into());
        }
    }
    for (path, text) in &files {
        tectum_state::replace(path, text.as_bytes(), Lasts::PowerCut)?;
    }
    let written = files.map(|(path, _)| path.display().to_string());
    screen.done(&json!({ "files": written }), &format!("wrote {}", written.join(" and ")))
}
