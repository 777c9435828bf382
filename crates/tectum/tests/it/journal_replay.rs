//! `tectum replay`: recorded calls end the same again, and the first that does not is named.

use serde_json::{Value, json};

use crate::{
    cli_said::Said,
    federated::{Client, Era, echo, with},
    rig::{Rig, Stdin},
};

fn replay(rig: &Rig, args: &[&str]) -> Said {
    Said::from(rig.run(&[&["replay", "last"], args].concat()))
}

#[track_caller]
fn same(rig: &Rig, args: &[&str]) -> Value {
    let said = replay(rig, &[args, &["--json"]].concat());
    assert_eq!(said.code, 0, "{args:?}: {} {}", said.out, said.err);
    let found = said.json();
    assert_eq!(found["same"], true, "{found}");
    found
}

/// The calls that ended otherwise, by their tools, and the diff of the first.
#[track_caller]
fn differs(rig: &Rig, args: &[&str]) -> (Vec<String>, String) {
    let said = replay(rig, &[args, &["--json"]].concat());
    assert_eq!(said.code, 5, "{args:?}: {} {}", said.out, said.err);
    let found = said.json();
    let all = found["differences"].as_array().expect("a list").clone();
    let diff = all.first().map_or(String::new(), |first| first["diff"].as_str().expect("text").to_owned());
    (all.iter().map(|one| one["tool"].as_str().expect("a name").to_owned()).collect(), diff)
}

/// A session with every kind of ending: results, faults, refusals by a rule, by a path and of arguments.
fn worked(rig: &Rig) {
    rig.configure("[permissions]\ndeny = [\"delete_file\"]\n");
    let mut client: Stdin = rig.stdio();
    client.call("read_file", json!({"path": "a.txt"}));
    client.call("edit_file", json!({"path": "a.txt", "old_string": "one", "new_string": "two"}));
    client.call("write_file", json!({"path": "sub/b.txt", "content": "made\n"}));
    client.call("read_file", json!({"path": "missing.txt"}));
    client.call("read_file", json!({"path": "../outside.txt"}));
    client.call("read_file", json!({"path": "a.txt", "no_such_argument": 1}));
    client.call("delete_file", json!({"path": "a.txt"}));
    client.call("search_content", json!({"path": ".", "pattern": "two"}));
    client.close();
}

fn project() -> Rig {
    let rig = Rig::with(&[("a.txt", "one\n"), ("keep.txt", "kept\n")]);
    worked(&rig);
    rig
}

#[test]
fn a_session_ends_the_same_without_its_files() {
    let rig = project();
    assert_eq!(same(&rig, &[])["calls"], 8);
    for file in ["a.txt", "sub/b.txt", "keep.txt"] {
        std::fs::remove_file(rig.project().join(file)).expect("removed");
    }
    assert_eq!(same(&rig, &[])["calls"], 8);
    let said = replay(&rig, &[]);
    said.gives("ok: every call ends as recorded: 8 calls made again\n");
    // Nothing of it is history.
    let listed = Said::from(rig.run(&["log", "list", "--json"])).json();
    assert_eq!(listed["sessions"].as_array().expect("a list").len(), 1, "{listed}");
}

#[test]
fn rules_that_judge_otherwise_are_the_first_divergence() {
    let rig = project();
    rig.configure("[permissions]\ndeny = [\"edit_file\", \"delete_file\"]\n");
    let (tools, diff) = differs(&rig, &[]);
    assert_eq!(tools, ["edit_file"]);
    assert!(diff.contains("-Edited") || diff.contains("--- recorded"), "{diff}");
    assert!(diff.contains("+permission: edit_file is not permitted here"), "{diff}");
    rig.configure("");
    let (tools, diff) = differs(&rig, &[]);
    assert_eq!(tools, ["delete_file"]);
    assert!(diff.contains("+no rule denies this call any more"), "{diff}");
    let said = replay(&rig, &[]);
    assert!(said.out.starts_with("first divergence: c-") && said.out.contains("delete_file"), "{}", said.out);
}

#[test]
fn tools_of_servers_are_replayed_without_them() {
    let rig = with(&echo("one", &[], "permission = \"allow\""));
    let mut client = Client::new(&rig, Era::Legacy);
    let result = client.call("one__echo", json!({"text": "hello"}));
    assert!(result.to_string().contains("hello"), "{result}");
    drop(client);
    rig.configure("");
    assert_eq!(same(&rig, &[])["calls"], 1);
}

