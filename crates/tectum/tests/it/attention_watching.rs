//! Resources of servers that are watched, reactions, and what a restart leaves.

use serde_json::json;

use crate::{
    attention::{changed, news, shown, texts},
    federated::{command, until},
    rig::Rig,
};

/// A server with one resource, `ci://main`, whose state is what a file says. It hangs, or says when the file
/// changed, if it is told to.
const SERVER: &str = r#"
import json, os, sys, threading, time
path, how = sys.argv[1], sys.argv[2]
lock = threading.Lock()
def send(message):
    with lock:
        print(json.dumps(message), flush=True)
def follow():
    before = os.stat(path).st_mtime_ns
    while True:
        time.sleep(0.02)
        now = os.stat(path).st_mtime_ns
        if now != before:
            before = now
            send({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": "ci://main"}})
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, answer = message["method"], {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        answer["result"] = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "ci", "version": "1"},
            "capabilities": {"resources": {"subscribe": how == "says"}}}
    elif method == "resources/list":
        answer["result"] = {"resources": [{"uri": "ci://main", "name": "main"}]}
    elif method == "resources/templates/list":
        answer["result"] = {"resourceTemplates": []}
    elif method == "resources/subscribe" and how == "says":
        threading.Thread(target=follow, daemon=True).start()
        answer["result"] = {}
    elif method == "resources/read":
        if how == "hangs":
            continue
        answer["result"] = {"contents": [{"uri": "ci://main", "text": open(path).read()}]}
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    send(answer)
"#;

/// A rig that watches such servers: name, and how each behaves.
fn watching(servers: &[(&str, &str)], more: &str) -> Rig {
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "x\n")]);
    let script = rig.outside().join("ci.py");
    std::fs::write(&script, SERVER).expect("written");
    let mut text = format!("[attention]\norgans = \"auto\"\n{more}\n");
    for (name, how) in servers {
        let state = rig.outside().join(format!("{name}.json"));
        std::fs::write(&state, "{\"conclusion\": \"success\", \"run\": 1}").expect("written");
        let (script, state) = (script.display().to_string(), state.display().to_string());
        text.push_str(&command(name, "python3", &[&script, &state, how], ""));
    }
    rig.configure(&text);
    rig
}

/// Waits until a resource was read so often.
fn read(house: &crate::rig::Http, organ: &str, times: u64) {
    until(&format!("{times} reads of {organ}"), || {
        let shown = shown(house);
        let all = shown["organs"].as_array().expect("organs");
        all.iter().any(|one| one["name"] == organ && one["count"].as_u64() >= Some(times))
    });
}

#[test]
fn a_build_that_breaks_at_a_server_reaches_the_agent_though_another_server_hangs() {
    let rig = watching(&[("ci", "reads"), ("stuck", "hangs")], "");
    let mut house = rig.http();
    house.handshake();
    house.call("read_file", json!({"path": "b.txt"}));
    read(&house, "mcp:ci:main", 3);
    std::fs::write(rig.outside().join("ci.json"), "{\"conclusion\": \"failure\", \"run\": 2}")
        .expect("written");
    let told = news(&house, "mcp:ci:main", 1).remove(0);
    let sentence = told["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains("\"success\" → \"failure\""), "{sentence}");
    let result = house.call("read_file", json!({"path": "b.txt"}));
    assert!(texts(&result).contains(sentence), "{result}");
}

#[test]
fn a_server_that_says_when_it_changed_is_read_then() {
    let rig = watching(&[("ci", "says")], "");
    let mut house = rig.http();
    house.handshake();
    house.call("read_file", json!({"path": "b.txt"}));
    read(&house, "mcp:ci:main", 1);
    std::fs::write(rig.outside().join("ci.json"), "{\"conclusion\": \"failure\", \"run\": 2}")
        .expect("written");
    read(&house, "mcp:ci:main", 2);
}

#[test]
fn a_reaction_calls_a_tool_through_the_rules_and_not_twice_in_a_moment() {
    let reaction = |path: &str, content: &str| {
        format!(
            "[[attention.reaction]]\nwhen = \"internal:files\"\ncall = \"write_file\"\nargs = {{ path = \"{path}\", content = \"{content}\" }}\n"
        )
    };
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "x\n")]);
    let both = reaction("reacted.txt", "yes") + &reaction("forbidden.txt", "no");
    rig.configure(&format!("{both}[permissions]\ndeny = [\"write_file(forbidden.txt)\"]\n"));
    let mut house = rig.http();
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    changed(&rig, &house, "a.txt");
    until("the reaction", || rig.project().join("reacted.txt").exists());
    let recorded =
        || String::from_utf8_lossy(&rig.run(&["log", "tail", "-n", "50", "--json"]).stdout).into_owned();
    until("both on record", || recorded().contains("forbidden.txt"));
    assert!(!rig.project().join("forbidden.txt").exists(), "the rules hold");
    std::fs::remove_file(rig.project().join("reacted.txt")).expect("removed");
    house.call("read_file", json!({"path": "b.txt"}));
    changed(&rig, &house, "b.txt");
    assert!(!rig.project().join("reacted.txt").exists(), "not again within ten minutes");
}

#[test]
fn a_project_cannot_have_calls_made_by_themselves() {
    let rig = Rig::new();
    rig.write("tectum.toml", "[[attention.reaction]]\nwhen = \"*\"\ncall = \"run_shell\"\n");
    let said = crate::cli_said::Said::from(rig.run(&["config", "check"]));
    let told = format!("{}{}", said.out, said.err);
    assert!(told.contains("must not have calls made by themselves"), "{told}");
}

#[test]
fn what_nobody_was_told_before_a_kill_is_told_after_it_and_what_was_seen_is_not() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "x\n"), ("c.txt", "x\n")]);
    let mut house = rig.http();
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    let first = changed(&rig, &house, "a.txt");
    house.call("read_file", json!({"path": "b.txt"}));
    house.call("read_file", json!({"path": "c.txt"}));
    let second = changed(&rig, &house, "b.txt");
    let kept = || {
        let projects = std::fs::read_dir(rig.home().join("state/tectum/projects")).expect("a state");
        let texts = projects.flatten().map(|one| std::fs::read_to_string(one.path().join("attention.json")));
        texts.flatten().collect::<String>()
    };
    let id =
        |news: &serde_json::Value| news["id"].as_str().expect("an id").trim_start_matches('n').to_owned();
    until("it is saved", || kept().contains(&format!("\"id\":{}", id(&second))));
    let _ = house.child.kill();
    let _ = house.child.wait();

    let mut house = rig.http();
    house.handshake();
    let result = texts(&house.call("get_attention", json!({})));
    let said = |news: &serde_json::Value| result.contains(news["sentence"].as_str().expect("a sentence"));
    assert!(!said(&first), "it was seen: {result}");
    assert!(said(&second) || result == "No news.", "{result}");
    let told = shown(&house)["news"].as_array().cloned().unwrap_or_default();
    assert!(told.iter().any(|news| news["id"] == second["id"]), "{told:?}");
}
