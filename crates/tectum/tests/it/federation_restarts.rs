//! Remote servers that are ended and started again while a client is there.

use serde_json::json;

use crate::{
    federated::{Client, Era, Listening, address, until, with},
    rig::text,
};

#[test]
fn a_restarted_server_that_does_not_know_the_session_is_greeted_again() {
    for (era, stale) in [(Era::Legacy, "400"), (Era::Legacy, "404"), (Era::Modern, "400")] {
        let args = ["--era", "legacy", "--name", "one", "--stale", stale];
        let server = Listening::fixture(&args);
        let rig = with(&address("one", &server.url, ""));
        let mut client = Client::new(&rig, era);
        client.until_listed("one__echo");
        let before = client.say("one__pid", json!({}));
        let server = server.again(&args);
        // The first call finds out, and is repeated: it was not run.
        let after = client.say("one__pid", json!({}));
        assert!(after != before && after.parse::<u32>().is_ok(), "{stale}: {before}, {after}");
        assert_eq!(client.say("one__echo", json!({"text": "there"})), "there");
        drop(server);
    }
}

#[test]
fn a_server_that_never_knows_its_own_sessions_is_not_asked_for_ever() {
    let server = Listening::fixture(&["--era", "legacy", "--name", "one", "--how", "forgets"]);
    let rig = with(&address("one", &server.url, ""));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__echo");
    let answer = client.call("one__echo", json!({"text": "there"}));
    assert_eq!(answer["isError"], true, "{answer}");
    assert!(text(&answer).contains("its session expired"), "{answer}");
}

#[test]
fn a_call_under_way_when_its_server_was_ended_says_what_is_not_known() {
    let server = Listening::fixture(&["--era", "legacy", "--name", "one"]);
    let rig = with(&address("one", &server.url, ""));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__echo");
    let waiting = client.begin("one__hang", json!({}));
    until("the call", || client.say("one__seen", json!({})).contains("\"hung\":1"));
    drop(server);
    let answer = client.wait(waiting);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(text(&answer["result"]).contains("whether it had an effect is not known"), "{answer}");
}
