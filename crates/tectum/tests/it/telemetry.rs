//! Telemetry of the real binary, told to a collector over its real protocol, and to Prometheus.

use serde_json::{Value, json};
use tectum_journal::Record;

use crate::{
    collector::{CLIENT, Collector, Manner, SERVER, hurry, points},
    federated::{Client, Era, Listening, address, echo, until},
    journal::{entries, folder, records},
    rig::{Http, Rig, deserted, text},
    run_model::{ModelServer, Reply, call as model_call},
    run_task::command,
};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

fn traceparent() -> String {
    format!("00-{TRACE}-{PARENT}-01")
}

/// The metadata that the server behind us saw.
fn seen(result: &Value) -> Value {
    let seen: Value = serde_json::from_str(text(result)).expect("JSON");
    seen["meta"].clone()
}

#[test]
fn a_call_is_a_part_of_its_clients_trace_and_so_is_what_it_causes() {
    for (ours, theirs) in Era::ALL.into_iter().zip(Era::ALL.into_iter().rev()) {
        let collector = Collector::start(Manner::Answers);
        let mut rig = Rig::new();
        let settings = collector.settings(&mut rig, "");
        rig.configure(&format!("{settings}{}", echo("one", &["--era", theirs.word()], "")));
        let mut client = Client::new(&rig, ours);
        client.until_listed("one__seen");
        let meta = json!({"traceparent": traceparent(), "tracestate": "vendor=opaque,other=1",
            "baggage": "k=v;p=1,a=%20", "example.com/own": {"n": 1.5}});
        let meta_seen =
            seen(&client.result("tools/call", json!({"name": "one__seen", "arguments": {}, "_meta": meta})));

        let server = collector.span("tools/call one__seen", SERVER);
        let sent = collector.span("tools/call seen", CLIENT);
        assert_eq!((&*server.trace, &*server.parent), (TRACE, PARENT), "{ours:?}");
        assert_eq!((&*sent.trace, &*sent.parent), (TRACE, &*server.id), "{ours:?}");
        assert_eq!(meta_seen["traceparent"], format!("00-{TRACE}-{}-01", sent.id), "{meta_seen}");
        for untouched in ["tracestate", "baggage", "example.com/own"] {
            assert_eq!(meta_seen[untouched], meta[untouched], "{meta_seen}");
        }
        let said = &server.attributes;
        for (name, value) in [
            ("mcp.method.name", "tools/call"),
            ("gen_ai.tool.name", "one__seen"),
            ("gen_ai.operation.name", "execute_tool"),
            ("network.transport", "pipe"),
            ("mcp.protocol.version", if ours == Era::Legacy { "2025-11-25" } else { "2026-07-28" }),
        ] {
            assert_eq!(said[name], value, "{ours:?}: {said}");
        }
        assert!(said["jsonrpc.request.id"].is_string() && !server.failed && !sent.failed, "{said}");
        let call = said["tectum.call.id"].as_str().expect("an id").to_owned();
        assert!(entries(&rig).iter().any(|entry| entry.id == call), "{call} is in the journal");
        assert_eq!(sent.attributes["gen_ai.tool.name"], "seen");
        assert_eq!(sent.attributes["tectum.server.name"], "one");
        assert_eq!(collector.service()["service.name"], "tectum");
        // A request without a context begins a trace.
        client.result("tools/list", json!({}));
        let alone = collector.span("tools/list", SERVER);
        assert!(alone.trace != TRACE && alone.parent.is_empty(), "{alone:?}");
    }
}

fn post(house: &Http, more: &[(&str, &str)], meta: Value) -> Value {
    let mut headers = house.headers();
    headers.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let params = json!({"name": "one__seen", "arguments": {}, "_meta": meta});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    house.send("POST", "/mcp", &headers, &body.to_string()).json()["result"].clone()
}

