//! Messages that were written over several lines, as JSON allows: on a pipe and in a stream of events
//! they are one line, whoever they come from and go to.

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, Listening, address, echo, until},
    rig::{Http, Rig, text},
    watched::{ON, check_pairs, observer, until_copies},
};

/// A request as people and some clients write it.
fn post(house: &Http, request: &Value) -> Value {
    let body = format!("{request:#}").replace('\n', "\r\n");
    house.send("POST", "/mcp", &house.headers(), &body).json()["result"].clone()
}

#[test]
fn a_call_over_several_lines_reaches_a_server_and_an_observer_on_pipes() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    rig.configure(&format!("{ON}{}{}", echo("one", &[], ""), observer(&rig, "eye", &[])));
    let mut house = rig.http();
    house.handshake();
    until("its tools", || {
        post(&house, &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
            .to_string()
            .contains("one__echo")
    });
    let call = |tool: &str, args: Value| {
        let params = json!({"name": tool, "arguments": args});
        post(&house, &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}))
    };
    let odd = json!({"text": "two\nlines", "more": {"list": [1, {"deep": "\r\n"}]}});
    assert_eq!(text(&call("one__echo", odd.clone())), "two\nlines");
    assert_eq!(text(&call("read_file", json!({"path": "a.txt"}))), "hello\n");
    let copies = until_copies(&rig, "eye", 4);
    check_pairs(&copies, &["one__echo", "read_file"]);
    assert_eq!(copies[0]["params"]["arguments"]["args"], odd);
}

#[test]
fn what_a_server_writes_over_several_lines_reaches_clients_on_one() {
    for (ours, theirs) in Era::ALL.into_iter().flat_map(|ours| Era::ALL.map(|theirs| (ours, theirs))) {
        let rig = Rig::new();
        let far = Listening::fixture(&["--how", "wrapped", "--era", theirs.word()]);
        rig.configure(&format!("{ON}{}{}", address("far", &far.url, ""), observer(&rig, "eye", &[])));
        let mut client = Client::new(&rig, ours);
        client.until_listed("far__echo");
        assert_eq!(client.say("far__echo", json!({"text": "two\nlines"})), "two\nlines");
        check_pairs(&until_copies(&rig, "eye", 2), &["far__echo"]);
        // As a stream of events, too.
        let mut house = rig.http();
        house.handshake();
        assert_eq!(text(&house.call("far__echo", json!({"text": "x"}))), "x");
    }
}
