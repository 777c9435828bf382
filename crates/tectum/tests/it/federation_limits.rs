//! The cost that one server may cause: calls at once, calls a minute, silence, and time altogether.

use serde_json::json;

use crate::{
    federated::{Client, Era, echo, lives, marked, starts, until},
    rig::{Rig, text},
};

fn client(more: &str, ours: Era, theirs: Era) -> (Rig, Client) {
    let rig = Rig::new();
    rig.configure(&format!("{}{}", echo("one", &["--era", theirs.word()], more), echo("two", &[], "")));
    let mut client = Client::new(&rig, ours);
    client.until_listed("one__echo");
    client.until_listed("two__echo");
    (rig, client)
}

/// A call that says something every now and then.
fn chatter(client: &mut Client, notes: u64) -> u64 {
    let params = json!({"name": "one__progress", "arguments": {"count": notes, "every_ms": 500},
        "_meta": {"progressToken": "chatter"}});
    client.start("tools/call", params)
}

#[test]
fn a_place_that_does_not_become_free_is_told() {
    let (_rig, mut client) = client("concurrency = 1\ntimeout = \"2s\"", Era::Legacy, Era::Legacy);
    let long = chatter(&mut client, 10);
    until("its first note", || {
        client.hear();
        !client.notes.is_empty()
    });
    let waiting = client.begin("one__echo", json!({"text": "x"}));
    assert_eq!(client.say("two__echo", json!({"text": "there"})), "there", "others have their own places");
    let busy = client.wait(waiting)["result"].clone();
    assert!(busy["isError"] == true && text(&busy).contains("one is busy"), "{busy}");
    assert!(text(&busy).contains("raise its `concurrency`") && !text(&busy).contains("rate`"), "{busy}");
    assert_eq!(text(&client.wait(long)["result"]), "10 notes were sent.");
    assert_eq!(client.say("one__echo", json!({"text": "free"})), "free");
}

#[test]
fn no_more_calls_are_at_a_server_than_it_has_places() {
    let pairs = Era::ALL.into_iter().flat_map(|ours| Era::ALL.map(|theirs| (ours, theirs)));
    for (ours, theirs) in pairs {
        let (_rig, mut client) = client("concurrency = 3", ours, theirs);
        // Each call goes on when three are there together, and twelve were sent at once.
        let calls: Vec<u64> = (0..12).map(|_| client.begin("one__meet", json!({"count": 3}))).collect();
        for id in calls {
            assert_eq!(text(&client.wait(id)["result"]), "Met.", "{ours:?} {theirs:?}");
        }
        let seen: serde_json::Value =
            serde_json::from_str(&client.say("one__seen", json!({}))).expect("JSON");
        assert_eq!(seen["peak"], 3, "{ours:?} {theirs:?}");
        // With more places than that, more are there.
        let calls: Vec<u64> = (0..12).map(|_| client.begin("two__meet", json!({"count": 12}))).collect();
        for id in calls {
            assert_eq!(text(&client.wait(id)["result"]), "Met.", "{ours:?} {theirs:?}");
        }
    }
}

#[test]
fn calls_beyond_the_rate_wait_and_are_told() {
    let (_rig, mut client) = client("rate = 2\nconcurrency = 1\ntimeout = \"2s\"", Era::Legacy, Era::Modern);
    for _ in 0..2 {
        assert_eq!(client.say("one__echo", json!({"text": "x"})), "x");
    }
    // All of them hear that it is the rate: none of them takes a place.
    let calls: Vec<u64> = (0..3).map(|_| client.begin("one__echo", json!({"text": "x"}))).collect();
    for id in calls {
        let busy = client.wait(id)["result"].clone();
        assert!(busy["isError"] == true && text(&busy).contains("2 times a minute"), "{busy}");
        assert!(text(&busy).contains("raise its `rate`") && !text(&busy).contains("concurrency"), "{busy}");
    }
    for _ in 0..10 {
        assert_eq!(client.say("two__echo", json!({"text": "x"})), "x");
    }
}

#[test]
fn silence_ends_a_call_and_progress_keeps_it() {
    let pairs = Era::ALL.into_iter().flat_map(|ours| Era::ALL.map(|theirs| (ours, theirs)));
    // All pairs at once: each waits for most of its time.
    let all: Vec<_> = pairs
        .map(|(ours, theirs)| {
            let (rig, mut client) = client("timeout = \"2s\"\nmax_timeout = \"6s\"", ours, theirs);
            // Longer than the silence, shorter than the whole; and longer than both.
            let (kept, long) = (chatter(&mut client, 6), chatter(&mut client, 100));
            let silent = client.begin("one__hang", json!({}));
            (rig, client, kept, long, silent)
        })
        .collect();
    for (_rig, mut client, kept, long, silent) in all {
        let answer = client.wait(silent);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert_eq!(text(&client.wait(kept)["result"]), "6 notes were sent.");
        let answer = client.wait(long);
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        // The server is told to stop, and goes on with the next.
        until("two cancellations", || {
            let seen: serde_json::Value =
                serde_json::from_str(&client.say("one__seen", json!({}))).expect("JSON");
            seen["cancelled"].as_u64() >= Some(2)
        });
        assert_eq!(client.say("one__echo", json!({"text": "there"})), "there");
    }
}

#[test]
fn a_server_has_so_many_connections_and_no_more() {
    const MOST: usize = 16;
    let rig = Rig::new();
    let marker = rig.outside().join("starts");
    rig.configure(&marked("one", &marker, &["--era", "legacy"], "isolation = \"per-client\""));
    let mut house = rig.http();
    let mut open = || {
        house.handshake();
        until("its tools", || {
            house.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).body.contains("one__hang")
        });
        house.session.clone()
    };
    let sessions: Vec<_> = (0..=MOST).map(|_| open()).collect();
    // Each of the first has a connection of its own, and uses it from the first progress on.
    let _busy: Vec<_> = sessions[..MOST]
        .iter()
        .map(|session| {
            use std::io::{BufRead as _, BufReader, Write as _};
            let mut headers = house.headers();
            headers.retain(|(name, _)| name != "Mcp-Session-Id");
            headers.extend(session.clone().map(|id| ("Mcp-Session-Id".to_owned(), id)));
            let body = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
                "params": {"name": "one__progress", "arguments": {"count": 3000, "every_ms": 100},
                    "_meta": {"progressToken": 1}}});
            let mut stream = house.connect();
            stream
                .write_all(crate::rig::request("POST", "/mcp", &headers, &body.to_string()).as_bytes())
                .expect("sent");
            let mut answer = BufReader::new(stream);
            let mut line = String::new();
            while !line.contains("notifications/progress") {
                line.clear();
                assert!(answer.read_line(&mut line).expect("readable") > 0, "it ended");
            }
            answer
        })
        .collect();
    house.session.clone_from(&sessions[MOST]);
    let refused = house.call("one__echo", json!({"text": "x"}));
    assert!(refused["isError"] == true && text(&refused).contains("16 connections"), "{refused}");
    assert_eq!(starts(&marker).iter().filter(|pid| lives(**pid)).count(), MOST);
}