#[test]
fn over_http_the_context_may_stand_in_a_header() {
    let collector = Collector::start(Manner::Answers);
    let (mut rig, behind) = (Rig::new(), Listening::fixture(&["--name", "one"]));
    let settings = collector.settings(&mut rig, "");
    rig.configure(&format!("{settings}{}", address("one", &behind.url, "")));
    let mut house = rig.http();
    house.handshake();
    until("its tools", || !house.call("one__echo", json!({"text": "a"})).is_null());

    let context = [("traceparent", &*traceparent()), ("tracestate", "vendor=x"), ("baggage", "k=v")];
    let meta = seen(&post(&house, &context, json!({})));
    let server = collector.span("tools/call one__seen", SERVER);
    let sent = collector.span("tools/call seen", CLIENT);
    assert_eq!((&*server.trace, &*server.parent), (TRACE, PARENT));
    assert_eq!((&*sent.trace, &*sent.parent), (TRACE, &*server.id));
    assert_eq!(meta["traceparent"], format!("00-{TRACE}-{}-01", sent.id));
    assert_eq!((&meta["tracestate"], &meta["baggage"]), (&json!("vendor=x"), &json!("k=v")), "{meta}");
    let said = &server.attributes;
    assert_eq!(
        (&said["network.transport"], &sent.attributes["network.transport"]),
        (&json!("tcp"), &json!("tcp"))
    );
    assert_eq!(said["mcp.session.id"], *house.session.as_ref().expect("a session"));

    // The context in the message counts.
    let other = format!("00-{}-{PARENT}-01", TRACE.replace('0', "1"));
    let meta = seen(&post(&house, &context, json!({"traceparent": other})));
    assert!(meta["traceparent"].as_str().is_some_and(|text| text.starts_with(&other[..35])), "{meta}");
    // A context that is none begins a trace, and fails nothing.
    for odd in ["", "00-0-0-00", "nonsense", "00-00000000000000000000000000000000-0000000000000000-01"] {
        let meta = seen(&post(&house, &[("traceparent", odd)], json!({})));
        assert!(meta["traceparent"].as_str().is_some_and(|text| text.len() == 55), "{meta}");
    }
    let meta = seen(&post(&house, &[], json!({"traceparent": 7})));
    assert!(meta["traceparent"].as_str().is_some_and(|text| text.len() == 55), "{meta}");
}

#[test]
fn calls_of_the_command_line_and_of_a_run_are_told_as_well() {
    let collector = Collector::start(Manner::Answers);
    let mut rig = Rig::with(&[("a.txt", "hello\n")]);
    let settings = collector.settings(&mut rig, "");
    rig.configure(&format!("{settings}{}", echo("one", &[], "")));
    let context = [
        ("TRACEPARENT", traceparent()),
        ("TRACESTATE", "vendor=x".to_owned()),
        ("BAGGAGE", "k=v".to_owned()),
    ];
    let mut call = rig.tectum();
    let called = call.args(["call", "one__seen", "--json"]).envs(context.clone()).output().expect("runs");
    assert!(called.status.success(), "{called:?}");
    let (server, sent) =
        (collector.span("tools/call one__seen", SERVER), collector.span("tools/call seen", CLIENT));
    assert_eq!((&*server.trace, &*server.parent), (TRACE, PARENT));
    assert_eq!((&*sent.trace, &*sent.parent), (TRACE, &*server.id));
    let said: Value = serde_json::from_slice(&called.stdout).expect("JSON");
    assert_eq!(server.attributes["tectum.call.id"], said["call_id"], "{said}");
    let meta = said["text"].as_str().expect("text");
    for part in [&format!("00-{TRACE}-{}-01", sent.id), "vendor=x", "k=v"] {
        assert!(meta.contains(part), "{part}: {meta}");
    }
    // Without a context each call begins a trace, and a failure has its type.
    let failed = rig.run(&["call", "read_file", "path=missing.txt"]);
    assert_eq!(failed.status.code(), Some(4), "{failed:?}");
    let failed = collector.span("tools/call read_file", SERVER);
    assert!(failed.failed && failed.parent.is_empty() && failed.trace != TRACE, "{failed:?}");
    assert_eq!(failed.attributes["tectum.fault"], "not_found");

    let replies = vec![call_of("list_directory"), call_of("one__seen"), Reply::Text("I looked around.")];
    let model = ModelServer::start(true, replies);
    let ran = command(&rig, &model, &[]).envs(context).output().expect("runs");
    assert!(ran.status.success(), "{ran:?}");
    let listed = collector.span("tools/call list_directory", SERVER);
    assert_eq!((&*listed.trace, &*listed.parent, listed.failed), (TRACE, PARENT, false));
    // Each call once, and what it caused below it.
    let below = |name: &str, above: &str| {
        let spans = collector.spans();
        let all = spans.iter().filter(|span| span.name == above && span.trace == TRACE);
        let has =
            |id: &str| spans.iter().filter(|span| span.name == name && *span.parent == *id).count() == 1;
        (all.clone().count(), all.clone().all(|span| has(&span.id)))
    };
    until("the spans of the run", || below("tools/call seen", "tools/call one__seen") == (2, true));
}

