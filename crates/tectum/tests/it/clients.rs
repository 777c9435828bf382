//! The results that the models of real clients are given: fake clients with the rules of the real ones,
//! over both transports and in both eras.

use std::{collections::HashMap, io::Write as _};

use serde_json::{Value, json};

use crate::{
    cli_said::Said,
    federated::{Era, KEY, echo},
    rig::{Answer, Http, Rig, Stdin},
};

/// The part of a result that a client hands to its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    Text,
    Structured,
    Both,
}

/// Clients with a model behind them, by the names they give themselves.
pub(crate) const CODING: [(&str, Reads); 5] = [
    ("claude-code", Reads::Structured),
    ("codex-mcp-client", Reads::Structured),
    ("opencode", Reads::Text),
    ("gemini-cli-mcp-client", Reads::Text),
    ("qwen-cli-mcp-client-tectum", Reads::Both),
];

/// A file whose text is unlike itself when it is escaped.
const SOURCE: &str = "def greet(name):\n\t\"\"\"Say \"hi\" to Zoë.\"\"\"\n\treturn 'C:\\\\x'\n";

enum Wire {
    Pipe(Box<Stdin>),
    Http(Http),
}

/// A client that does what the real ones do with lists and results.
pub(crate) struct Fake {
    wire: Wire,
    era: Era,
    name: String,
    reads: Reads,
    thread: Option<String>,
    /// The form of results that it asks for itself.
    structured: Option<bool>,
    /// For each tool, true if it was listed with an output schema.
    schemas: HashMap<String, bool>,
    next: u64,
}

impl Fake {
    fn new(wire: Wire, era: Era, name: &str, reads: Reads) -> Self {
        let (name, schemas) = (name.to_owned(), HashMap::new());
        let mut client = Self { wire, era, name, reads, thread: None, structured: None, schemas, next: 0 };
        if era == Era::Legacy {
            let info = client.info();
            let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
            client.result("initialize", hello);
            let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            match &mut client.wire {
                Wire::Pipe(pipe) => pipe.send(&done),
                Wire::Http(http) => assert_eq!(http.post(&done).status, 202),
            }
        }
        client
    }

    pub(crate) fn pipe(rig: &Rig, era: Era, name: &str, reads: Reads) -> Self {
        Self::new(Wire::Pipe(Box::new(rig.stdio_raw())), era, name, reads)
    }

    pub(crate) fn http(rig: &Rig, era: Era, name: &str, reads: Reads) -> Self {
        Self::new(Wire::Http(rig.http()), era, name, reads)
    }

    /// One client over each transport in each era.
    pub(crate) fn everywhere(rig: &Rig, name: &str, reads: Reads) -> Vec<Self> {
        let pipes = Era::ALL.map(|era| Self::pipe(rig, era, name, reads));
        let web = Era::ALL.map(|era| Self::http(rig, era, name, reads));
        pipes.into_iter().chain(web).collect()
    }

    fn info(&self) -> Value {
        json!({"name": self.name, "version": "2.1.325"})
    }

    fn message(&mut self, method: &str, mut params: Value) -> Value {
        if self.era == Era::Modern {
            params["_meta"][format!("{KEY}protocolVersion")] = json!("2026-07-28");
            params["_meta"][format!("{KEY}clientCapabilities")] = json!({});
            params["_meta"][format!("{KEY}clientInfo")] = self.info();
        }
        if let Some(thread) = &self.thread {
            params["_meta"]["threadId"] = json!(thread);
        }
        if let Some(structured) = self.structured {
            params["_meta"]["tectum/structured"] = json!(structured);
        }
        self.next += 1;
        json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
    }

