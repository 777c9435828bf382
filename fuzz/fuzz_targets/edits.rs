//! `edit_file` on any bytes: a refusal leaves the file as it was, and undo brings back every byte.
#![no_main]

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, LazyLock},
};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json, value::RawValue};
use tectum_core::{
    Call, Gate, Payload, Rules, SessionId, Snapshot, Tectum,
    security::{Allowlist, Durability},
};
use tectum_native::NativeSet;
use tectum_tools::{Settings, catalog, text::TextFile};
use tokio::runtime::Runtime;

struct Scene {
    file: PathBuf,
    house: Tectum,
    runtime: Runtime,
    _folder: tempfile::TempDir,
}

static SCENE: LazyLock<Scene> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let root = folder.path().join("project");
    fs::create_dir(&root).expect("made");
    let allowlist = Allowlist::builder().base(&root).build().expect("opens");
    let settings = Settings {
        durability: Durability::Rename,
        state_dir: Some(folder.path().join("state")),
        ..Settings::default()
    };
    let tools = NativeSet::new(catalog(&settings));
    let gate = Gate::new(Rules::default(), Arc::new(allowlist));
    let house = Tectum::new(Snapshot::of(&[Arc::new(tools)]), gate);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runs");
    Scene { file: root.join("a.txt"), house, runtime, _folder: folder }
});

/// How a model quotes what it read.
#[derive(Arbitrary, Debug)]
enum Quoting {
    Exact,
    Trimmed,
    Dedented,
    PlainLineEnds,
    PlainQuotes,
    Invented(String),
}

#[derive(Arbitrary, Debug)]
struct Edit {
    content: Vec<u8>,
    from: u16,
    length: u8,
    quoting: Quoting,
    new: String,
    replace_all: bool,
}

fuzz_target!(|edit: Edit| {
    let scene = &*SCENE;
    let Ok(file) = TextFile::decode(edit.content.clone()) else { return };
    let old = quoted(file.text(), &edit);
    fs::write(&scene.file, &edit.content).expect("written");

    let args = json!({
        "path": "a.txt", "old_string": old, "new_string": edit.new, "replace_all": edit.replace_all,
    });
    if let Some(data) = call("edit_file", &args) {
        let undone = call("undo_edit", &json!({ "call_id": data["undo"] }));
        assert!(undone.is_some(), "an edit that was made can be undone");
    }
    let left = fs::read(&scene.file).expect("it is there");
    assert_eq!(left, edit.content, "the file has its old bytes");
});

/// What the tool answers as data; none where it refuses.
fn call(tool: &str, args: &Value) -> Option<Value> {
    let raw = RawValue::from_string(args.to_string()).expect("JSON");
    let call = Call::new(SessionId::new("fuzz"), tool, raw);
    let outcome = SCENE.runtime.block_on(SCENE.house.call(call));
    match outcome.result {
        Ok(Payload::Native(reply)) => Some(serde_json::from_str(&reply.structured).expect("JSON")),
        Ok(_) => panic!("a native tool"),
        Err(fault) => {
            assert_ne!(fault.kind, tectum_core::FaultKind::Internal, "{}", fault.text());
            None
        }
    }
}

fn quoted(text: &str, edit: &Edit) -> String {
    let boundary = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let from = boundary(usize::from(edit.from));
    let part = &text[from..boundary(from + usize::from(edit.length))];
    match &edit.quoting {
        Quoting::Exact => part.to_owned(),
        Quoting::Trimmed => part.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"),
        Quoting::Dedented => part.lines().map(str::trim_start).collect::<Vec<_>>().join("\n"),
        Quoting::PlainLineEnds => part.replace("\r\n", "\n").replace('\r', "\n"),
        Quoting::PlainQuotes => part.replace(['\u{201c}', '\u{201d}'], "\""),
        Quoting::Invented(text) => text.clone(),
    }
}
