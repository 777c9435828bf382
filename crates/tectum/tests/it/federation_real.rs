//! Servers that others wrote, behind the binary: each lists, answers, and shows what else it
//! has. `cargo xtask test` installs them; without them these tests fail.

use std::{net::TcpListener, process::Command, time::Duration};

use serde_json::json;

use crate::{
    federated::{Client, Era, address, command, until},
    rig::{Rig, text},
};

fn tool(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run the tests with `cargo xtask test`"))
}

/// A table for a server that Node runs.
fn node(name: &str, script: &str, args: &[&str], more: &str) -> String {
    let script = tool(script);
    let args: Vec<&str> = std::iter::once(script.as_str()).chain(args.iter().copied()).collect();
    command(name, tool("TECTUM_TOOLBOX_NODE"), &args, more)
}

/// Runs a session in each era.
fn sessions(configuration: impl Fn(&Rig) -> String, session: impl Fn(&Rig, &mut Client)) {
    for era in Era::ALL {
        let rig = Rig::with(&[("a.txt", "hello\n")]);
        rig.configure(&configuration(&rig));
        session(&rig, &mut Client::new(&rig, era));
    }
}

#[test]
fn heavy_everything_on_a_pipe() {
    sessions(|_| node("all", "TECTUM_TOOLBOX_EVERYTHING", &[], ""), |_, client| everything(client));
}

fn everything(client: &mut Client) {
    client.until_listed("all__get-sum");
    assert!(client.say("all__get-sum", json!({"a": 2, "b": 3})).contains('5'));
    let structured = client.call("all__get-structured-content", json!({"location": "New York"}));
    assert!(structured["structuredContent"].is_object(), "{structured}");
    let image = client.call("all__get-tiny-image", json!({}));
    assert!(
        image["content"].as_array().is_some_and(|parts| parts.iter().any(|part| part["type"] == "image"))
    );
    let resources = client.list("resources/list", "resources");
    let first = resources.iter().find(|one| one["name"] == "features.md").expect("listed");
    let read = client.result("resources/read", json!({"uri": first["uri"]}));
    assert!(read["contents"][0]["text"].as_str().is_some_and(|text| !text.is_empty()), "{read}");
    let prompt = json!({"name": "all__args-prompt", "arguments": {"city": "Berlin"}});
    let prompt = client.result("prompts/get", prompt);
    assert!(prompt["messages"][0]["content"]["text"].as_str().is_some_and(|text| text.contains("Berlin")));
}

#[test]
fn heavy_everything_on_http_and_on_events() {
    for (transport, path, kind) in [("streamableHttp", "mcp", ""), ("sse", "sse", "type = \"sse\"")] {
        let port = free_port();
        let server = Running::start(
            Command::new(tool("TECTUM_TOOLBOX_NODE"))
                .arg(tool("TECTUM_TOOLBOX_EVERYTHING"))
                .arg(transport)
                .env("PORT", port.to_string()),
            port,
        );
        let url = format!("http://127.0.0.1:{port}/{path}");
        sessions(|_| address("all", &url, kind), |_, client| everything(client));
        drop(server);
    }
}

#[test]
fn heavy_filesystem() {
    let configuration = |rig: &Rig| {
        let project = rig.project();
        node("disk", "TECTUM_TOOLBOX_FILESYSTEM", &[project.to_str().expect("text")], "")
    };
    sessions(configuration, |rig, client| {
        client.until_listed("disk__read_text_file");
        let path = rig.project().join("a.txt");
        assert_eq!(client.say("disk__read_text_file", json!({"path": path})), "hello\n");
        let refused = client.call("disk__read_text_file", json!({"path": "/etc/passwd"}));
        assert_eq!(refused["isError"], true, "{refused}");
    });
}

#[test]
fn heavy_memory() {
    let configuration = |rig: &Rig| {
        let file = rig.outside().join("memory.json");
        node("mind", "TECTUM_TOOLBOX_MEMORY", &[], &format!("env = {{ MEMORY_FILE_PATH = {} }}", json!(file)))
    };
    sessions(configuration, |_, client| {
        client.until_listed("mind__create_entities");
        let entity = json!({"name": "Ada", "entityType": "person", "observations": ["counts"]});
        client.call("mind__create_entities", json!({"entities": [entity]}));
        assert!(client.say("mind__read_graph", json!({})).contains("Ada"));
        let resources = client.list("resources/list", "resources");
        let theirs =
            |one: &&serde_json::Value| !one["uri"].as_str().is_some_and(|uri| uri.starts_with("tectum:"));
        let uri = resources.iter().find(theirs).expect("one of theirs")["uri"].clone();
        let read = client.result("resources/read", json!({"uri": uri}));
        assert!(read["contents"][0]["text"].as_str().is_some_and(|text| text.contains("Ada")), "{read}");
    });
}

#[test]
fn heavy_git() {
    sessions(
        |_| command("git", tool("TECTUM_TOOLBOX_GIT"), &[], ""),
        |rig, client| {
            let made = rig.command("git").args(["init", "--quiet"]).status().expect("git runs");
            assert!(made.success());
            client.until_listed("git__git_status");
            let status = client.say("git__git_status", json!({"repo_path": rig.project()}));
            assert!(status.contains("a.txt"), "{status}");
        },
    );
}

