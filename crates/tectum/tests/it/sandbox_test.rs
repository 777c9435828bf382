//! `tectum sandbox test`: what a command may do here, by trying.
#![cfg(target_os = "linux")]

use std::fs;

use serde_json::Value;

use crate::rig::Rig;

fn rig() -> Rig {
    let rig = Rig::with(&[("a.txt", "a"), (".env", "SECRET=1"), ("keys/server.pem", "key")]);
    for path in [".ssh/id", "state/tectum/token", "mine/diary", ".npmrc"] {
        let path = rig.home().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, "secret").expect("written");
    }
    rig
}

/// The attempts, by their words, each with true if it succeeded; all of them as promised.
fn tried(rig: &Rig) -> (String, Vec<(String, bool)>) {
    let output = rig.run(&["sandbox", "test", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let each = value["tried"].as_array().expect("a list").iter().map(|one| {
        assert_eq!(one["kept"], true, "{one}");
        (one["what"].as_str().expect("text").to_owned(), one["may"].as_bool().expect("a flag"))
    });
    (value["sandbox"].as_str().expect("text").to_owned(), each.collect())
}

#[track_caller]
fn check(tried: &[(String, bool)], what: &str, expect: bool) {
    let found = tried.iter().find(|(words, _)| words.ends_with(what));
    assert_eq!(found.map(|one| one.1), Some(expect), "{what} in {tried:#?}");
}

#[test]
fn what_is_promised_is_tried_and_holds() {
    let rig = rig();
    let (word, tried) = self::tried(&rig);
    assert_eq!(word, "enforced");
    for (what, expect) in [
        ("/project", true),
        ("temporary directory of its own", true),
        ("/home", false),
        ("change files in /etc", false),
        ("/etc/passwd", true),
        ("project/.env", false),
        ("server.pem", false),
        ("home/.ssh", false),
        ("home/.npmrc", false),
        ("state/tectum", false),
        ("Tectum's environment", false),
        ("TCP", true),
        ("UDP", true),
        ("agents of keys)", false),
    ] {
        check(&tried, what, expect);
    }
    let output = rig.run(&["sandbox", "test"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("cannot  read") && text.contains("can     change files in"), "{text}");
    let left: Vec<_> = fs::read_dir(rig.project()).expect("read").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn the_user_changes_the_plan_and_the_project_only_narrows_it() {
    let rig = rig();
    rig.configure(
        "[shell]\nwrite = [\"~/mine\"]\nopen = [\"~/.npmrc\"]\nclosed = [\"~/mine/diary\"]\nunix_sockets = true\n",
    );
    rig.write("tectum.toml", "[shell]\nnetwork = false\nunix_sockets = false\n");
    let (word, tried) = self::tried(&rig);
    assert_eq!(word, "enforced, no network");
    for (what, expect) in [("mine/diary", false), ("TCP", false), ("UDP", false), ("agents of keys)", false)]
    {
        check(&tried, what, expect);
    }
    assert!(!tried.iter().any(|(words, _)| words.contains(".npmrc")), "{tried:?}");
    for loosening in
        ["sandbox = \"off\"", "network = true", "unix_sockets = true", "write = [\"/\"]", "open = [\"/\"]"]
    {
        rig.configure("");
        rig.write("tectum.toml", format!("[shell]\n{loosening}\n"));
        let output = rig.run(&["config", "check"]);
        let output = if output.status.success() { rig.run(&["sandbox", "test", "--json"]) } else { output };
        let open = String::from_utf8_lossy(&output.stdout).contains("\"sandbox\":\"off\"");
        assert!(!open, "{loosening}");
        if !loosening.starts_with("network") {
            assert_eq!(output.status.code(), Some(2), "{loosening}: {output:?}");
        }
    }
}

#[test]
fn without_it_nothing_is_promised_and_the_network_cannot_be_closed() {
    let rig = rig();
    rig.configure("[shell]\nsandbox = \"off\"\n");
    let (word, tried) = self::tried(&rig);
    assert_eq!(word, "off");
    check(&tried, "home/.ssh", true);
    rig.configure("[shell]\nsandbox = \"off\"\nnetwork = false\n");
    let output = rig.run(&["sandbox", "test"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("held by the sandbox, which is off"),
        "{output:?}"
    );
}
