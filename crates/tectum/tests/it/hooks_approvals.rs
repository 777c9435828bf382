//! Questions over the hook API of the real binary: a person's yes runs the call, anything else does not, and what
//! waits is seen in every place that tells of it.

use std::thread::{self, ScopedJoinHandle};

use serde_json::{Value, json};

use crate::{
    federated::until,
    rig::{Answer, Http, Rig, text},
};

/// Asks before these.
fn rig() -> Rig {
    let rig = Rig::new();
    rig.configure("[permissions]\nask = [\"write_file\", \"run_shell\", \"fetch_url\"]\n");
    rig
}

fn house(rig: &Rig) -> Http {
    let mut house = rig.http();
    house.handshake();
    house
}

/// The credential of whoever approves in this rig.
pub(crate) fn approver(rig: &Rig) -> String {
    tectum::token::approver(Some(&rig.home().join("state/tectum"))).expect("a credential").secret
}

/// The headers of whoever approves.
pub(crate) fn approving(house: &Http, credential: &str) -> Vec<(String, String)> {
    let mut headers = house.headers();
    headers.push(("Tectum-Approver".into(), credential.into()));
    headers
}

#[track_caller]
fn get(house: &Http, path: &str) -> Value {
    let answer = house.send("GET", path, &house.headers(), "");
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer.json()
}

fn post(house: &Http, path: &str, credential: &str, body: &Value) -> Answer {
    house.send("POST", path, &approving(house, credential), &body.to_string())
}

/// The question that waits.
fn waiting(house: &Http) -> Value {
    let mut found = Value::Null;
    until("a question", || {
        found = get(house, "/api/approvals")["approvals"][0].clone();
        !found.is_null()
    });
    found
}

fn kinds(house: &Http) -> Vec<String> {
    let events = get(house, "/api/events")["events"].clone();
    let events = events.as_array().expect("a list").iter();
    events.map(|event| event["kind"].as_str().expect("a kind").to_owned()).collect()
}

/// A call that another thread waits for.
fn calling<'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    house: &'scope Http,
    tool: &'static str,
    args: Value,
) -> ScopedJoinHandle<'scope, Value> {
    scope.spawn(move || house.call(tool, args))
}

#[test]
fn a_yes_runs_the_call_once_and_the_first_answer_counts() {
    let rig = rig();
    let (house, credential) = (house(&rig), approver(&rig));
    kinds(&house);
    thread::scope(|scope| {
        let call = calling(scope, &house, "write_file", json!({"path": "a.txt", "content": "new\n"}));
        let question = waiting(&house);
        let id = question["id"].as_str().expect("an id");
        assert_eq!(
            (&question["kind"], &question["tool"]),
            (&json!("call"), &json!("write_file")),
            "{question}"
        );
        assert_eq!(question["arguments"], json!({"path": "a.txt", "content": "new\n"}));
        assert!(
            question["rule"]["file"].as_str().is_some_and(|file| file.ends_with("tectum.toml")),
            "{question}"
        );
        let (one, answer) = (format!("/api/approvals/{id}"), format!("/api/approvals/{id}/answer"));
        assert_eq!(get(&house, &one)["id"], question["id"]);
        assert_eq!(get(&house, &one)["shown_at"], Value::Null);
        assert_eq!(house.send("POST", &format!("{one}/shown"), &house.headers(), "").status, 200);
        assert!(get(&house, &one)["shown_at"].is_number());

        let yes = json!({"decision": "approve"});
        // The agent's own token is not enough, wherever it is put.
        assert_eq!(house.send("POST", &answer, &house.headers(), &yes.to_string()).status, 403);
        for wrong in [house.token.as_deref().expect("a token"), "", &credential[1..], "Bearer x"] {
            assert_eq!(post(&house, &answer, wrong, &yes).status, 403, "{wrong}");
        }
        let mut twice = approving(&house, &credential);
        twice.push(("Tectum-Approver".into(), credential.clone()));
        assert_eq!(house.send("POST", &answer, &twice, &yes.to_string()).status, 403);
        // Whatever is not the one form is no answer.
        for garbage in [
            json!({}),
            json!({"decision": "yes"}),
            json!({"decision": true}),
            json!({"decision": "approve", "and": "more"}),
            json!({"decision": "approve", "remember": "for ever"}),
            json!({"decision": "approve", "arguments": 1}),
            json!([]),
            json!("approve"),
        ] {
            let refused = post(&house, &answer, &credential, &garbage);
            assert_eq!(refused.status, 400, "{garbage}: {refused:?}");
        }
        assert_eq!(get(&house, "/api/approvals")["approvals"].as_array().map(Vec::len), Some(1), "it waits");

        let taken = post(&house, &answer, &credential, &yes);
        assert_eq!((taken.status, taken.json()), (200, json!({"status": "ok"})), "{taken:?}");
        let result = call.join().expect("answers");
        assert_eq!((&result["isError"], rig.read("a.txt").as_str()), (&json!(false), "new\n"), "{result}");
        for late in [&yes, &json!({"decision": "deny"})] {
            assert_eq!(post(&house, &answer, &credential, late).status, 409);
        }
        assert_eq!(house.send("GET", &one, &house.headers(), "").status, 404);
        assert_eq!(post(&house, "/api/approvals/q-0/answer", &credential, &yes).status, 404);
    });
    let seen = kinds(&house);
    let mut order =
        ["call.started", "question.asked", "question.shown", "question.settled", "call.ended"].iter();
    let mut next = order.next();
    for kind in &seen {
        if next.is_some_and(|next| *next == kind) {
            next = order.next();
        }
    }
    assert_eq!(next, None, "{seen:?}");
}

