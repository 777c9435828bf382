//! The first list that a client fetches: it holds what servers offer that nobody has met before, and
//! a server that hangs delays it once.

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, command, echo, with},
    rig::Rig,
};

/// A client that says who it is.
fn introduced(rig: &Rig, name: &str) -> Client {
    let mut client = Client::silent_start(rig);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": name, "version": "1"}});
    client.hello = client.result("initialize", hello);
    client.pipe.notify("notifications/initialized", json!({}));
    client
}

fn names(tools: &[String], start: &str) -> Vec<String> {
    tools.iter().filter(|name| name.starts_with(start)).cloned().collect()
}

#[test]
fn a_server_never_met_stands_in_the_first_list() {
    for era in Era::ALL {
        let rig = with(&format!(
            "{}{}",
            echo("one", &["--slow-start", "300"], ""),
            echo("two", &["--slow-start", "300"], "")
        ));
        let mut client = Client::new(&rig, era);
        let tools = client.tools();
        assert!(tools.contains(&"one__echo".into()) && tools.contains(&"two__echo".into()), "{tools:?}");
        assert!(!tools.contains(&"find_tools".into()), "everything is listed: {tools:?}");
        assert!(client.list("resources/list", "resources").len() > 1, "{era:?}");
    }
}

#[test]
fn any_list_may_be_the_first() {
    for era in Era::ALL {
        let rig = with(&echo("one", &["--slow-start", "300"], ""));
        let mut client = Client::new(&rig, era);
        let listed = client.list("resources/list", "resources");
        assert!(
            listed.iter().any(|entry| !entry["uri"].as_str().unwrap_or_default().starts_with("tectum://")),
            "{listed:?}"
        );
    }
}

#[test]
fn who_lists_before_a_server_is_there_can_search_for_what_it_brings() {
    let rig = with(&format!("[servers]\nfirst_wait = 0\n{}", echo("one", &["--slow-start", "1500"], "")));
    // It never reads a list again.
    let mut client = introduced(&rig, "codex-mcp-client");
    let tools = client.tools();
    assert_eq!(names(&tools, "one__"), [""; 0]);
    assert!(tools.contains(&"find_tools".into()) && tools.contains(&"call_tool".into()), "{tools:?}");
    // The call waits for the server that its name says.
    let said = client.say("call_tool", json!({"name": "one__echo", "arguments": {"text": "there"}}));
    assert_eq!(said, "there");
    let found = client.say("find_tools", json!({"query": "echo what it is told"}));
    assert!(found.contains("one__echo") && found.contains("call_tool"), "{found}");
    let tools = client.tools();
    assert!(tools.contains(&"one__echo".into()) && !tools.contains(&"find_tools".into()), "{tools:?}");
    let said = client.say("call_tool", json!({"name": "one__echo", "arguments": {"text": "again"}}));
    assert_eq!(said, "again", "what left the list can still be called");
}

#[test]
fn a_call_waits_for_its_server_to_start() {
    for era in Era::ALL {
        let rig = with(&format!("[servers]\nfirst_wait = 0\n{}", echo("one", &["--slow-start", "700"], "")));
        let mut client = Client::new(&rig, era);
        assert_eq!(client.say("one__echo", json!({"text": "there"})), "there", "{era:?}");
    }
}

#[test]
fn a_server_that_hangs_is_waited_for_once_and_others_are_listed() {
    let hung = command("hung", "sleep", &["600"], "");
    let rig = with(&format!("[servers]\nfirst_wait = 1\n{hung}{}", echo("one", &[], "")));
    let mut client = Client::new(&rig, Era::Legacy);
    assert!(client.tools().contains(&"one__echo".into()));
    // All of these would take more than a test may, were it waited for again.
    for _ in 0..100 {
        assert!(client.tools().contains(&"call_tool".into()));
    }
    drop(client);
    // Nor does the next start wait for it: one met before is listed at once.
    rig.configure(&format!("[servers]\nfirst_wait = 60\n{hung}{}", echo("one", &[], "")));
    let mut client = Client::new(&rig, Era::Legacy);
    assert!(client.tools().contains(&"one__echo".into()));
}

#[test]
fn hello_never_waits_and_a_wait_can_be_cancelled() {
    let rig = with(&format!("[servers]\nfirst_wait = 60\n{}", command("hung", "sleep", &["600"], "")));
    let mut client = Client::new(&rig, Era::Legacy);
    assert_eq!(client.hello["serverInfo"]["name"], "tectum");
    let listing = client.start("tools/list", json!({}));
    client.cancel(listing);
    assert_eq!(client.say("read_file", json!({"path": "a.txt"})), "hello\n");
    assert!(!client.has(listing), "nobody waits for it any more");
    let mut modern = Client::new(&rig, Era::Modern);
    let discovered: Value = modern.result("server/discover", json!({}));
    assert!(discovered["capabilities"].is_object(), "{discovered}");
}
