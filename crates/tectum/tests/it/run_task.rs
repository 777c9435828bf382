//! `tectum run`: a model behind a stand-in server works on files through the real binary.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::{
    cli_said::Said,
    federated::{echo, until},
    rig::{Rig, deserted},
    run_model::{ModelServer, Reply, call},
};

/// The command for a task at this server.
pub(crate) fn command(rig: &Rig, server: &ModelServer, more: &[&str]) -> Command {
    let mut command = rig.tectum();
    command.args(["run", "fix the typo", "--model", "m", "--base-url", &server.url()]).args(more);
    command.stdin(std::process::Stdio::null());
    command
}

fn run(rig: &Rig, server: &ModelServer, more: &[&str]) -> Said {
    command(rig, server, more).output().expect("runs").into()
}

fn edits() -> Vec<Reply> {
    vec![
        call("read_file", json!({ "path": "a.txt" })),
        call("edit_file", json!({ "path": "a.txt", "old_string": "teh", "new_string": "the" })),
        Reply::Text("The typo is fixed."),
    ]
}

#[test]
fn it_reads_a_file_and_edits_it_and_answers_streaming_or_not() {
    for streams in [true, false] {
        let rig = Rig::with(&[("a.txt", "teh cat\n")]);
        let server = ModelServer::start(streams, edits());
        let said = run(&rig, &server, &[]);
        assert_eq!((said.code, said.out.as_str()), (0, "The typo is fixed.\n"), "{}", said.err);
        assert_eq!(rig.read("a.txt"), "the cat\n");
        let lines: Vec<&str> = said.err.lines().collect();
        assert_eq!(lines.len(), 2, "{}", said.err);
        assert_eq!(lines[0], r#"  read_file {"path":"a.txt"}"#);
        assert!(lines[1].starts_with(r#"  edit_file {"path":"a.txt""#), "{}", said.err);

        let asked = server.asked();
        assert_eq!(asked.len(), 3);
        assert_eq!(asked[0].roles(), ["system", "user"]);
        assert_eq!(asked[0].last(), "fix the typo");
        assert_eq!(asked[2].roles(), ["system", "user", "assistant", "tool", "assistant", "tool"]);
        let result = &asked[1].messages()[3];
        assert_eq!((&result["tool_call_id"], &result["content"]), (&json!("call_0"), &json!("teh cat\n")));
        let tools = asked[0].body["tools"].as_array().expect("tools");
        let read = tools.iter().find(|tool| tool["function"]["name"] == "read_file").expect("offered");
        assert_eq!(read["function"]["parameters"]["properties"]["path"]["type"], "string");
    }
}

#[test]
fn programs_get_one_object() {
    let rig = Rig::with(&[("a.txt", "teh cat\n")]);
    let server = ModelServer::start(true, edits());
    let said = run(&rig, &server, &["--json"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let expect = json!({
        "ok": true, "reason": "answered", "text": "The typo is fixed.", "tier": "default", "rounds": 2,
        "calls": 2, "failed_calls": 0, "usage": { "prompt": 30, "completion": 15 },
        "skipped_directives": { "total": 0, "not_allowed": 0, "not_understood": 0, "too_many": 0 },
    });
    assert_eq!(said.json(), expect);
}

#[test]
fn a_busy_server_is_asked_again() {
    let rig = Rig::new();
    let busy = Reply::Refusal("429 Too Many Requests", "Retry-After: 0\r\n", "slow down");
    let server = ModelServer::start(true, vec![busy.clone(), busy, Reply::Text("here I am")]);
    run(&rig, &server, &[]).gives("here I am\n");
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn a_key_that_is_not_there_is_told_before_anything_is_sent() {
    let server = ModelServer::start(false, vec![Reply::Text("never")]);
    let mut rig = Rig::new();
    rig.set("EMPTY_KEY", "");
    for name in ["NO_SUCH_KEY", "EMPTY_KEY"] {
        run(&rig, &server, &["--api-key-env", name]).fails(
            2,
            &format!(
                "error: the variable {name} of --api-key-env is not set\n\
                 hint: set {name} to the API key, or leave the flag out if the server needs none\n"
            ),
        );
    }
    assert!(server.asked().is_empty());
}

#[test]
fn the_tiers_of_a_file_hand_over_to_each_other() {
    let tiers = "default = \"plan\"\n[tiers.plan]\nprompt = \"You plan.\"\n\
                 tools = [\"read_*\", \"handoff\"]\nmay_hand_to = [\"code\"]\n\
                 [tiers.code]\nprompt = \"You carry out.\"\n";
    let rig = Rig::with(&[("tiers.toml", tiers)]);
    let hand = json!({ "target_tier": "code", "reason": "it is clear what to do" });
    let server = ModelServer::start(true, vec![call("handoff", hand), Reply::Text("done")]);
    let said = run(&rig, &server, &["--tiers", "tiers.toml"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let asked = server.asked();
    let names: Vec<&str> = asked[0].body["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    assert_eq!(names, ["read_file", "handoff"]);
    assert_eq!(asked[1].messages()[0]["content"], "You carry out.");
}

#[test]
fn files_are_shown_with_the_task() {
    let rig = Rig::with(&[("src/a.rs", "fn a() {}\n"), ("src/b.rs", "fn b() {}\n"), (".env", "SECRET=1\n")]);
    let server = ModelServer::start(false, vec![Reply::Text("seen")]);
    let files = ["--file", "src/*.rs", "--file", "none.txt", "--file", "*.c", "--file", ".env"];
    let said = run(&rig, &server, &files);
    assert_eq!((said.code, said.out.as_str()), (0, "seen\n"));
    assert_eq!(
        said.err,
        "warning: --file none.txt: it is not there\n\
         warning: --file *.c: no file matches\n\
         warning: --file .env: it is no file that may be read\n"
    );
    let asked = server.asked();
    let task = asked[0].last();
    for part in [
        "fix the typo\n\n### `src/a.rs`\n```rs\nfn a() {}\n```",
        "### `src/b.rs`\n```rs\nfn b() {}\n```",
        "### `none.txt`\n(it is not there)",
        "### `*.c`\n(no file matches)",
    ] {
        assert!(task.contains(part), "{part} is not in {task}");
    }
    assert!(!task.contains("SECRET"), "{task}");
}

#[test]
fn broken_arguments_come_back_to_the_model() {
    let rig = Rig::with(&[("a.txt", "teh cat\n")]);
    let broken = Reply::Calls(vec![("read_file", "{\"path\": \"a.t".into())]);
    let server = ModelServer::start(true, vec![broken, Reply::Text("sorry")]);
    let said = run(&rig, &server, &[]);
    assert_eq!((said.code, said.out.as_str()), (0, "sorry\n"), "{}", said.err);
    let asked = server.asked();
    assert!(asked[1].last().contains("the arguments are no JSON object"), "{}", asked[1].last());
    assert_eq!(asked[1].messages()[2]["tool_calls"][0]["function"]["arguments"], "{}");
}

#[test]
fn nobody_at_the_address_is_a_clear_failure() {
    let (_held, free) = deserted();
    let url = format!("http://{free}/v1");
    let said: Said = Rig::new().run(&["run", "x", "--model", "m", "--base-url", &url]).into();
    assert_eq!((said.code, said.out.as_str()), (7, ""));
    assert!(
        said.err.starts_with(&format!("error: the model at http://{free} cannot be reached: ")),
        "{}",
        said.err
    );
    assert!(said.err.contains("\nhint: is the server running"), "{}", said.err);
}

#[test]
fn a_missing_key_is_named_and_a_given_one_is_sent_and_not_shown() {
    let rig = Rig::new();
    let refused = || vec![Reply::Refusal("401 Unauthorized", "", "who are you")];
    let server = ModelServer::start(true, refused());
    let said = run(&rig, &server, &[]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("hint: put the key into an environment variable"), "{}", said.err);
    assert!(!server.asked()[0].head.to_lowercase().contains("authorization"));

    let server = ModelServer::start(true, refused());
    let with_key = |more: &[&str]| -> Said {
        let mut command = command(&rig, &server, &[&["--api-key-env", "MODEL_KEY", "-vvv"], more].concat());
        command.env("MODEL_KEY", "s3cr3t-words").output().expect("runs").into()
    };
    let said = with_key(&[]);
    assert!(said.code == 3 && said.err.contains("the key in MODEL_KEY is not accepted"), "{}", said.err);
    assert!(!said.err.contains("s3cr3t-words") && !said.out.contains("s3cr3t-words"));
    assert!(server.asked()[0].head.contains("Bearer s3cr3t-words"));
}

#[test]
fn rounds_are_counted_and_the_model_sums_up() {
    let rig = Rig::with(&[("a.txt", "x\n")]);
    let replies = vec![call("read_file", json!({ "path": "a.txt" })), Reply::Text("I read it.")];
    let server = ModelServer::start(true, replies);
    let said = run(&rig, &server, &["--max-rounds", "1"]);
    assert_eq!((said.code, said.out.as_str()), (5, "I read it.\n"));
    assert!(
        said.err.ends_with("stopped: the limit on rounds of calls was reached (--max-rounds)\n"),
        "{}",
        said.err
    );
    assert_eq!(server.asked()[1].body["tool_choice"], "none");
}

#[test]
fn rules_hold_and_nobody_to_ask_is_a_no() {
    let rig = Rig::with(&[
        ("a.txt", "teh cat\n"),
        ("tectum.toml", "[permissions]\nask = [\"edit_file\"]\ndeny = [\"read_file(secret*)\"]\n"),
        ("secret.txt", "hidden\n"),
    ]);
    let replies = vec![
        call("edit_file", json!({ "path": "a.txt", "old_string": "teh", "new_string": "the" })),
        call("read_file", json!({ "path": "secret.txt" })),
        Reply::Text("I may not."),
    ];
    let server = ModelServer::start(true, replies);
    let said = run(&rig, &server, &[]);
    assert_eq!((said.code, rig.read("a.txt").as_str()), (0, "teh cat\n"));
    let asked = server.asked();
    assert!(asked[1].last().contains("nobody is there to give it"), "{}", asked[1].last());
    assert!(
        asked[2].last().starts_with("ERROR:") && !asked[2].last().contains("hidden"),
        "{}",
        asked[2].last()
    );
    assert!(said.err.contains("  edit_file failed: edit_file needs approval"), "{}", said.err);
}

#[test]
fn who_looks_at_a_run_finds_it_and_is_asked() {
    let rig = Rig::with(&[("a.txt", "teh cat\n")]);
    rig.configure("[permissions]\nask = [\"edit_file\"]\n");
    let (go, gone) = std::sync::mpsc::channel();
    let mut replies = edits().into_iter();
    // The model thinks until somebody has looked.
    let server = ModelServer::answering(true, move |_| {
        if replies.len() == 3 {
            gone.recv().expect("somebody looks");
        }
        replies.next().unwrap_or(Reply::Text("It is over."))
    });
    let mut task = command(&rig, &server, &[]);
    let task = task.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let json = |args: &[&str]| Said::from(rig.run(args)).json();
    until("it is found", || json(&["status", "--json"])["houses"][0]["pid"] == task.id());
    go.send(()).expect("waits");
    let mut id = String::new();
    until("the question", || {
        let asked = json(&["pending", "--json"])["questions"][0].clone();
        id = asked["id"].as_str().unwrap_or_default().to_owned();
        asked["tool"] == "edit_file"
    });
    assert_eq!(Said::from(rig.run(&["approve", &id])).code, 0);
    let said = Said::from(task.wait_with_output().expect("ends"));
    assert_eq!((said.code, said.out.as_str()), (0, "The typo is fixed.\n"), "{}", said.err);
    assert_eq!(rig.read("a.txt"), "the cat\n");
}

#[test]
fn tiers_have_their_tools_and_their_model() {
    let tiers = "default = \"look\"\n[tiers.look]\nprompt = \"You look.\"\ntools = [\"read_*\"]\nmodel = \"small\"\n\
                 [tiers.work]\nprompt = \"You work.\"\n";
    let rig = Rig::with(&[("tiers.toml", tiers), ("a.txt", "x\n")]);
    let replies = vec![call("write_file", json!({ "path": "a.txt", "content": "y\n" })), Reply::Text("no")];
    let server = ModelServer::start(true, replies.clone());
    run(&rig, &server, &["--tiers", "tiers.toml"]);
    let asked = server.asked();
    assert_eq!(
        (&asked[0].body["model"], &asked[0].messages()[0]["content"]),
        (&json!("small"), &json!("You look."))
    );
    let tools = asked[0].body["tools"].as_array().expect("tools");
    assert!(tools.iter().all(|tool| tool["function"]["name"] == "read_file"), "{tools:?}");
    assert!(asked[1].last().contains("not a tool of the tier `look`"), "{}", asked[1].last());
    assert_eq!(rig.read("a.txt"), "x\n");

    let server = ModelServer::start(true, replies);
    run(&rig, &server, &["--tiers", "tiers.toml", "--tier", "work"]);
    assert_eq!((rig.read("a.txt").as_str(), &server.asked()[0].body["model"]), ("y\n", &json!("m")));
}

#[test]
fn wrong_words_are_told_before_anybody_is_asked() {
    let rig = Rig::with(&[
        ("bad.toml", "default = \"a\"\n[tiers.a]\nprmpt = \"x\"\n"),
        ("odd.toml", "default = \"b\"\n[tiers.a]\n"),
    ]);
    let server = ModelServer::start(true, vec![]);
    for (more, code, expect) in [
        (["--tier", "boss"], 4, "there is no tier `boss`"),
        (["--tiers", "bad.toml"], 2, "bad.toml: line 3: unknown field `prmpt`"),
        (["--tiers", "odd.toml"], 4, "odd.toml: there is no tier `b`"),
        (["--tiers", "none.toml"], 2, "none.toml: "),
        (["--max-rounds", "0"], 2, "--max-rounds"),
    ] {
        let said = run(&rig, &server, &more);
        assert!(said.code == code && said.err.contains(expect), "{more:?}: {} {}", said.code, said.err);
    }
    let said: Said = rig.run(&["run", "x", "--model", "m", "--base-url", "localhost:80"]).into();
    assert!(said.code == 2 && said.err.contains("hint: write it as http://"), "{}", said.err);
    assert_eq!(server.asked().len(), 0);
}

#[test]
fn tools_of_other_servers_are_there_from_the_start() {
    let rig = Rig::new();
    rig.configure(&echo("one", &[], ""));
    let replies = vec![
        Reply::Calls(vec![
            ("one__echo", json!({ "text": "hello" }).to_string()),
            ("one__add", json!({ "a": 1, "b": 2 }).to_string()),
        ]),
        Reply::Text("done"),
    ];
    let server = ModelServer::start(true, replies);
    let said = run(&rig, &server, &[]);
    assert_eq!((said.code, said.out.as_str()), (0, "done\n"), "{}", said.err);
    let asked = server.asked();
    let results: Vec<&str> =
        asked[1].messages()[3..].iter().filter_map(|one| one["content"].as_str()).collect();
    assert_eq!(results, ["hello", "3"]);
}

#[test]
fn the_documented_program_is_the_one_that_compiles() {
    let example = include_str!("../../examples/engine.rs");
    let code = &example[example.find("use std").expect("code")..];
    assert!(include_str!("../../../../docs/engine.md").contains(code.trim_end()));
}
