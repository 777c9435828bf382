//! Questions that servers ask clients and take back, and what clients tell of themselves: each
//! goes where it belongs, and what comes too late goes nowhere.

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, Listening, address, echo, until},
    rig::{Rig, text},
};

/// A legacy server behind the binary: on a pipe, or on HTTP.
fn behind(http: bool) -> (Rig, Option<Listening>) {
    let rig = Rig::new();
    let server = http.then(|| Listening::fixture(&["--era", "legacy", "--name", "one"]));
    rig.configure(&match &server {
        Some(server) => address("one", &server.url, ""),
        None => echo("one", &["--era", "legacy"], ""),
    });
    (rig, server)
}

fn seen(client: &mut Client) -> Value {
    serde_json::from_str(&client.say("one__seen", json!({}))).expect("JSON")
}

fn cancellations(client: &Client) -> Vec<Value> {
    let notes = client.notes.iter().filter(|note| note["method"] == "notifications/cancelled");
    notes.map(|note| note["params"]["requestId"].clone()).collect()
}

#[test]
fn a_question_taken_back_by_its_server_is_taken_back_at_the_client() {
    for http in [false, true] {
        let (rig, _server) = behind(http);
        let mut client = Client::new(&rig, Era::Legacy);
        client.until_listed("one__ask");
        client.silent = true;
        for (round, tool) in ["one__ask", "one__sample", "one__roots"].into_iter().enumerate() {
            let asking = client.begin(tool, json!({}));
            until("the question", || {
                client.hear();
                client.asked.len() == round + 1
            });
            let ours = client.asked[round]["id"].clone();
            assert_eq!(cancellations(&client).len(), round, "it is not taken back yet");
            assert_eq!(client.say("one__withdraw", json!({})), "1");
            let answer = client.wait(asking);
            assert!(answer["error"]["message"].to_string().contains("taken back"), "{answer}");
            // It was told before the answer, under the id that the client knows.
            assert_eq!(cancellations(&client).last(), Some(&ours), "{:?}", client.notes);
            // An answer that crossed it on the way reaches nobody.
            client.pipe.send(&json!({"jsonrpc": "2.0", "id": ours, "result": {"action": "accept"}}));
            assert_eq!(seen(&mut client)["strays"], 0, "{tool} http: {http}");
        }
        client.silent = false;
        assert!(client.say("one__ask", json!({"message": "Still?"})).contains("Still?"));
        assert_eq!(cancellations(&client).len(), 3, "an answered question is not taken back");
    }
}

#[test]
fn a_question_taken_back_while_its_call_is_parked_leaves_the_answer_without_a_place() {
    for http in [false, true] {
        let (rig, _server) = behind(http);
        let mut client = Client::new(&rig, Era::Modern);
        client.until_listed("one__ask");
        let id = client.begin("one__ask", json!({}));
        let asked = client.wait(id)["result"].clone();
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        assert_eq!(client.say("one__withdraw", json!({})), "1");
        let (key, _) = asked["inputRequests"].as_object().expect("questions").iter().next().expect("one");
        let again = json!({"name": "one__ask", "arguments": {}, "requestState": asked["requestState"],
            "inputResponses": {key: {"action": "accept", "content": {"answer": "late"}}}});
        let id = client.start("tools/call", again);
        let answer = client.wait(id);
        assert!(answer["error"]["message"].to_string().contains("taken back"), "{answer}");
        assert_eq!(seen(&mut client)["strays"], 0, "http: {http}");
    }
}

#[test]
fn a_question_of_a_call_that_ended_is_taken_back() {
    let (rig, _server) = behind(false);
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__ask");
    client.silent = true;
    let asking = client.begin("one__ask", json!({}));
    until("the question", || {
        client.hear();
        !client.asked.is_empty()
    });
    // The server dies with its question open: the call fails, and nobody wants the answer.
    let dying = client.begin("one__die", json!({}));
    for id in [asking, dying] {
        let answer = client.wait(id);
        assert!(answer["result"]["isError"] == true && text(&answer["result"]).contains("one"), "{answer}");
    }
    assert_eq!(cancellations(&client), [client.asked[0]["id"].clone()]);
}

