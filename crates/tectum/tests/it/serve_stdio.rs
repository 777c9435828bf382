//! MCP on standard input and output, as a client sees it.

use std::io::{Read, Write};

use serde_json::{Value, json};

use crate::rig::{Rig, text};

const MODERN: &str = "2026-07-28";

fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "rig", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn a_client_of_the_older_era_lists_and_calls() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    let mut client = rig.stdio_raw();
    let hello = client.handshake();
    assert_eq!(hello["protocolVersion"], "2025-11-25");
    assert_eq!(hello["serverInfo"]["name"], "tectum");
    assert_eq!(hello["capabilities"]["tools"]["listChanged"], true);
    for capability in ["prompts", "resources", "logging", "completions"] {
        assert!(hello["capabilities"][capability].is_object(), "{capability}: {hello}");
    }
    let tools = client.request("tools/list", json!({}));
    let names: Vec<&str> =
        tools["tools"].as_array().expect("a list").iter().filter_map(|t| t["name"].as_str()).collect();
    assert!(names.contains(&"read_file") && names.contains(&"edit_file"), "{names:?}");
    let result = client.call("read_file", json!({"path": "a.txt"}));
    assert_eq!(text(&result), "hello\n");
    assert_eq!(result["isError"], false);
    assert_eq!(result["structuredContent"]["content"], "hello\n");
    let (status, _) = client.close();
    assert!(status.success());
}

#[test]
fn every_version_with_a_handshake_is_spoken_and_an_unknown_one_gets_our_newest() {
    for (asked, got) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2031-01-01", "2025-11-25"),
    ] {
        let rig = Rig::new();
        let mut client = rig.stdio_raw();
        let hello = client.request("initialize", json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "r", "version": "1"}}));
        assert_eq!(hello["protocolVersion"], got);
        assert_eq!(client.request("ping", json!({})), json!({}));
    }
}

#[test]
fn a_client_of_the_newer_era_needs_no_handshake() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    let mut client = rig.stdio_raw();
    let found = client.request("server/discover", json!({"_meta": modern_meta()}));
    assert_eq!(found["supportedVersions"], json!([MODERN]));
    assert_eq!(found["resultType"], "complete");
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tectum");
    let tools = client.request("tools/list", json!({"_meta": modern_meta()}));
    assert!(tools["ttlMs"].is_u64() && tools["cacheScope"].is_string() && tools["resultType"] == "complete");
    let result = client.request(
        "tools/call",
        json!({"name": "read_file", "arguments": {"path": "a.txt"}, "_meta": modern_meta()}),
    );
    assert_eq!((text(&result), &result["resultType"]), ("hello\n", &json!("complete")));
    for gone in ["ping", "initialize", "logging/setLevel", "resources/subscribe"] {
        let answer = client.exchange(
            gone,
            json!({"_meta": modern_meta(), "protocolVersion": MODERN, "level": "info", "uri": "x"}),
        );
        assert_eq!(answer["error"]["code"], -32601, "{gone}");
    }
}

#[test]
fn a_version_we_do_not_speak_is_refused_with_those_we_do() {
    let rig = Rig::new();
    let mut client = rig.stdio_raw();
    let mut meta = modern_meta();
    meta["io.modelcontextprotocol/protocolVersion"] = json!("v999");
    let answer = client.exchange("tools/list", json!({"_meta": meta}));
    assert_eq!(answer["error"]["code"], -32022);
    assert_eq!(answer["error"]["data"], json!({"supported": [MODERN], "requested": "v999"}));
    let answer = client.exchange("server/discover", json!({}));
    assert_eq!(answer["error"]["code"], -32602);
}

#[test]
fn every_tool_is_annotated_and_its_schemas_are_objects() {
    let rig = Rig::new();
    let mut client = rig.stdio();
    let tools = client.request("tools/list", json!({}));
    for tool in tools["tools"].as_array().expect("a list") {
        let name = tool["name"].as_str().expect("a name");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{name}: {hint}");
        }
        assert!(!tool["description"].as_str().unwrap_or_default().is_empty(), "{name}");
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name}: {schema}");
            // Without a word about it, a schema is 2020-12; saying so sixty times costs tokens.
            assert!(tool[schema].get("$schema").is_none(), "{name}");
        }
        assert!(tool["inputSchema"]["properties"].is_object(), "{name}");
    }
}

