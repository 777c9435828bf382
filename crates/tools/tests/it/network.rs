//! The network tools against a server on loopback, which the user's settings allow.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};
use tectum_core::{FaultKind, Snapshot, Tectum};
use tectum_native::NativeSet;
use tectum_tools::{NetworkSettings, Settings, catalog};

use crate::{attacker::open_gate, files_rig::call};

/// The number of requests for `/long`, by all tests of this process.
static LONG: AtomicUsize = AtomicUsize::new(0);

/// A server for the length of the process; its port.
pub(crate) fn serve() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || answer(stream, port));
        }
    });
    port
}

pub(crate) fn settings(port: u16) -> NetworkSettings {
    NetworkSettings {
        allow_hosts: vec![format!("127.0.0.1:{port}").parse().expect("a host")],
        searxng: Some(format!("http://127.0.0.1:{port}/").parse().expect("an address")),
        environment_proxies: false,
    }
}

/// Calls of a network tool in which each field of its data says something.
pub(crate) fn calls(tool: &str, port: u16) -> Vec<(&'static str, Value)> {
    let page = |path: &str| json!({ "url": format!("http://127.0.0.1:{port}/{path}") });
    match tool {
        "fetch_url" => {
            let mut further = page("long");
            further["from"] = json!(1001);
            let paths = ["page", "long", "huge", "pdf", "abroad", "empty"];
            paths.into_iter().map(page).chain([further]).map(|args| ("fetch_url", args)).collect()
        }
        "web_search" => ["words", "nothing"].map(|query| ("web_search", json!({ "query": query }))).to_vec(),
        _ => Vec::new(),
    }
}

fn answer(mut stream: TcpStream, port: u16) {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
        request.push(byte[0]);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let target = request.split(' ').nth(1).unwrap_or_default();
    let text = |body: String| ("200 OK\r\nContent-Type: text/plain".to_owned(), body);
    let json = |body: &str| ("200 OK\r\nContent-Type: application/json".to_owned(), body.to_owned());
    let (head, body) = match target {
        "/page" => ("200 OK\r\nContent-Type: text/html".into(), "<title>T</title><p>Some words</p>".into()),
        "/long" => {
            LONG.fetch_add(1, Ordering::SeqCst);
            text((1..2_000).map(|n| format!("word {n}\n")).collect())
        }
        "/huge" => text("x".repeat(6 << 20)),
        "/empty" => text(String::new()),
        "/pdf" => ("200 OK\r\nContent-Type: application/pdf".into(), "%PDF-1.7 secret".into()),
        "/abroad" => (format!("301 Moved\r\nLocation: http://localhost:{port}/page"), String::new()),
        "/inner" => ("301 Moved\r\nLocation: http://10.0.0.1/".into(), String::new()),
        "/search?q=words&format=json" => {
            json(r#"{"results": [{"title": "A", "url": "https://a.example/", "content": "snippet words"}]}"#)
        }
        "/search?q=nothing&format=json" => json(r#"{"results": []}"#),
        "/search?q=down&format=json" => {
            json(r#"{"results": [], "unresponsive_engines": [["a", "timeout"]]}"#)
        }
        _ => ("404 Not Found".into(), String::new()),
    };
    let length = body.len();
    let _ = write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
}

fn house(network: NetworkSettings, root: &std::path::Path) -> Tectum {
    let tools = NativeSet::new(catalog(&Settings { network, ..Settings::default() }));
    Tectum::new(Snapshot::of(&[Arc::new(tools)]), open_gate(root))
}

#[tokio::test]
async fn a_long_page_is_fetched_once_and_read_on() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let port = serve();
    let house = house(settings(port), scratch.path());
    let url = format!("http://127.0.0.1:{port}/long");
    let before = LONG.load(Ordering::SeqCst);
    let (_, whole) = call(&house, "fetch_url", json!({ "url": url })).await.expect("a page");
    assert_eq!(whole["next"], Value::Null);
    let from = whole["characters"].as_u64().expect("a number") - 4;
    let (text, rest) = call(&house, "fetch_url", json!({ "url": url, "from": from })).await.expect("a page");
    assert_eq!(rest["content"], "1999\n", "{text}");
    assert_eq!(LONG.load(Ordering::SeqCst) - before, 2, "a whole page is not kept");
    call(&house, "fetch_url", json!({ "url": url, "from": from - 10 })).await.expect("a page");
    assert_eq!(LONG.load(Ordering::SeqCst) - before, 2, "read on without fetching");
    call(&house, "fetch_url", json!({ "url": url })).await.expect("a page");
    assert_eq!(LONG.load(Ordering::SeqCst) - before, 3, "a first part is fetched anew");
}

#[tokio::test]
async fn refusals_and_failures_say_what_to_do_next() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let port = serve();
    let house = house(settings(port), scratch.path());
    let at = |path: &str| json!({ "url": format!("http://127.0.0.1:{port}/{path}") });
    for (tool, args, kind, words) in [
        ("fetch_url", at("inner"), FaultKind::Permission, "its host is a private address"),
        ("fetch_url", json!({"url": "http://localhost:1/"}), FaultKind::Permission, "allow_hosts"),
        ("fetch_url", json!({"url": "http://[::1]/"}), FaultKind::Permission, "a loopback address"),
        ("fetch_url", at("none"), FaultKind::NotFound, "answered 404"),
        (
            "fetch_url",
            json!({"url": "file:///etc/passwd"}),
            FaultKind::InvalidInput,
            "write https://host/path",
        ),
        (
            "fetch_url",
            json!({"url": "https://docs.rs@evil.example/"}),
            FaultKind::InvalidInput,
            "before an @",
        ),
        ("fetch_url", json!({"url": "https://a.example/", "from": 0}), FaultKind::InvalidInput, "at least 1"),
        ("web_search", json!({"query": " "}), FaultKind::InvalidInput, "1 to 1000 characters"),
        ("web_search", json!({"query": "down"}), FaultKind::Upstream, "SearXNG blocked this search"),
    ] {
        let fault = call(&house, tool, args.clone()).await.expect_err("refused");
        assert_eq!(fault.kind, kind, "{tool} {args}: {}", fault.text());
        assert!(fault.text().contains(words), "{tool} {args}: {}", fault.text());
    }
    let (text, _) = call(&house, "web_search", json!({ "query": "nothing" })).await.expect("an answer");
    assert!(text.contains("SearXNG found no results"), "{text}");
}
