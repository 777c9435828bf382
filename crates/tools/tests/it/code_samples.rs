//! Every reading tool over every language's sample, as snapshots: a language arrives with them.
#![expect(clippy::disallowed_methods, reason = "the test copies the samples of the packs")]

use std::{fmt::Write, fs, path::Path};

use serde_json::json;

use crate::files_rig::Rig;

/// The samples of a pack in a project of their own, in order.
fn samples(pack: &str) -> (Rig, Vec<String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../syntax/packs").join(pack).join("sample");
    let rig = Rig::new();
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).expect("a sample") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        rig.write(&name, fs::read(&path).expect("a file"));
        names.push(name);
    }
    names.sort();
    assert!(names.len() > 1, "{pack} has a sample of several files");
    (rig, names)
}

/// The replies of the tools, file by file.
async fn said(pack: &str) -> String {
    let (rig, names) = samples(pack);
    let mut said = String::new();
    for name in &names {
        for tool in ["code_outline", "code_skeleton", "code_imports", "code_check", "get_file_summary"] {
            let text = rig.text(tool, json!({"path": name})).await;
            let _ = writeln!(said, "=== {tool} {name}\n{}\n", text.trim_end());
        }
        // The source of every symbol is that of its lines.
        let outline = rig.data("code_outline", json!({"path": name, "full": true})).await;
        for symbol in outline["symbols"].as_array().expect("symbols") {
            let wanted = symbol["name"].as_str().expect("a name");
            if wanted.is_empty() {
                continue;
            }
            let found = rig.data("code_definition", json!({"path": name, "name": wanted})).await;
            let found = found["found"].as_array().expect("found");
            let same =
                |one: &&serde_json::Value| one["first"] == symbol["first"] && one["last"] == symbol["last"];
            let declared = symbol["declaration"] == true;
            assert!(
                declared || found.iter().any(|one| same(&one)),
                "{name}: {wanted} is not found again: {found:?}"
            );
        }
    }
    said
}

macro_rules! packs {
    ($($name:ident),+) => {$(
        #[tokio::test]
        async fn $name() {
            insta::assert_snapshot!(said(stringify!($name)).await);
        }
    )+};
}

packs!(python, c, cpp, rust, typescript, tsx, javascript, go, java, csharp, ruby, bash);

/// A separator inside a name is part of it for the shell, and what people type to ask for it.
#[tokio::test]
async fn functions_of_bash_are_found_by_names_with_separators() {
    let rig = Rig::new();
    rig.write("t.bash", "bats::on_failure() {\n  echo one\n}\nutil.trim() {\n  echo two\n}\n");
    for (name, body) in
        [("bats::on_failure", "echo one"), ("on_failure", "echo one"), ("util.trim", "echo two")]
    {
        let text = rig.text("code_definition", json!({"path": "t.bash", "name": name})).await;
        assert!(text.contains(body), "{name}: {text}");
    }
}
