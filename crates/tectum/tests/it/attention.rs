//! Attention in the real binary: what the house notices, who is told, once, and what is remembered.

use serde_json::{Value, json};

use crate::{
    federated::until,
    rig::{Http, Rig},
};

/// What a house says about its attention.
pub(crate) fn shown(house: &Http) -> Value {
    let answer = house.send("GET", "/api/attention", &house.headers(), "");
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

/// The news of one organ, once there are so many.
pub(crate) fn news(house: &Http, organ: &str, count: usize) -> Vec<Value> {
    let mut found = Vec::new();
    until(&format!("{count} news of {organ}"), || {
        let shown = shown(house);
        let all = shown["news"].as_array().expect("news");
        found = all.iter().filter(|news| news["organ"] == organ).cloned().collect();
        found.len() >= count
    });
    found
}

/// Changes a file that an agent knows until that is news. What is written in the same tick of the clock as
/// the agent's call cannot be told from it.
pub(crate) fn changed(rig: &Rig, house: &Http, path: &str) -> Value {
    let (mut found, mut lines) = (Vec::new(), String::from("changed\n"));
    until(&format!("news of {path}"), || {
        lines.push_str("and changed again\n");
        rig.write(path, &lines);
        let all = shown(house)["news"].as_array().expect("news").clone();
        found = all.into_iter().filter(|news| news["subject"] == path).collect();
        !found.is_empty()
    });
    found.remove(0)
}

/// All texts of a result.
pub(crate) fn texts(result: &Value) -> String {
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_file_that_others_changed_is_told_once_in_the_next_result_and_counts_as_seen_with_the_call_after_it() {
    let rig = Rig::with(&[("a.txt", "one\ntwo\n"), ("b.txt", "x\n")]);
    let mut house = rig.http();
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    let told = changed(&rig, &house, "a.txt");
    let sentence = told["sentence"].as_str().expect("a sentence").to_owned();
    assert!(sentence.contains("a.txt") && sentence.contains(" lines"), "{sentence}");
    assert_eq!(told["told"], json!([]), "nobody called yet");

    let result = house.call("read_file", json!({"path": "b.txt"}));
    assert!(texts(&result).contains(&sentence), "{result}");
    assert_eq!(result["structuredContent"]["attention"][0]["sentence"], *sentence, "{result}");
    let telling = |house: &Http| shown(house)["news"][0]["told"][0].clone();
    let first = telling(&house);
    assert_eq!(
        (&first["how"], &first["client"], &first["seen"]),
        (&json!("result"), &json!("rig"), &Value::Null)
    );

    let again = house.call("read_file", json!({"path": "b.txt"}));
    assert!(!texts(&again).contains("News"), "{again}");
    assert!(telling(&house)["seen"].is_string(), "the next call shows that it arrived");
}

#[test]
fn the_models_own_changes_are_no_news_to_it() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "x\n")]);
    rig.configure("[permissions]\nallow = [\"run_shell(*)\"]\n");
    let mut house = rig.http();
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    house.call("edit_file", json!({"path": "a.txt", "old_string": "one", "new_string": "two"}));
    house.call("run_shell", json!({"command": "echo more >> a.txt"}));
    house.call("read_file", json!({"path": "b.txt"}));
    // A change of another file shows that everything before it was looked at.
    changed(&rig, &house, "b.txt");
    let told = news(&house, "internal:files", 1);
    let about_b = |news: &Value| news["subject"] == "b.txt";
    assert!(told.iter().all(about_b), "{told:?}");
}

#[test]
fn off_is_no_tool_no_route_and_no_thread() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    rig.configure("[attention]\norgans = \"off\"\n");
    let mut house = rig.http();
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    assert_eq!(house.send("GET", "/api/attention", &house.headers(), "").status, 404);
    let listed = house.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).json();
    let named = |name: &str| {
        listed["result"]["tools"].as_array().expect("tools").iter().any(|tool| tool["name"] == name)
    };
    assert!(named("read_file") && !named("get_attention"), "{listed}");
    let tasks = std::fs::read_dir(format!("/proc/{}/task", house.child.id())).expect("threads");
    let names = tasks.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
    assert!(names.into_iter().all(|name| name.trim() != "attention"), "off has no thread");
}

#[test]
fn a_command_that_was_green_and_a_call_that_fails_three_times_are_news() {
    let rig = Rig::with(&[("state", "ok\n"), ("a.txt", "x\n")]);
    rig.configure("[permissions]\nallow = [\"run_shell(*)\"]\n");
    let mut house = rig.http();
    house.handshake();
    house.call("run_shell", json!({"command": "grep -q ok state"}));
    house.call("edit_file", json!({"path": "state", "old_string": "ok", "new_string": "no"}));
    house.call("run_shell", json!({"command": "grep -q ok  state"}));
    let red = news(&house, "internal:commands", 1).remove(0);
    assert_eq!((&red["why"]["signal"]["new"], &red["urgent"]), (&json!("exit 1"), &json!(true)), "{red}");
    for _ in 0..3 {
        house.call("read_file", json!({"path": "absent.txt"}));
    }
    let failing = news(&house, "internal:repeats", 1).remove(0);
    assert!(failing["sentence"].as_str().is_some_and(|said| said.contains("3 times")), "{failing}");
}