fn call_of(tool: &'static str) -> Reply {
    model_call(tool, json!({}))
}

#[test]
fn failures_have_a_type() {
    let collector = Collector::start(Manner::Answers);
    let mut rig = Rig::new();
    let settings = collector.settings(&mut rig, "");
    rig.configure(&format!("{settings}{}", echo("one", &[], "")));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__fail");
    assert_eq!(client.call("one__fail", json!({"text": "no"}))["isError"], true);
    assert_eq!(client.call("read_file", json!({"path": "../x"}))["isError"], true);
    assert_eq!(client.call("edit_file", json!({"path": []}))["isError"], true);
    let unknown = client.start("tools/call", json!({"name": "no_such_tool", "arguments": {}}));
    assert_eq!(client.wait(unknown)["error"]["code"], -32602);
    let unknown = client.start("odd/method", json!({}));
    assert_eq!(client.wait(unknown)["error"]["code"], -32601);

    for (name, kind, error, fault) in [
        ("tools/call one__fail", SERVER, "tool_error", None),
        ("tools/call fail", CLIENT, "tool_error", None),
        ("tools/call read_file", SERVER, "tool_error", Some("permission")),
        ("tools/call edit_file", SERVER, "tool_error", Some("invalid_input")),
        ("tools/call", SERVER, "-32602", None),
        ("_OTHER", SERVER, "-32601", None),
    ] {
        let span = collector.span(name, kind);
        assert!(span.failed, "{span:?}");
        assert_eq!(span.attributes["error.type"], error, "{span:?}");
        assert_eq!(span.attributes["tectum.fault"], json!(fault), "{span:?}");
        let code = error.starts_with('-').then_some(error);
        assert_eq!(span.attributes["rpc.response.status_code"], json!(code), "{span:?}");
    }
}

#[test]
fn a_call_that_is_cancelled_ends_as_such() {
    let collector = Collector::start(Manner::Answers);
    let mut rig = Rig::new();
    let settings = collector.settings(&mut rig, "");
    rig.configure(&format!("{settings}{}", echo("one", &[], "")));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__hang");
    let id = client.begin("one__hang", json!({}));
    // It is on its way when what came later was answered.
    client.call("one__echo", json!({"text": "a"}));
    client.cancel(id);
    for (name, kind) in [("tools/call one__hang", SERVER), ("tools/call hang", CLIENT)] {
        assert_eq!(collector.span(name, kind).attributes["error.type"], "cancelled");
    }
}

#[test]
fn durations_and_the_state_of_the_house_are_told() {
    let collector = Collector::start(Manner::Answers);
    let mut rig = Rig::new();
    let settings = collector.settings(&mut rig, "");
    rig.configure(&format!("{settings}{}", echo("one", &[], "")));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__echo");
    client.call("one__echo", json!({"text": "a"}));
    client.call("one__fail", json!({"text": "a"}));
    let bounds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
    for (name, tool) in
        [("mcp.server.operation.duration", "one__echo"), ("mcp.client.operation.duration", "echo")]
    {
        let point = || {
            let all = points(&collector.metric(name));
            all.into_iter().find(|(said, ..)| said["gen_ai.tool.name"] == tool)
        };
        until(name, || point().is_some());
        let (said, count, theirs) = point().expect("there");
        assert_eq!((count, &*theirs, &said["mcp.method.name"]), (1, &bounds[..], &json!("tools/call")));
        assert!(said["error.type"].is_null(), "{said}");
        let failed = || {
            let mut all = points(&collector.metric(name)).into_iter();
            all.any(|(said, ..)| said["error.type"] == "tool_error")
        };
        until("the failure", failed);
        assert_eq!(collector.metric(name).unit, "s");
    }
    assert_eq!(collector.metric("tectum.operations.active").unit, "{operation}");
    assert_eq!(collector.metric("tectum.journal.size").unit, "By");
    collector.metric("tectum.server.up");
    collector.metric("tectum.telemetry.exports.failed");
}