#[test]
fn a_no_and_a_call_that_was_left_change_nothing() {
    let rig = rig();
    let (house, credential) = (house(&rig), approver(&rig));
    thread::scope(|scope| {
        let call = calling(scope, &house, "write_file", json!({"path": "a.txt", "content": "new\n"}));
        let id = waiting(&house)["id"].as_str().expect("an id").to_owned();
        let no = json!({"decision": "deny", "reason": "not on a Friday"});
        assert_eq!(post(&house, &format!("/api/approvals/{id}/answer"), &credential, &no).status, 200);
        let result = call.join().expect("answers");
        assert!(result["isError"] == true && text(&result).contains("not on a Friday"), "{result}");
    });
    assert!(!rig.project().join("a.txt").exists());
}

#[test]
fn what_is_in_flight_and_what_waits_is_told_in_every_field() {
    let rig = rig();
    let (house, credential) = (house(&rig), approver(&rig));
    let status = |field: &str| get(&house, "/api/gui/mma_status")[field].clone();
    let fields = ["pending_tool_approval", "pending_approval"];
    for (tool, args, doing, thinking) in [
        ("write_file", json!({"path": "a.txt", "content": ""}), "running write_file...", false),
        ("run_shell", json!({"command": "true"}), "running shell...", true),
        ("fetch_url", json!({"url": "https://example.org/"}), "fetching url...", false),
    ] {
        assert_eq!(status("ai_status"), "idle");
        assert_eq!(fields.map(&status), [json!(false), json!(false)]);
        assert_eq!(
            get(&house, "/api/gui/diagnostics"),
            json!({"thinking": false, "live": false, "prior": false})
        );
        thread::scope(|scope| {
            let call = calling(scope, &house, tool, args);
            let id = waiting(&house)["id"].as_str().expect("an id").to_owned();
            assert_eq!(status("ai_status"), doing);
            assert_eq!(fields.map(&status), [json!(true), json!(true)]);
            let expect = json!({"thinking": thinking, "live": true, "prior": false});
            assert_eq!(get(&house, "/api/gui/diagnostics"), expect, "{tool}");
            let no = json!({"decision": "deny"});
            assert_eq!(post(&house, &format!("/api/approvals/{id}/answer"), &credential, &no).status, 200);
            call.join().expect("answers");
        });
        until("it is over", || status("ai_status") == "idle");
    }
}

