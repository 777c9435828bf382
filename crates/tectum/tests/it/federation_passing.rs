//! The traffic between a client and a server besides results: updates of resources, logs, completions,
//! metadata. For every pair of eras.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, IMPATIENT, KEY, Listening, address, echo, until},
    rig::Rig,
};

fn pairs() -> impl Iterator<Item = (Era, Era)> {
    Era::ALL.into_iter().flat_map(|ours| Era::ALL.map(|theirs| (ours, theirs)))
}

fn client(ours: Era, theirs: Era) -> (Rig, Client) {
    let rig = Rig::new();
    rig.configure(&echo("one", &["--era", theirs.word()], ""));
    let mut client = Client::new(&rig, ours);
    client.until_listed("one__echo");
    (rig, client)
}

/// The addresses of resources that were said to have changed; they are taken.
fn updates(client: &mut Client) -> Vec<Value> {
    let notes = std::mem::take(&mut client.notes).into_iter();
    let updates = notes.filter(|note| note["method"] == "notifications/resources/updated");
    updates.map(|note| note["params"]["uri"].clone()).collect()
}

fn touch(client: &mut Client) -> Vec<Value> {
    client.say("one__touch", json!({}));
    // What follows the answer is heard with the next one.
    std::thread::sleep(Duration::from_millis(50));
    client.say("one__echo", json!({"text": "fence"}));
    updates(client)
}

#[test]
fn a_watched_resource_is_told_of_until_it_is_watched_no_more() {
    const NOTE: &str = "echo://one/note";
    for (ours, theirs) in pairs() {
        let (rig, mut client) = client(ours, theirs);
        assert_eq!(touch(&mut client), [Value::Null; 0], "nobody watches yet");
        let listening = match ours {
            Era::Legacy => {
                client.result("resources/subscribe", json!({"uri": NOTE}));
                None
            }
            Era::Modern => {
                let wanted = json!({"notifications": {"resourceSubscriptions": [NOTE]}});
                Some(client.start("subscriptions/listen", wanted))
            }
        };
        until("a first update", || touch(&mut client).contains(&json!(NOTE)));
        assert!(touch(&mut client).iter().all(|uri| uri == NOTE));

        // A server that starts anew is still watched.
        let said = rig.run(&["restart", "one"]);
        assert!(said.status.success(), "{said:?}");
        let before = client.say("one__pid", json!({}));
        until("another process", || client.say("one__pid", json!({})) != before);
        until("an update after the restart", || touch(&mut client).contains(&json!(NOTE)));

        match listening {
            None => drop(client.result("resources/unsubscribe", json!({"uri": NOTE}))),
            Some(id) => client.cancel(id),
        }
        until("silence", || touch(&mut client).is_empty());
        for _ in 0..3 {
            assert_eq!(touch(&mut client), [Value::Null; 0], "{ours:?} {theirs:?}");
        }
    }
}

#[test]
fn a_resource_is_watched_from_the_moment_that_is_answered() {
    for theirs in Era::ALL {
        let (_rig, mut client) = client(Era::Legacy, theirs);
        for _ in 0..5 {
            client.result("resources/subscribe", json!({"uri": "echo://one/note"}));
            client.say("one__touch", json!({}));
            while updates(&mut client).is_empty() {
                client.hear();
            }
            client.result("resources/unsubscribe", json!({"uri": "echo://one/note"}));
            until("silence", || touch(&mut client).is_empty());
        }
    }
}

/// Begins to listen and waits until that is acknowledged: the request's id, and what was agreed to.
fn listen(client: &mut Client, wanted: Value) -> (u64, Value) {
    let id = client.start("subscriptions/listen", json!({"notifications": wanted}));
    loop {
        let first = client
            .notes
            .iter()
            .position(|note| note["params"]["_meta"][format!("{KEY}subscriptionId")] == id);
        match first {
            Some(first) => {
                let note = client.notes.remove(first);
                assert_eq!(
                    note["method"], "notifications/subscriptions/acknowledged",
                    "nothing goes before it"
                );
                return (id, note["params"]["notifications"].clone());
            }
            None => client.hear(),
        }
    }
}

fn followed(client: &mut Client) -> Value {
    let seen: Value = serde_json::from_str(&client.say("one__seen", json!({}))).expect("JSON");
    seen["followed"].clone()
}

