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

#[test]
fn a_commit_under_the_agent_and_a_rebase_are_news_and_its_own_are_not() {
    let rig = Rig::with(&[("a.txt", "x\n"), (".git/HEAD", "ref: refs/heads/main\n")]);
    let commit =
        |digit: char| rig.write(".git/refs/heads/main", format!("{}\n", digit.to_string().repeat(40)));
    commit('1');
    rig.configure("[permissions]\nallow = [\"run_shell(*)\"]\n");
    let mut house = rig.http();
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    let looked = || shown(&house)["counters"]["ticks"].as_u64() >= Some(1);
    until("a look", looked);
    // Its own command comes first: nothing is told of that.
    house.call(
        "run_shell",
        json!({"command": "mkdir .git/rebase-merge 2>/dev/null; rmdir .git/rebase-merge 2>/dev/null; true"}),
    );
    let (mut found, mut digit) = (Vec::new(), 1);
    until("news of HEAD", || {
        digit = digit % 8 + 1;
        commit(char::from_digit(digit, 10).expect("a digit"));
        found = shown(&house)["news"].as_array().expect("news").clone();
        found.retain(|news| news["organ"] == "internal:head");
        !found.is_empty()
    });
    let sentence = found[0]["sentence"].as_str().expect("a sentence");
    assert!(sentence.contains("main at"), "{sentence}");
    std::fs::create_dir(rig.project().join(".git/rebase-merge")).expect("made");
    let told = |house: &Http| shown(house)["organs"].as_array().expect("organs").clone();
    until("the rebase", || {
        let organs = told(&house);
        let head = organs.iter().find(|organ| organ["name"] == "internal:head").cloned().unwrap_or_default();
        head["last_signal"]["new"].as_str().is_some_and(|new| new.contains("rebase in progress"))
    });
}

#[test]
fn a_server_that_dies_is_news() {
    let rig = Rig::with(&[("a.txt", "x\n")]);
    let marker = rig.outside().join("starts");
    rig.configure(&crate::federated::marked("one", &marker, &[], ""));
    let mut house = rig.http();
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    house.call("one__echo", json!({"text": "x"}));
    let seen_ready = || {
        let answer = house.send("GET", "/api/house", &house.headers(), "");
        answer.json()["servers"]["one"] == "ready"
    };
    until("the server", seen_ready);
    // The sense has to have seen it work before its death can be news.
    let ticks = |house: &Http| shown(house)["counters"]["ticks"].as_u64().unwrap_or_default();
    let before = ticks(&house);
    until("a look", || ticks(&house) >= before + 3);
    let pid = crate::federated::starts(&marker).pop().expect("a start");
    let _ = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
    let told = news(&house, "internal:servers", 1).remove(0);
    assert_eq!((&told["subject"], &told["urgent"]), (&json!("one"), &json!(true)), "{told}");
}

#[test]
fn a_list_that_nobody_touches_for_rounds_is_news() {
    let rig = Rig::with(&[("a.txt", "x\n")]);
    rig.configure("[attention]\ntodo_rounds = 2\n");
    let mut house = rig.http();
    house.handshake();
    let todo = json!({"content": "mend it", "active_form": "mending it", "status": "in_progress"});
    house.call("todo_write", json!({"todos": [todo]}));
    let mut told = Vec::new();
    until("news of the list", || {
        house.call("read_file", json!({"path": "a.txt"}));
        told = shown(&house)["news"].as_array().expect("news").clone();
        told.retain(|news| news["organ"] == "internal:todos");
        !told.is_empty()
    });
    assert!(told[0]["sentence"].as_str().is_some_and(|said| said.contains("mend")), "{told:?}");
}

#[test]
fn what_is_muted_is_not_told_and_people_are_shown_why_something_was() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "x\n")]);
    let mut house = rig.http();
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    let told = changed(&rig, &house, "a.txt");
    let id = told["id"].as_str().expect("an id");
    let why = crate::cli_said::Said::from(rig.run(&["attention", "why", id]));
    assert!(why.code == 0 && why.out.contains("ignition") && why.out.contains("told to nobody"), "{why:?}");
    let table = crate::cli_said::Said::from(rig.run(&["attention"]));
    assert!(table.out.contains("internal:files") && table.out.contains("won with"), "{table:?}");
    let unknown = crate::cli_said::Said::from(rig.run(&["attention", "why", "n999"]));
    assert!(unknown.code != 0 && unknown.err.contains("no news `n999`"), "{unknown:?}");

    let choose = |name: &str, body: Value| {
        house
            .send("POST", &format!("/api/attention/organs/{name}"), &house.headers(), &body.to_string())
            .status
    };
    assert_eq!(choose("internal:nothing", json!({"mute": true})), 404);
    assert_eq!(choose("internal:files", json!({})), 400);
    assert_eq!(choose("internal:files", json!({"mute": true})), 200);
    let listed = house.call("focus_attention", json!({"organ": "internal:files"}));
    assert_eq!(listed["structuredContent"]["organs"][0]["muted"], true, "{listed}");
    house.call("read_file", json!({"path": "b.txt"}));
    rig.write("b.txt", "changed\n");
    let muted = |house: &Http| shown(house)["counters"]["muted"].as_u64().unwrap_or_default();
    let mut lines = String::new();
    until("a muted fact", || {
        lines.push_str("again\n");
        rig.write("b.txt", &lines);
        muted(&house) > 0
    });
    assert_eq!(news(&house, "internal:files", 1).len(), 1, "only the first one");
}
