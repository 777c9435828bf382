//! `tectum replay`: recorded calls end the same again, and the first that does not is named.

use std::{path::PathBuf, process::Command};

use serde_json::{Value, json};
use tectum::replay::LeftOut;

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
fn tools_of_servers_that_only_read_are_executed_again_and_others_are_counted() {
    let rig = with(&echo("one", &[], "permission = \"allow\""));
    let mut client = Client::new(&rig, Era::Legacy);
    client.call("one__echo", json!({"text": "hello"}));
    client.call("one__add", json!({"a": 1, "b": 2}));
    client.call("write_file", json!({"path": "b.txt", "content": "made\n"}));
    client.call("read_file", json!({"path": "a.txt"}));
    let id = client.start("tools/call", json!({"name": "no_such_tool", "arguments": {}}));
    client.wait(id);
    drop(client);
    let (changes, server) = (LeftOut::Changes.to_string(), LeftOut::ServerChanges.to_string());
    let (unknown, refused) = (LeftOut::Unknown.to_string(), LeftOut::Refused.to_string());
    let copy = rig.outside().join("copy");
    for (way, calls, left_out) in [
        (vec!["--live"], 2, json!({&changes: 1, &server: 1, &unknown: 1})),
        (vec!["--to", env!("CARGO_BIN_EXE_tectum")], 2, json!({&changes: 1, &server: 1, &refused: 1})),
        (vec!["--in", copy.to_str().expect("UTF-8")], 3, json!({&server: 1, &unknown: 1})),
    ] {
        let found = same(&rig, &way);
        assert_eq!((&found["calls"], &found["left_out"]), (&json!(calls), &left_out), "{way:?} {found}");
    }
    let said = replay(&rig, &["--live"]);
    assert!(
        said.out.contains("left out: 1 call (of a server that does not say that the tool only reads)\n"),
        "{}",
        said.out
    );
    // Without the server its calls are left out, and told so.
    rig.configure("");
    let away = LeftOut::ServerAway.to_string();
    for (way, why) in [(vec!["--live"], &unknown), (vec!["--to", env!("CARGO_BIN_EXE_tectum")], &refused)] {
        let found = same(&rig, &way);
        let left_out = json!({&changes: 1, &away: 2, why: 1});
        assert_eq!((&found["calls"], &found["left_out"]), (&json!(1), &left_out), "{found}");
    }
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
    // A folder that has folders in it is not empty either.
    let full = rig.outside().join("full");
    std::fs::create_dir_all(full.join("inside")).expect("made");
    assert_eq!(replay(&rig, &["--in", full.to_str().expect("UTF-8")]).code, 5);
}

#[test]
fn all_files_of_a_copy_are_compared() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("keep.txt", "kept\n")]);
    rig.configure("[permissions]\nallow = [\"run_shell\"]\n");
    let mut client = rig.stdio();
    client.call("run_shell", json!({"command": "echo x >> log.txt"}));
    client.call("write_file", json!({"path": "sub/b.txt", "content": "made\n"}));
    client.close();
    // What a command did is done twice in the copy, and nobody had declared that file.
    let copy = |name: &str| rig.outside().join(name).to_str().expect("UTF-8").to_owned();
    let said = replay(&rig, &["--in", &copy("one"), "--json"]);
    let found = said.json();
    assert_eq!((said.code, &found["files_compared"]), (5, &json!(4)), "{found}");
    assert_eq!(found["files"].as_array().expect("files").len(), 1, "{found}");
    assert_eq!(found["files"][0]["tool"], "log.txt", "{found}");
    // A file that somebody changed since is as the record says in the copy.
    rig.write("sub/b.txt", "mine\n");
    let found = replay(&rig, &["--in", &copy("two"), "--json"]).json();
    assert_eq!(found["files_changed_since"], json!(["sub/b.txt"]), "{found}");
    assert_eq!(found["files"].as_array().expect("files").len(), 1, "{found}");
    assert_eq!(rig.read("sub/b.txt"), "mine\n");
}

#[test]
fn a_moved_folder_is_moved_again_in_a_copy() {
    let rig = Rig::with(&[("folder/a.txt", "one\n")]);
    let mut client = rig.stdio();
    client.call("edit_file", json!({"path": "folder/a.txt", "old_string": "one", "new_string": "two"}));
    client.call("move_file", json!({"source": "folder", "destination": "other"}));
    client.call("read_file", json!({"path": "other/a.txt"}));
    client.close();
    let copy = rig.outside().join("copy");
    assert_eq!(same(&rig, &["--in", copy.to_str().expect("UTF-8")])["calls"], 3);
    assert_eq!(std::fs::read_to_string(copy.join("other/a.txt")).expect("there"), "two\n");
}