#[test]
fn a_script_that_nobody_answers_is_told_so_in_time() {
    let rig = Rig::new();
    rig.configure("[approval]\npatience = \"5s\"\n");
    let (house, credential) = (house(&rig), approver(&rig));
    let question = json!({"question": "Which branch?"}).to_string();
    thread::scope(|scope| {
        let asking = scope.spawn(|| house.send("POST", "/api/ask", &house.headers(), &question));
        let id = waiting(&house)["id"].as_str().expect("an id").to_owned();
        // Its time begins when somebody sees it.
        assert_eq!(
            house.send("POST", &format!("/api/approvals/{id}/shown"), &house.headers(), "").status,
            200
        );
        let answer = asking.join().expect("answers");
        assert!(answer.status == 504 && answer.body.contains("within 5 s"), "{answer:?}");
        assert_eq!(answer.json()["error"]["kind"], "timeout", "{answer:?}");
        // It waits no longer, and an answer now is too late.
        assert_eq!(get(&house, "/api/approvals")["approvals"], json!([]));
        let late = json!({"request_id": id, "response": "main"});
        assert_eq!(post(&house, "/api/ask/respond", &credential, &late).status, 404);
    });
}

#[test]
fn a_script_asks_a_person_and_another_brings_the_answer() {
    let rig = rig();
    let (house, credential) = (house(&rig), approver(&rig));
    let ask = |question: Value| {
        let house = &house;
        move || house.send("POST", "/api/ask", &house.headers(), &question.to_string())
    };
    // The id of the question, from the event that tells of it.
    let received = || {
        let mut found = Value::Null;
        until("the question", || {
            let events = get(&house, "/api/events")["events"].clone();
            let asked =
                events.as_array().expect("a list").iter().find(|event| event["kind"] == "ask_received");
            found = asked.map(|event| event["data"].clone()).unwrap_or_default();
            !found.is_null()
        });
        found
    };
    let respond = |id: &Value, response: Value| {
        post(&house, "/api/ask/respond", &credential, &json!({"request_id": id, "response": response}))
    };
    for (given, told) in [(json!({"branch": "main"}), json!({"branch": "main"})), (Value::Null, Value::Null)]
    {
        thread::scope(|scope| {
            let asking = scope.spawn(ask(json!({"question": "Which branch?", "of": ["main", "next"]})));
            let event = received();
            assert_eq!(event["data"], json!({"question": "Which branch?", "of": ["main", "next"]}));
            assert_eq!(get(&house, "/api/gui/mma_status")["pending_tool_approval"], true);
            let (id, body) =
                (&event["request_id"], json!({"request_id": event["request_id"], "response": 1}));
            assert_eq!(
                house.send("POST", "/api/ask/respond", &house.headers(), &body.to_string()).status,
                403
            );
            assert_eq!(respond(&json!("nobody"), json!(1)).status, 404);
            let taken = respond(id, given);
            assert_eq!((taken.status, taken.json()), (200, json!({"status": "ok"})));
            let answer = asking.join().expect("answers");
            assert_eq!((answer.status, answer.json()), (200, json!({"status": "ok", "response": told})));
            assert_eq!(respond(id, json!(2)).status, 404, "nobody waits any more");
        });
    }
    thread::scope(|scope| {
        let asking = scope.spawn(ask(json!({"type": "tool_approval", "tool": "deploy", "args": {}})));
        let id = waiting(&house)["id"].as_str().expect("an id").to_owned();
        let no = json!({"decision": "deny", "reason": "never"});
        assert_eq!(post(&house, &format!("/api/approvals/{id}/answer"), &credential, &no).status, 200);
        let answer = asking.join().expect("answers");
        assert!(answer.status == 403 && answer.body.contains("never"), "{answer:?}");
    });
    // A call is not answered by this way, which has no form for it.
    thread::scope(|scope| {
        let call = calling(scope, &house, "write_file", json!({"path": "a.txt", "content": ""}));
        let question = waiting(&house);
        assert_eq!(respond(&question["id"], json!(true)).status, 404);
        let answer = format!("/api/approvals/{}/answer", question["id"].as_str().expect("an id"));
        assert_eq!(post(&house, &answer, &credential, &json!({"decision": "deny"})).status, 200);
        call.join().expect("answers");
    });
    assert!(!rig.project().join("a.txt").exists());
}