#[test]
fn a_resource_is_listened_to_from_the_moment_that_is_acknowledged() {
    const NOTE: &str = "echo://one/note";
    for theirs in Era::ALL {
        let (_rig, mut client) = client(Era::Modern, theirs);
        for _ in 0..5 {
            let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": [NOTE]});
            let (id, agreed) = listen(&mut client, wanted.clone());
            assert_eq!(agreed, wanted, "{theirs:?}");
            client.say("one__touch", json!({}));
            while updates(&mut client).is_empty() {
                client.hear();
            }
            client.cancel(id);
            // Who listens no longer is not told, and the server need not tell.
            until("the end at the server", || followed(&mut client) == json!([]));
            assert_eq!(touch(&mut client), [Value::Null; 0], "{theirs:?}");
        }
        // Many at once, and two subscriptions that share some of them.
        let many: Vec<String> = (0..20).map(|number| format!("tectum://server/one/{number}")).collect();
        let (first, agreed) = listen(&mut client, json!({"resourceSubscriptions": many}));
        assert_eq!(agreed["resourceSubscriptions"], json!(many), "{theirs:?}");
        let (second, _) = listen(&mut client, json!({"resourceSubscriptions": many[..2]}));
        assert_eq!(followed(&mut client).as_array().map(Vec::len), Some(20), "{theirs:?}");
        client.cancel(first);
        until("the end of most", || followed(&mut client) == json!(["0", "1"]));
        client.cancel(second);
        until("the end of all", || followed(&mut client) == json!([]));
    }
}

#[test]
fn what_a_server_does_not_agree_to_is_not_acknowledged() {
    for (how, more) in [("refuse", ""), ("silent", IMPATIENT)] {
        for theirs in Era::ALL {
            let rig = Rig::new();
            let bad = echo("bad", &["--era", theirs.word(), "--subscribe", how], more);
            rig.configure(&format!("{bad}{}", echo("one", &["--era", theirs.word()], "")));
            let mut client = Client::new(&rig, Era::Modern);
            client.until_listed("bad__echo");
            client.until_listed("one__echo");
            let uris = ["echo://bad/note", "tectum://todo", "echo://one/note"];
            let wanted = json!({"promptsListChanged": true, "resourceSubscriptions": uris});
            let (_, agreed) = listen(&mut client, wanted);
            let expect = json!({"promptsListChanged": true, "resourceSubscriptions": uris[1..]});
            assert_eq!(agreed, expect, "{how} {theirs:?}");
            client.say("bad__touch", json!({}));
            client.say("one__touch", json!({}));
            let mut heard = updates(&mut client);
            while heard.is_empty() {
                client.hear();
                heard = updates(&mut client);
            }
            assert_eq!(heard, ["echo://one/note"], "{how} {theirs:?}");
        }
    }
}

#[test]
fn a_resource_of_a_remote_server_is_watched_too() {
    const NOTE: &str = "echo://one/note";
    for (ours, theirs) in pairs() {
        let server = Listening::fixture(&["--era", theirs.word(), "--name", "one"]);
        let rig = Rig::new();
        rig.configure(&address("one", &server.url, ""));
        let mut client = Client::new(&rig, ours);
        client.until_listed("one__echo");
        assert_eq!(touch(&mut client), [Value::Null; 0], "nobody watches yet");
        let listening = match ours {
            Era::Legacy => {
                client.result("resources/subscribe", json!({"uri": NOTE}));
                None
            }
            Era::Modern => {
                let wanted = json!({"notifications": {"resourceSubscriptions": [NOTE]}});
                Some(client.start("subscriptions/listen", wanted))
            }
        };
        until("an update", || touch(&mut client).contains(&json!(NOTE)));
        match listening {
            None => drop(client.result("resources/unsubscribe", json!({"uri": NOTE}))),
            Some(id) => client.cancel(id),
        }
        until("silence", || touch(&mut client).is_empty());
        for _ in 0..3 {
            assert_eq!(touch(&mut client), [Value::Null; 0], "{ours:?} {theirs:?}");
        }
    }
}

#[test]
fn a_server_that_does_not_tell_of_a_resource_says_so_to_the_client() {
    for (how, more) in [("refuse", ""), ("silent", IMPATIENT)] {
        for theirs in Era::ALL {
            let server = Listening::fixture(&["--era", theirs.word(), "--name", "two", "--subscribe", how]);
            let rig = Rig::new();
            let args = ["--era", theirs.word(), "--subscribe", how];
            rig.configure(&format!("{}{}", echo("one", &args, more), address("two", &server.url, more)));
            let mut client = Client::new(&rig, Era::Legacy);
            for name in ["one", "two"] {
                client.until_listed(&format!("{name}__echo"));
                let note = json!({"uri": format!("echo://{name}/note")});
                let id = client.start("resources/subscribe", note.clone());
                let answer = client.wait(id);
                let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
                match (how, theirs) {
                    ("refuse", Era::Legacy) => {
                        assert_eq!(answer["error"]["code"], -32002);
                        assert_eq!(message, "This resource never changes.");
                    }
                    ("refuse", Era::Modern) => assert!(message.contains("does not tell of changes")),
                    _ => assert!(message.contains(name) && message.contains("3 s"), "{message}"),
                }
                client.say(&format!("{name}__touch"), json!({}));
                assert_eq!(
                    client.result("resources/read", note)["contents"].as_array().map(Vec::len),
                    Some(1)
                );
            }
            assert_eq!(touch(&mut client), [Value::Null; 0], "{how} {theirs:?}");
        }
    }
}

