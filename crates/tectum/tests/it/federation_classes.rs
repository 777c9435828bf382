//! Clients that can do different things, at servers that offer them different things.

use serde_json::{Value, json};

use crate::{
    federated::{command, echo, lives, until},
    rig::{Http, Rig, fixture, text},
};

/// The tools that the house lists for a session.
fn tools(http: &Http) -> Vec<String> {
    let (mut names, mut params) = (Vec::new(), json!({}));
    loop {
        let page = http.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params}));
        let page = page.json()["result"].clone();
        let tools = page["tools"].as_array().unwrap_or_else(|| panic!("{page}"));
        names.extend(tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()));
        match page.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return names,
        }
    }
}

fn has(http: &Http, tool: &str) -> bool {
    tools(http).iter().any(|name| name == tool)
}

/// A server that offers `one__sampled` to clients that can sample.
fn rig() -> Rig {
    let rig = Rig::new();
    rig.configure(&echo("one", &["--era", "legacy", "--for-sampling", "sampled"], ""));
    rig
}

/// Begins a session of a client that can do this, and gives its name.
fn session(http: &mut Http, abilities: Value) -> Option<String> {
    http.handshake_as(abilities);
    http.session.clone()
}

#[test]
fn a_poorer_client_takes_nothing_from_a_richer_one() {
    let rig = rig();
    let mut http = rig.http();
    let rich = session(&mut http, json!({"sampling": {}}));
    until("its tool", || has(&http, "one__sampled"));
    let poor = session(&mut http, json!({}));
    assert_eq!(text(&http.call("one__echo", json!({"text": "there"}))), "there");
    let seen: Value = serde_json::from_str(text(&http.call("one__seen", json!({})))).expect("JSON");
    assert_eq!(seen["capabilities"], json!({}), "a connection of its own");
    // Its server has told of changes by then, and was asked: this one is its own word.
    let refused = http.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "one__sampled", "arguments": {}}}));
    assert!(refused.json()["error"]["message"].to_string().contains("Unknown tool"), "{refused:?}");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    http.session = rich;
    assert!(has(&http, "one__sampled"));
    assert_eq!(text(&http.call("one__sampled", json!({}))), "This client can sample.");
    http.session = poor;
    assert!(has(&http, "one__echo"));

    // Nor from those of the next run, who see what is remembered.
    drop(http);
    let mut http = rig.http();
    session(&mut http, json!({}));
    assert_eq!(text(&http.call("one__echo", json!({"text": "there"}))), "there");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert!(has(&http, "one__sampled"));
    session(&mut http, json!({"sampling": {}}));
    assert_eq!(text(&http.call("one__sampled", json!({}))), "This client can sample.");
}

#[test]
fn a_client_that_can_do_more_than_those_before_is_shown_what_it_is_offered() {
    let rig = rig();
    let mut http = rig.http();
    session(&mut http, json!({"roots": {}}));
    until("the first list", || has(&http, "one__echo"));
    assert!(!has(&http, "one__sampled"));
    session(&mut http, json!({"sampling": {}, "roots": {}}));
    until("its own list", || has(&http, "one__sampled"));
    assert_eq!(text(&http.call("one__sampled", json!({}))), "This client can sample.");
}

#[test]
fn a_server_of_one_client_ends_with_it() {
    let rig = Rig::new();
    rig.configure(&echo("one", &["--era", "legacy"], "isolation = \"per-client\""));
    let mut http = rig.http();
    let begin = |http: &mut Http| {
        let session = session(http, json!({}));
        until("the list", || has(http, "one__echo"));
        let pid: u32 = text(&http.call("one__pid", json!({}))).parse().expect("a number");
        (session, pid)
    };
    let (first, second) = (begin(&mut http), begin(&mut http));
    assert_ne!(first.1, second.1, "each has its own");
    http.session = first.0;
    assert_eq!(http.send("DELETE", "/mcp", &http.headers(), "").status, 204);
    until("its server's end", || !lives(first.1));
    http.session.clone_from(&second.0);
    assert_eq!(text(&http.call("one__pid", json!({}))), second.1.to_string(), "the other is left alone");
    // The last one's, too; and the next client is served.
    assert_eq!(http.send("DELETE", "/mcp", &http.headers(), "").status, 204);
    until("the last server's end", || !lives(second.1));
    let (_, third) = begin(&mut http);
    assert!(lives(third));
}

#[test]
fn one_who_left_before_the_server_answered_leaves_nobody_without_it() {
    let rig = Rig::new();
    let program = fixture().display().to_string();
    let args =
        ["-c", "sleep 1; exec \"$0\" \"$@\"", &program, "--role", "echo", "--name", "one", "--era", "legacy"];
    let one = command("one", "sh", &args, "isolation = \"per-client\"");
    rig.configure(&format!("[servers]\nfirst_wait = 0\n{one}"));
    let mut http = rig.http();
    session(&mut http, json!({}));
    assert!(!has(&http, "one__echo"));
    assert_eq!(http.send("DELETE", "/mcp", &http.headers(), "").status, 204);
    session(&mut http, json!({}));
    until("the list", || has(&http, "one__echo"));
    assert_eq!(text(&http.call("one__echo", json!({"text": "there"}))), "there");
}