    /// Sends a request: the whole answer.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let message = self.message(method, params);
        match &mut self.wire {
            Wire::Pipe(pipe) => {
                pipe.send(&message);
                answer(pipe, self.next)
            }
            Wire::Http(http) => {
                let answer = post(http, self.era == Era::Modern, &message);
                if let Some(session) = answer.header("mcp-session-id") {
                    http.session = Some(session.to_owned());
                }
                answer.json()
            }
        }
    }

    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Fetches the list and remembers what it promises.
    pub(crate) fn list(&mut self) -> Vec<Value> {
        let listed = self.result("tools/list", json!({}));
        let tools = listed["tools"].as_array().expect("tools").clone();
        let schema = |tool: &Value| {
            (tool["name"].as_str().expect("a name").to_owned(), tool.get("outputSchema").is_some())
        };
        self.schemas = tools.iter().map(schema).collect();
        tools
    }

    fn until_listed(&mut self, tool: &str) {
        crate::federated::until(tool, || self.list().iter().any(|listed| listed["name"] == tool));
    }

    /// Calls a tool: its result, which the client's own checks let through.
    pub(crate) fn call(&mut self, tool: &str, args: Value) -> Value {
        let result = self.result("tools/call", json!({"name": tool, "arguments": args}));
        self.accept(tool, &result);
        result
    }

    fn accept(&self, tool: &str, result: &Value) {
        let data = result.get("structuredContent");
        let promised = self.schemas.get(tool) == Some(&true) && result["isError"] != true;
        assert!(!promised || data.is_some(), "{tool} has a schema and gave no data: {result}");
        let fits = self.era == Era::Modern || data.is_none_or(Value::is_object);
        assert!(fits, "expected record: {result}");
        assert!(result["content"].is_array(), "no content: {result}");
    }

    /// The text that its model reads of a call.
    pub(crate) fn say(&mut self, tool: &str, args: Value) -> String {
        let result = self.call(tool, args);
        self.given(&result)
    }

    pub(crate) fn given(&self, result: &Value) -> String {
        let texts = result["content"].as_array().expect("blocks").iter();
        let texts: Vec<&str> = texts.filter_map(|block| block["text"].as_str()).collect();
        match (self.reads, result.get("structuredContent")) {
            (Reads::Structured, Some(data)) if result["isError"] != true => data.to_string(),
            (Reads::Both, Some(data)) => format!("{data}\n{}", texts.join("\n")),
            _ => texts.join("\n"),
        }
    }
}

/// Posts a request as its era wants it.
fn post(http: &Http, modern: bool, message: &Value) -> Answer {
    let mut headers = http.headers();
    if modern {
        headers.push(("MCP-Protocol-Version".into(), "2026-07-28".into()));
        headers.push(("Mcp-Method".into(), message["method"].as_str().expect("a method").into()));
        let name = message["params"]["name"].as_str();
        headers.extend(name.map(|name| ("Mcp-Name".to_owned(), name.to_owned())));
    }
    http.send("POST", "/mcp", &headers, &message.to_string())
}

/// The answer to a request on a pipe, whatever is told before it.
fn answer(pipe: &mut Stdin, id: u64) -> Value {
    loop {
        let message = pipe.receive();
        if message["id"] == id && message.get("method").is_none() {
            return message;
        }
    }
}

#[test]
fn every_model_reads_the_text_of_a_file_as_it_is() {
    let rig = Rig::with(&[("greet.py", SOURCE)]);
    for (name, reads) in CODING {
        for mut client in Fake::everywhere(&rig, name, reads) {
            let tools = client.list();
            assert!(tools.iter().all(|tool| tool.get("outputSchema").is_none()), "{name}");
            assert_eq!(client.say("read_file", json!({"path": "greet.py"})), SOURCE, "{name}");
            let missing = client.call("read_file", json!({"path": "greet.p"}));
            assert_eq!(missing["isError"], true);
            assert!(client.given(&missing).contains("greet.py"), "{missing}");
            assert!(!missing.to_string().contains("tectum/"), "{name} prints what stands there: {missing}");
        }
    }
}