#[test]
fn mistakes_in_arguments_are_all_named_at_once() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    let mut client = rig.stdio();
    let result = client.call("get_file_slice", json!({"pth": "a.txt", "start_line": "one"}));
    assert_eq!(result["isError"], true);
    assert_eq!(result["_meta"]["tectum/fault"], "invalid_input");
    let said = text(&result);
    assert!(said.starts_with("ERROR: "), "{said}");
    for part in [
        "unknown argument `pth`; did you mean `path`?",
        "missing argument `path`",
        "missing argument `end_line`",
        "`start_line` must be integer",
    ] {
        assert!(said.contains(part), "`{part}` not in: {said}");
    }
}

#[test]
fn a_model_is_understood_in_the_words_of_other_tools() {
    let rig = Rig::with(&[("a.txt", "one\r\ntwo\r\nthree\r\n")]);
    let mut client = rig.stdio();
    let read = client.call("read_file", json!({"file_path": "a.txt", "offset": "2", "limit": "1"}));
    assert_eq!(text(&read), "two\r\n[CRLF line ends]\n[lines 2-2 of 3]\n[arguments read: file_path as path]");
    let edits = r#"[{"filePath":"a.txt","old_str":"two","newString":"2"}]"#;
    let edited = client.call("apply_edits", json!({"edits": edits, "dry_run": "false"}));
    assert_eq!(edited["isError"], false, "{edited}");
    let found = client.call("search_content", json!({"query": "^2", "glob": "*.txt"}));
    assert!(text(&found).starts_with("a.txt:2: 2\n1 match in 1 file"), "{found}");
    let unknown = client.exchange("tools/call", json!({"name": "Grep", "arguments": {}}));
    assert!(unknown.to_string().contains("search_content"), "{unknown}");
}

#[test]
fn protocol_mistakes_get_their_own_codes() {
    let rig = Rig::new();
    let mut client = rig.stdio();
    for (method, params, code) in [
        ("tools/call", json!({"name": "no_such_tool"}), -32602),
        ("tools/call", json!({}), -32602),
        ("tools/call", json!({"name": 5}), -32602),
        ("tools/list", json!({"cursor": "nonsense"}), -32602),
        ("logging/setLevel", json!({"level": "loud"}), -32602),
        ("resources/read", json!({"uri": "x://y"}), -32002),
        ("prompts/get", json!({"name": "x"}), -32602),
        ("no/such", json!({}), -32601),
    ] {
        let answer = client.exchange(method, params.clone());
        assert_eq!(answer["error"]["code"], code, "{method} {params}: {answer}");
    }
    let answer = client.exchange("tools/call", json!({"name": "read_fil"}));
    assert_eq!(answer["error"]["message"], "Unknown tool: read_fil (did you mean `read_file`?)");
    assert_eq!(client.request("resources/list", json!({}))["resources"][0]["uri"], "tectum://todo");
    let templates = client.request("resources/templates/list", json!({}));
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "tectum://anchors/{key}");
    assert_eq!(client.request("prompts/list", json!({})), json!({"prompts": []}));
}

#[test]
fn hostile_lines_cost_one_error_each_and_the_next_call_answers() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    let mut client = rig.stdio();
    let deep = "[".repeat(100_000);
    for (line, id) in [
        ("nonsense".to_owned(), Value::Null),
        ("{".to_owned(), Value::Null),
        (r#"{"jsonrpc":"2.0","id":"x","method":"ping","params":"#.to_owned(), json!("x")),
        (format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{deep}"#), json!(3)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"ping","params":[1]}"#.to_owned(), json!(4)),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#.to_owned(), Value::Null),
        (r#"{"id":5,"method":"ping"}"#.to_owned(), json!(5)),
        (r#"{"jsonrpc":"2.0","id":6}"#.to_owned(), json!(6)),
        (r#"[]"#.to_owned(), Value::Null),
        ("\u{0}\u{1}".to_owned(), Value::Null),
    ] {
        client.send_line(&line);
        let answer = client.receive();
        assert!(answer["error"]["code"].is_i64(), "{}: {answer}", &line[..line.len().min(60)]);
        assert_eq!(answer["id"], id, "{answer}");
        assert_eq!(text(&client.call("read_file", json!({"path": "a.txt"}))), "hello\n");
    }
}

#[test]
fn bytes_that_are_no_text_are_answered_too() {
    let rig = Rig::new();
    let mut client = rig.stdio();
    client.stdin.as_mut().expect("open").write_all(b"\xff\xfe{\"id\":9}\n").expect("sent");
    assert_eq!(client.receive()["error"]["code"], -32700);
    assert_eq!(client.request("ping", json!({})), json!({}));
}

#[test]
fn an_oversized_line_is_answered_and_the_next_call_too() {
    let rig = Rig::new();
    let mut client = rig.stdio();
    let huge = "x".repeat(17 * 1024 * 1024);
    client.send_line(&format!(
        r#"{{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{{"x":"{huge}"}}}}"#
    ));
    let answer = client.receive();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(77), &json!(-32600)), "{answer}");
    assert!(answer["error"]["message"].as_str().expect("text").contains("16777216"), "{answer}");
    assert_eq!(client.request("ping", json!({})), json!({}));
}

#[test]
fn deeply_nested_arguments_are_a_clear_error() {
    let rig = Rig::new();
    let mut client = rig.stdio();
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    client.send_line(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"read_file","arguments":{{"path":{deep}}}}}}}"#
    ));
    let answer = client.receive();
    assert_eq!(answer["result"]["isError"], true, "{answer}");
}

