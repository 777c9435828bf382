//! The texts that stay in the model's sight, for clients of MCP: anchors and todos as resources, and
//! the end of a round's last result where the settings ask for it.

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, echo, until},
    rig::Rig,
};

const TODO: &str = "tectum://todo";
const ANCHOR: &str = "tectum://anchors/todo_state";
const SESSION: &str = "tectum://sessions/current";
const NEWS: &str = "tectum://attention/focus";
const WORKSPACE: &str = "tectum://attention/state";

fn todos(words: &str) -> Value {
    json!({ "todos": [{ "content": words, "active_form": words, "status": "pending" }] })
}

fn uris(client: &mut Client) -> Vec<String> {
    let listed = client.list("resources/list", "resources");
    listed.iter().map(|one| one["uri"].as_str().expect("an address").to_owned()).collect()
}

fn read(client: &mut Client, uri: &str) -> String {
    let read = client.result("resources/read", json!({ "uri": uri }));
    read["contents"][0]["text"].as_str().expect("a text").to_owned()
}

fn heard(client: &mut Client, method: &str) -> Vec<Value> {
    let notes = client.notes.iter().filter(|note| note["method"] == method);
    notes.map(|note| note["params"]["uri"].clone()).collect()
}

#[test]
fn anchors_are_resources_and_their_changes_are_told() {
    for era in Era::ALL {
        let rig = Rig::new();
        let mut client = Client::new(&rig, era);
        assert_eq!(uris(&mut client), [TODO, SESSION, NEWS, WORKSPACE]);
        assert_eq!(read(&mut client, TODO), "No todos.");
        let templates = client.list("resources/templates/list", "resourceTemplates");
        assert_eq!(templates[0]["uriTemplate"], "tectum://anchors/{key}");
        match era {
            Era::Legacy => {
                for uri in [TODO, ANCHOR] {
                    client.result("resources/subscribe", json!({ "uri": uri }));
                }
            }
            Era::Modern => {
                let wanted = json!({ "resourcesListChanged": true, "resourceSubscriptions": [TODO, ANCHOR] });
                client.start("subscriptions/listen", json!({ "notifications": wanted }));
            }
        }
        client.call("todo_write", todos("Read it"));
        until("the new anchor is told of", || {
            client.call("list_directory", json!({ "path": "." }));
            !heard(&mut client, "notifications/resources/list_changed").is_empty()
                && !heard(&mut client, "notifications/resources/updated").is_empty()
        });
        assert_eq!(uris(&mut client), [TODO, SESSION, NEWS, WORKSPACE, ANCHOR]);
        assert!(read(&mut client, ANCHOR).contains("[0] [ ] Read it"));
        assert_eq!(read(&mut client, TODO), read(&mut client, ANCHOR));
        client.notes.clear();
        client.call("todo_write", todos("Write it"));
        until("the change is told of", || {
            client.call("list_directory", json!({ "path": "." }));
            !heard(&mut client, "notifications/resources/updated").is_empty()
        });
        // The list is as it was.
        assert_eq!(heard(&mut client, "notifications/resources/list_changed"), [Value::Null; 0]);
        assert!(read(&mut client, TODO).contains("Write it"));
    }
}

#[test]
fn an_anchor_that_is_not_there_is_an_error_that_names_it() {
    let rig = Rig::new();
    let mut client = rig.stdio();
    let answer = client.exchange("resources/read", json!({ "uri": "tectum://anchors/none" }));
    let said = answer["error"]["message"].as_str().expect("an error");
    assert!(said.contains("tectum://anchors/none"), "{answer}");
}