#[test]
fn a_client_with_a_tool_of_the_same_name_knows_ours_by_another() {
    let rig = Rig::with(&[("a.txt", "x\n")]);
    let has = |tools: &[Value], name: &str| tools.iter().any(|tool| tool["name"] == name);
    for mut client in Fake::everywhere(&rig, "gemini-cli-mcp-client", Reads::Text) {
        let tools = client.list();
        assert!(has(&tools, "create_file") && !has(&tools, "write_file"));
        for name in ["create_file", "write_file"] {
            client.call(name, json!({"path": "new.txt", "content": name}));
            assert_eq!(rig.read("new.txt"), name);
        }
        let told = client.say("edit_file", json!({"path": "none", "old_string": "x", "new_string": "y"}));
        assert!(told.contains("create_file makes a new file"), "{told}");
        let told = client.say("read_file", json!({"path": "src/write_file.rs"}));
        assert!(told.contains("src/write_file.rs"), "a path is no tool: {told}");
    }
    let hello = |name: &str| {
        let info = json!({"name": name, "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
        rig.stdio_raw().request("initialize", params)["instructions"].to_string()
    };
    assert!(!hello("gemini-cli-mcp-client").contains("write_file"));
    assert!(!hello("opencode").contains("create_file"));

    let mut other = Fake::pipe(&rig, Era::Legacy, "opencode", Reads::Text);
    assert!(!has(&other.list(), "create_file"));
    let unknown = other.ask("tools/call", json!({"name": "create_file", "arguments": {}}));
    assert!(unknown.to_string().contains("Unknown tool: create_file"), "{unknown}");

    // Rules are about the tool, by whichever name it is called.
    rig.configure("[permissions]\ndeny = [\"write_file\"]\n");
    let mut refused = Fake::pipe(&rig, Era::Legacy, "gemini-cli-mcp-client", Reads::Text);
    let refused = refused.call("create_file", json!({"path": "new.txt", "content": "refused"}));
    assert_eq!((&refused["isError"], &*rig.read("new.txt")), (&json!(true), "write_file"), "{refused}");
}

#[test]
fn programs_and_strangers_get_data_as_well() {
    let rig = Rig::with(&[("greet.py", SOURCE)]);
    for mut client in Fake::everywhere(&rig, "rig", Reads::Both) {
        let tools = client.list();
        assert!(tools.iter().all(|tool| tool.get("outputSchema").is_some()));
        let read = client.call("read_file", json!({"path": "greet.py"}));
        assert_eq!(
            (&read["structuredContent"]["content"], &read["content"][0]["text"]),
            (&json!(SOURCE), &json!(SOURCE))
        );
        let missing = client.call("read_file", json!({"path": "none"}));
        assert_eq!(missing["_meta"]["tectum/fault"], "not_found");
    }
}

#[test]
fn settings_and_requests_choose_the_form() {
    let rig = Rig::with(&[("a.txt", "x\n")]);
    for (settings, name, asks, data) in [
        ("structured = \"always\"", "claude-code", None, true),
        ("structured = \"never\"", "rig", None, false),
        ("text = [\"r*\"]", "rig", None, false),
        ("data = [\"claude-*\"]", "claude-code", None, true),
        ("data = [\"claude-*\"]", "codex-mcp-client", None, false),
        ("", "claude-code", Some(true), true),
        ("data = [\"r*\"]", "rig", Some(false), false),
    ] {
        rig.configure(&format!("[clients]\n{settings}\n"));
        for era in Era::ALL {
            let mut client = Fake::pipe(&rig, era, name, Reads::Both);
            client.structured = asks;
            let listed = client.list().iter().any(|tool| tool.get("outputSchema").is_some());
            let given = client.call("read_file", json!({"path": "a.txt"})).get("structuredContent").is_some();
            assert_eq!((listed, given), (data, data), "{settings} {name} {asks:?}");
        }
    }
    rig.configure("[clients]\nreply_chars = [\"x=many\", \"y=5\"]\ntext = [\"[\"]\n");
    let said = Said::from(rig.run(&["config", "check"]));
    assert_ne!(said.code, 0);
    for wrong in ["x=many", "y=5", "`[`"] {
        assert!(format!("{}{}", said.out, said.err).contains(wrong), "{wrong}: {} {}", said.out, said.err);
    }
}

/// A server whose tool gives whatever it is told.
fn bare() -> String {
    echo("one", &["--also", "bare"], "")
}

#[test]
fn results_of_servers_are_text_for_models_and_untouched_for_programs() {
    let rig = Rig::with(&[("a.txt", "x\n")]);
    rig.configure(&bare());
    let link = r#"{"type":"resource_link","uri":"x://1","name":"l","size":1e2}"#;
    let image = r#"{"type":"image","data":"AA==","mimeType":"image/png"}"#;
    let cases = [
        (r#"{"content":[{"type":"text","text":"words"}],"structuredContent":{"n":1.0}}"#.to_owned(), "words"),
        (r#"{"content":[],"structuredContent":{"n":1.0}}"#.to_owned(), r#"{"n":1.0}"#),
        (format!(r#"{{"content":[{image},{link}],"structuredContent":{{"n":1.0}}}}"#), r#"{"n":1.0}"#),
        (r#"{"content":[],"structuredContent":[1.0,2]}"#.to_owned(), "[1.0,2]"),
        (r#"{"content":[{"type":"text","text":"no"}],"structuredContent":{"n":1},"isError":true,"_meta":{"tectum/call":"c"}}"#.to_owned(), "no"),
    ];
    for (name, reads) in CODING {
        for mut client in Fake::everywhere(&rig, name, reads) {
            client.until_listed("one__bare");
            assert_eq!(client.schemas.get("one__structured"), Some(&false));
            for (result, expect) in &cases {
                let given = client.call("one__bare", json!({"json": result}));
                assert_eq!(client.given(&given), *expect, "{name}: {given}");
                assert!(given["isError"] != true || !given.to_string().contains("tectum/"), "{given}");
                let kept = result.contains("image");
                assert_eq!(
                    given["content"].as_array().map(Vec::len),
                    Some(if kept { 3 } else { 1 }),
                    "{given}"
                );
            }
        }
    }
    let mut program = Fake::pipe(&rig, Era::Legacy, "rig", Reads::Both);
    program.until_listed("one__bare");
    assert_eq!(program.schemas.get("one__structured"), Some(&true));
    for (result, _) in cases.iter().filter(|(result, _)| !result.contains("[1.0,2]")) {
        let message =
            program.message("tools/call", json!({"name": "one__bare", "arguments": {"json": result}}));
        let Wire::Pipe(pipe) = &mut program.wire else { panic!("a pipe") };
        pipe.send(&message);
        let line = loop {
            let mut line = String::new();
            std::io::BufRead::read_line(&mut pipe.stdout, &mut line).expect("readable");
            if line.contains("\"result\"") {
                break line;
            }
        };
        assert!(line.contains(result.as_str()), "byte for byte: {line}");
    }
    // What the older era cannot hold is put into what it can.
    let list = program.call("one__bare", json!({"json": cases[3].0}));
    assert_eq!(list["structuredContent"], json!({"result": [1.0, 2]}));
}

const BOTH: &str = "[context]\nrefresh = true\nappend_anchors = true\n";

fn todos(words: &str) -> Value {
    json!({"todos": [{"content": words, "active_form": format!("{words} now"), "status": "in_progress"}]})
}

#[test]
fn what_changed_is_told_once_to_every_client_over_every_wire() {
    for (name, reads) in CODING {
        let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
        rig.configure(BOTH);
        for mut client in Fake::everywhere(&rig, name, reads) {
            rig.write("a.txt", "one\n");
            assert_eq!(client.say("read_file", json!({"path": "a.txt"})), "one\n");
            rig.write("a.txt", "changed\n");
            let told = client.say("read_file", json!({"path": "b.txt"}));
            let block = "Changed since you read it:\n### `a.txt` changed\n```txt\nchanged\n```\n(end of what changed)";
            assert_eq!(told, format!("b\n\n{block}"), "{name}");
            assert_eq!(client.say("read_file", json!({"path": "b.txt"})), "b\n", "{name}");
            // A list that the answer shows is not told beside it, nor again.
            let list = client.say("todo_write", todos("Read"));
            assert_eq!(list.matches("[CURRENT TODO STATE]").count(), 1, "{list}");
            assert!(list.contains("[>] Read (Read now)"), "{list}");
            assert_eq!(client.say("read_file", json!({"path": "b.txt"})), "b\n", "{name}");
        }
    }
}

#[test]
fn without_sessions_clients_and_threads_are_told_apart() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    rig.configure(BOTH);
    let mut codex = Fake::new(Wire::Http(rig.http()), Era::Modern, "codex-mcp-client", Reads::Structured);
    codex.thread = Some("one".into());
    codex.say("read_file", json!({"path": "a.txt"}));
    codex.say("todo_write", todos("Read"));
    rig.write("a.txt", "two\n");
    let read = json!({"path": "b.txt"});
    codex.thread = Some("other".into());
    let other = codex.say("read_file", read.clone());
    assert!(!other.contains("Changed since") && other.contains("[CURRENT TODO STATE]"), "{other}");
    codex.name = "claude-code".into();
    codex.thread = None;
    assert!(!codex.say("read_file", read.clone()).contains("Changed since"));
    codex.name = "codex-mcp-client".into();
    codex.thread = Some("one".into());
    let told = codex.say("read_file", read.clone());
    assert!(told.contains("### `a.txt` changed") && !told.contains("[CURRENT TODO STATE]"), "{told}");
    assert_eq!(codex.say("read_file", read), "b\n");
}

#[test]
fn calls_of_one_round_are_told_what_changed_once_in_the_last_answer() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    rig.configure(BOTH);
    for era in Era::ALL {
        let mut client = Fake::pipe(&rig, era, "opencode", Reads::Text);
        rig.write("a.txt", "one\n");
        client.say("read_file", json!({"path": "a.txt"}));
        rig.write("a.txt", "changed\n");
        let round: Vec<Value> = (0..3)
            .map(|_| {
                client.message("tools/call", json!({"name": "read_file", "arguments": {"path": "b.txt"}}))
            })
            .collect();
        let lines: String = round.iter().map(|call| format!("{call}\n")).collect();
        let Wire::Pipe(pipe) = &mut client.wire else { panic!("a pipe") };
        pipe.stdin.as_mut().expect("open").write_all(lines.as_bytes()).expect("written");
        let mut texts = Vec::new();
        while texts.len() < 3 {
            let message = pipe.receive();
            if message.get("result").is_some() {
                texts.push(message["result"]["content"].to_string());
            }
        }
        let told: Vec<bool> = texts.iter().map(|text| text.contains("### `a.txt` changed")).collect();
        assert_eq!(told, [false, false, true], "{texts:?}");
        assert_eq!(client.say("read_file", json!({"path": "b.txt"})), "b\n");
    }
}

#[test]
fn requests_at_the_same_time_are_told_what_changed_once() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    rig.configure(BOTH);
    for era in Era::ALL {
        let mut client = Fake::new(Wire::Http(rig.http()), era, "claude-code", Reads::Structured);
        rig.write("a.txt", "one\n");
        client.say("read_file", json!({"path": "a.txt"}));
        rig.write("a.txt", "changed\n");
        let call = json!({"name": "read_file", "arguments": {"path": "b.txt"}});
        let round: Vec<Value> = (0..3).map(|_| client.message("tools/call", call.clone())).collect();
        let (Wire::Http(http), modern) = (&client.wire, era == Era::Modern) else { panic!("HTTP") };
        let told: usize = std::thread::scope(|scope| {
            let send = |call| scope.spawn(move || post(http, modern, call).body);
            let sent: Vec<_> = round.iter().map(send).collect();
            let answers = sent.into_iter().map(|sent| sent.join().expect("answered"));
            answers.map(|answer| answer.matches("### `a.txt` changed").count()).sum()
        });
        assert_eq!(told, 1, "{era:?}");
    }
}

#[test]
fn what_an_answer_cannot_carry_waits_for_the_next_and_is_counted() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    rig.configure(&format!("{BOTH}{}", bare()));
    let mut client = Fake::new(Wire::Http(rig.http()), Era::Legacy, "rig", Reads::Text);
    client.until_listed("one__bare");
    client.say("read_file", json!({"path": "a.txt"}));
    rig.write("a.txt", "changed\n");
    // Data alone has no place for a text, and neither has an error of the protocol.
    let data = client.result(
        "tools/call",
        json!({"name": "one__bare", "arguments": {"json": "{\"structuredContent\":{\"n\":1}}"}}),
    );
    assert_eq!(data, json!({"structuredContent": {"n": 1}}));
    let Wire::Http(http) = &client.wire else { panic!("HTTP") };
    let counters = http.send("GET", "/api/counters", &http.headers(), "").json();
    assert_eq!(counters["counters"]["messages"]["waited"], 1);
    let told = client.say("read_file", json!({"path": "b.txt"}));
    assert_eq!(told.matches("### `a.txt` changed").count(), 1, "{told}");
    assert_eq!(client.say("read_file", json!({"path": "b.txt"})), "b\n");
}

#[test]
fn replies_fit_what_the_client_takes_and_go_on() {
    let line = "some words to fill a line of this file\n";
    let rig = Rig::with(&[("long.txt", &line.repeat(8000)), ("b.txt", "b\n")]);
    rig.configure(&format!("[clients]\nreply_chars = [\"gemini*=11000\"]\n{}", bare()));
    for (name, most) in [
        ("claude-code", 49_000),
        ("codex-mcp-client", 47_000),
        ("opencode", 50_000),
        ("gemini-cli-mcp-client", 11_000),
        ("qwen-cli-mcp-client-tectum", 24_000),
    ] {
        let mut client = Fake::pipe(&rig, Era::Legacy, name, Reads::Text);
        let read = client.say("read_file", json!({"path": "long.txt"}));
        assert!(read.len() <= most && read.len() > most * 3 / 4, "{name}: {} bytes", read.len());
        let whole = read.lines().filter(|one| *one == line.trim_end()).count();
        assert!(whole * line.len() > most * 3 / 4, "{name}: whole lines: {whole}");
        client.until_listed("one__big");
        // What a server gives beyond that is a beginning of it, and where the rest can be read.
        let big = client.call("one__big", json!({"bytes": 60_000}));
        assert!(client.given(&big).len() <= most, "{name}");
        assert!(
            big["content"][1]["uri"].as_str().expect("a link").starts_with("tectum://results/"),
            "{name}"
        );
        let data = json!({"structuredContent": {"n": "x".repeat(60_000)}}).to_string();
        let data = client.call("one__bare", json!({"json": data}));
        assert!(
            client.given(&data).starts_with("{\"n\":\"xxx") && client.given(&data).len() <= most,
            "{name}"
        );
    }
    let mut program = Fake::pipe(&rig, Era::Legacy, "rig", Reads::Text);
    assert!(program.say("read_file", json!({"path": "long.txt"})).len() > 300_000);
}

#[test]
fn people_see_what_a_clients_model_is_given() {
    let rig = Rig::with(&[("greet.py", SOURCE)]);
    let said = Said::from(rig.run(&["call", "read_file", "path=greet.py", "--as", "claude"]));
    assert_eq!((said.code, said.out.as_str()), (0, SOURCE));
    assert!(said.err.contains("Claude Code") && said.err.contains("tokens"), "{}", said.err);
    rig.configure("[clients]\nstructured = \"always\"\n");
    let said = Said::from(rig.run(&["call", "read_file", "path=greet.py", "--as", "Claude Code", "--json"]));
    let given = said.json()["given"].as_str().expect("text").to_owned();
    let given: Value = serde_json::from_str(&given).expect("the model gets JSON");
    assert_eq!(given["content"], SOURCE);
    let missing = Said::from(rig.run(&["call", "read_file", "path=none", "--as", "opencode"]));
    assert!(missing.code == 4 && missing.out.contains("none"), "{} {}", missing.code, missing.out);
    let list = Said::from(rig.run(&["tools", "--as", "opencode", "--json"])).json();
    let tools = list["tools"].as_array().expect("tools");
    assert!(
        tools
            .iter()
            .all(|tool| tool["input_schema"]["type"] == "object" && tool["tokens"].as_u64() > Some(0))
    );
    assert_eq!(
        (&list["client"], &list["shown"], &list["tokens_at_once"]),
        (&json!("opencode"), &json!("all"), &list["tokens"])
    );
    let list = Said::from(rig.run(&["tools", "--as", "codex"]));
    assert!(
        list.code == 0 && list.out.contains("read_file  (") && list.out.contains("the tools it searches for"),
        "{}",
        list.out
    );
    let wrong = Said::from(rig.run(&["tools", "--as", "nobody"]));
    assert_eq!(wrong.code, 2);
    for known in
        ["claude-code", "codex-mcp-client", "opencode", "gemini-cli-mcp-client", "qwen-cli-mcp-client-*"]
    {
        assert!(wrong.err.contains(known), "{known}: {}", wrong.err);
    }
}