#[test]
fn a_server_that_refuses_to_tell_of_a_resource_still_tells_of_what_it_agreed_to() {
    for ours in Era::ALL {
        let rig = Rig::new();
        let args = ["--era", "modern", "--subscribe", "refuse-all", "--change-on", "add"];
        rig.configure(&echo("one", &args, ""));
        let mut client = Client::new(&rig, ours);
        client.until_listed("one__echo");
        let mut wanted = json!({"toolsListChanged": true});
        if ours == Era::Modern {
            listen(&mut client, wanted.clone());
        }
        let changes = |client: &mut Client, times: usize| {
            client.notes.clear();
            client.say("one__add", json!({"a": 1, "b": 1}));
            let heard = |client: &Client| {
                let notes = client.notes.iter();
                notes.filter(|note| note["method"] == "notifications/tools/list_changed").count()
            };
            while heard(client) < times {
                client.hear();
            }
        };
        changes(&mut client, 1);
        match ours {
            Era::Legacy => {
                let id = client.start("resources/subscribe", json!({"uri": "echo://one/note"}));
                assert_eq!(client.wait(id)["error"]["message"], "Resources never change here.");
                changes(&mut client, 1);
            }
            Era::Modern => {
                // It goes on wanting what was refused, and hears of the rest.
                wanted["resourceSubscriptions"] = json!(["echo://one/note"]);
                let (_, agreed) = listen(&mut client, wanted.clone());
                assert_eq!(agreed["toolsListChanged"], true, "{agreed}");
                assert!(agreed["resourceSubscriptions"].as_array().is_none_or(Vec::is_empty), "{agreed}");
                changes(&mut client, 2);
            }
        }
        let seen: Value = serde_json::from_str(&client.say("one__seen", json!({}))).expect("JSON");
        assert_eq!(seen["gaps"], 0, "there was always somebody who listened: {ours:?}");
    }
}

#[test]
fn a_session_that_makes_room_for_another_watches_nothing_any_more() {
    let rig = Rig::new();
    rig.configure(&echo("one", &["--era", "legacy"], ""));
    let http = rig.http();
    let begin = || {
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "rig", "version": "1"}});
        let answer = http.post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}));
        answer.header("mcp-session-id").expect("a session").to_owned()
    };
    let ask = |session: &str, method: &str, params: Value| {
        let mut headers = http.headers();
        headers.push(("Mcp-Session-Id".into(), session.to_owned()));
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        http.send("POST", "/mcp", &headers, &body.to_string())
    };
    let first = begin();
    until("its tools", || ask(&first, "tools/list", json!({})).body.contains("one__echo"));
    let watched = ask(&first, "resources/subscribe", json!({"uri": "echo://one/note"}));
    assert_eq!(watched.json()["result"], json!({}));
    let followed = |session: &str| {
        let answer = ask(session, "tools/call", json!({"name": "one__seen", "arguments": {}})).json();
        let seen: Value = serde_json::from_str(crate::rig::text(&answer["result"])).expect("JSON");
        seen["followed"].clone()
    };
    assert_eq!(followed(&first), json!(["echo://one/note"]));
    let mut last = String::new();
    for _ in 0..1024 {
        last = begin();
    }
    assert_eq!(ask(&first, "ping", json!({})).status, 404, "it made room");
    until("the end of the subscription", || followed(&last) == json!([]));
}

#[test]
fn a_resource_of_a_server_that_sleeps_can_be_watched() {
    for (ours, theirs) in pairs() {
        let (rig, client) = client(ours, theirs);
        client.pipe.close();
        // Known from before, not started.
        let mut client = Client::new(&rig, ours);
        client.tools();
        if ours == Era::Legacy {
            client.result("resources/subscribe", json!({"uri": "echo://one/note"}));
        } else {
            client.start(
                "subscriptions/listen",
                json!({"notifications": {"resourceSubscriptions": ["echo://one/note"]}}),
            );
        }
        let status = || {
            let said = rig.run(&["list", "--json"]);
            let listed: Value = serde_json::from_slice(&said.stdout).expect("JSON");
            listed["servers"][0]["now"]["state"].clone()
        };
        until("its start", || status() == "ready");
        until("an update", || touch(&mut client).contains(&json!("echo://one/note")));
    }
}

