//! The console's state over the hook API of the real binary: project, session, fields and tasks, and the bodies
//! that are refused.

use serde_json::{Value, json};

use crate::{
    federated::until,
    journal_secrets::files,
    rig::{Answer, Http, Rig},
};

fn rig() -> Rig {
    Rig::with(&[("a.txt", "hello\n")])
}

#[track_caller]
fn get(house: &Http, path: &str) -> Value {
    let answer = house.send("GET", path, &house.headers(), "");
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer.json()
}

fn post(house: &Http, path: &str, body: &Value) -> Answer {
    house.send("POST", path, &house.headers(), &body.to_string())
}

#[track_caller]
fn task(house: &Http, body: &Value) {
    let answer = post(house, "/api/gui", body);
    assert_eq!((answer.status, answer.json()), (200, json!({"status": "queued"})), "{body}");
}

/// The kinds and data of the events that waited.
fn events(house: &Http) -> Vec<(String, Value)> {
    let told = get(house, "/api/events");
    let events = told["events"].as_array().expect("a list");
    events
        .iter()
        .map(|event| (event["kind"].as_str().expect("a kind").into(), event["data"].clone()))
        .collect()
}

#[test]
fn the_project_is_what_the_settings_say_until_a_script_shows_another() {
    let rig = rig();
    rig.configure("[tools]\nexclude = [\"run_powershell\"]\n");
    let house = rig.http();
    let project = get(&house, "/api/project")["project"].clone();
    assert_eq!(project["tools.exclude"], json!(["run_powershell"]), "{project}");
    assert_eq!(project["directory"], json!(rig.project()));
    let other = json!({"project": {"name": "x", "files": {"paths": []}, "permissions.default": "allow"}});
    let answer = post(&house, "/api/project", &other);
    assert_eq!((answer.status, answer.json()), (200, json!({"status": "updated"})));
    assert_eq!(get(&house, "/api/project"), other);
    assert_eq!(get(&house, "/api/policy")["policy"]["version"], 0, "no setting changed");
}

