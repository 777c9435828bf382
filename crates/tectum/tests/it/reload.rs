//! A policy that changes while a house runs: what was taken away is gone once `tectum reload` says so,
//! settings that are wrong leave the last good ones in force.

use serde_json::{Value, json};

use crate::{
    cli_said::Said,
    federated::{Client, Era, echo, until},
    rig::{Rig, text},
};

fn rig() -> Rig {
    Rig::with(&[
        ("src/open.py", "def open_door():\n    return 1\n"),
        ("secrets/shut.py", "from src.open import open_door\nopen_door()\n"),
    ])
}

fn reload(rig: &Rig) -> Said {
    rig.run(&["reload"]).into()
}

fn passes(client: &mut Client, tool: &str, args: Value) -> bool {
    let call = client.begin(tool, args);
    let answer = client.wait(call);
    // What is no tool any more is an error of the protocol.
    answer.get("result").is_some_and(|result| result["isError"] != true)
}

fn read(client: &mut Client, path: &str) -> bool {
    passes(client, "read_file", json!({ "path": path }))
}

/// Settings of the user take something away: what fails afterwards, what still works.
fn check(settings: &str, named: &str, gone: (&str, Value)) {
    let rig = rig();
    let mut client = Client::new(&rig, Era::Legacy);
    let (tool, args) = gone;
    assert!(passes(&mut client, tool, args.clone()), "before: {tool} {args}");
    rig.configure(settings);
    let said = reload(&rig);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.out.contains(named), "{}", said.out);
    assert!(!passes(&mut client, tool, args.clone()), "after: {tool} {args}");
    assert!(read(&mut client, "src/open.py"), "what was not taken away still works");
    rig.configure("");
    assert_eq!(reload(&rig).code, 0);
    assert!(passes(&mut client, tool, args.clone()), "given back: {tool} {args}");
}

#[test]
fn roots_that_shrink() {
    let rig = rig();
    let mut client = Client::new(&rig, Era::Legacy);
    assert!(read(&mut client, "secrets/shut.py"));
    rig.configure("[workspace]\nroots = [\"src\"]\n");
    assert_eq!(reload(&rig).code, 0);
    let full = rig.project().join("secrets/shut.py").display().to_string();
    assert!(!read(&mut client, "secrets/shut.py") && !read(&mut client, &full));
    assert!(read(&mut client, "open.py"), "relative paths start at the new root");
}

#[test]
fn protected_names() {
    let path = json!({ "path": "secrets/shut.py" });
    check("[workspace]\ndeny = [\"secrets/**\"]\n", "workspace.deny", ("read_file", path));
}

#[test]
fn names_that_become_read_only() {
    let args = json!({ "path": "secrets/new.txt", "content": "x" });
    check("[workspace]\nread_only = [\"secrets/**\"]\n", "workspace.read_only", ("write_file", args));
}

#[test]
fn rules() {
    let path = json!({ "path": "secrets/shut.py" });
    check("[permissions]\ndeny = [\"*(secrets/**)\"]\n", "permissions.deny", ("read_file", path.clone()));
    check("[permissions]\nask = [\"*(secrets/*)\"]\n", "permissions.ask", ("read_file", path));
}

#[test]
fn tools() {
    let path = json!({ "path": "." });
    check("[tools]\nexclude = [\"list_*\"]\n", "tools.exclude", ("list_directory", path.clone()));
    check("[tools]\ninclude = [\"read_*\"]\n", "tools.include", ("list_directory", path));
}

#[test]
fn what_is_known_about_a_project_goes_with_the_policy() {
    let rig = rig();
    let mut client = Client::new(&rig, Era::Legacy);
    let usages = json!({ "path": ".", "name": "open_door" });
    let found = |client: &mut Client| client.say("code_usages", usages.clone());
    assert!(found(&mut client).contains("shut.py"));
    rig.configure("[permissions]\ndeny = [\"*(secrets/**)\"]\n");
    assert_eq!(reload(&rig).code, 0);
    let now = found(&mut client);
    assert!(now.contains("open.py") && !now.contains("shut.py"), "{now}");
}