#[test]
fn results_end_with_anchors_only_where_that_is_asked_for() {
    let rig = Rig::with(&[("a.txt", "x\n")]);
    let mut client = Client::new(&rig, Era::Legacy);
    client.call("todo_write", todos("Read it"));
    assert_eq!(
        client.call("read_file", json!({ "path": "a.txt" }))["content"].as_array().map(Vec::len),
        Some(1)
    );
    rig.configure(&format!("[context]\nappend_anchors = true\n{}", echo("one", &[], "")));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__echo");
    let blocks = |result: Value| result["content"].as_array().expect("blocks").clone();
    // No anchors, no block.
    assert_eq!(blocks(client.call("read_file", json!({ "path": "a.txt" }))).len(), 1);
    // A result that says it itself does not say it twice, and the model knows it from then on.
    assert_eq!(blocks(client.call("todo_write", todos("Read it"))).len(), 1);
    let read = client.call("read_file", json!({ "path": "a.txt" }));
    assert_eq!(read["structuredContent"]["content"], "x\n");
    assert_eq!(blocks(read).len(), 1);
    let anchor = |words: &str| {
        let params = json!({"key": "build", "content": words});
        json!({"text": json!({"_directives": [{"type": "context_anchor", "params": params}]}).to_string()})
    };
    // Told where it changed, once, and alone.
    let told = blocks(client.call("one__echo", anchor("green")));
    assert_eq!((told.len(), &told[1]["text"]), (2, &json!("green")));
    assert_eq!(blocks(client.call("one__echo", anchor("green"))).len(), 1);
    assert_eq!(blocks(client.call("read_file", json!({ "path": "a.txt" }))).len(), 1);
    assert_eq!(blocks(client.call("one__echo", anchor("red")))[1]["text"], "red");
}

#[test]
fn files_that_changed_are_told_once_and_only_where_that_is_asked_for() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "b\n"), (".env", "SECRET=1\n")]);
    let last = |result: &Value| {
        let blocks = result["content"].as_array().expect("blocks").clone();
        blocks.last().expect("one")["text"].as_str().expect("a text").to_owned()
    };
    let mut client = rig.stdio();
    client.call("read_file", json!({ "path": "a.txt" }));
    rig.write("a.txt", "two\n");
    assert!(!last(&client.call("read_file", json!({ "path": "b.txt" }))).contains("Changed since"));

    rig.write("a.txt", "one\n");
    rig.configure("[context]\nrefresh = true\n");
    let mut client = rig.stdio();
    client.call("read_file", json!({ "path": "a.txt" }));
    client.call("read_file", json!({ "path": ".env" }));
    rig.write("a.txt", "two\n");
    rig.write(".env", "SECRET=2\n");
    let told = last(&client.call("read_file", json!({ "path": "b.txt" })));
    assert!(
        told.starts_with("Changed since you read it:\n###") && told.ends_with("\n(end of what changed)"),
        "{told}"
    );
    assert!(told.contains("### `a.txt` changed\n```txt\ntwo\n```") && !told.contains("SECRET"), "{told}");
    assert!(!last(&client.call("read_file", json!({ "path": "b.txt" }))).contains("Changed since"));
    // What the model changes itself it knows.
    client.call("write_file", json!({ "path": "a.txt", "content": "three\n" }));
    assert!(!last(&client.call("read_file", json!({ "path": "b.txt" }))).contains("Changed since"));
}

#[test]
fn the_anchors_of_one_server_do_not_weigh_on_every_result() {
    let rig = Rig::with(&[("a.txt", "x\n")]);
    rig.configure(&format!("[context]\nappend_anchors = true\n{}", echo("one", &[], "")));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__echo");
    client.call("todo_write", todos("Read it"));
    let mut told = Value::Null;
    for round in 0..4 {
        let anchor = |key: usize| {
            json!({"type": "context_anchor",
            "params": {"key": format!("{round}-{key}"), "content": format!("{round}-{key}:{}", "x".repeat(60_000))}})
        };
        let text = json!({"_directives": (0..16).map(anchor).collect::<Vec<_>>()}).to_string();
        told = client.call("one__echo", json!({"text": text}));
    }
    let appended = told["content"][1]["text"].as_str().expect("the anchors");
    assert!(appended.len() < 20_000, "{} bytes", appended.len());
    assert!(!appended.contains("[CURRENT TODO STATE]"), "those of others did not change: {appended:.100}");
    assert!(read(&mut client, TODO).contains("Read it"), "and they stay");
    assert!(appended.contains("3-15:") && !appended.contains("0-0:"), "the newest stay: {appended:.200}");
    let last = appended.lines().last().expect("a line");
    assert!(last.contains("made room"), "what is left out is told: {last}");
}
