//! The findings of a language server, through the house: a server that is known to the letter, so that
//! every answer is.

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::{Value, json, value::RawValue};
use tectum_core::{
    Call, FaultKind, Gate, Judgement, Origin, Outcome, Payload, Rules, SessionId, Snapshot, Tectum,
    security::Allowlist,
};
use tectum_native::NativeSet;
use tectum_tools::{LanguageServers, Settings, catalog};

/// Servers for a house whose Python server finds every line of a text wrong.
pub(crate) fn echo(root: &Path) -> LanguageServers {
    servers(root, &["python3", FAKE, "echo"])
}

const FAKE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lsp/tests/fake.py");

fn servers(root: &Path, python: &[&str]) -> LanguageServers {
    let command = python.iter().map(|word| (*word).to_owned()).collect();
    LanguageServers {
        roots: vec![root.to_owned()],
        memory: 1 << 30,
        // A busy machine is no reason to fail.
        wait: Duration::from_secs(30),
        commands: [("python".to_owned(), command)].into(),
        ..LanguageServers::default()
    }
}

struct Desk {
    house: Tectum,
    project: tempfile::TempDir,
}

impl Desk {
    fn new(python: &[&str]) -> Self {
        Self::judged(python, Rules { default: Some((Judgement::Allow, nowhere())), ..Rules::default() })
    }

    fn judged(python: &[&str], rules: Rules) -> Self {
        let project = tempfile::tempdir().expect("a directory");
        let root = project.path().canonicalize().expect("its true name");
        let allowlist = Allowlist::builder().base(&root).build().expect("opens");
        let settings = Settings { servers: servers(&root, python), ..Settings::default() };
        let tools = NativeSet::new(catalog(&settings));
        let house = Tectum::new(Snapshot::of(&[Arc::new(tools)]), Gate::new(rules, Arc::new(allowlist)));
        Self { house, project }
    }

    #[expect(clippy::disallowed_methods, reason = "the test makes the files its tools look at")]
    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.project.path().join(name), text).expect("written");
    }

    async fn outcome(&self, tool: &str, args: Value) -> Outcome {
        let args = RawValue::from_string(args.to_string()).expect("JSON");
        self.house.call(Call::new(SessionId::new("s"), tool, args)).await
    }

    /// The text of a call, whether it is an error or not.
    async fn say(&self, tool: &str, args: Value) -> String {
        match self.outcome(tool, args).await.result {
            Ok(Payload::Native(reply)) => reply.text,
            Ok(Payload::Peer(reply)) => reply.json.get().to_owned(),
            Err(fault) => fault.text(),
        }
    }

    async fn check(&self, file: &str) -> String {
        self.say("check_errors", json!({ "path": file })).await
    }

    async fn all(&self) -> String {
        self.say("diagnostics", json!({ "path": "all" })).await
    }

    async fn edit(&self, file: &str, from: &str, to: &str) {
        let said = self.say("edit_file", json!({ "path": file, "old_string": from, "new_string": to })).await;
        assert!(!said.starts_with("ERROR"), "{said}");
    }

    fn anchor(&self, file: &str) -> Option<String> {
        let anchor = self.house.effects().anchors.get(&format!("diagnostics:{file}"))?;
        Some(anchor.content.to_string())
    }
}

fn nowhere() -> Origin {
    Origin { file: None, line: 0 }
}

#[tokio::test]
async fn an_error_is_found_mended_and_gone_at_once() {
    let desk = Desk::new(&["python3", FAKE, "push"]);
    desk.put("a.py", "x = 1\nWRONG = 2\n");
    for round in 0..5 {
        assert_eq!(desk.check("a.py").await, "1 error in a.py:\nLine 2: [error] WRONG = 2\n", "{round}");
        let anchor = desk.anchor("a.py").expect("in sight");
        assert_eq!(anchor, "[DIAGNOSTICS of a.py]\nLine 2: [error] WRONG = 2\n[END DIAGNOSTICS]");
        desk.edit("a.py", "WRONG", "right").await;
        assert_eq!(desk.check("a.py").await, "No errors in a.py.", "{round}");
        assert_eq!(desk.anchor("a.py"), None);
        desk.edit("a.py", "right", "WRONG").await;
    }
    let one = desk.say("diagnostics", json!({ "path": "./a.py" })).await;
    assert_eq!(one, "Line 2: [error] WRONG = 2\n");
}

