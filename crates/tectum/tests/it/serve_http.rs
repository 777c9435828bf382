//! MCP over streamable HTTP, as a client, a stranger and a web page see it.

use std::{
    io::{BufRead, BufReader, Read, Write},
    time::Duration,
};

use serde_json::{Value, json};

use crate::rig::{Http, Rig, TOKEN, request, text};

const MODERN: &str = "2026-07-28";

fn modern(http: &Http, method: &str, name: Option<&str>) -> Vec<(String, String)> {
    let mut headers = http.headers();
    headers.push(("MCP-Protocol-Version".into(), MODERN.into()));
    headers.push(("Mcp-Method".into(), method.into()));
    headers.extend(name.map(|name| ("Mcp-Name".to_owned(), name.to_owned())));
    headers
}

fn modern_body(method: &str, params: Value) -> String {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

#[test]
fn a_session_of_the_older_era() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    let mut http = rig.http();
    let hello = http.handshake();
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25");
    let session = http.session.clone().expect("a session");
    assert!(session.len() >= 32 && session.bytes().all(|byte| byte.is_ascii_graphic()), "{session}");
    assert_eq!(text(&http.call("read_file", json!({"path": "a.txt"}))), "hello\n");
    assert_eq!(http.send("DELETE", "/mcp", &http.headers(), "").status, 204);
    let gone = http.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}));
    assert_eq!(gone.status, 404);
    http.session = None;
    assert_eq!(http.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).status, 400);
}

#[test]
fn the_newer_era_without_sessions() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    let http = rig.http();
    let found = http.send(
        "POST",
        "/mcp",
        &modern(&http, "server/discover", None),
        &modern_body("server/discover", json!({})),
    );
    assert_eq!((found.status, &found.json()["result"]["supportedVersions"]), (200, &json!([MODERN])));
    let body = modern_body("tools/call", json!({"name": "read_file", "arguments": {"path": "a.txt"}}));
    let answer = http.send("POST", "/mcp", &modern(&http, "tools/call", Some("read_file")), &body);
    assert_eq!(text(&answer.json()["result"]), "hello\n");
    assert!(answer.header("mcp-session-id").is_none());
    let coded =
        http.send("POST", "/mcp", &modern(&http, "tools/call", Some("=?base64?cmVhZF9maWxl?=")), &body);
    assert_eq!(coded.status, 200);
}

#[test]
fn headers_and_body_must_agree() {
    let rig = Rig::new();
    let http = rig.http();
    let list = modern_body("tools/list", json!({}));
    let call = modern_body("tools/call", json!({"name": "read_file", "arguments": {"path": "a"}}));
    let without = |drop: &str| {
        let mut headers = modern(&http, "tools/call", Some("read_file"));
        headers.retain(|(name, _)| name != drop);
        headers
    };
    for (headers, body, why) in [
        (modern(&http, "tools/call", Some("read_file")), &list, "another method"),
        (modern(&http, "tools/call", Some("edit_file")), &call, "another tool"),
        (without("Mcp-Name"), &call, "no name"),
        (without("Mcp-Method"), &call, "no method"),
        (without("MCP-Protocol-Version"), &call, "no version"),
    ] {
        let answer = http.send("POST", "/mcp", &headers, body);
        assert_eq!(
            (answer.status, &answer.json()["error"]["code"]),
            (400, &json!(-32020)),
            "{why}: {answer:?}"
        );
        assert_eq!(answer.json()["id"], 1, "{why}");
    }
    let mut other = modern(&http, "tools/list", None);
    other.retain(|(name, _)| name != "MCP-Protocol-Version");
    other.push(("MCP-Protocol-Version".into(), "v999".into()));
    let body = list.replace(MODERN, "v999");
    let answer = http.send("POST", "/mcp", &other, &body);
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!(-32022)), "{answer:?}");
    let unknown =
        http.send("POST", "/mcp", &modern(&http, "no/such", None), &modern_body("no/such", json!({})));
    assert_eq!((unknown.status, &unknown.json()["error"]["code"]), (404, &json!(-32601)));
    assert_eq!(http.send("GET", "/mcp", &modern(&http, "x", None), "").status, 405);
}

#[test]
fn every_route_refuses_strangers() {
    let rig = Rig::new();
    let http = rig.http();
    let ours = format!("127.0.0.1:{}", http.port);
    let page = format!("http://{ours}");
    let bearer = format!("Bearer {TOKEN}");
    for (host, origin, token, expect) in [
        (Some(&*ours), None, Some(&*bearer), None),
        (Some("localhost"), Some(&*page), Some(&*bearer), None),
        (Some("evil.example"), None, Some(&*bearer), Some(403)),
        (Some(&*ours), Some("http://evil.example"), Some(&*bearer), Some(403)),
        (Some(&*ours), Some("null"), Some(&*bearer), Some(403)),
        (Some(&*ours), Some("http://localhost:1"), Some(&*bearer), Some(403)),
        (Some(&*ours), None, None, Some(401)),
        (Some(&*ours), None, Some("Bearer 00112233445566778899aabbccddeef0"), Some(401)),
    ] {
        for (method, path) in [
            ("POST", "/mcp"),
            ("GET", "/mcp"),
            ("DELETE", "/mcp"),
            ("PUT", "/mcp"),
            // Everybody may see the page that is at `/`; hooks_strangers.rs looks at it.
            ("GET", "/x"),
            ("POST", "/x"),
        ] {
            let mut headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
            headers.extend(host.map(|host| ("Host".to_owned(), host.to_owned())));
            headers.extend(origin.map(|origin| ("Origin".to_owned(), origin.to_owned())));
            headers.extend(token.map(|token| ("Authorization".to_owned(), token.to_owned())));
            let answer = http.send(method, path, &headers, "{}");
            match expect {
                Some(status) => {
                    assert_eq!(answer.status, status, "{method} {path} {host:?} {origin:?} {token:?}")
                }
                None => assert!(![401, 403].contains(&answer.status), "{method} {path} {host:?}: {answer:?}"),
            }
        }
    }
}

