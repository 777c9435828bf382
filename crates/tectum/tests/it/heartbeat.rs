//! Calls that take long: a client that wants progress hears signs of life, and a server's own progress
//! arrives as it was told.

use serde_json::{Value, json};

use crate::federated::{Client, Era, echo, with};

fn progress(client: &Client) -> Vec<&Value> {
    let notes = client.notes.iter().filter(|note| note["method"] == "notifications/progress");
    notes.map(|note| &note["params"]).collect()
}

#[test]
fn a_silent_call_of_a_server_gives_a_sign_of_life() {
    let rig = with(&echo("one", &[], ""));
    let mut client = Client::new(&rig, Era::Legacy);
    // A little longer than the longest silence.
    let params = json!({"name": "one__sleep", "arguments": {"ms": 16_000}, "_meta": {"progressToken": "t"}});
    client.result("tools/call", params);
    let notes = progress(&client);
    assert!(notes.iter().all(|note| note["progressToken"] == "t"), "{notes:?}");
    assert!(
        notes
            .iter()
            .any(|note| note["message"].as_str().is_some_and(|text| text.starts_with("still running"))),
        "{notes:?}"
    );
}

#[test]
fn progress_of_a_server_arrives_as_it_was_told() {
    for era in Era::ALL {
        let rig = with(&echo("one", &[], ""));
        let mut client = Client::new(&rig, era);
        let params =
            json!({"name": "one__progress", "arguments": {"count": 3}, "_meta": {"progressToken": 7}});
        client.result("tools/call", params);
        let told: Vec<f64> = progress(&client).iter().filter_map(|note| note["progress"].as_f64()).collect();
        assert_eq!(told, [1.0, 2.0, 3.0], "{era:?}");
    }
}
