//! Consent at work: what a project names runs when somebody agreed to it, and only as agreed.

use std::path::Path;

use serde_json::{Value, json};

use crate::{
    cli_said::Said,
    federated::{Client, Era, lives, starts, until},
    rig::{Rig, fixture},
};

/// A project's file with one server, which writes its process number to a marker.
fn named(marker: &Path, word: &str, value: &str) -> String {
    let script = "echo $$ >> \"$0\"; exec \"$@\"";
    let args = json!(["-c", script, marker, fixture(), "--role", "echo", "--name", "web", "--also", word]);
    let server = json!({"command": "sh", "args": args, "env": {"KEY": value}});
    json!({"mcpServers": {"web": server}}).to_string()
}

fn trust(rig: &Rig) {
    let said = rig.run(&["trust", "web", "--yes"]);
    assert!(said.status.success(), "{said:?}");
}

fn state(rig: &Rig) -> Value {
    let said = rig.run(&["list", "--json"]);
    let listed: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    listed["servers"][0]["state"].clone()
}

#[test]
fn a_projects_server_starts_when_it_is_trusted_and_stops_when_it_changes() {
    let rig = Rig::new();
    let marker = rig.outside().join("marker");
    rig.write(".mcp.json", named(&marker, "first", "1"));
    let mut client = Client::new(&rig, Era::Legacy);
    assert!(!client.tools().iter().any(|name| name.starts_with("web__")));
    // Long enough for the files to be looked at again.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert!(!marker.exists() && !client.tools().iter().any(|name| name.starts_with("web__")));

    trust(&rig);
    // The running Tectum starts it by itself; nobody lists or calls.
    until("the start", || starts(&marker).len() == 1);
    client.until_listed("web__first");
    assert_eq!(client.say("web__echo", json!({"text": "there"})), "there");

    let mut changes = [
        ("an argument", named(&marker, "second", "1")),
        ("the value of a variable", named(&marker, "second", "2")),
        ("the command", named(&marker, "second", "2").replace("\"sh\"", "\"/bin/sh\"")),
    ];
    for (number, (what, file)) in changes.iter_mut().enumerate() {
        let before = *starts(&marker).last().expect("started");
        rig.write(".mcp.json", file);
        client.until_gone("web__echo");
        until(&format!("the end after {what}"), || !lives(before));
        assert_eq!((state(&rig), starts(&marker).len()), (json!("untrusted"), number + 1), "{what}");
        trust(&rig);
        client.until_listed("web__second");
        assert_eq!(client.say("web__echo", json!({"text": "there"})), "there");
        assert_eq!(starts(&marker).len(), number + 2, "{what}");
    }
}

#[test]
fn consent_is_heard_on_http_and_a_broken_file_takes_nothing() {
    let rig = Rig::new();
    let marker = rig.outside().join("marker");
    rig.write(".mcp.json", named(&marker, "first", "1"));
    let mut http = rig.http();
    http.handshake();
    let tools = |http: &crate::rig::Http| {
        http.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).json()["result"].to_string()
    };
    assert!(!tools(&http).contains("web__"));
    assert!(!marker.exists());
    trust(&rig);
    until("its tools", || tools(&http).contains("web__first"));
    assert_eq!(crate::rig::text(&http.call("web__echo", json!({"text": "there"}))), "there");
    // A file that breaks while somebody edits it keeps its servers.
    let good = rig.read(".mcp.json");
    rig.write(".mcp.json", "{ \"mcpServers\": {");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert_eq!(crate::rig::text(&http.call("web__echo", json!({"text": "still"}))), "still");
    rig.write(".mcp.json", good);
    let said = rig.run(&["trust", "--revoke", "web"]);
    assert!(said.status.success(), "{said:?}");
    until("the end", || !tools(&http).contains("web__") && starts(&marker).iter().all(|pid| !lives(*pid)));
}

#[test]
fn what_somebody_switched_off_stays_off_when_that_cannot_be_read() {
    let rig = Rig::new();
    let marker = rig.outside().join("marker");
    rig.write(".mcp.json", named(&marker, "first", "1"));
    trust(&rig);
    assert!(rig.run(&["disable", "web"]).status.success());
    let projects = rig.home().join("state/tectum/projects");
    let project = projects.read_dir().expect("there").next().expect("one").expect("readable").path();
    std::fs::write(project.join("servers/switched.json"), "{broken").expect("written");
    let listed = Said::from(rig.run(&["list"]));
    assert!(
        listed.out.contains("may be switched off") && listed.out.contains("switched.json"),
        "{}",
        listed.out
    );
    let mut client = Client::new(&rig, Era::Legacy);
    assert!(!client.tools().iter().any(|name| name.starts_with("web__")));
    let refused = client.begin("web__echo", json!({"text": "there"}));
    assert!(
        client.wait(refused)["error"]["message"].as_str().is_some_and(|text| text.contains("switched.json"))
    );
    assert!(!marker.exists());
}

#[test]
fn what_is_held_is_told_wherever_somebody_looks_for_it() {
    let rig = Rig::with(&[(".mcp.json", r#"{"mcpServers":{"web":{"command":"web-server"}}}"#)]);
    rig.configure("[servers.half]\nurl = \"http://127.0.0.1:9/${NOT_SET}\"\n");
    let (trust, unset) = ("`tectum trust web`", "the environment variable NOT_SET is not set");
    for args in [
        &["call", "web__echo"][..],
        &["observe", "test", "web"],
        &["observe", "mute", "web"],
        &["login", "web"],
        &["logout", "web"],
        &["approve-tools", "web"],
        &["policy", "test", "web__echo"],
    ] {
        let held = Said::from(rig.run(args));
        assert!(held.code == 4 && held.err.contains(trust), "{args:?}: {} {}", held.code, held.err);
        let args: Vec<String> = args.iter().map(|word| word.replace("web", "half")).collect();
        let held = Said::from(rig.run(&args.iter().map(String::as_str).collect::<Vec<_>>()));
        assert!(held.code == 4 && held.err.contains(unset), "{args:?}: {} {}", held.code, held.err);
    }
    let listed = Said::from(rig.run(&["list"]));
    assert!(listed.out.contains(trust) && listed.out.contains(unset), "{}", listed.out);

    let mut client = rig.stdio();
    client.request("tools/list", json!({}));
    let (_, log) = client.close();
    assert!(log.contains(trust) && log.contains(unset), "{log}");
    assert!(log.matches("tectum trust").count() == 1, "once: {log}");
    rig.run(&["disable", "web"]);
    let mut client = rig.stdio();
    client.request("tools/list", json!({}));
    assert!(!client.close().1.contains("web"), "what somebody switched off is no news");
}