#[test]
fn an_empty_list_of_roots_reaches_nothing() {
    let rig = rig();
    let mut client = Client::new(&rig, Era::Legacy);
    rig.configure("[workspace]\nroots = []\n");
    assert_eq!(reload(&rig).code, 0);
    let full = rig.project().join("src/open.py").display().to_string();
    for path in ["src/open.py", ".", &full] {
        for tool in ["read_file", "list_directory", "search_files", "get_tree"] {
            let args = match tool {
                "search_files" => json!({ "path": path, "pattern": "*" }),
                _ => json!({ "path": path }),
            };
            assert!(!passes(&mut client, tool, args), "{tool} {path}");
        }
    }
    // The same from the start.
    let said = Said::from(rig.run(&["call", "read_file", "path=src/open.py"]));
    assert_eq!(said.code, 3, "{}{}", said.out, said.err);
}

#[test]
fn settings_that_are_wrong_keep_the_last_good_ones() {
    let rig = rig();
    rig.configure("[workspace]\ndeny = [\"secrets/**\"]\n");
    let mut client = Client::new(&rig, Era::Legacy);
    let file = rig.home().join("config/tectum/tectum.toml");
    let holds = |client: &mut Client| {
        assert!(!read(client, "secrets/shut.py"), "the last good policy holds");
        assert!(read(client, "src/open.py"), "the last good policy holds");
    };
    for (broken, why) in [
        ("[workspace\n", "tectum.toml:1:"),
        ("[workspace]\ndenny = []\n", "did you mean `deny`?"),
        ("[workspace]\nroots = [\"gone\"]\n", "cannot open"),
    ] {
        rig.configure(broken);
        let said = reload(&rig);
        assert_eq!(said.code, 2, "{}", said.out);
        assert!(said.err.contains("keeps its last valid settings") && said.err.contains(why), "{}", said.err);
        holds(&mut client);
    }
    std::fs::remove_file(&file).expect("removed");
    std::os::unix::fs::symlink("nowhere", &file).expect("made");
    let said = reload(&rig);
    assert!(said.code == 2 && said.err.contains("cannot read it"), "{}", said.err);
    holds(&mut client);
    std::fs::remove_file(&file).expect("removed");
    rig.configure("");
    assert_eq!(reload(&rig).code, 0);
    assert!(read(&mut client, "secrets/shut.py"));
}

#[test]
fn a_changed_file_is_noticed_without_any_command() {
    let rig = rig();
    let mut client = Client::new(&rig, Era::Legacy);
    assert!(read(&mut client, "secrets/shut.py"));
    rig.configure("[workspace]\ndeny = [\"secrets/**\"]\n");
    until("the new policy", || !read(&mut client, "secrets/shut.py"));
    rig.write("tectum.toml", "[workspace]\nread_only = [\"src/**\"]\n");
    let write = json!({ "path": "src/new.txt", "content": "x" });
    until("the project's word", || !passes(&mut client, "write_file", write.clone()));
    assert!(!read(&mut client, "secrets/shut.py"));
}

#[test]
fn consent_counts_while_it_runs() {
    let mut rig = rig();
    rig.write("tectum.toml", "[permissions]\nallow = [\"diagnostics\"]\n");
    // Nobody can be asked in its place.
    rig.set("TECTUM_APPROVAL_VIA", "client");
    let mut client = Client::able(&rig, Era::Legacy, json!({}));
    let waits = |client: &mut Client| {
        let answer = client.call("diagnostics", json!({ "path": "src/none.txt" }));
        answer["isError"] == true && text(&answer).contains("`tectum trust`")
    };
    assert!(waits(&mut client));
    assert!(rig.run(&["trust", "--yes"]).status.success());
    assert_eq!(reload(&rig).code, 0);
    assert!(!waits(&mut client));
    rig.write("tectum.toml", "[permissions]\nallow = [\"diag*\"]\n");
    assert_eq!(reload(&rig).code, 0);
    assert!(waits(&mut client), "other rules are asked about again");
}

