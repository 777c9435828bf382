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