#[test]
fn heavy_time() {
    sessions(
        |_| command("clock", tool("TECTUM_TOOLBOX_TIME"), &["--local-timezone", "UTC"], ""),
        |_, client| {
            client.until_listed("clock__convert_time");
            let when = json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
            let said = client.say("clock__convert_time", when);
            assert!(said.contains("21:00"), "{said}");
        },
    );
}

#[test]
fn heavy_fetch() {
    sessions(
        |_| command("web", tool("TECTUM_TOOLBOX_FETCH"), &[], ""),
        |_, client| {
            client.until_listed("web__fetch");
            let prompts = client.list("prompts/list", "prompts");
            assert!(prompts.iter().any(|prompt| prompt["name"] == "web__fetch"), "{prompts:?}");
            // It fetches nothing from this machine, and says so in its own words.
            let id = client.begin("web__fetch", json!({"url": "http://127.0.0.1:9/"}));
            let answer = client.wait(id);
            let refused = answer.get("error").is_some() || answer["result"]["isError"] == true;
            assert!(refused, "{answer}");
        },
    );
}

const FASTMCP: &str = r#"
from fastmcp import FastMCP

server = FastMCP("quick")

@server.tool
def shout(text: str) -> str:
    "Says it louder."
    return text.upper()

@server.resource("quick://note")
def note() -> str:
    return "a note"

@server.prompt
def greet(who: str) -> str:
    return f"Greet {who}."
"#;

#[test]
fn heavy_fastmcp_on_http_and_on_events() {
    for (transport, path, kind) in [("http", "mcp", ""), ("sse", "sse", "type = \"sse\"")] {
        let rig = Rig::with(&[("quick.py", FASTMCP)]);
        let port = free_port();
        let server = Running::start(
            rig.command(tool("TECTUM_TOOLBOX_FASTMCP"))
                .args(["run", "quick.py:server", "--no-banner", "--transport", transport])
                .args(["--host", "127.0.0.1", "--port", &port.to_string()]),
            port,
        );
        let url = format!("http://127.0.0.1:{port}/{path}");
        sessions(
            |_| address("quick", &url, kind),
            |_, client| {
                client.until_listed("quick__shout");
                let said = client.call("quick__shout", json!({"text": "hello"}));
                assert_eq!(text(&said), "HELLO");
                let read = client.result("resources/read", json!({"uri": "quick://note"}));
                assert_eq!(read["contents"][0]["text"], "a note");
                let prompt = json!({"name": "quick__greet", "arguments": {"who": "Ada"}});
                let prompt = client.result("prompts/get", prompt);
                assert_eq!(prompt["messages"][0]["content"]["text"], "Greet Ada.");
            },
        );
        drop(server);
    }
}

/// An observer as a person writes one with an SDK, on the two transports that are addresses.
const OBSERVER: &str = r#"
import json
from fastmcp import FastMCP

server = FastMCP("watch")


@server.tool
def observe(tool_name: str, args: dict, result: dict | None = None) -> str:
    with open("copies.jsonl", "a") as log:
        log.write(json.dumps([tool_name, args, result]) + "\n")
    return "seen"
"#;

#[test]
fn heavy_fastmcp_observes_on_http_and_on_events() {
    for (transport, path, kind) in [("http", "mcp", ""), ("sse", "sse", "type = \"sse\"")] {
        let rig = Rig::with(&[("watch.py", OBSERVER), ("a.txt", "x\n")]);
        let port = free_port();
        let server = Running::start(
            rig.command(tool("TECTUM_TOOLBOX_FASTMCP"))
                .args(["run", "watch.py:server", "--no-banner", "--transport", transport])
                .args(["--host", "127.0.0.1", "--port", &port.to_string()]),
            port,
        );
        let url = format!("http://127.0.0.1:{port}/{path}");
        rig.configure(&format!("{}{}", crate::watched::ON, address("watch", &url, kind)));
        let mut client = Client::new(&rig, Era::Legacy);
        client.call("read_file", json!({"path": "a.txt"}));
        let copies = || std::fs::read_to_string(rig.project().join("copies.jsonl")).unwrap_or_default();
        until("both copies", || copies().lines().count() >= 2);
        let told: Vec<serde_json::Value> =
            copies().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(told[0], json!(["read_file", {"path": "a.txt"}, null]), "{transport}");
        assert_eq!(told[1][2]["content"], "x\n", "{transport}");
        assert_eq!(told.len(), 2);
        drop(server);
    }
}

/// A server that listens on a port it was given.
struct Running(std::process::Child);

impl Running {
    fn start(command: &mut Command, port: u16) -> Self {
        use std::process::Stdio;
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut running = Self(child.expect("starts"));
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(running.0.try_wait().expect("a state").is_none(), "it ended: {command:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
        running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that was free a moment ago: these servers cannot choose one themselves.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.local_addr().expect("an address").port()
}
