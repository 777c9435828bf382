//! A server that breaks rules, beside one that does not: the broken one costs its own callers
//! one clear error, and nobody else anything.

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, IMPATIENT, command, echo},
    rig::{Rig, fixture, text},
};

/// The memory the binary may hold after a server tried to fill it: far below the 64 MiB and 1 GiB that
/// the server sent, far above what it needs (a debug build with all languages).
const MOST_MEMORY: u64 = 256 * 1024 * 1024;

/// The possible ends of a call of the breaking tool.
enum Fate {
    /// The answer, as if nothing had happened.
    Fine,
    /// One error that names the server.
    Error,
}

fn attacked(how: &str, fate: &Fate) {
    for era in Era::ALL {
        let rig = Rig::with(&[("a.txt", "hello\n")]);
        let hostile = ["--role", "hostile", "--how", how];
        // Who is to be fine in the end gets the time for it on a busy machine.
        let patience = match fate {
            Fate::Fine => "timeout = \"60s\"",
            Fate::Error => IMPATIENT,
        };
        rig.configure(&format!("{}{}", command("bad", fixture(), &hostile, patience), echo("fine", &[], "")));
        let mut client = Client::new(&rig, era);
        client.until_listed("fine__echo");
        client.until_listed("bad__bad");

        let breaking = json!({"name": "bad__bad", "arguments": {"text": "x".repeat(1024 * 1024)}});
        let broken = client.start("tools/call", breaking.clone());
        // While it does its worst, everybody else is served.
        for round in 0..20 {
            assert_eq!(client.say("fine__echo", json!({"text": format!("{round}")})), format!("{round}"));
            assert_eq!(client.say("read_file", json!({"path": "a.txt"})), "hello\n");
        }
        // What it asks on the way is answered as any question is.
        let answer = client.end(broken, "tools/call", breaking);
        let said = text(&answer["result"]);
        match fate {
            Fate::Fine => assert_eq!((said, answer["result"]["isError"] == true), ("fine", false), "{how}"),
            Fate::Error => {
                assert_eq!(answer["result"]["isError"], true, "{how}: {answer}");
                assert!(said.contains("bad"), "{how}: the error names the server: {said}");
            }
        }
        assert!(memory(&client) < MOST_MEMORY, "{how}: {} bytes are held", memory(&client));
        assert_eq!(client.say("fine__add", json!({"a": 1, "b": 2})), "3", "{how}");
    }
}

#[test]
fn a_call_from_the_command_line_says_why_its_server_is_away() {
    let rig = Rig::with(&[]);
    rig.configure(&command("gone", "no-such-program-anywhere", &[], ""));
    let run = rig.run(&["call", "gone__x"]);
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(said.contains("there is no program `no-such-program-anywhere` in PATH"), "{said}");
    assert!(!said.contains("unknown tool"), "{said}");
    assert_eq!(run.status.code(), Some(7), "{said}");
}

#[test]
fn a_line_that_is_too_long() {
    attacked("huge-line", &Fate::Error);
}

#[test]
fn a_line_without_end() {
    attacked("endless-line", &Fate::Error);
}

#[test]
fn a_flood_of_notifications_and_questions() {
    attacked("flood", &Fate::Fine);
}

#[test]
fn answers_to_questions_nobody_asked() {
    attacked("wrong-ids", &Fate::Fine);
}

#[test]
fn an_answer_given_three_times() {
    attacked("dup-answers", &Fate::Fine);
}

#[test]
fn an_answer_nested_without_reason() {
    attacked("deep-json", &Fate::Error);
}

#[test]
fn a_flood_on_standard_error() {
    attacked("stderr-flood", &Fate::Fine);
}

#[test]
fn text_between_the_messages() {
    attacked("chatty", &Fate::Fine);
}

#[test]
fn a_server_that_stops_reading() {
    attacked("never-reads", &Fate::Error);
}

#[test]
fn a_server_that_closes_its_output_and_lives_on() {
    attacked("closes-stdout", &Fate::Error);
}

#[test]
fn a_program_that_is_no_server() {
    let rig = Rig::new();
    let hostile = ["--role", "hostile", "--how", "garbage"];
    let bad = command("bad", fixture(), &hostile, "start_timeout = \"3s\"");
    rig.configure(&format!("{bad}{}", echo("fine", &[], "")));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("fine__echo");
    assert_eq!(client.say("fine__echo", json!({"text": "still here"})), "still here");
    assert!(!client.tools().iter().any(|name| name.starts_with("bad__")));
}

