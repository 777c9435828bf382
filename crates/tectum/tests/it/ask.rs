//! A rule that asks reaches the person in front of the client, in both eras and on both transports;
//! only a plain yes to this very call is one.

use std::io::{BufReader, Write};

use serde_json::{Value, json};

use crate::{
    ask_front::{Back, Events, Front, QUESTION, asking, edit, forms, modern_post, yes},
    federated::{Client, Era, echo, until},
    rig::{Rig, request, text},
};

fn cancelled(client: &Client) -> Vec<Value> {
    let notes = client.notes.iter().filter(|note| note["method"] == "notifications/cancelled");
    notes.map(|note| note["params"]["requestId"].clone()).collect()
}

#[test]
fn a_yes_lets_the_call_run_and_the_question_says_what_it_is_about() {
    for number in 0..4 {
        let rig = asking();
        let mut front = Front::all(&rig).remove(number);
        let asked = front.call("edit_file", edit("a.txt"));
        let message = asked.question["message"].as_str().expect("a text").to_owned();
        assert!(message.starts_with("Tectum asks: may edit_file run on `a.txt`?"), "{message}");
        assert!(message.contains("--- a.txt\n+++ a.txt\n@@"), "{message}");
        assert!(message.contains("\n-teh cat\n+the cat\n"), "{message}");
        let rule = "ask rule `edit_file` (";
        assert!(message.contains(rule) && message.contains("tectum.toml:2)"), "{message}");
        let schema = &asked.question["requestedSchema"];
        assert_eq!(schema["required"], json!(["approve"]));
        assert_eq!(schema["properties"]["approve"]["type"], "boolean");
        assert_eq!(rig.read("a.txt"), "teh cat\n", "nothing happens before the answer");
        let result = front.answer("edit_file", asked, &yes());
        assert_eq!(result["isError"], false, "{}: {result}", front.name());
        assert_eq!(rig.read("a.txt"), "the cat\n");
        // A yes is for one call.
        let asked = front.call("edit_file", json!({"path": "a.txt", "old_string": "the", "new_string": "a"}));
        let result = front.answer("edit_file", asked, &json!({"action": "decline"}));
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(rig.read("a.txt"), "the cat\n");
    }
}

#[test]
fn whatever_is_no_yes_is_a_no_and_the_model_is_told_why() {
    let rig = asking();
    let no = json!({"action": "accept", "content": {"approve": false, "reason": "not on a Friday"}});
    let cases = [
        (
            json!({"action": "accept", "content": {"approve": false}}),
            "refused by a person: the answer was no",
        ),
        (no, "refused by a person: not on a Friday"),
        (json!({"action": "decline"}), "the question was declined at the client"),
        (json!({"action": "cancel"}), "the question was cancelled at the client"),
        (json!({"action": "accept"}), "not of the form that was asked for"),
        (json!({"action": "accept", "content": {"approve": "true"}}), "not of the form that was asked for"),
        (json!({"action": "yes", "content": {"approve": true}}), "not of the form that was asked for"),
        (json!({"approve": true}), "not of the form that was asked for"),
    ];
    for mut front in Front::all(&rig) {
        for (answer, words) in &cases {
            let asked = front.call("edit_file", edit("a.txt"));
            let result = front.answer("edit_file", asked, answer);
            assert_eq!(result["isError"], true, "{} {answer}: {result}", front.name());
            assert!(text(&result).contains(words), "{} {answer}: {result}", front.name());
            assert_eq!(result["_meta"]["tectum/fault"], "permission", "{result}");
        }
    }
    assert_eq!(rig.read("a.txt"), "teh cat\n");
}

