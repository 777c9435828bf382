//! The transport of 2024.

use std::sync::{Arc, Mutex};

use serde_json::json;

use super::{
    super::{Ask, Loss, connect, connect_sse},
    call, door,
    fake::{Fake, Reply, Seen, event, legacy, plain, stream},
    name, next, remote, start,
};
use crate::spec::EraChoice;

type Line = Arc<Mutex<Option<tokio::sync::mpsc::UnboundedSender<std::io::Result<String>>>>>;

/// A server with its stream at `/sse`, which answers every request there.
async fn old(endpoint: &'static str, line: Line) -> Fake {
    Fake::with((endpoint, line), async |seen, (endpoint, line)| serve(&seen, endpoint, &line)).await
}

fn serve(seen: &Seen, endpoint: &str, line: &Line) -> Reply {
    match (&*seen.verb, &*seen.path) {
        ("GET", "/sse") => {
            let (send, reply) = stream();
            send.send(Ok(format!("event: endpoint\ndata: {endpoint}\n\n"))).expect("open");
            *line.lock().expect("whole") = Some(send);
            reply
        }
        ("POST", "/messages") => {
            let line = line.lock().expect("whole");
            let say = |text: String| line.as_ref().expect("open").send(Ok(text)).expect("open");
            match seen.method() {
                "initialize" => {
                    let hello = json!({"protocolVersion": "2024-11-05", "capabilities": {}});
                    say(event(&json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": hello})));
                }
                "refused" => return plain(500, "text/plain", "oh"),
                method if method.starts_with("notifications/") => {}
                _ => {
                    let params = json!({"progressToken": seen.body["id"], "progress": 1});
                    let note =
                        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
                    say(event(&note));
                    say(event(&json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {"ok": true}})));
                }
            }
            plain(202, "text/plain", "Accepted")
        }
        _ => plain(405, "text/plain", ""),
    }
}

#[tokio::test]
async fn everything_comes_on_one_stream() {
    let line = Line::default();
    let fake = old("/messages?s=1", line.clone()).await;
    let (link, _loose) =
        connect_sse(&name(), &remote(&fake.url("/sse")), "{}", &door()).await.expect("greeted");
    assert_eq!(link.hello().version, "2024-11-05");
    let mut exchange = start(&link, "tools/call", None);
    assert!(next(&mut exchange).await.contains("\"progress\":1"));
    assert_eq!(next(&mut exchange).await, r#"answer {"ok":true}"#);
    assert_eq!(fake.find("POST tools/call").await.query, "s=1");
    let trace = vec![("traceparent".to_owned(), "00-1".to_owned())];
    let ask = Ask { method: "tools/list", name: None, headers: trace, owner: None, operation: None };
    link.request(ask, |_| "{}".into()).expect("sent").answer().await.expect("answered").expect("a result");
    assert_eq!(fake.find("POST tools/list").await.header("traceparent"), Some("00-1"));
    let refused = call(&link, "refused").await.expect_err("refused");
    assert!(refused["loss"].as_str().is_some_and(|why| why.contains("HTTP 500")), "{refused}");

    *line.lock().expect("whole") = None;
    link.closed().cancelled().await;
    let ask = Ask { method: "late", name: None, headers: Vec::new(), owner: None, operation: None };
    let late = link.request(ask, |_| "{}".into());
    assert_eq!(late.expect_err("closed"), Loss::Gone("its stream ended".into()));
}

#[tokio::test]
async fn an_address_of_another_origin_is_not_posted_to() {
    for endpoint in ["http://127.0.0.1:9/messages", "https://127.0.0.1/", "//elsewhere/messages", "file:///x"]
    {
        let fake = old(endpoint, Line::default()).await;
        let failed = connect_sse(&name(), &remote(&fake.url("/sse")), "{}", &door()).await;
        let said = failed.expect_err(endpoint).to_string();
        assert!(said.contains("another origin"), "{endpoint}: {said}");
        assert_eq!(fake.shorts(), ["GET"]);
    }
}

#[tokio::test]
async fn an_address_that_only_knows_the_old_transport_is_spoken_to_in_it() {
    let fake = old("/messages", Line::default()).await;
    let url = fake.url("/sse");
    let (link, _loose) =
        connect(&name(), &remote(&url), EraChoice::Auto, "{}", &door()).await.expect("greeted");
    assert_eq!(link.hello().version, "2024-11-05");
    assert_eq!(call(&link, "tools/list").await, Ok(json!({"ok": true})));
    let only_modern = connect(&name(), &remote(&url), EraChoice::Modern, "{}", &door()).await;
    assert!(matches!(only_modern, Err(Loss::Failed(_))));
}

#[tokio::test]
async fn an_address_that_knows_neither_says_what_it_said_first() {
    let fake = Fake::start(async |_| plain(404, "text/plain", "no such page")).await;
    let failed = connect(&name(), &remote(&fake.url("/")), EraChoice::Auto, "{}", &door()).await;
    assert_eq!(
        failed.expect_err("nothing there"),
        Loss::Failed("it answered HTTP 404 Not Found: no such page".into())
    );
    // A refusal of the handshake that is a message is no reason to try another transport.
    let fake = Fake::start(async |seen| match seen.method() {
        "initialize" => super::fake::error(400, &seen.body["id"], -32602),
        _ => legacy(&seen).unwrap_or_else(|| plain(404, "text/plain", "")),
    })
    .await;
    let failed = connect(&name(), &remote(&fake.url("/")), EraChoice::Auto, "{}", &door()).await;
    assert!(failed.expect_err("refused").to_string().contains("-32602"));
    assert!(!fake.shorts().contains(&"GET".into()));
}
