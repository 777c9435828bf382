//! Streams of events over streamable HTTP: order, ends, continuation.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;

use super::{
    super::{Loose, Loss},
    call,
    fake::{Fake, Reply, Seen, event, events, json_reply, legacy, modern, plain, result, stream},
    greeted, loss, next, start,
};
use crate::spec::EraChoice;

#[tokio::test]
async fn what_a_stream_brings_comes_in_order_with_the_answer_last() {
    let fake = Fake::start(async |seen| {
        modern(&seen).unwrap_or_else(|| {
            let id = &seen.body["id"];
            let mut text = String::from(": hello\nevent: other\ndata: {\"jsonrpc\":\"2.0\",\"id\":99}\n\n");
            for n in 0..500 {
                let params = json!({"progressToken": id, "progress": n});
                text +=
                    &event(&json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}));
            }
            text += &event(&json!({"jsonrpc": "2.0", "id": "q1", "method": "roots/list"}));
            text += &event(&json!({"jsonrpc": "2.0", "id": id, "result": {"done": true}}));
            events(&text)
        })
    })
    .await;
    let (link, _loose) = greeted(&fake.url("/"), EraChoice::Auto).await;
    let mut exchange = start(&link, "tools/call", Some("t"));
    for n in 0..500 {
        assert!(next(&mut exchange).await.ends_with(&format!("\"progress\":{n}}}")));
    }
    assert_eq!(next(&mut exchange).await, "question \"q1\" roots/list");
    assert_eq!(next(&mut exchange).await, r#"answer {"done":true}"#);
    link.answer("\"q1\"", Ok(r#"{"roots":[]}"#)).expect("sent");
    fake.find("POST").await;
}

#[tokio::test]
async fn messages_in_a_list_are_taken_one_by_one() {
    let fake = Fake::start(async |seen| {
        modern(&seen).unwrap_or_else(|| {
            let id = &seen.body["id"];
            let note = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": id}});
            let list = json!([note, {"jsonrpc": "2.0", "id": id, "result": {"ok": true}}]);
            match seen.method() {
                "events" => events(&event(&list)),
                _ => json_reply(200, &list),
            }
        })
    })
    .await;
    let (link, _loose) = greeted(&fake.url("/"), EraChoice::Auto).await;
    for method in ["events", "body"] {
        let mut exchange = start(&link, method, None);
        assert!(next(&mut exchange).await.starts_with("notifications/progress"), "{method}");
        assert_eq!(next(&mut exchange).await, r#"answer {"ok":true}"#, "{method}");
    }
}

#[tokio::test]
async fn a_broken_stream_is_continued_where_it_has_ids() {
    let gets = Arc::new(AtomicUsize::new(0));
    let count = gets.clone();
    let fake = Fake::with(count, async |seen, count: Arc<AtomicUsize>| {
        let note = |n: u32| {
            let params = json!({"progressToken": 3, "progress": n});
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        };
        match (&*seen.verb, seen.header("last-event-id")) {
            ("GET", Some("a-1")) if count.fetch_add(1, Ordering::Relaxed) == 0 => {
                plain(503, "text/plain", "busy")
            }
            ("GET", Some("a-1")) => events(&format!("id: a-2\n{}", event(&note(2)))),
            ("GET", Some("a-2")) => {
                events(&event(&json!({"jsonrpc": "2.0", "id": 3, "result": {"whole": true}})))
            }
            ("POST", _) if seen.method() == "tools/call" => {
                let (send, reply) = stream();
                send.send(Ok(format!("retry: 60\nid: a-1\n{}data: {{\"cut", event(&note(1))))).expect("open");
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    let _ = send.send(Err(io::Error::other("broken")));
                });
                reply
            }
            _ => legacy(&seen).unwrap_or_else(|| result(&seen, json!({}))),
        }
    })
    .await;
    let (link, _loose) = greeted(&fake.url("/"), EraChoice::Auto).await;
    let mut exchange = start(&link, "tools/call", None);
    assert!(next(&mut exchange).await.ends_with("\"progress\":1}"));
    assert!(next(&mut exchange).await.ends_with("\"progress\":2}"));
    assert_eq!(next(&mut exchange).await, r#"answer {"whole":true}"#);
    assert_eq!(gets.load(Ordering::Relaxed), 2);
    let resumed: Vec<_> =
        fake.seen().into_iter().filter(|seen| seen.header("last-event-id").is_some()).collect();
    assert!(resumed.iter().all(|seen| seen.header("mcp-session-id") == Some("session-1")));
}

#[tokio::test]
async fn a_broken_stream_without_ids_costs_its_request_only() {
    for era in [modern as fn(&Seen) -> Option<Reply>, legacy] {
        let fake = Fake::with(era, async |seen, era| {
            era(&seen).unwrap_or_else(|| match seen.method() {
                "cut" => events(": nothing\n\n"),
                _ => result(&seen, json!({"ok": true})),
            })
        })
        .await;
        let (link, _loose) = greeted(&fake.url("/"), EraChoice::Auto).await;
        assert_eq!(loss(&link, "cut").await, Loss::Cut("its stream ended before the answer".into()));
        assert_eq!(call(&link, "next").await, Ok(json!({"ok": true})));
    }
}

#[tokio::test]
async fn a_stream_whose_server_was_ended_is_not_waited_for_long() {
    let fake = Fake::start(async |seen| {
        legacy(&seen).unwrap_or_else(|| {
            let note = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": seen.body["id"]}});
            let (send, reply) = stream();
            send.send(Ok(format!("retry: 50\nid: a-1\n{}", event(&note)))).expect("open");
            tokio::spawn(async move { send.closed().await });
            reply
        })
    })
    .await;
    let (link, _loose) = greeted(&fake.url("/"), EraChoice::Auto).await;
    let mut exchange = start(&link, "tools/call", None);
    assert!(next(&mut exchange).await.starts_with("notifications/progress"));
    drop(fake);
    let lost = exchange.answer().await.expect_err("lost");
    assert!(matches!(&lost, Loss::Cut(why) if why.contains("nobody listens")), "{lost:?}");
}

#[tokio::test]
async fn the_newer_era_does_not_continue_streams() {
    let fake =
        Fake::start(async |seen| modern(&seen).unwrap_or_else(|| events("id: 1\nretry: 10\ndata: {}\n\n")))
            .await;
    let (link, _loose) = greeted(&fake.url("/"), EraChoice::Auto).await;
    assert!(matches!(loss(&link, "cut").await, Loss::Cut(_)));
    assert!(!fake.shorts().contains(&"GET".into()));
}

#[tokio::test]
async fn what_nobody_asked_for_comes_on_a_stream_of_its_own() {
    let gets = Arc::new(AtomicUsize::new(0));
    let fake = Fake::with(gets, async |seen, gets: Arc<AtomicUsize>| {
        if seen.verb != "GET" {
            return legacy(&seen).unwrap_or_else(|| result(&seen, json!({})));
        }
        let note = event(&json!({"jsonrpc": "2.0", "method": "notifications/resources/updated"}));
        match gets.fetch_add(1, Ordering::Relaxed) {
            0 => events(&format!("id: g-1\nretry: 60\n{note}")),
            1 => events(&format!("id: g-2\n{note}")),
            _ => plain(405, "text/plain", ""),
        }
    })
    .await;
    let (link, mut loose) = greeted(&fake.url("/"), EraChoice::Auto).await;
    for _ in 0..2 {
        let (message, _room) = loose.recv().await.expect("a message");
        assert!(matches!(message, Loose::Note { method, .. } if method == "notifications/resources/updated"));
    }
    while fake.shorts().iter().filter(|short| *short == "GET").count() < 3 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let gets: Vec<_> = fake.seen().into_iter().filter(|seen| seen.verb == "GET").collect();
    let ids: Vec<_> = gets.iter().map(|seen| seen.header("last-event-id")).collect();
    assert_eq!(ids, [None, Some("g-1"), Some("g-2")]);
    assert!(!link.closed().is_cancelled());
}