#[test]
fn a_burst_is_answered_completely_and_a_slow_call_delays_nobody() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    for folder in 0..60 {
        for file in 0..60 {
            rig.write(&format!("tree/{folder}/{file}.txt"), "some words to look through\n".repeat(40));
        }
    }
    let mut client = rig.stdio();
    let slow = json!({"jsonrpc": "2.0", "id": "slow", "method": "tools/call",
        "params": {"name": "search_content", "arguments": {"path": ".", "pattern": "(a|b|c)+x{3}never", "include_ignored": true}}});
    client.send(&slow);
    for id in 0..200 {
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "read_file", "arguments": {"path": "a.txt"}}}));
    }
    let answers: Vec<Value> = (0..201).map(|_| client.receive()).collect();
    let quick = answers.iter().filter(|answer| answer["id"].is_u64()).count();
    assert_eq!(quick, 200);
    let slow_at = answers.iter().position(|answer| answer["id"] == "slow").expect("answered");
    assert!(slow_at >= 1, "the slow call was answered before any quick one");
}

#[test]
fn a_reused_id_in_flight_is_refused_and_a_cancelled_call_is_not_answered() {
    let rig = Rig::new();
    for folder in 0..150 {
        for file in 0..60 {
            rig.write(&format!("tree/{folder}/{file}.txt"), "some words to look through\n".repeat(200));
        }
    }
    let mut client = rig.stdio();
    let search = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call",
        "params": {"name": "search_content", "arguments": {"path": ".", "pattern": "(w|x)[a-z]+ (t|z)[a-z]+ q{2}never"}}});
    client.send(&search);
    client.send(&search);
    let answer = client.receive();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(5), &json!(-32600)), "{answer}");
    client.notify("notifications/cancelled", json!({"requestId": 5}));
    assert_eq!(client.exchange("ping", json!({}))["result"], json!({}));
    // The id is free again, and its new call is the one that is answered.
    std::thread::sleep(std::time::Duration::from_millis(300));
    client.send(&json!({"jsonrpc": "2.0", "id": 5, "method": "ping"}));
    assert_eq!(client.receive(), json!({"jsonrpc": "2.0", "id": 5, "result": {}}));
}

#[test]
fn calls_sent_before_the_end_of_input_are_still_answered() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    let mut client = rig.stdio_raw();
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "edit_file",
        "arguments": {"path": "a.txt", "old_string": "hello", "new_string": "goodbye"}}}));
    let last = json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}).to_string();
    client.stdin.as_mut().expect("open").write_all(last.as_bytes()).expect("sent");
    drop(client.stdin.take());
    let mut all = String::new();
    client.stdout.read_to_string(&mut all).expect("readable");
    let mut ids: Vec<i64> = all
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["id"].as_i64().expect("an id"))
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2]);
    assert_eq!(rig.read("a.txt"), "goodbye\n");
}

#[test]
fn progress_comes_before_the_answer_with_rising_values() {
    let rig = Rig::new();
    for folder in 0..120 {
        for file in 0..60 {
            rig.write(&format!("tree/{folder}/{file}.txt"), "words\n");
        }
    }
    let mut client = rig.stdio();
    client.send(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_content",
        "arguments": {"path": ".", "pattern": "never"}, "_meta": {"progressToken": "tok"}}}),
    );
    let mut seen = Vec::new();
    let answer = loop {
        let message = client.receive();
        if message["method"] == "notifications/progress" {
            assert_eq!(message["params"]["progressToken"], "tok");
            seen.push(message["params"]["progress"].as_u64().expect("a number"));
        } else {
            break message;
        }
    };
    assert_eq!(answer["id"], 1);
    assert!(!seen.is_empty(), "7,200 files and no progress");
    assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "{seen:?}");
}

#[test]
fn a_signal_ends_the_server() {
    let rig = Rig::new();
    let mut client = rig.stdio();
    let pid = client.child.id().to_string();
    assert!(rig.command("kill").args(["-TERM", &pid]).status().expect("runs").success());
    let status = client.child.wait().expect("ends");
    assert!(status.success(), "{status}");
}