#[test]
fn what_only_reads_is_executed_again_in_the_project_as_it_is() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "same\n")]);
    let mut client = rig.stdio();
    client.call("read_file", json!({"path": "a.txt"}));
    client.call("read_file", json!({"path": "b.txt"}));
    client.call("write_file", json!({"path": "c.txt", "content": "made\n"}));
    client.close();
    let found = same(&rig, &["--live"]);
    assert_eq!((&found["calls"], &found["skipped"]), (&json!(2), &json!(1)));
    rig.write("a.txt", "other\n");
    rig.write("c.txt", "mine\n");
    let (tools, diff) = differs(&rig, &["--live"]);
    assert_eq!(tools, ["read_file"]);
    assert!(diff.contains("one") && diff.contains("other"), "{diff}");
    assert_eq!(rig.read("c.txt"), "mine\n", "what changes something is not executed");
}

#[test]
fn everything_is_executed_again_in_a_copy() {
    let rig = project();
    let copy = rig.outside().join("copy");
    let name = copy.to_str().expect("UTF-8");
    let found = same(&rig, &["--in", name]);
    assert_eq!((&found["calls"], &found["files"]), (&json!(8), &json!([])), "{found}");
    assert_eq!(std::fs::read_to_string(copy.join("a.txt")).expect("there"), "two\n");
    assert_eq!(std::fs::read_to_string(copy.join("keep.txt")).expect("there"), "kept\n");
    // A copy is not made over something.
    assert_eq!(replay(&rig, &["--in", name]).code, 5);
    let inside = rig.project().join("inside");
    assert_eq!(replay(&rig, &["--in", inside.to_str().expect("UTF-8")]).code, 2);
    // Somebody changed a file since: the copy has what the session makes of it.
    rig.write("sub/b.txt", "mine\n");
    let other = rig.outside().join("other");
    let said = replay(&rig, &["--in", other.to_str().expect("UTF-8"), "--json"]);
    assert_eq!(said.code, 5, "{} {}", said.out, said.err);
    assert_eq!(said.json()["files"][0]["tool"], "sub/b.txt", "{}", said.out);
    assert_eq!(rig.read("sub/b.txt"), "mine\n");
}

#[test]
fn two_versions_are_compared() {
    let rig = project();
    let own = env!("CARGO_BIN_EXE_tectum");
    let found = same(&rig, &["--to", own]);
    assert!(found["calls"].as_u64().expect("a number") >= 3, "{found}");
    // A version that says something else.
    let other = rig.outside().join("other-tectum");
    let script = "#!/bin/sh\nwhile read line; do\n  id=$(printf %s \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n  [ -n \"$id\" ] && printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"otherwise\"}]}}\\n' \"$id\"\ndone\n";
    std::fs::write(&other, script).expect("written");
    std::fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let (tools, diff) = differs(&rig, &["--to", other.to_str().expect("UTF-8")]);
    assert!(!tools.is_empty() && diff.contains("+otherwise"), "{tools:?} {diff}");
    assert_eq!(replay(&rig, &["--to", "/no/such/binary"]).code, 4);
}

#[test]
fn a_session_becomes_a_test() {
    let rig = project();
    let folder = rig.outside().join("replay");
    let name = folder.to_str().expect("UTF-8");
    assert_eq!(replay(&rig, &["--as-test", name]).code, 0);
    let test = std::fs::read_to_string(folder.join("replay.rs")).expect("a test");
    assert!(test.contains("tectum::replay::offline"), "{test}");
    assert_eq!(replay(&rig, &["--as-test", name]).code, 5, "nothing is written over");
    // The calls in the file are replayed anywhere.
    let file = folder.join("session.jsonl");
    let said = Said::from(rig.run(&["replay", file.to_str().expect("UTF-8"), "--json"]));
    assert_eq!((said.code, &said.json()["calls"]), (0, &json!(8)), "{} {}", said.out, said.err);
    std::fs::write(&file, "no JSON\n").expect("written");
    let said = Said::from(rig.run(&["replay", file.to_str().expect("UTF-8")]));
    assert!(said.code == 2 && said.err.contains("line 1"), "{}", said.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_library_replays_a_file() {
    let rig = project();
    let folder = rig.outside().join("replay");
    assert_eq!(replay(&rig, &["--as-test", folder.to_str().expect("UTF-8")]).code, 0);
    let session = tectum::replay::Session::read(&folder.join("session.jsonl")).expect("read");
    let config = tectum::Config::built_in(rig.project()).expect("the built-in settings");
    let replayed = tectum::replay::offline(&config, &session).await.expect("a house");
    // The rule of the user is not among the built-in settings.
    assert_eq!(replayed.first().map(|first| first.tool.as_str()), Some("delete_file"), "{replayed}");
    assert_eq!(replayed.calls, 8);
}
