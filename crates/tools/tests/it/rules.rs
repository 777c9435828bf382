//! Permission rules bind what lies below a directory, whichever tool reaches it.

use std::{path::Path, sync::Arc};

use serde_json::{Value, json, value::RawValue};
use tectum_core::{
    Call, FaultKind, Gate, Judgement, Origin, Provider, Rule, Rules, SessionId, Snapshot, Tectum,
    security::Allowlist,
};
use tectum_native::NativeSet;
use tectum_tools::{Settings, catalog};

use crate::files_rig::{Rig, call};

fn house(root: &Path, deny: &[&str], ask: &[&str]) -> Tectum {
    let list = |texts: &[&str]| {
        let parse = |text: &&str| Rule::parse(text, Origin { file: None, line: 0 }).expect("a rule");
        texts.iter().map(parse).collect()
    };
    let rules = Rules { deny: list(deny), ask: list(ask), ..Rules::default() };
    let allowlist = Allowlist::builder().base(root).build().expect("opens");
    let tools = NativeSet::new(catalog(&Settings::default()));
    Tectum::new(Snapshot::of(&[Arc::new(tools)]), Gate::new(rules, Arc::new(allowlist)))
}

fn project() -> Rig {
    Rig::with(&[("secrets/x.txt", "needle in there"), ("a/secrets/y.txt", "needle"), ("a/z.txt", "needle")])
}

async fn refused(house: &Tectum, tool: &str, args: Value) -> String {
    let fault = call(house, tool, args).await.expect_err("refused");
    assert_eq!(fault.kind, FaultKind::Permission, "{}", fault.text());
    fault.text()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_rule_denies_does_not_show_from_above() {
    let rig = project();
    for (deny, ask) in [(&["*(secrets/**)"][..], &[][..]), (&[], &["*(secrets/**)"])] {
        let house = house(rig.root(), deny, ask);
        for (tool, args) in [
            ("search_content", json!({"path": ".", "pattern": "needle"})),
            ("search_files", json!({"path": ".", "pattern": "**/*.txt"})),
            ("get_tree", json!({"path": "."})),
            ("list_directory", json!({"path": "."})),
        ] {
            let (text, _) = call(&house, tool, args).await.expect("works");
            assert!(!text.contains("x.txt") && !text.contains("in there"), "{tool}: {text}");
            assert!(text.contains('a'), "{tool}: {text}");
        }
        for tool in ["list_directory", "get_tree"] {
            let said = refused(&house, tool, json!({"path": "secrets"})).await;
            assert!(said.contains("`*(secrets/**)`"), "{said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_that_holds_a_denied_name_is_not_moved_or_removed() {
    let rig = project();
    let house = house(rig.root(), &["*(secrets/**)", "*(a/secrets/**)"], &[]);
    for path in ["secrets", "a"] {
        let said = refused(&house, "delete_file", json!({"path": path, "recursive": true})).await;
        assert!(said.contains("secrets/**)`"), "{said}");
        let said = refused(&house, "move_file", json!({"source": path, "destination": "b"})).await;
        assert!(said.contains("secrets/**)`"), "{said}");
    }
    assert!(rig.root().join("secrets/x.txt").exists() && rig.root().join("a/secrets/y.txt").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn all_denials_of_a_call_are_told_at_once() {
    let rig = project();
    let edit = |path: &str| json!({"path": path, "old_string": "a", "new_string": "b"});
    let paths = ["../out", "/etc/passwd", ".env"];
    let args = json!({"edits": paths.map(edit)});
    let said = refused(&house(rig.root(), &[], &[]), "apply_edits", args.clone()).await;
    let ruled = refused(&house(rig.root(), &["*(../*)"], &[]), "apply_edits", args).await;
    for said in [said, ruled] {
        assert!(paths.iter().all(|path| said.contains(path)), "{said}");
    }
    let many: Vec<Value> = (0..11).map(|i| edit(&format!("/nowhere/{i}"))).collect();
    let said = refused(&house(rig.root(), &[], &[]), "apply_edits", json!({"edits": many})).await;
    assert!(said.contains("/nowhere/7") && !said.contains("/nowhere/8"), "{said}");
    assert!(said.contains("and 3 more"), "{said}");
}

#[test]
fn the_explanation_says_that_names_below_are_left_out() {
    let rig = project();
    let set = NativeSet::new(catalog(&Settings::default()));
    let args = RawValue::from_string(json!({"path": "."}).to_string()).expect("JSON");
    let call = Call::new(SessionId::new("test"), "list_directory", args);
    let prepared = set.prepare(&call).expect("good arguments");
    for (deny, said) in [(&["*(secrets/**)"][..], true), (&["move_file(secrets/**)"], false), (&[], false)] {
        let house = house(rig.root(), deny, &[]);
        let (judgement, steps) = house.gate().explain(&call, &prepared);
        assert_eq!(judgement, Judgement::Allow);
        let found = steps.iter().any(|step| step.finding.starts_with("names below that a rule denies"));
        assert_eq!(found, said, "{deny:?}: {steps:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slash_at_the_end_of_a_file_is_refused() {
    let rig = Rig::new();
    let said = rig.error("write_file", json!({"path": "newdir/", "content": "x"})).await;
    assert!(said.contains("ends with a slash or a dot, so it names a directory"), "{said}");
    assert!(!rig.root().join("newdir").exists());
}
