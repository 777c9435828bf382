//! The clients of the hook API, in Rust and in Python: what each method asks for, and that they find a real
//! Tectum by themselves.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tectum::{
    Fault, FaultKind,
    client::{ApiHookClient, BlockingApiHookClient},
};

use crate::rig::{Rig, TOKEN, deserted};

type Asked = (String, String, Value);

/// A server that answers each path from a table, the last answer again and again, and keeps what was asked.
struct Table {
    client: BlockingApiHookClient,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Table {
    fn new(answers: &[(&str, Value)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let mut table: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for (path, answer) in answers {
            table.entry((*path).to_owned()).or_default().push(answer.clone());
        }
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let kept = asked.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut reader = BufReader::new(stream);
                let mut lines: Vec<String> = Vec::new();
                while lines.last().is_none_or(|line| !line.trim().is_empty()) {
                    let mut line = String::new();
                    reader.read_line(&mut line).expect("readable");
                    lines.push(line);
                }
                let length = lines.iter().find_map(|line| {
                    line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse::<usize>().ok()
                });
                let mut body = vec![0; length.unwrap_or(0)];
                reader.read_exact(&mut body).expect("a body");
                let mut words = lines[0].split(' ').map(str::to_owned);
                // Somebody else may try the port; only whole requests count.
                let (Some(method), Some(path)) = (words.next(), words.next()) else { continue };
                let answer = match table.get_mut(&path) {
                    Some(answers) if answers.len() > 1 => answers.remove(0),
                    Some(answers) => answers[0].clone(),
                    None => json!({ "status": "queued" }),
                };
                kept.lock().expect("open").push((
                    method,
                    path,
                    serde_json::from_slice(&body).unwrap_or_default(),
                ));
                let answer = answer.to_string();
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    answer.len()
                );
                // A client that left early is looked after by its own test.
                let _ = reader.get_mut().write_all(format!("{head}{answer}").as_bytes());
            }
        });
        let client = ApiHookClient::at(&url).expect("an address").with_token("t");
        Self { client: BlockingApiHookClient::new(client).expect("a runtime"), asked }
    }

    #[track_caller]
    fn asks<T: PartialEq + std::fmt::Debug>(
        &self,
        got: Result<T, Fault>,
        answer: T,
        asked: &[(&str, &str, Value)],
    ) {
        assert_eq!(got.expect("an answer"), answer, "{asked:?}");
        let expect: Vec<Asked> = asked
            .iter()
            .map(|(method, path, body)| ((*method).into(), (*path).into(), body.clone()))
            .collect();
        assert_eq!(std::mem::take(&mut *self.asked.lock().expect("open")), expect);
    }
}

#[test]
fn every_method_asks_for_what_it_says() {
    let table = Table::new(&[
        ("/api/gui/value/a%20b%2Fc", json!({ "value": 3 })),
        ("/api/gui/value/x", json!({ "value": null })),
        ("/api/gui/value/thinking", json!({ "value": null })),
        ("/api/gui/diagnostics", json!({ "thinking": true, "live": false, "prior": false })),
        ("/api/events", json!({ "events": [] })),
        ("/api/events", json!({ "events": [{ "kind": "other" }, { "kind": "mine", "data": 1 }] })),
        ("/api/ask", json!({ "status": "ok", "response": { "approved": true } })),
    ]);
    let (client, queued) = (&table.client, || json!({ "status": "queued" }));
    let get = |path| ("GET", path, Value::Null);
    let gui = |task| ("POST", "/api/gui", task);
    let now = Duration::ZERO;
    table.asks(client.get_status(), queued(), &[get("/status")]);
    table.asks(client.get_project(), queued(), &[get("/api/project")]);
    let project = json!({ "a": 1 });
    table.asks(
        client.post_project(&project),
        queued(),
        &[("POST", "/api/project", json!({ "project": project }))],
    );
    table.asks(client.get_session(), queued(), &[get("/api/session")]);
    let session = ("POST", "/api/session", json!({ "session": { "entries": [1] } }));
    table.asks(client.post_session(&json!([1])), queued(), &[session]);
    table.asks(client.get_mma_status(), queued(), &[get("/api/gui/mma_status")]);
    table.asks(client.get_performance(), queued(), &[get("/api/performance")]);
    let field = || get("/api/gui/value/a%20b%2Fc");
    table.asks(client.get_value("a b/c"), json!(3), &[field()]);
    table.asks(client.get_text_value("a b/c"), Some("3".into()), &[field()]);
    table.asks(client.get_text_value("x"), None, &[get("/api/gui/value/x")]);
    let shown = json!({ "tag": "thinking_indicator", "shown": true });
    table.asks(client.get_indicator_state("thinking_indicator"), shown, &[get("/api/gui/diagnostics")]);
    table.asks(client.get_node_status("a b/c"), json!(3), &[field()]);
    let both = [get("/api/gui/value/thinking"), get("/api/gui/diagnostics")];
    table.asks(client.get_node_status("thinking"), json!(true), &both);
    let set = json!({ "action": "set_value", "item": "x", "value": [1] });
    table.asks(client.set_value("x", &json!([1])), queued(), &[gui(set)]);
    let click = json!({ "action": "click", "item": "b", "user_data": 5 });
    table.asks(client.click("b", &json!(5)), queued(), &[gui(click)]);
    let tab = json!({ "action": "select_tab", "tab_bar": "bar", "tab": "t" });
    table.asks(client.select_tab("bar", "t"), queued(), &[gui(tab)]);
    let item = json!({ "action": "select_list_item", "listbox": "l", "item_value": "v" });
    table.asks(client.select_list_item("l", "v"), queued(), &[gui(item)]);
    let event = json!({ "action": "push_event", "event_type": "e", "payload": { "p": 1 } });
    table.asks(client.push_event("e", &json!({ "p": 1 })), queued(), &[gui(event)]);
    table.asks(
        client.reset_session(),
        queued(),
        &[gui(json!({ "action": "click", "item": "btn_reset_session" }))],
    );
    let event = client.wait_for_event("mine", Duration::from_secs(60));
    table.asks(event, Some(json!({ "kind": "mine", "data": 1 })), &[get("/api/events"), get("/api/events")]);
    table.asks(client.wait_for_value("a b/c", &json!(3), now), true, &[field()]);
    table.asks(client.wait_for_value("x", &json!(1), now), false, &[get("/api/gui/value/x")]);
    let question = ("POST", "/api/ask", json!({ "type": "tool_approval", "tool": "t", "args": { "a": 1 } }));
    let answer = client.request_confirmation("t", &json!({ "a": 1 }));
    table.asks(answer, json!({ "approved": true }), &[question]);
    assert!(client.wait_for_server(Duration::from_secs(60)));
}