#[test]
fn bad_definitions_are_left_out_one_by_one() {
    let (_rig, mut client) = listed("bad-tool");
    let tools = client.tools();
    let of_bad: Vec<&String> = tools.iter().filter(|name| name.starts_with("bad__")).collect();
    assert!(of_bad.iter().any(|name| *name == "bad__good"), "{of_bad:?}");
    assert_eq!(of_bad.iter().filter(|name| **name == "bad__good").count(), 1, "{of_bad:?}");
    assert!(!of_bad.iter().any(|name| name.contains("schema_is_text")), "{of_bad:?}");
    assert_eq!(client.say("bad__good", json!({})), "fine");
    assert_eq!(client.say("bad__bad", json!({})), "fine");
}

#[test]
fn no_definition_costs_a_strict_client_its_whole_list() {
    let (rig, mut client) = listed("bad-tool");
    let tools = client.list("tools/list", "tools");
    for tool in &tools {
        assert!(strict(tool), "{tool}");
    }
    let of_bad = |name: &str| tools.iter().find(|tool| tool["name"] == format!("bad__{name}"));
    for repaired in ["empty_schema", "empty_output", "output_of_a_list", "true_property", "hint_is_text"] {
        assert!(of_bad(repaired).is_some(), "{repaired} is listed");
    }
    assert!(of_bad("schema_of_a_list").is_none() && of_bad("schema_is_text").is_none());
    assert_eq!(client.say("bad__empty_schema", json!({})), "fine");
    drop(client);
    let told = String::from_utf8(rig.run(&["tools"]).stderr).expect("text");
    assert!(told.contains("`schema_of_a_list` is left out"), "{told}");
    assert!(told.contains("`bad__empty_schema` is repaired"), "{told}");
}

#[test]
fn what_finds_tools_costs_no_client_its_list_either() {
    let rig = Rig::new();
    rig.configure(&format!("[federation]\nexposure = \"search\"\n{}", echo("fine", &[], "")));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("call_tool");
    let tools = client.list("tools/list", "tools");
    assert!(tools.iter().any(|tool| tool["name"] == "find_tools"));
    for tool in &tools {
        assert!(strict(tool), "{tool}");
    }
}

/// True if the strictest client takes a list with this definition.
fn strict(tool: &Value) -> bool {
    let schema = |schema: &Value| {
        let properties = schema.get("properties").is_none_or(|properties| {
            properties.as_object().is_some_and(|all| all.values().all(Value::is_object))
        });
        let required = schema
            .get("required")
            .is_none_or(|names| names.as_array().is_some_and(|names| names.iter().all(Value::is_string)));
        schema["type"] == "object" && properties && required
    };
    let hints = tool.get("annotations").is_none_or(|hints| {
        hints.as_object().is_some_and(|hints| {
            hints
                .iter()
                .all(|(name, value)| if name == "title" { value.is_string() } else { value.is_boolean() })
        })
    });
    tool["name"].is_string()
        && tool.get("description").is_none_or(Value::is_string)
        && tool.get("title").is_none_or(Value::is_string)
        && schema(&tool["inputSchema"])
        && tool.get("outputSchema").is_none_or(schema)
        && hints
}

#[test]
fn names_are_visible_and_legal() {
    let (_rig, mut client) = listed("invisible-names");
    let tools = client.list("tools/list", "tools");
    let legal = |name: &str| {
        !name.is_empty()
            && name.len() <= 64
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    let mut names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.iter().all(|name| legal(name)), "{names:?}");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), tools.len(), "no two tools have one name");
    assert_eq!(client.say("bad__good", json!({})), "fine");
}

/// A client that sees a hostile server's tools.
fn listed(how: &str) -> (Rig, Client) {
    let rig = Rig::new();
    rig.configure(&command("bad", fixture(), &["--role", "hostile", "--how", how], IMPATIENT));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("bad__good");
    (rig, client)
}

/// The memory that the binary holds.
fn memory(client: &Client) -> u64 {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", client.pipe.child.id())).expect("readable");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a figure");
    let kibibytes: u64 = line.split_whitespace().nth(1).expect("a number").parse().expect("a number");
    kibibytes * 1024
}