#[test]
fn a_client_that_cannot_ask_after_all_refuses() {
    let rig = asking();
    let mut client = Client::able(&rig, Era::Legacy, forms());
    client.silent = true;
    let mut front = Front::Pipe(Era::Legacy, client);
    let asked = front.call("edit_file", edit("a.txt"));
    let (Front::Pipe(_, client), Back::Pipe { id, call }) = (&mut front, asked.back) else { unreachable!() };
    let error = json!({"code": -32601, "message": "no such method"});
    client.pipe.send(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    let answer = client.wait(call);
    let said = text(&answer["result"]);
    assert!(said.contains("the client could not ask (no such method)"), "{said}");
    assert!(said.contains("remove the ask rule `edit_file`"), "{said}");
}

#[test]
fn a_client_that_asks_nobody_gets_a_refusal_that_says_how_to_allow() {
    let rig = Rig::with(&[("a.txt", "teh cat\n")]);
    // Without this, somebody could come and answer at the hook API.
    let via = "[approval]\nvia = \"client\"\n";
    rig.configure(&format!("[permissions]\ndefault = \"ask\"\nask = [\"delete_file\"]\n{via}"));
    for abilities in [json!({}), json!({"elicitation": {"url": {}}}), json!({"sampling": {}})] {
        let mut results = Vec::new();
        for era in Era::ALL {
            let mut client = Client::able(&rig, era, abilities.clone());
            results.push((
                client.call("edit_file", edit("a.txt")),
                client.call("delete_file", json!({"path": "a.txt"})),
            ));
        }
        let mut http = rig.http();
        let modern = |tool: &str, args: Value| {
            modern_post(&http, json!({"name": tool, "arguments": args}), abilities.clone())["result"].clone()
        };
        results.push((modern("edit_file", edit("a.txt")), modern("delete_file", json!({"path": "a.txt"}))));
        http.handshake_as(abilities.clone());
        results.push((
            http.call("edit_file", edit("a.txt")),
            http.call("delete_file", json!({"path": "a.txt"})),
        ));
        for (edited, deleted) in results {
            for result in [&edited, &deleted] {
                assert_eq!(result["isError"], true, "{abilities}: {result}");
                assert!(text(result).contains("nobody is there to give it"), "{result}");
            }
            assert!(text(&edited).contains(r#"[permissions] allow = ["edit_file(a.txt)"]"#), "{edited}");
            let rule = text(&deleted);
            assert!(rule.contains("remove the ask rule `delete_file` (") && rule.contains(":3)"), "{rule}");
        }
    }
    assert_eq!(rig.read("a.txt"), "teh cat\n");
}

#[test]
fn parallel_questions_answered_in_reverse_order_reach_their_calls() {
    for number in 0..4 {
        let rig = asking();
        let mut front = Front::all(&rig).remove(number);
        let first = front.call("edit_file", edit("a.txt"));
        let second = front.call("edit_file", edit("b.txt"));
        assert!(first.question["message"].to_string().contains("on `a.txt`"));
        assert!(second.question["message"].to_string().contains("on `b.txt`"));
        let result = front.answer("edit_file", second, &yes());
        assert_eq!(result["isError"], false, "{}: {result}", front.name());
        assert_eq!((rig.read("a.txt"), rig.read("b.txt")), ("teh cat\n".into(), "the dog\n".into()));
        let result = front.answer("edit_file", first, &json!({"action": "decline"}));
        assert_eq!(result["isError"], true, "{}: {result}", front.name());
        assert_eq!(rig.read("a.txt"), "teh cat\n");
    }
}

#[test]
fn a_cancelled_call_takes_its_question_back() {
    let rig = asking();
    let mut client = Client::able(&rig, Era::Legacy, forms());
    client.silent = true;
    let mut front = Front::Pipe(Era::Legacy, client);
    let asked = front.call("edit_file", edit("a.txt"));
    let (Front::Pipe(_, client), Back::Pipe { id, call }) = (&mut front, asked.back) else { unreachable!() };
    assert_eq!(cancelled(client), [json!(null); 0]);
    client.cancel(call);
    until("the question's end", || {
        client.result("ping", json!({}));
        !cancelled(client).is_empty()
    });
    assert_eq!(cancelled(client), std::slice::from_ref(&id));
    // An answer that crossed it on the way reaches nobody.
    client.pipe.send(&json!({"jsonrpc": "2.0", "id": id, "result": yes()}));
    assert_eq!(client.say("read_file", json!({"path": "a.txt"})), "teh cat\n");
    assert!(!client.has(call), "nobody waits for a cancelled call");

    let mut http = rig.http();
    http.handshake_as(forms());
    let mut front = Front::Http(Era::Legacy, http);
    let asked = front.call("edit_file", edit("a.txt"));
    let (Front::Http(_, http), Back::Stream { id, call, mut events }) = (&mut front, asked.back) else {
        unreachable!()
    };
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": call}});
    assert_eq!(http.post(&cancel).status, 202);
    let note = events.next().expect("it is taken back before the stream ends");
    assert_eq!((&note["method"], &note["params"]["requestId"]), (&json!("notifications/cancelled"), &id));
    assert!(events.next().is_none(), "nobody waits for a cancelled call");
    assert_eq!(http.post(&json!({"jsonrpc": "2.0", "id": id, "result": yes()})).status, 202);
    assert_eq!(text(&http.call("read_file", json!({"path": "a.txt"}))), "teh cat\n");
}

#[test]
fn a_client_that_leaves_agreed_to_nothing() {
    let rig = asking();
    for mut front in Front::all(&rig) {
        let asked = front.call("edit_file", edit("a.txt"));
        match front {
            // The call is given up, and the process ends in good order.
            Front::Pipe(_, client) => assert!(client.pipe.close().0.success()),
            Front::Http(_, mut http) => {
                drop(asked);
                // The connection ended; the session goes on, and with it whoever asks next.
                http.handshake_as(forms());
                assert_eq!(text(&http.call("read_file", json!({"path": "a.txt"}))), "teh cat\n");
            }
        }
        assert_eq!(rig.read("a.txt"), "teh cat\n");
    }
}

#[test]
fn another_client_is_not_asked_and_its_answer_is_none() {
    let rig = asking();
    let mut http = rig.http();
    http.handshake_as(forms());
    let other = http.session.clone();
    // It listens for whatever is not part of a call.
    let mut stream = http.connect();
    stream.write_all(request("GET", "/mcp", &http.headers(), "").as_bytes()).expect("sent");
    let mut heard = Events(BufReader::new(stream));
    http.handshake_as(forms());
    let own = http.session.clone();
    let mut front = Front::Http(Era::Legacy, http);
    let asked = front.call("edit_file", edit("a.txt"));
    let (Front::Http(_, http), Back::Stream { id, .. }) = (&mut front, &asked.back) else { unreachable!() };
    http.session = other;
    assert_eq!(http.post(&json!({"jsonrpc": "2.0", "id": id, "result": yes()})).status, 202);
    assert_eq!(text(&http.call("read_file", json!({"path": "a.txt"}))), "teh cat\n");
    // Its session ends, and with it the stream: nothing was ever said there.
    assert_eq!(http.send("DELETE", "/mcp", &http.headers(), "").status, 204);
    assert_eq!(heard.next(), None);
    http.session = own;
    let result = front.answer("edit_file", asked, &json!({"action": "decline"}));
    assert!(text(&result).contains("declined at the client"), "{result}");
    assert_eq!(rig.read("a.txt"), "teh cat\n");
}

#[test]
fn an_answer_is_for_the_call_that_was_asked_about_and_is_used_once() {
    let rig = asking();
    for mut front in Front::all(&rig) {
        if matches!(front, Front::Pipe(Era::Legacy, _) | Front::Http(Era::Legacy, _)) {
            continue;
        }
        rig.write("a.txt", "teh cat\n");
        let asked = front.call("edit_file", edit("a.txt"));
        let Back::Again { args, state } = asked.back else { unreachable!() };
        let refused = |answer: Value, words: &str| {
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
            assert!(answer["error"]["message"].to_string().contains(words), "{answer}");
        };
        // Other arguments, another tool, a handle that was changed or made up.
        refused(front.again("edit_file", &edit("b.txt"), &state, &yes()), "belongs to another request");
        let other = json!({"path": "a.txt"});
        refused(front.again("read_file", &other, &state, &yes()), "belongs to another request");
        let changed = json!(format!("{}A", state.as_str().expect("text")));
        refused(front.again("edit_file", &args, &changed, &yes()), "requestState");
        refused(
            front.again("edit_file", &args, &json!("tectum-ask1.x"), &yes()),
            "not one that was given here",
        );
        // An answer without the handle is none: the question is asked.
        let fresh = front
            .modern(json!({"name": "edit_file", "arguments": args, "inputResponses": {QUESTION: yes()}}));
        assert_eq!(fresh["result"]["resultType"], "input_required", "{fresh}");
        assert_eq!((rig.read("a.txt"), rig.read("b.txt")), ("teh cat\n".into(), "teh dog\n".into()));
        // The right one still counts, once.
        let done = front.again("edit_file", &args, &state, &yes());
        assert_eq!(done["result"]["isError"], false, "{}: {done}", front.name());
        assert_eq!(rig.read("a.txt"), "the cat\n");
        rig.write("a.txt", "teh cat\n");
        refused(front.again("edit_file", &args, &state, &yes()), "used before");
        // The same handle with the name of another question, or without any answer, is a no.
        let state = &fresh["result"]["requestState"];
        let silent = front.modern(json!({"name": "edit_file", "arguments": args, "requestState": state,
            "inputResponses": {"question_1": yes()}}));
        assert!(text(&silent["result"]).contains("without an answer"), "{silent}");
        assert_eq!(rig.read("a.txt"), "teh cat\n");
    }
}

#[test]
fn a_rule_that_changed_in_between_asks_anew() {
    let rig = asking();
    let mut client = Client::able(&rig, Era::Modern, forms());
    client.silent = true;
    // It runs when it has answered.
    assert_eq!(client.say("read_file", json!({"path": "a.txt"})), "teh cat\n");
    let mut front = Front::Pipe(Era::Modern, client);
    let reload = || assert!(rig.run(&["reload"]).status.success());
    let change = |front: &mut Front, rules: &str| {
        rig.configure("[permissions]\nask = [\"edit_file\"]\n");
        reload();
        let asked = front.call("edit_file", edit("a.txt"));
        rig.configure(&format!("[permissions]\n{rules}\n"));
        reload();
        front.answer("edit_file", asked, &yes())
    };
    let refused = change(&mut front, "deny = [\"edit_file\"]");
    assert!(refused["isError"] == true && text(&refused).contains("deny rule `edit_file`"), "{refused}");
    // The person is asked again, and told of the new rule.
    let again = change(&mut front, "ask = [\"edit_*\"]");
    assert_eq!(again["resultType"], "input_required", "{again}");
    let message = &again["inputRequests"][QUESTION]["params"]["message"];
    assert!(message.to_string().contains("ask rule `edit_*`"), "{again}");
    assert_eq!(rig.read("a.txt"), "teh cat\n");
    let done = front.again("edit_file", &edit("a.txt"), &again["requestState"], &yes());
    assert_eq!(done["result"]["isError"], false, "{done}");
    assert_eq!(rig.read("a.txt"), "the cat\n");
}

#[test]
fn tools_of_servers_are_asked_about_as_well_and_servers_cannot_imitate_the_question() {
    for (era, theirs) in
        [(Era::Legacy, "legacy"), (Era::Modern, "legacy"), (Era::Legacy, "modern"), (Era::Modern, "modern")]
    {
        let rig = Rig::new();
        let server = echo("one", &["--era", theirs], "");
        rig.configure(&format!("[permissions]\nask = [\"one__echo\"]\n{server}"));
        let mut client = Client::able(&rig, era, forms());
        client.until_listed("one__echo");
        // A server's own question names the server, whatever it says.
        let imitated = client.say("one__ask", json!({"message": "Tectum asks: may edit_file run?"}));
        assert!(imitated.contains("[one] Tectum asks"), "{imitated}");
        client.silent = true;
        let mut front = Front::Pipe(era, client);
        let asked = front.call("one__echo", json!({"text": "x"}));
        let message = asked.question["message"].as_str().expect("text");
        assert!(message.starts_with("Tectum asks: may one__echo run?\n\n  text: \"x\"\n"), "{message}");
        let result = front.answer("one__echo", asked, &yes());
        assert_eq!(text(&result), "x", "{era:?} {theirs}: {result}");
        let asked = front.call("one__echo", json!({"text": "x"}));
        let result = front.answer("one__echo", asked, &json!({"action": "cancel"}));
        assert_eq!(result["isError"], true, "{era:?} {theirs}: {result}");
    }
}

#[test]
fn a_server_that_asks_too_is_given_what_the_client_brought_for_it() {
    for theirs in ["legacy", "modern"] {
        let rig = Rig::new();
        let server = echo("one", &["--era", theirs], "");
        rig.configure(&format!("[permissions]\nask = [\"one__ask\"]\n{server}"));
        let mut client = Client::able(&rig, Era::Modern, forms());
        client.until_listed("one__ask");
        let mut params = json!({"name": "one__ask", "arguments": {"message": "Why?"}});
        let mut questions = Vec::new();
        let result = loop {
            let id = client.start("tools/call", params.clone());
            let result = client.wait(id)["result"].clone();
            if result["resultType"] != "input_required" {
                break result;
            }
            let asked = result["inputRequests"].as_object().expect("questions");
            let (key, question) = asked.iter().next().expect("one");
            let answer = if key == QUESTION {
                yes()
            } else {
                json!({"action": "accept", "content": {"answer": "because"}})
            };
            params["inputResponses"] = json!({ key: answer });
            params["requestState"] = result["requestState"].clone();
            questions.push(
                question["params"]["message"].as_str().expect("text").chars().take(11).collect::<String>(),
            );
            assert!(questions.len() < 8, "{questions:?}");
        };
        assert!(text(&result).contains("because"), "{theirs}: {result}");
        assert_eq!(questions, ["Tectum asks", "[one] Why?"], "{theirs}: a call is asked about once");
    }
}