#[tokio::test]
async fn all_means_what_was_asked_about_or_edited() {
    let desk = Desk::new(&["python3", FAKE, "push"]);
    assert_eq!(desk.all().await, "No file with a language server was edited or asked about yet.");
    for name in ["a.py", "b.py", "c.py", "notes.txt"] {
        desk.put(name, "WRONG = 1\n");
    }
    desk.check("b.py").await;
    desk.edit("a.py", "1", "2").await;
    desk.edit("notes.txt", "1", "2").await;
    let all = desk.all().await;
    assert_eq!(all, "a.py:\nLine 1: [error] WRONG = 2\nb.py:\nLine 1: [error] WRONG = 1\n");
    assert!(desk.anchor("a.py").is_some() && desk.anchor("c.py").is_none());
    // What changed behind our back is looked at as it is now, and what is gone is forgotten.
    desk.put("b.py", "fine = 1\n");
    desk.say("delete_file", json!({ "path": "a.py" })).await;
    assert_eq!(desk.all().await, "b.py: nothing wrong\n");
    assert!(desk.anchor("a.py").is_none() && desk.anchor("b.py").is_none());
}

#[tokio::test]
async fn a_server_that_dies_costs_one_answer() {
    let desk = Desk::new(&["python3", FAKE, "push"]);
    desk.put("a.py", "DIE\n");
    desk.put("b.py", "WRONG\n");
    let died = desk.check("a.py").await;
    assert!(
        died.starts_with("ERROR: python3 did not check a.py: the server ended: exit status: 3"),
        "{died}"
    );
    assert!(died.contains("cannot go on"), "{died}");
    let paused = desk.check("b.py").await;
    assert!(paused.contains("it is not started again for"), "{paused}");
    while desk.check("b.py").await.starts_with("ERROR") {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(desk.check("b.py").await, "1 error in b.py:\nLine 1: [error] WRONG\n");
}

#[tokio::test]
async fn what_is_not_there_or_not_allowed_is_said() {
    let desk = Desk::new(&["no-such-server"]);
    desk.put("a.py", "x\n");
    desk.put("a.txt", "x\n");
    desk.put("big.py", &"x\n".repeat(3 << 20));
    for (file, words) in [
        ("a.py", "`no-such-server`, which `diagnostics.python` names, is not installed"),
        ("a.txt", "no language server is known for a.txt"),
        ("none.py", "none.py"),
        ("big.py", "big.py"),
        ("../a.py", "not in allowlist"),
        (".env", ".env"),
    ] {
        let said = desk.check(file).await;
        assert!(said.starts_with("ERROR: ") && said.contains(words), "{file}: {said}");
    }
    // A program of the project is never started, whoever names it.
    let inside = tempfile::tempdir().expect("a directory");
    let fake = inside.path().canonicalize().expect("its name").join("server");
    plant(&fake);
    let allowlist = Allowlist::builder().base(inside.path()).build().expect("opens");
    let servers = servers(inside.path(), &[fake.to_str().expect("text")]);
    let tools = NativeSet::new(catalog(&Settings { servers, ..Settings::default() }));
    let rules = Rules { default: Some((Judgement::Allow, nowhere())), ..Rules::default() };
    let house = Tectum::new(Snapshot::of(&[Arc::new(tools)]), Gate::new(rules, Arc::new(allowlist)));
    let desk = Desk { house, project: inside };
    desk.put("a.py", "x\n");
    let said = desk.check("a.py").await;
    assert!(said.contains("belongs to the served project"), "{said}");
    assert!(said.contains("outside of the project"), "{said}");
}

#[expect(clippy::disallowed_methods, reason = "the test makes the program that must not be started")]
fn plant(program: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(program, "#!/bin/sh\n").expect("written");
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).expect("set");
}

#[tokio::test]
async fn nobody_is_asked_unless_a_rule_or_a_person_allows_it() {
    let desk = Desk::judged(&["python3", FAKE, "push"], Rules::default());
    desk.put("a.py", "WRONG\n");
    for (tool, file) in [("check_errors", "a.py"), ("diagnostics", "a.py"), ("diagnostics", "all")] {
        let outcome = desk.outcome(tool, json!({ "path": file })).await;
        assert_eq!(outcome.result.expect_err("nobody to ask").kind, FaultKind::Permission, "{tool}");
    }
}