/// Put together here, so that nobody takes this file for a leak.
fn secret() -> String {
    format!("ghp_{}", "q7Rw2Tz9Yx4Vb6Nm1Kj8Hg3Fd5Sa0LpCuEo7")
}

#[test]
fn content_is_sent_only_when_that_is_wanted_and_never_with_secrets() {
    for content in [false, true] {
        let collector = Collector::start(Manner::Answers);
        let mut rig = Rig::with(&[("a.txt", &format!("a plain word, and {}\n", secret()))]);
        rig.set("COLLECTOR_KEY", secret());
        let more = format!("content = {content}\n[telemetry.headers]\nX-Key = \"key ${{COLLECTOR_KEY}}\"\n");
        let settings = collector.settings(&mut rig, &more);
        rig.configure(&format!("{settings}{}", echo("one", &[], "")));
        let mut client = Client::new(&rig, Era::Legacy);
        client.until_listed("one__echo");
        let echoed = client.call("one__echo", json!({"text": format!("marker {}", secret())}));
        assert!(text(&echoed).ends_with(&secret()), "what is executed is as it was: {echoed}");
        client.call("read_file", json!({"path": "a.txt"}));
        client.call("one__fail", json!({"text": secret()}));
        client.call("one__echo", json!({"text": "x".repeat(9000)}));
        let read = client.start("resources/read", json!({"uri": format!("echo://one/{}", secret())}));
        client.wait(read);
        let unknown = client.start("tools/call", json!({"name": secret(), "arguments": {}}));
        client.wait(unknown);
        let (status, said) = client.pipe.close();
        assert!(status.success(), "{said}");

        let spans = collector.spans();
        let span = |name: &str| spans.iter().find(|span| span.name == name && span.kind == SERVER);
        let echoed = &span("tools/call one__echo").expect("told").attributes;
        let read = &span("tools/call read_file").expect("told").attributes;
        let [arguments, result] = ["gen_ai.tool.call.arguments", "gen_ai.tool.call.result"];
        if content {
            assert!(echoed[arguments].as_str().is_some_and(|text| text.contains("marker")), "{echoed}");
            assert!(echoed[result].as_str().is_some_and(|text| text.contains("marker")), "{echoed}");
            assert!(read[result].as_str().is_some_and(|text| text.contains("a plain word")), "{read}");
        } else {
            assert!(echoed[arguments].is_null() && echoed[result].is_null(), "{echoed}");
        }
        let all = collector.text();
        assert_eq!(all.contains("marker"), content);
        assert!(!all.contains(&"x".repeat(100)), "what is long is not sent");
        // The header is the one place where its secret belongs.
        let header = format!("x-key: key {}", secret());
        assert!(all.to_ascii_lowercase().contains(&header.to_ascii_lowercase()), "the header arrived");
        let bodies: String =
            all.lines().filter(|line| !line.to_ascii_lowercase().starts_with("x-key:")).collect();
        for part in secret().as_bytes()[4..].windows(10) {
            let part = std::str::from_utf8(part).expect("ASCII");
            assert!(!bodies.contains(part), "{part} was sent, content = {content}");
        }
        let shown = String::from_utf8(rig.run(&["config", "show"]).stdout).expect("text");
        assert!(shown.contains("X-Key") && !shown.contains(&secret()), "{shown}");
    }
}

#[test]
fn a_client_decides_whether_its_trace_is_sent() {
    let collector = Collector::start(Manner::Answers);
    let mut rig = Rig::with(&[("a.txt", "a\n")]);
    let settings = collector.settings(&mut rig, "sample_percent = 0");
    rig.configure(&settings);
    let mut client = Client::new(&rig, Era::Legacy);
    let read = |parent: Option<String>| json!({"name": "read_file", "arguments": {"path": "a.txt"}, "_meta": {"traceparent": parent}});
    client.result("tools/call", read(None));
    client.result("tools/call", read(Some(traceparent().replace("-01", "-00"))));
    client.result("tools/call", read(Some(traceparent())));
    let (status, said) = client.pipe.close();
    assert!(status.success(), "{said}");
    let spans = collector.spans();
    assert_eq!(spans.len(), 1, "{spans:?}");
    assert_eq!(spans[0].trace, TRACE);
}