#[test]
fn a_server_that_asks_for_roots_by_itself_has_them_and_hears_of_their_change() {
    for http in [false, true] {
        let rig = Rig::new();
        let args = ["--era", "legacy", "--ask-roots", "--name", "one"];
        let server = http.then(|| Listening::fixture(&args));
        rig.configure(&match &server {
            Some(server) => address("one", &server.url, ""),
            None => echo("one", &args[..3], ""),
        });
        let abilities = json!({"roots": {"listChanged": true}});
        let mut client = Client::able(&rig, Era::Legacy, abilities);
        client.until_listed("one__seen");
        // Asked after the handshake, in no call.
        until("the roots", || seen(&mut client)["roots"][0]["uri"] == "file:///rig");
        assert_eq!(client.asked.len(), 1);
        client.pipe.notify("notifications/roots/list_changed", json!({}));
        assert_eq!(seen(&mut client)["roots_changed"], 1, "it hears of it before the next call");
        until("the second question and its answer", || {
            seen(&mut client)["questions"] == 0 && client.asked.len() == 2
        });
        // A question taken back outside of a call is taken back as well.
        client.silent = true;
        client.pipe.notify("notifications/roots/list_changed", json!({}));
        until("the third question", || {
            seen(&mut client);
            client.asked.len() == 3
        });
        assert_eq!(client.say("one__withdraw", json!({})), "1");
        until("its end", || {
            seen(&mut client);
            !client.notes.is_empty() && !cancellations(&client).is_empty()
        });
        assert_eq!(cancellations(&client), [client.asked[2]["id"].clone()]);
        client.pipe.send(&json!({"jsonrpc": "2.0", "id": client.asked[2]["id"], "result": {"roots": []}}));
        assert_eq!(seen(&mut client)["strays"], 0, "http: {http}");
    }
}

/// Sessions of one binary on HTTP.
struct Sessions(crate::rig::Http);

impl Sessions {
    fn open(&mut self, abilities: Value) -> Option<String> {
        self.0.handshake_as(abilities);
        let session = self.0.session.clone();
        until("its tools", || {
            let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
            self.0.post(&list).body.contains("one__seen")
        });
        session
    }

    fn seen(&mut self, session: &Option<String>) -> Value {
        self.0.session.clone_from(session);
        serde_json::from_str(text(&self.0.call("one__seen", json!({})))).expect("JSON")
    }

    fn tell_of_roots(&mut self, session: &Option<String>) {
        self.0.session.clone_from(session);
        let note = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
        assert_eq!(self.0.post(&note).status, 202);
    }
}

#[test]
fn changed_roots_are_told_on_the_connections_that_were_told_of_roots() {
    let rig = Rig::new();
    rig.configure(&echo("one", &["--era", "legacy", "--ask-roots"], ""));
    let mut sessions = Sessions(rig.http());
    let roots = json!({"roots": {"listChanged": true}});
    let (plain, first, second) =
        (sessions.open(json!({})), sessions.open(roots.clone()), sessions.open(roots));
    for session in [&plain, &first, &second] {
        assert_eq!(sessions.seen(session)["roots_changed"], 0);
    }
    // Whoever has no roots cannot change them.
    sessions.tell_of_roots(&plain);
    sessions.tell_of_roots(&first);
    assert_eq!(sessions.seen(&plain)["roots_changed"], 0, "it was never told of roots");
    // Two clients that can do the same share a connection, and with it what the server remembers.
    assert_eq!(sessions.seen(&first)["roots_changed"], 1);
    assert_eq!(sessions.seen(&second)["roots_changed"], 1);
    // Its question outside of a call could be for either, so it is put to neither.
    until("its question's end", || {
        sessions.tell_of_roots(&first);
        // Asked while a call is under way, it would be taken for that call's.
        std::thread::sleep(std::time::Duration::from_millis(100));
        sessions.seen(&first)["roots"]["code"] == -32601
    });
}