#[test]
fn two_versions_are_compared() {
    let rig = project();
    let own = env!("CARGO_BIN_EXE_tectum");
    let found = same(&rig, &["--to", own]);
    assert!(found["calls"].as_u64().expect("a number") >= 3, "{found}");
    // A version that says something else.
    let script = "while read line; do\n  id=$(printf %s \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n  [ -n \"$id\" ] && printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"otherwise\"}]}}\\n' \"$id\"\ndone\n";
    let (tools, diff) = differs(&rig, &["--to", &version(&rig, script)]);
    assert!(!tools.is_empty() && diff.contains("+otherwise"), "{tools:?} {diff}");
    assert_eq!(replay(&rig, &["--to", "/no/such/binary"]).code, 4);
}

/// Another version, as a script.
fn version(rig: &Rig, script: &str) -> String {
    let other = rig.outside().join("other-tectum");
    std::fs::write(&other, format!("#!/bin/sh\n{script}")).expect("written");
    std::fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    other.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_version_that_hangs_or_dies_is_an_error_and_no_wait() {
    let rig = project();
    for (script, code, part) in [
        ("exec sleep 1000\n", 6, "did not answer initialize within 1 s\nhint: --timeout SECONDS"),
        (
            "echo 'cannot start: no licence' >&2\nexit 3\n",
            7,
            "ended (exit status: 3) before it answered initialize: cannot start: no licence",
        ),
        ("kill -SEGV $$\n", 7, "ended (signal: 11 (SIGSEGV)"),
    ] {
        let said = replay(&rig, &["--to", &version(&rig, script), "--timeout", "1"]);
        assert_eq!(said.code, code, "{script}: {} {}", said.out, said.err);
        assert!(said.err.contains(part), "{script}: {}", said.err);
    }
}

/// A test that `--as-test` wrote: compiled with these, and run as any other.
#[path = "replayed/replay.rs"]
mod replayed;

#[test]
fn the_test_that_is_compiled_here_is_the_one_that_is_written() {
    let rig = project();
    let folder = rig.outside().join("replay");
    assert_eq!(replay(&rig, &["--as-test", folder.to_str().expect("UTF-8")]).code, 0);
    let written = std::fs::read_to_string(folder.join("replay.rs")).expect("a test");
    let directory = rig.project().canonicalize().expect("there");
    let compiled = include_str!("replayed/replay.rs");
    assert_eq!(written.replace(directory.to_str().expect("UTF-8"), "/home/somebody/project"), compiled);
}

#[test]
fn a_written_test_compiles_and_passes_in_a_crate_of_its_own_and_fails_when_something_ends_otherwise() {
    let rig = project();
    let package = rig.outside().join("package");
    let folder = package.join("tests/again");
    assert_eq!(replay(&rig, &["--as-test", folder.to_str().expect("UTF-8")]).code, 0);
    // As cargo compiles the test of a package that depends on `tectum`: the library that these tests use.
    let tests = std::env::current_exe().expect("this program");
    let libraries = tests.parent().expect("a folder");
    let built = std::fs::read_dir(libraries).expect("readable").map(|file| file.expect("an entry").path());
    let library = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("libtectum-") && name.ends_with(".rlib")
    };
    let age = |path: &PathBuf| path.metadata().and_then(|about| about.modified()).expect("its age");
    let library = built.filter(library).max_by_key(age).expect("the library was built");
    let test = package.join("again");
    let mut compiler = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    compiler
        .args(["--edition", "2024", "--test", "tests/again/replay.rs", "--extern"])
        .arg(format!("tectum={}", library.display()))
        .arg("-L")
        .arg(format!("dependency={}", libraries.display()))
        .arg("-o")
        .arg(&test)
        .current_dir(&package)
        .env("CARGO_MANIFEST_DIR", &package);
    let compiled = compiler.output().expect("a compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = || Command::new(&test).current_dir(&package).output().expect("runs");
    let passed = run();
    assert!(passed.status.success(), "{passed:?}");
    assert!(
        String::from_utf8_lossy(&passed.stdout).contains("the_session_ends_as_recorded ... ok"),
        "{passed:?}"
    );
    // Other rules than those that held: the test says which call ends otherwise.
    std::fs::write(folder.join("settings.toml"), "[permissions]\ndeny = [\"edit_file\"]\n").expect("written");
    let failed = run();
    let said = String::from_utf8_lossy(&failed.stdout);
    assert!(!failed.status.success() && said.contains("edit_file"), "{said}");
}

#[test]
fn a_session_becomes_a_test() {
    let rig = project();
    let folder = rig.outside().join("replay");
    let name = folder.to_str().expect("UTF-8");
    let said = replay(&rig, &["--as-test", name, "--json"]);
    assert_eq!((said.code, &said.json()["passes"]), (0, &json!(true)), "{} {}", said.out, said.err);
    // The folder alone is enough, with the rules that held then.
    let directory = rig.project().canonicalize().expect("there").display().to_string();
    std::fs::remove_dir_all(rig.project()).expect("removed");
    let replayed = tectum::replay::folder(&folder, &directory).expect("replayed");
    assert!(replayed.first().is_none() && replayed.calls == 8, "{replayed}");
    std::fs::create_dir(rig.project()).expect("made");
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