#[test]
fn a_collector_that_is_not_there_or_does_not_answer_fails_no_call() {
    let hanging = Collector::start(Manner::Hangs);
    let (_held, nobody) = deserted();
    for (endpoint, hangs) in [(format!("http://{nobody}"), false), (hanging.url.clone(), true)] {
        let mut rig = Rig::with(&[("a.txt", "hello\n")]);
        hurry(&mut rig);
        rig.set("OTEL_BSP_MAX_QUEUE_SIZE", "64");
        rig.configure(&format!("[telemetry]\nendpoint = \"{endpoint}\"\ncontent = true\n"));
        let mut client = Client::new(&rig, Era::Legacy);
        let mut calls = |number: usize| {
            for _ in 0..number {
                let read = client.call("read_file", json!({"path": "a.txt"}));
                assert!(text(&read).contains("hello"), "{read}");
            }
        };
        calls(1);
        if hangs {
            until("something to hang", || hanging.connections() > 0);
        }
        // More than the queue holds.
        calls(300);
        let (status, said) = client.pipe.close();
        assert!(status.success(), "{said}");
        if !hangs {
            assert_eq!(said.matches("the telemetry collector takes nothing").count(), 1, "told once: {said}");
        }
    }
}

#[test]
fn spans_that_do_not_fit_into_the_queue_are_counted() {
    let collector = Collector::start(Manner::Hangs);
    let mut rig = Rig::with(&[("a.txt", "hello\n")]);
    let settings = collector.settings(&mut rig, "");
    rig.set("OTEL_BSP_MAX_QUEUE_SIZE", "4");
    rig.configure(&settings);
    let mut house = rig.http();
    house.handshake();
    until("something to hang", || collector.connections() > 0);
    for _ in 0..20 {
        house.call("read_file", json!({"path": "a.txt"}));
    }
    let page = house.send("GET", "/metrics", &house.headers(), "").body;
    let full = page.lines().find(|line| line.contains("error_type=\"queue_full\"")).expect(&page);
    let dropped: u64 = full.rsplit(' ').next().and_then(|number| number.parse().ok()).expect(full);
    assert!(full.starts_with("otel_sdk_processor_span_processed_total") && dropped >= 8, "{full}");
}

/// The names of a process's threads.
fn threads(pid: u32) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("there").flatten();
    tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok()).collect()
}

#[test]
fn nothing_is_sent_and_nobody_waits_to_send_unless_a_collector_is_named() {
    let collector = Collector::start(Manner::Answers);
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str());
    for (settings, variables) in [
        ("", vec![]),
        ("[telemetry]\nendpoint = \"none\"\n", vec![endpoint]),
        ("", vec![endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]),
        ("", vec![endpoint, ("OTEL_SDK_DISABLED", "true")]),
    ] {
        let mut rig = Rig::with(&[("a.txt", "a\n")]);
        hurry(&mut rig);
        variables.iter().for_each(|(name, value)| rig.set(name, *value));
        rig.configure(settings);
        let mut client = Client::new(&rig, Era::Legacy);
        client.call("read_file", json!({"path": "a.txt"}));
        let threads = threads(client.pipe.child.id());
        assert!(!threads.iter().any(|name| name.contains("OpenTelemetry")), "{threads:?}");
        let (status, said) = client.pipe.close();
        assert!(status.success(), "{said}");
        assert_eq!(collector.connections(), 0, "{settings} {variables:?}");
    }
    // The standard variables are enough.
    let mut rig = Rig::with(&[("a.txt", "a\n")]);
    hurry(&mut rig);
    rig.set(endpoint.0, endpoint.1);
    rig.set("OTEL_SERVICE_NAME", "mine");
    rig.set("OTEL_EXPORTER_OTLP_HEADERS", "x-own=1");
    let mut client = Client::new(&rig, Era::Legacy);
    client.call("read_file", json!({"path": "a.txt"}));
    collector.span("tools/call read_file", SERVER);
    let threads = threads(client.pipe.child.id());
    assert!(threads.iter().any(|name| name.contains("OpenTelemetry")), "{threads:?}");
    assert_eq!(collector.service()["service.name"], "mine");
    assert!(collector.text().contains("x-own: 1"), "{}", collector.text());
}