#[test]
fn logs_come_from_the_level_that_was_asked_for() {
    for (ours, theirs) in pairs() {
        let (_rig, mut client) = client(ours, theirs);
        let mut logged = |level: Option<&str>| {
            let mut params = json!({"name": "one__log", "arguments": {"n": 3}});
            match (ours, level) {
                (Era::Legacy, Some(level)) => {
                    client.result("logging/setLevel", json!({"level": level}));
                }
                (Era::Modern, Some(level)) => params["_meta"][format!("{KEY}logLevel")] = json!(level),
                (_, None) => {}
            }
            client.notes.clear();
            client.result("tools/call", params);
            let lines = client.notes.iter().filter(|note| note["method"] == "notifications/message");
            lines.map(|note| note["params"]["data"].as_str().expect("text").to_owned()).collect::<Vec<_>>()
        };
        let all = ["line 1", "line 2", "line 3"];
        // Who has said nothing hears it in the older era and does not in the newer.
        assert_eq!(logged(None).len(), if ours == Era::Legacy { 3 } else { 0 }, "{ours:?} {theirs:?}");
        assert_eq!(logged(Some("error")), [""; 0], "{ours:?} {theirs:?}");
        until("the lower level", || logged(Some("debug")) == all);
        assert_eq!(logged(Some("info")), all, "{ours:?} {theirs:?}");
    }
}

/// The last word of a client holds, however quickly its words follow each other.
#[test]
fn of_many_levels_the_last_one_holds() {
    let (_rig, mut client) = client(Era::Legacy, Era::Legacy);
    let log = json!({"name": "one__log", "arguments": {"n": 1}});
    client.result("tools/call", log.clone());
    for round in 0..30 {
        let ids: Vec<u64> = ["debug", "error", "debug", "error", "debug"]
            .map(|level| client.start("logging/setLevel", json!({"level": level})))
            .into();
        for id in ids {
            client.wait(id);
        }
        until(&format!("the last level in round {round}"), || {
            client.notes.clear();
            client.result("tools/call", log.clone());
            client.notes.iter().any(|note| note["params"]["data"] == "line 1")
        });
    }
}

#[test]
fn one_clients_level_silences_no_other() {
    let rig = Rig::new();
    rig.configure(&echo("one", &["--era", "legacy"], ""));
    let mut http = rig.http();
    http.handshake();
    let first = http.session.clone();
    let ask = |http: &crate::rig::Http, method: &str, params: Value| {
        http.post(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).body
    };
    until("its tools", || ask(&http, "tools/list", json!({})).contains("one__log"));
    let log = json!({"name": "one__log", "arguments": {"n": 1}});
    ask(&http, "logging/setLevel", json!({"level": "debug"}));
    http.handshake();
    ask(&http, "logging/setLevel", json!({"level": "error"}));
    for _ in 0..5 {
        assert!(!ask(&http, "tools/call", log.clone()).contains("line 1"));
        let second = std::mem::replace(&mut http.session, first.clone());
        assert!(ask(&http, "tools/call", log.clone()).contains("line 1"));
        http.session = second;
    }
}

#[test]
fn completions_come_from_the_server_that_has_the_prompt() {
    for (ours, theirs) in pairs() {
        let (_rig, mut client) = client(ours, theirs);
        for reference in [
            json!({"type": "ref/prompt", "name": "one__greet"}),
            json!({"type": "ref/resource", "uri": "echo://one/say/{words}"}),
        ] {
            let argument = json!({"name": "who", "value": "one-f"});
            let done = client.result("completion/complete", json!({"ref": reference, "argument": argument}));
            assert_eq!(done["completion"]["values"], json!(["one-first"]), "{ours:?} {theirs:?}");
        }
        let missing = json!({"ref": {"type": "ref/prompt", "name": "one__none"}, "argument": {"name": "a", "value": ""}});
        let id = client.start("completion/complete", missing);
        assert_eq!(client.wait(id)["error"]["code"], -32602);
    }
}

#[test]
fn trace_context_travels_and_tokens_stay() {
    for (ours, theirs) in pairs() {
        let (_rig, mut client) = client(ours, theirs);
        let trace = json!({"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "tracestate": "vendor=opaque,other=1", "baggage": "k=v;p=1,a=%20", "example.com/own": {"n": 1.5}});
        let mut meta = trace.clone();
        meta["progressToken"] = json!("a token of the client's own");
        let params = json!({"name": "one__seen", "arguments": {}, "_meta": meta});
        let seen = client.result("tools/call", params);
        let seen: Value = serde_json::from_str(crate::rig::text(&seen)).expect("JSON");
        for (key, value) in trace.as_object().expect("members") {
            assert_eq!(&seen["meta"][key], value, "{ours:?} {theirs:?}: {seen}");
        }
        let token = &seen["meta"]["progressToken"];
        assert!(!token.is_null() && token != "a token of the client's own", "{seen}");
    }
}