#[test]
fn changed_roots_of_a_client_with_its_own_connection_are_told_there_only() {
    let rig = Rig::new();
    rig.configure(&echo("one", &["--era", "legacy"], "isolation = \"per-client\""));
    let mut sessions = Sessions(rig.http());
    let (first, second) = (sessions.open(json!({"roots": {}})), sessions.open(json!({"roots": {}})));
    for session in [&first, &second] {
        assert_eq!(sessions.seen(session)["roots_changed"], 0);
    }
    sessions.tell_of_roots(&first);
    assert_eq!(sessions.seen(&first)["roots_changed"], 1);
    assert_eq!(sessions.seen(&second)["roots_changed"], 0);
}

/// A client that can fill in forms and visit addresses, before a server of the other era or the same.
fn visitor(ours: Era, theirs: Era) -> (Rig, Client) {
    let rig = Rig::new();
    let also = ["--era", theirs.word(), "--also", "visit", "--also", "visit_first"];
    rig.configure(&echo("one", &also, ""));
    let abilities = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}});
    let mut client = Client::able(&rig, ours, abilities);
    client.until_listed("one__visit");
    (rig, client)
}

fn pairs() -> impl Iterator<Item = (Era, Era)> {
    Era::ALL.into_iter().flat_map(|ours| Era::ALL.map(|theirs| (ours, theirs)))
}

#[test]
fn every_question_names_the_server_that_asks() {
    for (ours, theirs) in pairs() {
        let (_rig, mut client) = visitor(ours, theirs);
        client.call("one__ask", json!({"message": "[two] Your name\u{202e}?"}));
        client.call("one__visit", json!({"url": "https://example.com/a?b=c"}));
        client.call("one__sample", json!({"prompt": "Say it."}));
        let asked: Vec<&Value> = client.asked.iter().map(|question| &question["params"]).collect();
        assert_eq!(asked[0]["message"], "[one] [two] Your name\\u{202e}?", "{ours:?} {theirs:?}");
        let said = asked[1]["message"].as_str().expect("a message");
        assert!(
            said.starts_with("[one] Please visit.") && said.contains("https://example.com/a?b=c"),
            "{said}"
        );
        assert_eq!(asked[1]["url"], "https://example.com/a?b=c");
        assert!(asked[2]["systemPrompt"].to_string().contains("`one`"), "{}", asked[2]);
        assert_eq!(asked[2]["messages"][0]["content"]["text"], "Say it.");
        // What has to be visited before a call can be carried out is named in the same way.
        let id = client.begin("one__visit_first", json!({"url": "https://example.com/first"}));
        let visit = client.wait(id)["error"]["data"]["elicitations"][0].clone();
        assert!(visit["message"].to_string().contains("[one] Please visit."), "{visit}");
    }
}

#[test]
fn addresses_that_no_person_should_follow_are_not_shown() {
    for (ours, theirs) in pairs() {
        let (_rig, mut client) = visitor(ours, theirs);
        for url in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "data:text/html,x",
            "vscode://install/evil",
            "https://bank.example@evil.example/",
            "https://me:secret@example.com/",
            "http://example.com/",
            "https://example.com/\u{202e}moc",
            "https://example.com/\nHost: evil",
            "no address",
            "",
        ] {
            for tool in ["one__visit", "one__visit_first"] {
                let id = client.begin(tool, json!({"url": url}));
                let answer = client.wait(id);
                let said = answer.to_string();
                assert!(
                    answer.get("error").is_some() || answer["result"]["isError"] == true,
                    "{url:?}: {said}"
                );
                assert!(said.contains("refused") && !said.contains("secret"), "{url:?}: {said}");
                assert!(answer["error"]["data"]["elicitations"].is_null(), "{url:?}: {said}");
            }
        }
        assert!(client.asked.is_empty(), "{ours:?} {theirs:?}: {:?}", client.asked);
        // On this machine nothing is overheard.
        client.call("one__visit", json!({"url": "http://127.0.0.1:8080/callback"}));
        assert_eq!(client.asked.len(), 1);
    }
}
