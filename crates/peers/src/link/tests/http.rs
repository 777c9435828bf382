//! Streamable HTTP, both eras.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::{
    super::{Ask, Loss, connect, outgoing::MAX_MESSAGE},
    call, door,
    fake::{Fake, endless, error, events, json_reply, legacy, modern, plain, result, stream, with},
    greeted, loss, name, remote, start,
};
use crate::{
    spec::{EraChoice, Secret},
    wire::Era,
};

#[tokio::test]
async fn the_older_era_has_a_handshake_and_a_session() {
    let fake = Fake::start(async |seen| {
        if seen.method() == "notifications/initialized" {
            // Whatever is sent behind it has to wait for this.
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        legacy(&seen).unwrap_or_else(|| result(&seen, json!({"ok": true})))
    })
    .await;
    let (link, _loose) = greeted(&fake.url("/mcp"), EraChoice::Auto).await;
    assert_eq!((link.hello().era, &*link.hello().version), (Era::Legacy, "2025-06-18"));
    let beside = [("Mcp-Param-A", "1"), ("traceparent", "00-1")];
    let headers = beside.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let asked = link.request(Ask { headers, ..ask("tools/list") }, |_| "{}".into()).expect("sent");
    assert_eq!(asked.answer().await.expect("answered").expect("a result").get(), r#"{"ok":true}"#);
    let listed = fake.find("POST tools/list").await;
    assert_eq!((listed.header("traceparent"), listed.header("mcp-param-a")), (Some("00-1"), None));
    let order: Vec<String> = fake.shorts().into_iter().filter(|short| short != "GET").collect();
    assert_eq!(
        order,
        ["POST server/discover", "POST initialize", "POST notifications/initialized", "POST tools/list"]
    );

    let asked = fake.find("POST initialize").await;
    assert_eq!((asked.header("mcp-protocol-version"), asked.header("mcp-session-id")), (None, None));
    assert_eq!(asked.header("accept"), Some("application/json, text/event-stream"));
    assert_eq!(asked.header("content-type"), Some("application/json"));
    for short in ["POST notifications/initialized", "POST tools/list", "GET"] {
        let asked = fake.find(short).await;
        assert_eq!(asked.header("mcp-protocol-version"), Some("2025-06-18"), "{short}");
        assert_eq!(asked.header("mcp-session-id"), Some("session-1"), "{short}");
        assert_eq!(asked.header("mcp-method"), None, "{short}");
    }
    assert_eq!(fake.find("GET").await.header("accept"), Some("text/event-stream"));

    link.stop().await;
    assert_eq!(fake.find("DELETE").await.header("mcp-session-id"), Some("session-1"));
    assert!(matches!(link.request(ask("x"), |_| "{}".into()), Err(Loss::Gone(_))));
}

fn ask(method: &'static str) -> Ask<'static> {
    Ask { method, name: None, headers: Vec::new(), owner: None, operation: None }
}

#[tokio::test]
async fn the_newer_era_names_everything_beside_the_body() {
    let fake = Fake::start(async |seen| modern(&seen).unwrap_or_else(|| result(&seen, json!({})))).await;
    let mut remote = remote(&fake.url("/mcp"));
    remote.headers.insert("X-Key".into(), Secret::new("s3"));
    remote.headers.insert("Accept".into(), Secret::new("nonsense"));
    let (link, _loose) = connect(&name(), &remote, EraChoice::Auto, "{}", &door()).await.expect("greeted");
    assert_eq!(link.hello().era, Era::Modern);
    let ask = Ask {
        method: "tools/call",
        name: Some("Übung"),
        headers: vec![("Mcp-Param-Region".into(), "eu".into()), ("traceparent".into(), "00-1".into())],
        owner: None,
        operation: None,
    };
    link.request(ask, |_| "{}".into()).expect("sent").answer().await.expect("answered").expect("a result");
    assert_eq!(fake.shorts(), ["POST server/discover", "POST tools/call"]);
    let [probe, call] = &fake.seen()[..] else { panic!("two requests") };
    assert_eq!(call.header("traceparent"), Some("00-1"));
    for seen in [probe, call] {
        assert_eq!(seen.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(seen.header("mcp-method"), Some(seen.method()));
        assert_eq!(seen.header("mcp-session-id"), None);
        assert_eq!(seen.header("x-key"), Some("s3"));
        assert_eq!(seen.header("accept"), Some("application/json, text/event-stream"));
    }
    assert_eq!(call.header("mcp-name"), Some("=?base64?w5xidW5n?="));
    assert_eq!(call.header("mcp-param-region"), Some("eu"));
}

#[tokio::test]
async fn a_server_that_knows_neither_probe_nor_status_codes_is_of_the_older_era() {
    for refusal in [400, 404, 405, 406, 500] {
        let fake = Fake::with(refusal, async |seen, refusal| match seen.method() {
            "server/discover" => plain(refusal, "text/html", "<h1>no</h1>"),
            _ => legacy(&seen).unwrap_or_else(|| result(&seen, json!({}))),
        })
        .await;
        let (link, _loose) = greeted(&fake.url("/"), EraChoice::Auto).await;
        assert_eq!(link.hello().era, Era::Legacy, "{refusal}");
    }
    let closes = Fake::start(async |seen| match seen.method() {
        "server/discover" => {
            let (send, reply) = stream();
            let _ = send.send(Err(io::Error::other("closed")));
            reply
        }
        _ => legacy(&seen).unwrap_or_else(|| result(&seen, json!({}))),
    })
    .await;
    assert_eq!(greeted(&closes.url("/"), EraChoice::Auto).await.0.hello().era, Era::Legacy);
}

#[tokio::test]
async fn a_server_that_refuses_a_version_it_names_is_asked_again() {
    let times = Arc::new(AtomicUsize::new(0));
    let fake = Fake::with(times, async |seen, times: Arc<AtomicUsize>| {
        if times.fetch_add(1, Ordering::Relaxed) > 0 {
            return modern(&seen).unwrap_or_else(|| result(&seen, json!({})));
        }
        let data = json!({"supported": ["2026-07-28"], "requested": "2026-07-28"});
        let error = json!({"code": -32022, "message": "Unsupported protocol version", "data": data});
        json_reply(400, &json!({"jsonrpc": "2.0", "id": seen.body["id"], "error": error}))
    })
    .await;
    assert_eq!(greeted(&fake.url("/"), EraChoice::Auto).await.0.hello().era, Era::Modern);
    assert_eq!(fake.shorts(), ["POST server/discover"; 2]);
}

#[tokio::test]
async fn a_refusal_with_an_error_in_it_is_the_answer() {
    for (status, id, code) in
        [(404, true, -32601), (400, true, -32602), (400, false, -32600), (500, true, -32603)]
    {
        let fake = Fake::with((status, id, code), async |seen, (status, id, code)| {
            let about = if id { seen.body["id"].clone() } else { Value::Null };
            modern(&seen).unwrap_or_else(|| error(status, &about, code))
        })
        .await;
        let (link, _loose) = greeted(&fake.url("/"), EraChoice::Auto).await;
        assert_eq!(call(&link, "x").await.expect_err("an error")["code"], json!(code), "{status}");
    }
}

#[tokio::test]
async fn a_session_that_is_gone_ends_the_link() {
    let fake = Fake::start(async |seen| match seen.method() {
        "unknown" => error(404, &seen.body["id"], -32601),
        "late" => error(404, &Value::Null, -32001),
        "forever" => std::future::pending().await,
        _ => legacy(&seen).unwrap_or_else(|| result(&seen, json!({}))),
    })
    .await;
    let (link, _loose) = greeted(&fake.url("/"), EraChoice::Auto).await;
    assert_eq!(call(&link, "unknown").await.expect_err("an error")["code"], json!(-32601));
    // What met it was certainly not run; what was under way may have been.
    let under_way = start(&link, "forever", None);
    fake.find("POST forever").await;
    assert_eq!(loss(&link, "late").await, Loss::Refused("its session expired".into()));
    assert!(link.closed().is_cancelled());
    assert_eq!(under_way.answer().await.expect_err("lost"), Loss::Gone("its session expired".into()));
}

#[tokio::test]
async fn nonsense_costs_its_request_only() {
    let fake = Fake::start(async |seen| {
        modern(&seen).unwrap_or_else(|| match seen.method() {
            "html" => plain(200, "text/html", "<html>"),
            "empty" => plain(202, "text/plain", ""),
            "busy" => plain(503, "text/plain", "come back\nlater"),
            "other id" => json_reply(200, &json!({"jsonrpc": "2.0", "id": 4711, "result": {}})),
            "bytes" => plain(200, "application/json", vec![0xff, 0xfe, 0x00]),
            "binary events" => events("\u{0}\u{1}:::\n\n\r\r\rdata\nid\n\n"),
            "announced" => with(endless("application/json", String::new()), "content-length", "1073741824"),
            "endless" => endless("application/json", String::new()),
            "endless event" => {
                let start = format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{},", seen.body["id"]);
                endless("text/event-stream", start)
            }
            _ => result(&seen, json!({"ok": true})),
        })
    })
    .await;
    let (link, _loose) = greeted(&fake.url("/"), EraChoice::Auto).await;
    for (method, expect) in [
        ("html", "no answer to the request"),
        ("empty", "no answer to the request"),
        ("busy", "it answered HTTP 503 Service Unavailable: come back later"),
        ("other id", "no answer to the request"),
        ("bytes", "no answer to the request"),
        ("binary events", "ended before the answer"),
        ("announced", "its answer has 1073741824 bytes"),
        ("endless", &format!("more than {MAX_MESSAGE} bytes")),
        ("endless event", &format!("the limit is {MAX_MESSAGE}")),
    ] {
        let loss = loss(&link, method).await;
        let said = matches!(&loss, Loss::Failed(why) | Loss::Cut(why) if why.contains(expect));
        assert!(said, "{method}: {loss}");
        assert_eq!(call(&link, "next").await, Ok(json!({"ok": true})), "after {method}");
    }
}

#[tokio::test]
async fn nobody_is_led_to_another_origin() {
    let other = Fake::start(async |seen| result(&seen, json!({"stolen": true}))).await;
    let elsewhere = other.url("/mcp");
    let fake = Fake::with(elsewhere, async |seen, elsewhere| {
        modern(&seen).unwrap_or_else(|| match (seen.method(), &*seen.path) {
            ("away", _) => with(plain(307, "text/plain", ""), "location", &elsewhere),
            ("moved", "/mcp") => with(plain(308, "text/plain", ""), "location", "/mcp/"),
            ("moved", "/mcp/") => result(&seen, json!({"found": true})),
            ("found", _) => with(plain(302, "text/plain", ""), "location", "/mcp/"),
            _ => with(plain(307, "text/plain", ""), "location", "/mcp"),
        })
    })
    .await;
    let mut remote = remote(&fake.url("/mcp"));
    remote.headers.insert("Authorization".into(), Secret::new("Bearer secret"));
    let (link, _loose) = connect(&name(), &remote, EraChoice::Auto, "{}", &door()).await.expect("greeted");
    assert!(loss(&link, "away").await.to_string().contains("it redirects to"));
    assert_eq!(call(&link, "moved").await, Ok(json!({"found": true})));
    assert!(loss(&link, "found").await.to_string().contains("it redirects to /mcp/"));
    assert!(loss(&link, "round and round").await.to_string().contains("it redirects to"));
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn letting_go_of_a_call_cancels_it() {
    // The newer era: the stream is closed, which the server notices at its next word.
    let (closed, was_closed) = oneshot::channel();
    let closed = Arc::new(std::sync::Mutex::new(Some(closed)));
    let fake = Fake::with(closed, async |seen, closed| {
        modern(&seen).unwrap_or_else(|| {
            let (send, reply) = stream();
            let closed = closed.lock().expect("whole").take();
            tokio::spawn(async move {
                send.closed().await;
                closed.expect("one call").send(()).expect("awaited");
            });
            reply
        })
    })
    .await;
    let (link, _loose) = greeted(&fake.url("/"), EraChoice::Auto).await;
    let exchange = start(&link, "tools/call", None);
    fake.find("POST tools/call").await;
    drop(exchange);
    was_closed.await.expect("noticed");
    assert!(!fake.shorts().contains(&"POST notifications/cancelled".into()));

    // The older era: a notice.
    let fake = Fake::start(async |seen| match legacy(&seen) {
        Some(reply) => reply,
        None => std::future::pending().await,
    })
    .await;
    let (link, _loose) = greeted(&fake.url("/"), EraChoice::Auto).await;
    let exchange = start(&link, "tools/call", None);
    let id = fake.find("POST tools/call").await.body["id"].clone();
    drop(exchange);
    assert_eq!(fake.find("POST notifications/cancelled").await.body["params"]["requestId"], id);
}

#[tokio::test]
async fn notifications_go_out_in_order_and_requests_wait_for_them() {
    let fake = Fake::start(async |seen| {
        let reply = modern(&seen).unwrap_or_else(|| result(&seen, json!({})));
        // The earlier ones take longer; none may be overtaken.
        let n = seen.body["params"]["n"].as_u64().unwrap_or(20);
        tokio::time::sleep(Duration::from_millis(20 - n)).await;
        reply
    })
    .await;
    let (link, _loose) = greeted(&fake.url("/"), EraChoice::Auto).await;
    for n in 0..20 {
        link.notify("notifications/n", &format!(r#"{{"n":{n}}}"#)).expect("sent");
    }
    call(&link, "behind").await.expect("answered");
    let seen = fake.seen();
    let order: Vec<_> = seen.iter().filter_map(|seen| seen.body["params"]["n"].as_u64()).collect();
    assert_eq!(order, (0..20).collect::<Vec<_>>());
    assert_eq!(seen.last().expect("requests").method(), "behind");
}

#[tokio::test]
async fn calls_do_not_wait_for_each_other() {
    let (open, opened) = oneshot::channel::<()>();
    let opened = Arc::new(tokio::sync::Mutex::new(Some(opened)));
    let fake = Fake::with(opened, async |seen, opened| {
        if seen.method() == "slow"
            && let Some(opened) = opened.lock().await.take()
        {
            opened.await.expect("opened");
        }
        modern(&seen).unwrap_or_else(|| result(&seen, json!({})))
    })
    .await;
    let (link, _loose) = greeted(&fake.url("/"), EraChoice::Auto).await;
    let slow = start(&link, "slow", None);
    call(&link, "quick").await.expect("answered");
    open.send(()).expect("awaited");
    slow.answer().await.expect("answered").expect("a result");
}

#[tokio::test]
async fn an_address_that_is_none_says_so() {
    let fails = async |url: &str| {
        let failed = connect(&name(), &remote(url), EraChoice::Auto, "{}", &door()).await;
        failed.expect_err("nothing there").to_string()
    };
    let gone = Fake::start(async |seen| result(&seen, json!({}))).await.url("/mcp");
    let said = fails(&gone).await;
    assert!(said.contains("cannot be reached") && said.contains("refused"), "{said}");
    assert!(fails("ftp://example.com/").await.contains("neither an http://"));
    assert!(fails("nonsense").await.contains("is no address"));
    let mut remote = remote("http://127.0.0.1:1/");
    remote.headers.insert("X".into(), Secret::new("hunter2\nEvil: yes"));
    let failed = connect(&name(), &remote, EraChoice::Auto, "{}", &door()).await.expect_err("a bad header");
    assert!(failed.to_string().contains("header `X`") && !failed.to_string().contains("hunter2"), "{failed}");
}
