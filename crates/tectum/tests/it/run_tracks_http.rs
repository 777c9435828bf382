//! A track whose questions are answered over the hook API, which shows how far it is.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::{
    federated::until,
    hooks_approvals::{approver, approving},
    rig::{Http, Rig, TOKEN},
    run_model::ModelServer,
    run_tracks::{SEVEN, command, good},
};

/// A run that listens, as a house.
fn started(rig: &Rig, server: &ModelServer, more: &[&str]) -> Http {
    let mut command = command(rig, server, more);
    command.args(["--http", "127.0.0.1:0"]).env("TECTUM_TOKEN", TOKEN);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("starts");
    let mut lines = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    lines.read_line(&mut line).expect("readable");
    let digits = line.split("http://127.0.0.1:").nth(1).expect("an address");
    let port = digits.split('/').next().and_then(|digits| digits.parse().ok()).expect("a port");
    std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
    Http { child, port, token: Some(TOKEN.into()), session: None }
}

fn get(house: &Http, path: &str) -> Value {
    house.send("GET", path, &house.headers(), "").json()
}

/// Waits for the question of this kind about this ticket, and gives it with the state meanwhile.
fn question(house: &Http, kind: &str, subject: &str) -> (String, Value) {
    let mut found = Value::Null;
    until("the question", || {
        found = get(house, "/api/approvals")["approvals"][0].clone();
        found["kind"] == kind && found["subject"] == subject
    });
    (found["id"].as_str().expect("an id").to_owned(), get(house, "/api/gui/mma_status"))
}

fn answer(rig: &Rig, house: &Http, id: &str, answer: &Value) {
    let headers = approving(house, &approver(rig));
    let answered = house.send("POST", &format!("/api/approvals/{id}/answer"), &headers, &answer.to_string());
    assert_eq!(answered.status, 200, "{answered:?}");
}

#[test]
fn questions_are_answered_there_and_the_state_is_shown() {
    let rig = Rig::with(&[("seven.toml", SEVEN)]);
    let server = ModelServer::answering(true, good);
    let mut house = started(&rig, &server, &["--track", "seven.toml", "--step", "--workers", "1"]);
    let yes = json!({ "decision": "approve" });

    let (id, state) = question(&house, "step", "a");
    let expect = [
        ("mma_status", json!("executing")),
        ("active_track", json!("seven")),
        ("mma_step_mode", json!(true)),
    ];
    for (field, expect) in expect {
        assert_eq!(state[field], expect, "{state}");
    }
    assert_eq!(waits(&state), [true, false, true, false]);
    assert_eq!(state["active_tickets"].as_array().map(Vec::len), Some(7));
    answer(&rig, &house, &id, &yes);

    let (id, state) = question(&house, "spawn", "a");
    assert_eq!(waits(&state), [false, true, false, true]);
    answer(&rig, &house, &id, &yes);

    // In other words, and then a no.
    let (id, state) = question(&house, "step", "b");
    assert_eq!(state["active_tickets"][0]["status"], "completed", "{state}");
    assert_eq!((&state["tracks"][0]["completed"], &state["tracks"][0]["todo"]), (&json!(1), &json!(6)));
    let stream = state["mma_streams"]["worker/a"].as_str().unwrap_or_default();
    assert!(stream.contains("> write_file {") && stream.contains("It is done."), "{state}");
    answer(
        &rig,
        &house,
        &id,
        &json!({ "decision": "approve", "arguments": { "description": "Do b slowly" } }),
    );
    let (id, _) = question(&house, "spawn", "b");
    answer(&rig, &house, &id, &yes);
    let (id, _) = question(&house, "step", "c");
    answer(&rig, &house, &id, &json!({ "decision": "deny", "reason": "not today" }));
    for ticket in ["e", "f", "g"] {
        let (id, state) = question(&house, "step", ticket);
        assert_eq!(
            state["active_tickets"][2]["blocked_reason"], "it was refused by a person: not today",
            "{state}"
        );
        answer(&rig, &house, &id, &yes);
        let (id, _) = question(&house, "spawn", ticket);
        answer(&rig, &house, &id, &yes);
    }
    assert_eq!(house.child.wait().expect("ends").code(), Some(5), "c and d are blocked");
    let asked = server.asked();
    assert!(asked.iter().any(|asked| asked.last().starts_with("Your ticket `b`: Do b slowly\n")));
}

/// Whether a step waits, a worker, and the same under their old names.
fn waits(state: &Value) -> [bool; 4] {
    ["pending_mma_step_approval", "pending_mma_spawn_approval", "pending_approval", "pending_spawn"]
        .map(|field| state[field].as_bool().unwrap_or_else(|| panic!("{field}: {state}")))
}

#[test]
fn a_proposal_waits_there_too() {
    let rig = Rig::new();
    let plan = r#"{"id": "p", "description": "", "tickets": [{"id": "one", "description": "Do it"}]}"#;
    let server = ModelServer::answering(true, move |asked| match asked.last().contains("Propose a track") {
        true => crate::run_model::Reply::Text(plan),
        false => good(asked),
    });
    let mut house = started(&rig, &server, &["--plan", "do it", "--no-ask-spawn"]);
    let (id, state) = question(&house, "plan", "p");
    assert_eq!((&state["mma_status"], &state["proposed_tracks"][0]["id"]), (&json!("planning"), &json!("p")));
    let track = json!({ "id": "p", "tickets": [{ "id": "one", "description": "Do it" }, { "id": "two", "description": "And this" }] });
    answer(&rig, &house, &id, &json!({ "decision": "approve", "arguments": track }));
    assert_eq!(house.child.wait().expect("ends").code(), Some(0));
    assert_eq!(server.asked().len(), 3, "the plan, and both tickets of the person's track");
}

#[test]
fn an_address_that_is_taken_is_told_before_anything_is_done() {
    let rig = Rig::with(&[("seven.toml", SEVEN)]);
    let server = ModelServer::answering(true, good);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let said = command(&rig, &server, &["--track", "seven.toml", "--http", &address]).output().expect("runs");
    assert_eq!(said.status.code(), Some(5), "{said:?}");
    assert!(String::from_utf8_lossy(&said.stderr).contains("is taken by another program"), "{said:?}");
    assert!(server.asked().is_empty());
}