#[test]
fn wrong_settings_say_what_to_write() {
    for (settings, expect) in [
        ("[telemetry]\nendpoint = \"127.0.0.1:4318\"\n", "write it as http://127.0.0.1:4318"),
        ("[telemetry]\nendpoint = \"http://me:x@127.0.0.1\"\n", "secrets go into [telemetry.headers]"),
        ("[telemetry]\nsample_percent = 101\n", "a whole number from 0 to 100"),
    ] {
        let rig = Rig::new();
        rig.configure(settings);
        let said = rig.run(&["serve"]);
        let words = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(!said.status.success() && words.contains(expect), "{settings}: {words}");
    }
    // A missing header costs the collector, and nobody else.
    let collector = Collector::start(Manner::Answers);
    let mut rig = Rig::with(&[("a.txt", "a\n")]);
    let settings = collector.settings(&mut rig, "headers = { K = \"${NOT_SET}\" }");
    rig.configure(&settings);
    let mut client = Client::new(&rig, Era::Legacy);
    client.call("read_file", json!({"path": "a.txt"}));
    let (status, said) = client.pipe.close();
    assert!(status.success() && said.contains("the environment variable NOT_SET is not set"), "{said}");
    assert_eq!(collector.connections(), 0);
    let rig = Rig::with(&[("tectum.toml", "[telemetry]\nendpoint = \"http://127.0.0.1:9\"\n")]);
    let said = rig.run(&["serve"]);
    let words = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(words.contains("a repository must not choose where your calls are told of"), "{words}");
}

#[test]
fn prometheus_reads_the_figures_with_the_token_and_nobody_without() {
    let rig = Rig::with(&[("a.txt", "a\n")]);
    rig.configure(&echo("one", &[], ""));
    let mut house = rig.http();
    house.handshake();
    // Whoever asks first gets the state of the house, and durations from then on.
    house.call("read_file", json!({"path": "../a.txt"}));
    let first = house.send("GET", "/metrics", &house.headers(), "").body;
    assert!(first.contains("tectum_journal_size_bytes") && !first.contains("duration_seconds"), "{first}");
    until("its tools", || !house.call("one__echo", json!({"text": "a"})).is_null());
    house.call("read_file", json!({"path": "a.txt"}));
    house.call("read_file", json!({"path": "../a.txt"}));
    let odd = json!({"jsonrpc": "2.0", "id": 1, "method": "invented/by\"a\nclient", "params": {}});
    house.post(&odd);
    house.call("invented_tool", json!({}));

    let stranger = [("Host".to_owned(), format!("127.0.0.1:{}", house.port))];
    assert_eq!(house.send("GET", "/metrics", &stranger, "").status, 401);
    let page = house.send("GET", "/metrics", &house.headers(), "");
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/plain; version=0.0.4")));
    let line = |parts: &[&str]| {
        let found = page.body.lines().find(|line| parts.iter().all(|part| line.contains(part)));
        found.unwrap_or_else(|| panic!("{parts:?} in {}", page.body)).to_owned()
    };
    let count = "mcp_server_operation_duration_seconds_count";
    let read = line(&[count, "gen_ai_tool_name=\"read_file\"", "error_type=\"tool_error\""]);
    assert!(read.ends_with(" 1"), "{read}");
    line(&["mcp_server_operation_duration_seconds_bucket", "le=\"300\"", "mcp_method_name=\"tools/call\""]);
    line(&["mcp_client_operation_duration_seconds_count", "tectum_server_name=\"one\""]);
    line(&["tectum_server_up{", "tectum_server_name=\"one\"", "1"]);
    line(&["tectum_operations_active", "0"]);
    let journal = line(&["tectum_journal_size_bytes "]);
    assert!(!journal.ends_with(" 0"), "{journal}");
    line(&["mcp_method_name=\"_OTHER\"", count]);
    line(&["target_info", "service_name=\"tectum\""]);
    assert!(!page.body.contains("invented"), "{}", page.body);
    // A scrape is no record of anything.
    let hooks = records(&folder(&rig)).into_iter().filter(|record| matches!(record, Record::Hook(_)));
    assert_eq!(hooks.count(), 0);
}