#[test]
fn malformed_posts_get_one_error_each() {
    let rig = Rig::new();
    let mut http = rig.http();
    http.handshake();
    for (body, status, code) in [
        ("nonsense", 400, -32700),
        ("[]", 400, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, 400, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, 200, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope"}}"#, 200, -32602),
    ] {
        let answer = http.send("POST", "/mcp", &http.headers(), body);
        assert_eq!(
            (answer.status, &answer.json()["error"]["code"]),
            (status, &json!(code)),
            "{body}: {answer:?}"
        );
    }
    let mut headers = http.headers();
    headers.retain(|(name, _)| name != "Content-Type");
    assert_eq!(http.send("POST", "/mcp", &headers, "{}").status, 415);
    let mut stream = http.connect();
    let huge = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 99999999\r\n\r\n"
    );
    stream.write_all(huge.as_bytes()).expect("sent");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("answered");
    assert!(line.contains("413"), "{line}");
    let mut headers = http.headers();
    headers.push(("X-Long".into(), "x".repeat(100 * 1024)));
    assert_eq!(http.send("POST", "/mcp", &headers, "{}").status, 431);
    assert_eq!(http.post(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})).status, 200);
}

#[test]
fn progress_comes_as_a_stream_that_ends_with_the_answer() {
    let rig = Rig::new();
    for folder in 0..120 {
        for file in 0..60 {
            rig.write(&format!("tree/{folder}/{file}.txt"), "words\n");
        }
    }
    let mut http = rig.http();
    http.handshake();
    let answer = http.post(&json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {
        "name": "search_content", "arguments": {"path": ".", "pattern": "never"}, "_meta": {"progressToken": 3}}}));
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let events: Vec<Value> = answer
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).expect("JSON"))
        .collect();
    let (last, notes) = events.split_last().expect("events");
    assert_eq!(last["id"], 9);
    assert!(!notes.is_empty() && notes.iter().all(|note| note["params"]["progressToken"] == 3), "{notes:?}");
}

#[test]
fn a_subscription_is_acknowledged_first() {
    let rig = Rig::new();
    let http = rig.http();
    let body = modern_body("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let mut stream = http.connect();
    stream
        .write_all(request("POST", "/mcp", &modern(&http, "subscriptions/listen", None), &body).as_bytes())
        .expect("sent");
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    while !line.starts_with("data: ") {
        line.clear();
        assert!(lines.read_line(&mut line).expect("open") > 0, "the stream ended");
    }
    let first: Value = serde_json::from_str(&line[6..]).expect("JSON");
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
}

#[test]
fn slow_clients_are_dropped_and_others_served() {
    let rig = Rig::new();
    let mut http = rig.http();
    http.handshake();
    let mut drips: Vec<_> = (0..50)
        .map(|_| {
            let mut stream = http.connect();
            stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: local").expect("sent");
            stream
        })
        .collect();
    assert_eq!(http.post(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})).status, 200);
    let drip = drips.last_mut().expect("one");
    drip.set_read_timeout(Some(Duration::from_secs(30))).expect("set");
    let mut rest = Vec::new();
    assert!(drip.read_to_end(&mut rest).is_ok(), "the connection is closed for taking too long");
}

#[test]
fn sessions_are_bounded() {
    let rig = Rig::new();
    let mut http = rig.http();
    http.handshake();
    let first = http.session.clone();
    for _ in 0..1100 {
        http.session = None;
        http.post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "flood", "version": "1"}}}));
    }
    http.session = first;
    assert_eq!(
        http.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).status,
        404,
        "the oldest made room"
    );
    http.session = None;
    http.handshake();
    assert_eq!(http.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).status, 200);
}

#[test]
fn the_token_file_is_made_once_and_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let rig = Rig::new();
    let mut http = rig.http_with(&[], None);
    let path = rig.home().join("state/tectum/token");
    let token = std::fs::read_to_string(&path).expect("made").trim().to_owned();
    assert!(token.len() >= 32, "{token}");
    assert_eq!(std::fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
    let absent = http.post(&json!({}));
    assert_eq!(absent.status, 401);
    assert!(format!("{absent:?}").contains("a bearer token is needed"), "{absent:?}");
    http.token = Some("0".repeat(32));
    let wrong = http.post(&json!({}));
    assert_eq!(wrong.status, 401);
    assert!(format!("{wrong:?}").contains("this is not the bearer token of this server"), "{wrong:?}");
    http.token = Some(token.clone());
    http.handshake();
    drop(http);
    let _again = rig.http_with(&[], None);
    assert_eq!(std::fs::read_to_string(&path).expect("there").trim(), token);
}

#[test]
fn without_a_token_only_loopback_is_served_and_it_says_so() {
    let rig = Rig::new();
    let mut http = rig.http_with(&["--no-auth"], None);
    http.handshake();
    let refused = rig.run(&["up", "--listen", "0.0.0.0:0"]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("allow_remote"), "{refused:?}");
}