#[test]
fn a_call_that_runs_keeps_what_it_was_granted() {
    let rig = rig();
    let server = echo("one", &[], "");
    rig.configure(&server);
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__sleep");
    let running = client.begin("one__sleep", json!({ "ms": 3000 }));
    rig.configure(&format!("[permissions]\ndeny = [\"one__sleep\"]\n{server}"));
    assert_eq!(reload(&rig).code, 0);
    assert!(!passes(&mut client, "one__sleep", json!({ "ms": 0 })), "a new call is refused");
    let answer = client.wait(running);
    assert_ne!(answer["result"]["isError"], true, "{answer}");
}

#[test]
fn nobody_to_reload_is_said() {
    let rig = rig();
    let said = reload(&rig);
    assert_eq!(said.code, 4, "{}", said.err);
    assert!(said.err.contains("no Tectum runs for"), "{}", said.err);
    // One that ended, or was killed, is waited for by nobody.
    let client = rig.stdio();
    assert_eq!(reload(&rig).code, 0);
    drop(client);
    assert_eq!(reload(&rig).code, 4);
}

#[test]
fn all_that_run_answer_and_the_hook_api_tells_the_same() {
    let rig = rig();
    let house = rig.http();
    let _other = Client::new(&rig, Era::Legacy);
    let policy = || house.send("GET", "/api/policy", &house.headers(), "").json()["policy"].clone();
    assert_eq!(policy(), json!({ "version": 0, "changed": [], "at_next_start": [], "problems": [] }));
    rig.configure("[workspace]\ndeny = [\"secrets/**\"]\n[http]\nhosts = [\"box.local\"]\n");
    let said = Said::from(rig.run(&["--json", "reload"]));
    let json = said.json();
    assert_eq!(
        (said.code, &json["ok"], json["running"].as_array().map(Vec::len)),
        (0, &json!(true), Some(2))
    );
    for one in json["running"].as_array().expect("a list") {
        assert_eq!(one["report"]["changed"], json!(["workspace.deny"]), "{json}");
        assert_eq!(one["report"]["at_next_start"], json!(["http.hosts"]), "{json}");
    }
    assert_eq!(policy()["version"], 1);
    rig.configure("broken =");
    assert_eq!(reload(&rig).code, 2);
    let wrong = policy();
    assert!(wrong["version"] == 1 && wrong["problems"][0].as_str().is_some(), "{wrong}");
}

#[test]
fn soak_no_call_after_the_acknowledgement_gets_what_was_taken_away() {
    let rounds = if std::env::var_os("TECTUM_SOAK").is_some() { 500 } else { 4 };
    let rig = rig();
    let mut client = Client::new(&rig, Era::Legacy);
    for round in 0..rounds {
        rig.configure("[workspace]\ndeny = [\"secrets/**\"]\n");
        assert_eq!(reload(&rig).code, 0);
        for call in 0..50 {
            assert!(!read(&mut client, "secrets/shut.py"), "round {round}, call {call}");
        }
        rig.configure("");
        assert_eq!(reload(&rig).code, 0);
        assert!(read(&mut client, "secrets/shut.py"), "round {round}");
    }
    println!(
        "soak: no call after an acknowledged reload gets what was taken away | {} calls, 0 passed",
        rounds * 50
    );
}

#[test]
fn what_a_round_ends_with() {
    let rig = rig();
    let mut client = Client::new(&rig, Era::Legacy);
    rig.configure("[context]\nrefresh = true\n");
    assert_eq!(reload(&rig).code, 0);
    assert!(read(&mut client, "src/open.py"));
    rig.write("src/open.py", "pass\n");
    let told = client.call("read_file", json!({ "path": "secrets/shut.py" }));
    assert!(told.to_string().contains("`src/open.py` changed"), "{told}");
    rig.configure("");
    assert_eq!(reload(&rig).code, 0);
    rig.write("src/open.py", "pass\npass\n");
    let told = client.call("read_file", json!({ "path": "secrets/shut.py" }));
    assert!(!told.to_string().contains("changed"), "{told}");
}