#[test]
fn a_house_that_is_not_there_is_tried_again_and_then_told_of() {
    let (_held, address) = deserted();
    let mut client = ApiHookClient::at(&format!("http://{address}")).expect("an address");
    assert_eq!((client.max_retries, client.retry_delay), (5, Duration::from_millis(200)));
    client.retry_delay = Duration::from_millis(1);
    let client = BlockingApiHookClient::new(client).expect("a runtime");
    let fault = client.get_status().expect_err("nobody listens");
    assert_eq!(fault.kind, FaultKind::Upstream, "{fault:?}");
    assert!(fault.hint.as_deref().is_some_and(|hint| hint.contains("tectum up")), "{fault:?}");
    assert!(!client.wait_for_server(Duration::ZERO));
    for url in ["https://x", "127.0.0.1:8999", "http://", "http://x/path"] {
        ApiHookClient::at(url).expect_err(url);
    }
}

#[test]
fn a_real_house_answers_and_its_refusals_say_what_to_do() {
    let rig = Rig::new();
    let house = rig.http();
    let at = format!("http://127.0.0.1:{}", house.port);
    let client = |token: &str| {
        let client = ApiHookClient::at(&at).expect("an address").with_token(token);
        BlockingApiHookClient::new(client).expect("a runtime")
    };
    assert!(client(TOKEN).wait_for_server(Duration::from_secs(60)));
    assert_eq!(client(TOKEN).get_status().expect("an answer"), json!({ "status": "ok" }));
    let real = client(TOKEN);
    real.set_value("colour", &json!("green")).expect("set");
    assert!(real.wait_for_value("colour", &json!("green"), Duration::ZERO).expect("an answer"));
    real.push_event("mine", &json!({ "n": 1 })).expect("pushed");
    let event = real.wait_for_event("mine", Duration::from_secs(60)).expect("an answer").expect("an event");
    assert_eq!(event["data"], json!({ "n": 1 }), "{event}");
    assert_eq!(real.get_mma_status().expect("an answer")["mma_status"], "idle");
    let nowhere = client(TOKEN).make_request("GET", "/api/nonsense", None, None).expect_err("nothing there");
    assert!(nowhere.kind == FaultKind::NotFound && nowhere.hint.is_some(), "{nowhere:?}");
    let stranger = client("ffeeddccbbaa99887766554433221100").get_status().expect_err("a wrong token");
    assert!(stranger.kind == FaultKind::Permission && stranger.hint.is_some(), "{stranger:?}");
}

#[test]
fn the_python_client_passes_its_tests_against_a_real_house() {
    let rig = Rig::new();
    let house = rig.http();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/python");
    let mut python = rig.command("python3");
    python
        .arg("-B")
        .arg(here.join("tests/test_client.py"))
        .env("PYTHONPATH", &here)
        .env("TECTUM_URL", format!("http://127.0.0.1:{}", house.port))
        .env("TECTUM_TOKEN", TOKEN);
    let run = python.output().expect("python3 runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
