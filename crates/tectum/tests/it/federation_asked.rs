//! Questions to a person about other servers: consent to what a project brings, and answers that are
//! kept out of sight. The real binary.
#![allow(clippy::disallowed_methods, reason = "files of the test itself")]

use std::{io::Write as _, os::unix::fs::PermissionsExt as _, process::Stdio};

use serde_json::json;

use crate::{
    cli_said::Said,
    federation_config::{MCP, SECRET, ok, put, run, state},
    rig::{Rig, terminal},
};

/// Runs the binary with a terminal as its standard input, on which somebody types.
fn typed(rig: &Rig, args: &[&str], keys: &str) -> Said {
    let (mut hand, theirs) = terminal();
    hand.write_all(keys.as_bytes()).expect("typed");
    let said = Said::from(rig.tectum().args(args).stdin(theirs).output().expect("runs"));
    assert!(!said.out.contains(SECRET) && !said.err.contains(SECRET), "{args:?}: {}{}", said.out, said.err);
    said
}

#[test]
fn what_a_project_brings_waits_for_consent() {
    let rig = Rig::with(&[(".mcp.json", MCP)]);
    assert_eq!(state(&rig, "web"), "untrusted");
    let said = run(&rig, &["trust"]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(
        said.err.contains("cannot ask for approval of web") && said.err.contains("--yes"),
        "{}",
        said.err
    );
    for shown in
        ["starts         \"npx\"", "with           \"-y\"", "with           \"web\"", "environment    KEY"]
    {
        assert!(said.out.contains(shown), "{shown}: {}", said.out);
    }
    assert_eq!(state(&rig, "web"), "untrusted");
    assert_eq!(run(&rig, &["trust", "--json"]).code, 3);

    assert_eq!(ok(&rig, &["trust", "web", "--yes", "--json"]).json()["trusted"], json!(["web"]));
    assert_eq!(state(&rig, "web"), "enabled");
    let ledger = rig.home().join("state/tectum/trust.json");
    assert_eq!(ledger.metadata().expect("there").permissions().mode() & 0o777, 0o600);
    assert!(!std::fs::read_to_string(&ledger).expect("there").contains(SECRET));
    ok(&rig, &["trust"]).gives("nothing waits for your approval\n");

    rig.write(".mcp.json", MCP.replace("\"web\"]", "\"web\",\"\u{202e}evil\"]"));
    assert_eq!(ok(&rig, &["trust", "--list", "--json"]).json()["servers"][0]["trust"], "changed");
    let said = run(&rig, &["trust"]);
    assert!(said.code == 3 && said.out.contains("with           \"\\u{202e}evil\""), "{}", said.out);
    assert!(
        said.out.contains("changed        command: was npx -y web, is npx -y web \"\\u{202e}evil\""),
        "{}",
        said.out
    );
    rig.write(".mcp.json", MCP);
    assert_eq!(state(&rig, "web"), "enabled");
    ok(&rig, &["trust", "--revoke", "web"]);
    assert_eq!(state(&rig, "web"), "untrusted");
    assert_eq!(run(&rig, &["trust", "--revoke", "web"]).code, 4);
}

#[test]
fn a_person_is_asked_about_each() {
    let both = MCP.replace("}}}}", "}},\"other\":{\"url\":\"https://o\",\"headers\":{\"H\":\"hunter2\"}}}}");
    let rig = Rig::with(&[(".mcp.json", &both)]);
    let said = typed(&rig, &["trust"], "YES\nno\n");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains("connects to    \"https://o\" (http)\n  headers        H\n"), "{}", said.out);
    assert!(said.out.ends_with("ok: trusted other\n"), "{}", said.out);
    assert!(
        said.err.contains("Let `other` start exactly like this") && said.err.contains("Let `web` start"),
        "{}",
        said.err
    );
    assert_eq!((state(&rig, "other"), state(&rig, "web")), ("enabled".into(), "untrusted".into()));
    let said = typed(&rig, &["trust"], "\n");
    assert!(
        said.code == 0 && said.out.ends_with("nothing is trusted\n"),
        "silence is no consent: {}",
        said.out
    );
    assert_eq!(typed(&rig, &["trust", "--json"], "yes\n").code, 3);
}

#[test]
fn consent_is_not_needed_for_what_is_your_own() {
    let rig = Rig::new();
    ok(&rig, &["add", "mine", "--", "x"]);
    let said = run(&rig, &["trust", "mine"]);
    assert!(said.code == 2 && said.err.contains("is your own and needs no approval"), "{}", said.err);
    ok(&rig, &["add", "theirs", "--project", "--", "./x"]);
    assert_eq!(rig.read("tectum.toml"), "[servers.theirs]\ncommand = \"./x\"\n");
    assert_eq!(state(&rig, "theirs"), "untrusted");
    let named = ok(&rig, &["--config", "tectum.toml", "list", "--json"]).json();
    assert_eq!(named["servers"][1]["state"], "enabled", "a file named on the command line is trusted");
}

#[test]
fn an_input_is_asked_for_by_name_and_kept_out_of_sight() {
    let rig = Rig::new();
    let text = r#"{"inputs":[{"id":"api-key","description":"The key"}],"servers":{"s":{"url":"https://s","headers":{"K":"${input:api-key}"}}}}"#;
    put(rig.home().join("config/tectum/mcp_config.json"), text);
    let why = ok(&rig, &["get", "s", "--json"]).json()["why"].clone();
    assert!(
        why["message"].as_str().expect("text").contains("the input `api-key` (The key) has no value"),
        "{why}"
    );
    assert!(why["hint"].as_str().expect("text").contains("tectum input api-key"), "{why}");
    let mut child = rig
        .tectum()
        .args(["input", "api-key"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    child.stdin.take().expect("piped").write_all(b"hunter2\n").expect("written");
    let said = Said::from(child.wait_with_output().expect("ends"));
    assert_eq!((said.code, said.out.as_str()), (0, "ok: stored the value for `api-key`\n"));
    assert_eq!(state(&rig, "s"), "enabled");
    let said = typed(&rig, &["input", "api-key"], "hunter2\n");
    assert!(said.code == 0 && said.err.contains("what you type is not shown"), "{}", said.err);
    let kept = rig.home().join("state/tectum/inputs.json");
    assert_eq!(kept.metadata().expect("there").permissions().mode() & 0o777, 0o600);
    ok(&rig, &["input", "api-key", "--forget"]).gives("ok: deleted the value for `api-key`\n");
    ok(&rig, &["input", "api-key", "--forget"]).gives("ok: there was no value for `api-key`\n");
    assert_eq!(state(&rig, "s"), "problem");
    assert_eq!(run(&rig, &["input", "api-key"]).code, 2);
}