#[test]
fn the_session_is_what_was_called_until_another_one_is_in_view() {
    let rig = rig();
    let mut house = rig.http();
    let diagnostics = |house: &Http| get(house, "/api/gui/diagnostics");
    assert_eq!(get(&house, "/api/session"), json!({"session": {"entries": []}}));
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    let entries = get(&house, "/api/session")["session"]["entries"].clone();
    assert_eq!(
        (&entries[0]["role"], &entries[0]["tool"]),
        (&json!("tool"), &json!("read_file")),
        "{entries}"
    );
    assert_eq!(entries[0]["arguments"], json!({"path": "a.txt"}));
    assert!(entries[0]["content"].as_str().is_some_and(|text| text.contains("hello")), "{entries}");
    assert_eq!(diagnostics(&house), json!({"thinking": false, "live": false, "prior": false}));

    let posted =
        json!({"session": {"entries": [{"role": "User", "content": "hi"}, {"role": "AI", "content": "hm"}]}});
    assert_eq!(post(&house, "/api/session", &posted).json(), json!({"status": "updated"}));
    assert_eq!(get(&house, "/api/session"), posted);
    assert_eq!(diagnostics(&house)["prior"], true);
    task(&house, &json!({"action": "click", "item": "btn_reset_session"}));
    assert_eq!(get(&house, "/api/session")["session"]["entries"], entries);
    assert_eq!(diagnostics(&house)["prior"], false);

    // A later session is the present one; the first can be chosen by its name.
    let listed = rig.run(&["log", "list", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let first = listed["sessions"][0]["session"].as_str().expect("a name").to_owned();
    house.handshake();
    house.call("list_directory", json!({"path": "."}));
    assert_eq!(get(&house, "/api/session")["session"]["entries"][0]["tool"], "list_directory");
    task(&house, &json!({"action": "select_list_item", "listbox": "sessions", "item_value": first}));
    assert_eq!(get(&house, "/api/session")["session"]["entries"], entries);
    assert_eq!(diagnostics(&house)["prior"], true);
    let nobody = json!({"action": "select_list_item", "listbox": "sessions", "item_value": "nobody"});
    assert_eq!(post(&house, "/api/gui", &nobody).status, 404);
}

#[test]
fn tasks_change_what_is_shown_and_are_told() {
    let house = rig().http();
    assert_eq!(get(&house, "/api/gui/value/ai_input"), json!({"value": null}));
    let set = json!({"action": "set_value", "item": "ai_input", "value": "hello"});
    let tab = json!({"action": "select_tab", "tab_bar": "main_tabs", "tab": "logs"});
    let item = json!({"action": "select_list_item", "listbox": "models", "item_value": "small"});
    let click = json!({"action": "click", "item": "btn_send", "user_data": 7});
    for one in [&set, &tab, &item, &click] {
        task(&house, one);
    }
    task(&house, &json!({"action": "push_event", "event_type": "response", "payload": {"text": "done"}}));
    task(&house, &json!({"action": "user_request", "payload": [1]}));
    task(&house, &json!({"anything": "else"}));
    assert_eq!(get(&house, "/api/gui/value/ai_input"), json!({"value": "hello"}));
    assert_eq!(get(&house, "/api/gui/value?tag=main_tabs"), json!({"value": "logs"}));
    assert_eq!(
        get(&house, "/api/gui/value"),
        json!({"value": {"ai_input": "hello", "main_tabs": "logs", "models": "small"}})
    );
    let expect = [
        ("gui.set_value", set),
        ("gui.select_tab", tab),
        ("gui.select_list_item", item),
        ("gui.click", click),
        ("response", json!({"text": "done"})),
        ("user_request", json!([1])),
        ("gui.task", json!({"anything": "else"})),
    ];
    assert_eq!(events(&house), expect.map(|(kind, data)| (kind.to_owned(), data)));
    assert_eq!(events(&house), []);
}

#[test]
fn a_script_cannot_pretend_to_be_the_house() {
    let house = rig().http();
    for kind in ["question.asked", "call.ended", "ask_received", "gui.click", "", "a b", &"x".repeat(101)] {
        let answer =
            post(&house, "/api/gui", &json!({"action": "push_event", "event_type": kind, "payload": 1}));
        assert_eq!(answer.status, 400, "{kind}: {answer:?}");
    }
    assert_eq!(events(&house), []);
}

#[test]
fn performance_is_told() {
    let mut house = rig().http();
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    let told = get(&house, "/api/performance")["performance"].clone();
    assert_eq!((&told["source"], &told["calls"]), (&json!("Tectum"), &json!(1)), "{told}");
    assert!(told["memory_mb"].as_f64().is_some_and(|memory| memory > 0.0), "{told}");
}

#[test]
fn bodies_that_are_not_what_a_path_takes_are_refused() {
    let house = rig().http();
    let send = |path: &str, kind: &str, body: &str| {
        let headers = house.headers().into_iter().map(|(name, value)| match name.as_str() {
            "Content-Type" => (name, kind.to_owned()),
            _ => (name, value),
        });
        house.send("POST", path, &headers.collect::<Vec<_>>(), body)
    };
    const JSON: &str = "application/json; charset=utf-8";
    let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
    let large = json!({"x": "x".repeat(1024 * 1024)}).to_string();
    for path in ["/api/project", "/api/session", "/api/gui"] {
        for (kind, body, expect) in [
            (JSON, "{", 400),
            (JSON, "", 400),
            (JSON, "[]", 400),
            (JSON, "null", 400),
            (JSON, "\u{0}", 400),
            (JSON, &deep, 400),
            (JSON, &large, 413),
            ("text/plain", "{}", 415),
            ("application/x-www-form-urlencoded", "a=b", 415),
        ] {
            let answer = send(path, kind, body);
            assert_eq!(answer.status, expect, "{path} {kind} {:.40}: {answer:?}", body);
            let error = &answer.json()["error"];
            assert!(error["message"].is_string() && error["hint"].is_string(), "{answer:?}");
        }
    }
    for (path, body) in [
        ("/api/project", json!({"project": 1})),
        ("/api/session", json!({"session": {}})),
        ("/api/gui", json!({"action": "set_value", "item": "a"})),
        ("/api/gui", json!({"action": "set_value", "value": "a"})),
        ("/api/gui", json!({"action": "click", "item": 1})),
        ("/api/gui", json!({"action": "select_tab"})),
        ("/api/gui", json!({"action": "select_list_item", "listbox": "x"})),
        ("/api/gui", json!({"action": "push_event"})),
    ] {
        let answer = post(&house, path, &body);
        assert_eq!(answer.status, 400, "{path} {body}: {answer:?}");
    }
    let wrong = house.send("DELETE", "/api/gui", &house.headers(), "");
    assert_eq!((wrong.status, wrong.header("allow")), (405, Some("POST")), "{wrong:?}");
}

#[test]
fn what_is_asked_is_in_the_journal_with_its_body_and_without_secrets() {
    let rig = rig();
    let house = rig.http();
    task(&house, &json!({"action": "set_value", "item": "login", "value": {"password": "hunter2hunter2"}}));
    get(&house, "/api/events");
    let written = || {
        let segments = files(&rig.home().join("state")).into_iter();
        let segments = segments.filter(|path| path.extension().is_some_and(|end| end == "journal"));
        segments.map(|path| std::fs::read_to_string(path).expect("readable")).collect::<String>()
    };
    until("a record of it", || written().contains("/api/gui"));
    let journal = written();
    let hook = journal.lines().find(|line| line.contains("/api/gui")).expect("there");
    assert!(hook.contains("set_value") && !hook.contains("hunter2"), "{hook}");
    assert!(!journal.contains("/api/events"), "who polls is not recorded: {journal}");
}
