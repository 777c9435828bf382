//! Every directory below `fixtures/` is a case: a tree, a call, and the tree afterwards.
#![expect(clippy::disallowed_methods, reason = "the test copies and compares its own trees")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;

use crate::{edit_rig::house, files_rig::call};

/// The content of a case's `call.json`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    args: Value,
    #[serde(default)]
    error: bool,
    /// The texts of the reply, in parts.
    #[serde(default)]
    text: Vec<String>,
}

#[tokio::test(flavor = "multi_thread")]
async fn scenarios() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut cases = 0;
    let mut failures = Vec::new();
    for tool in directories(&fixtures) {
        for case in directories(&tool) {
            cases += 1;
            let name = tool.file_name().unwrap().to_string_lossy().into_owned();
            if let Err(why) = run(&name, &case).await {
                failures.push(format!("{}: {why}", case.strip_prefix(&fixtures).unwrap().display()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(cases >= 25, "only {cases} cases were found");
}

async fn run(tool: &str, case: &Path) -> Result<(), String> {
    let scenario: Scenario =
        serde_json::from_slice(&fs::read(case.join("call.json")).expect("a call.json")).expect("a good case");
    let project = tempfile::tempdir().expect("a good case");
    let before = tree(&case.join("input"));
    for (path, bytes) in &before {
        let target = project.path().join(path);
        fs::create_dir_all(target.parent().expect("a parent")).expect("a good case");
        fs::write(target, bytes).expect("a good case");
    }
    let outcome = call(&house(project.path(), None), tool, scenario.args).await;
    let (failed, text) = match outcome {
        Ok((text, _)) => (false, text),
        Err(fault) => (true, fault.text()),
    };
    if failed != scenario.error {
        return Err(format!("the call should {}: {text}", if scenario.error { "fail" } else { "work" }));
    }
    if let Some(part) = scenario.text.iter().find(|part| !text.contains(part.as_str())) {
        return Err(format!("`{part}` is not in: {text}"));
    }
    let expected = case.join("expected");
    let expected = if expected.exists() { tree(&expected) } else { before };
    let after = tree(project.path());
    if after != expected {
        return Err(format!("the tree is {after:?}\n  and not {expected:?}"));
    }
    Ok(())
}

/// The files below a directory, by their path in it.
fn tree(root: &Path) -> BTreeMap<PathBuf, Text> {
    let mut files = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            match path.is_dir() {
                true => waiting.push(path),
                false => {
                    let bytes = fs::read(&path).expect("a good case");
                    files.insert(path.strip_prefix(root).expect("below").to_owned(), Text(bytes));
                }
            }
        }
    }
    // Version control keeps no empty directory; this file only holds one open.
    files.remove(Path::new(".keep"));
    files
}

/// Bytes that show themselves readably when a case fails.
#[derive(PartialEq, Eq)]
struct Text(Vec<u8>);

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

fn directories(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root).expect("a directory").map(|entry| entry.expect("an entry").path());
    let mut directories: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    directories.sort();
    directories
}
