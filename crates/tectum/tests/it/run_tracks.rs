//! `tectum run --track`: several conversations with a stand-in model work on tickets through the real binary.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{
    cli_said::Said,
    federated::until,
    rig::Rig,
    run_model::{Asked, ModelServer, Reply, call},
    run_stopped::{at_a_terminal, interrupt},
};

/// A diamond (a, b, c, d), one that may fail (e) with one that waits for it (f), and one alone (g).
pub(crate) const SEVEN: &str = r#"id = "seven"
description = "All of it"

[[tickets]]
id = "a"
description = "Write a.txt"
target_file = "a.txt"

[[tickets]]
id = "b"
description = "Do b"
depends_on = ["a"]
context_requirements = ["a.txt"]

[[tickets]]
id = "c"
description = "Do c"
depends_on = ["a"]

[[tickets]]
id = "d"
description = "Do d"
depends_on = ["b", "c"]
assigned_to = "tech_lead"

[[tickets]]
id = "e"
description = "Do e"

[[tickets]]
id = "f"
description = "Do f"
depends_on = ["e"]

[[tickets]]
id = "g"
description = "Do g"
"#;

pub(crate) fn command(rig: &Rig, server: &ModelServer, more: &[&str]) -> Command {
    let mut command = rig.tectum();
    command.args(["run", "--model", "m", "--base-url", &server.url()]).args(more).stdin(Stdio::null());
    command
}

const FREELY: [&str; 3] = ["--track", "seven.toml", "--no-ask-spawn"];

fn run(rig: &Rig, server: &ModelServer, more: &[&str]) -> Said {
    command(rig, server, more).output().expect("runs").into()
}

/// The ticket that a conversation is about, and `qa` for its analysis.
fn about(asked: &Asked) -> String {
    let task = asked.messages()[1]["content"].as_str().unwrap_or_default();
    let name =
        |from: &str| task.split(from).nth(1).and_then(|rest| rest.split('`').next()).map(str::to_owned);
    match name("Your ticket `") {
        Some(ticket) => ticket,
        None => name("The ticket `").map_or("plan".into(), |ticket| format!("qa {ticket}")),
    }
}

fn asked_about(server: &ModelServer) -> Vec<String> {
    let mut about: Vec<String> = server.asked().iter().map(about).collect();
    about.sort();
    about
}

/// Everybody does their work, and `a` writes its file.
pub(crate) fn good(asked: &Asked) -> Reply {
    match (about(asked).as_str(), asked.roles().last()) {
        ("a", Some(&"user")) => call("write_file", json!({ "path": "a.txt", "content": "from a\n" })),
        _ => Reply::Text("It is done."),
    }
}

fn e_fails(asked: &Asked) -> Reply {
    match about(asked).as_str() {
        "e" => Reply::Text("I looked.\nBLOCKED: the key is missing"),
        "qa e" => Reply::Text("The key was never made: run keygen, then try again."),
        _ => good(asked),
    }
}

fn events(said: &Said) -> Vec<Value> {
    said.out.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

/// How a ticket ended, in the last event about it.
fn ended<'e>(events: &'e [Value], id: &str) -> &'e Value {
    let last = events.iter().rev().find(|event| event["ticket"]["id"] == id);
    last.map_or(&Value::Null, |event| &event["ticket"])
}

/// The place of the event with which a ticket came to a state.
fn place(events: &[Value], id: &str, status: &str) -> usize {
    let is = |event: &Value| event["ticket"]["id"] == id && event["ticket"]["status"] == status;
    events.iter().position(is).unwrap_or_else(|| panic!("{id} never was {status}"))
}

#[test]
fn a_track_is_worked_on_failures_are_told_and_the_rest_is_done_later() {
    let rig = Rig::with(&[("seven.toml", SEVEN)]);
    let server = ModelServer::answering(true, e_fails);
    let said = run(&rig, &server, &[&FREELY[..], &["--json"]].concat());
    assert_eq!(said.code, 5, "{}{}", said.out, said.err);
    assert_eq!(rig.read("a.txt"), "from a\n");
    assert_eq!(asked_about(&server), ["a", "a", "b", "c", "d", "e", "g", "qa e"]);
    let told = events(&said);
    for (before, after) in [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")] {
        assert!(place(&told, before, "completed") < place(&told, after, "in_progress"), "{}", said.out);
    }
    let (e, f) = (ended(&told, "e"), ended(&told, "f"));
    assert_eq!((&e["status"], &e["blocked_reason"]), (&json!("blocked"), &json!("the key is missing")));
    assert_eq!(e["analysis"], "The key was never made: run keygen, then try again.");
    assert_eq!(
        (&f["status"], &f["blocked_reason"]),
        (&json!("blocked"), &json!("`e` is blocked: the key is missing"))
    );
    let end = told.last().expect("an end");
    assert_eq!((&end["event"], &end["completed"], &end["blocked"]), (&json!("end"), &json!(5), &json!(2)));
    assert_eq!((&end["ok"], &end["resume"]), (&json!(false), &json!("tectum run --track seven.toml")));

    let asked = server.asked();
    let of = |id: &str| asked.iter().find(|asked| about(asked) == id).expect("asked");
    assert!(of("b").last().contains("### `a.txt`\n```txt\nfrom a\n```"), "{}", of("b").last());
    assert!(of("b").last().contains("Done before, as `a`: Write a.txt\nIt is done."), "{}", of("b").last());
    assert!(of("d").messages()[0]["content"].as_str().is_some_and(|prompt| prompt.contains("tech lead")));
    assert!(of("qa e").body.get("tools").is_none(), "QA has no tools: {}", of("qa e").body);
    assert!(of("qa e").last().contains("I looked."), "{}", of("qa e").last());

    // The key is there now: what is completed is not done again.
    let server = ModelServer::answering(true, good);
    let said = run(&rig, &server, &FREELY);
    assert_eq!((said.code, said.out.as_str()), (0, "seven: 7 of 7 tickets completed\n"), "{}", said.err);
    assert_eq!(asked_about(&server), ["e", "f"]);
    assert_eq!(
        said.err,
        "e begun by worker\ne completed: It is done.\nf begun by worker\nf completed: It is done.\n"
    );
}

#[test]
fn ctrl_c_ends_the_workers_and_the_same_command_goes_on() {
    let rig = Rig::with(&[("seven.toml", SEVEN)]);
    let server = ModelServer::answering(true, |asked| match about(asked).as_str() {
        "b" => Reply::Silence,
        _ => good(asked),
    });
    let one = [&FREELY[..], &["--workers", "1"]].concat();
    let child =
        command(&rig, &server, &one).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    // Two requests of `a`, and the first of `b`.
    server.wait(3);
    interrupt(&child);
    let said: Said = child.wait_with_output().expect("ends").into();
    assert_eq!(said.code, 6, "{}{}", said.out, said.err);
    assert!(said.out.starts_with("seven: 1 of 7 tickets completed, 6 left to do\n"), "{}", said.out);
    assert!(
        said.err.ends_with(
            "b put back\nto go on where this stopped, with the same options: tectum run --track seven.toml\n"
        ),
        "{}",
        said.err
    );
    let server = ModelServer::answering(true, good);
    let said = run(&rig, &server, &FREELY);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_eq!(asked_about(&server), ["b", "c", "d", "e", "f", "g"]);
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    let rig = Rig::with(&[("seven.toml", SEVEN)]);
    let server = ModelServer::answering(true, |asked| match about(asked).as_str() {
        "b" => Reply::Silence,
        _ => good(asked),
    });
    let one = [&FREELY[..], &["--workers", "1"]].concat();
    let mut child =
        command(&rig, &server, &one).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    server.wait(3);
    child.kill().expect("killed");
    child.wait().expect("ends");
    let server = ModelServer::answering(true, good);
    let said = run(&rig, &server, &FREELY);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_eq!(asked_about(&server), ["b", "c", "d", "e", "f", "g"], "b was in progress");
}

#[test]
fn a_file_that_changed_meets_what_was_completed() {
    let rig = Rig::with(&[("seven.toml", SEVEN)]);
    run(&rig, &ModelServer::answering(true, e_fails), &FREELY);
    rig.write("seven.toml", SEVEN.replace("Do b", "Do b well"));
    let server = ModelServer::answering(true, good);
    run(&rig, &server, &FREELY).fails(
        5,
        "error: `b` is completed, and changed in the file since\n\
         hint: give it a new id if the work is to be done again, or begin the whole track anew with --restart\n",
    );
    assert!(server.asked().is_empty());

    // What is not completed may change, and what is new is done.
    let grown =
        format!("{}[[tickets]]\nid = \"h\"\ndescription = \"Do h\"\n", SEVEN.replace("Do e", "Make the key"));
    rig.write("seven.toml", grown);
    assert_eq!(run(&rig, &server, &FREELY).code, 0);
    assert_eq!(asked_about(&server), ["e", "f", "h"]);

    let server = ModelServer::answering(true, good);
    assert_eq!(run(&rig, &server, &[&FREELY[..], &["--restart"]].concat()).code, 0);
    assert_eq!(asked_about(&server), ["a", "a", "b", "c", "d", "e", "f", "g", "h"]);
}

#[test]
fn mistakes_are_told_before_anybody_is_asked() {
    let wrong = "id = \"t\"\n[[tickets]]\nid = \"a\"\ndescription = \"x\"\ndepends_on = [\"b\"]\n\
                 [[tickets]]\nid = \"b\"\ndescription = \"x\"\ndepends_on = [\"a\", \"z\"]\nasigned_to = \"qa\"\n";
    let rig = Rig::with(&[("t.toml", wrong)]);
    let server = ModelServer::answering(true, good);
    let said = run(&rig, &server, &["--track", "t.toml"]);
    assert_eq!(said.code, 2, "{}", said.err);
    for (line, part) in [
        (2, "these tickets wait for each other: `a` waits for `b` waits for `a`"),
        (6, "the ticket `b` depends on `z`, which is not there"),
        (10, "a ticket has no `asigned_to`; did you mean `assigned_to`?"),
    ] {
        let expect = format!("t.toml:{line}:1: {part}");
        assert!(said.err.contains(&expect), "{expect} is not in {}", said.err);
    }
    for (more, expect) in [
        (vec!["--track", "none.toml"], "none.toml: "),
        (vec!["--track", "t.toml", "fix it"], "cannot be used with"),
        (vec!["fix it", "--step"], "--track"),
        (vec!["--track", "t.toml", "--workers", "0"], "--workers"),
        (vec![], "TASK"),
    ] {
        let said = run(&rig, &server, &more);
        assert!(said.code == 2 && said.err.contains(expect), "{more:?}: {} {}", said.code, said.err);
    }
    assert!(server.asked().is_empty());
}

#[test]
fn a_model_that_cannot_be_asked_leaves_the_tickets() {
    let rig = Rig::with(&[("seven.toml", SEVEN)]);
    let server = ModelServer::answering(true, |_| Reply::Refusal("401 Unauthorized", "", "who are you"));
    let said = run(&rig, &server, &FREELY);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.out.starts_with("seven: 0 of 7 tickets completed, 7 left to do\n"), "{}", said.out);
    assert!(said.err.contains("error: the model at") && said.err.contains("hint: "), "{}", said.err);
}

#[test]
fn a_second_process_does_not_do_the_same_tickets() {
    let rig = Rig::with(&[("seven.toml", SEVEN)]);
    let server = ModelServer::answering(true, |_| Reply::Silence);
    let mut child =
        command(&rig, &server, &FREELY).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    server.wait(1);
    let said = run(&rig, &server, &FREELY);
    assert!(
        said.code == 5 && said.err.contains("another process works on the track `seven`"),
        "{}",
        said.err
    );
    interrupt(&child);
    assert_eq!(child.wait().expect("ends").code(), Some(6));
}

const PLAN: &str = r#"```json
{"id": "greet", "description": "Say hello", "tickets": [
 {"id": "one", "description": "Write hello"}, {"id": "two", "description": "Check it", "depends_on": ["one"]}]}
```"#;

fn plans() -> impl FnMut(&Asked) -> Reply + Send + 'static {
    let mut tries = 0;
    move |asked| match about(asked).as_str() {
        "plan" => {
            tries += 1;
            Reply::Text(if tries == 1 { "{\"id\": \"greet\"}" } else { PLAN })
        }
        _ => Reply::Text("It is done."),
    }
}

#[test]
fn a_proposal_goes_to_a_file_and_runs_from_there() {
    let rig = Rig::new();
    let server = ModelServer::answering(true, plans());
    let said = run(&rig, &server, &["--plan", "say hello", "--out", "greet.toml"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.out.starts_with("written to greet.toml: track greet: Say hello\n  one: Write hello\n"),
        "{}",
        said.out
    );
    let asked = server.asked();
    assert!(asked[1].last().contains("line 1: there are no tickets"), "{}", asked[1].last());
    let tools = asked[0].body["tools"].as_array().expect("tools");
    let offered = |name: &str| tools.iter().any(|tool| tool["function"]["name"] == name);
    assert!(offered("read_file") && !offered("write_file") && !offered("run_shell"), "{tools:?}");

    let again = run(&rig, &ModelServer::answering(true, plans()), &["--plan", "x", "--out", "greet.toml"]);
    assert!(again.code == 5 && again.err.contains("greet.toml is there already"), "{}", again.err);
    let said = run(&rig, &server, &["--track", "greet.toml", "--no-ask-spawn"]);
    assert_eq!((said.code, said.out.as_str()), (0, "greet: 2 of 2 tickets completed\n"), "{}", said.err);
}

#[test]
fn a_person_at_a_terminal_is_asked_before_each_ticket() {
    let rig = Rig::with(&[("seven.toml", SEVEN)]);
    let server = ModelServer::answering(true, good);
    let step = [&FREELY[..], &["--step", "--workers", "1"]].concat();
    // In the order of the file; `c` is refused, and `d` with it.
    let (code, shown) =
        at_a_terminal(command(&rig, &server, &step), &["y\n", "y\n", "n\n", "y\n", "y\n", "y\n"]);
    assert_eq!(code, Some(5), "{shown}");
    assert!(shown.contains("seven: 5 of 7 tickets completed, 2 blocked"), "{shown}");
    assert!(
        shown.contains("begin the ticket `a` of the track `seven` {\"description\":\"Write a.txt\"}"),
        "{shown}"
    );
    assert_eq!(asked_about(&server), ["a", "a", "b", "e", "f", "g"]);

    // Asked again, the person agrees; this time to workers.
    let server = ModelServer::answering(true, good);
    let (code, shown) = at_a_terminal(command(&rig, &server, &["--track", "seven.toml"]), &["y\n", "y\n"]);
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(asked_about(&server), ["c", "d"]);
}

#[test]
fn a_proposal_runs_only_if_a_person_accepts_it() {
    for (answer, code, tickets) in [("n\n", 3, 0), ("y\n", 0, 2)] {
        let rig = Rig::new();
        let server = ModelServer::answering(true, plans());
        let plan = command(&rig, &server, &["--plan", "say hello", "--no-ask-spawn"]);
        let (ended, shown) = at_a_terminal(plan, &[answer]);
        assert_eq!(ended, Some(code), "{shown}");
        assert_eq!(server.asked().len(), 2 + tickets, "{shown}");
        assert!(shown.contains("two: Check it"), "{shown}");
    }
}

#[test]
fn nobody_to_ask_is_a_no() {
    let mut rig = Rig::with(&[("seven.toml", SEVEN)]);
    rig.set("TECTUM_APPROVAL_VIA", "client");
    let server = ModelServer::answering(true, good);
    let said = run(&rig, &server, &["--track", "seven.toml"]);
    assert_eq!(said.code, 5, "{}{}", said.out, said.err);
    assert!(said.out.contains("0 of 7 tickets completed, 7 blocked"), "{}", said.out);
    assert!(said.out.contains("nobody is there"), "{}", said.out);
    assert!(said.err.starts_with("warning: there is no terminal to ask on"), "{}", said.err);
    assert!(server.asked().is_empty(), "no worker was made");
}

#[test]
fn without_a_terminal_the_questions_wait_for_whoever_looks_from_another_one() {
    let rig = Rig::with(&[("seven.toml", SEVEN)]);
    let server = ModelServer::answering(true, good);
    let mut track = command(&rig, &server, &["--track", "seven.toml"]);
    let track = track.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let json = |args: &[&str]| Said::from(rig.run(args)).json();
    until("it is found", || json(&["status", "--json"])["houses"][0]["command"] == "run");
    let told = json(&["status", "--json"])["houses"][0].clone();
    assert_eq!((&told["pid"], &told["transport"]), (&json!(track.id()), &json!("run")), "{told}");
    // Each ticket asks before its worker is made.
    for answered in 0..7 {
        let mut waiting = Value::Null;
        until("a question", || {
            waiting = json(&["pending", "--json"])["questions"][0].clone();
            waiting.is_object()
        });
        assert_eq!(
            (&waiting["kind"], &waiting["client"]),
            (&json!("spawn"), &json!("tectum run")),
            "{waiting}"
        );
        let id = waiting["id"].as_str().expect("an id");
        let said = Said::from(rig.run(&["approve", id]));
        assert_eq!(said.code, 0, "{answered}: {}", said.err);
    }
    let said = Said::from(track.wait_with_output().expect("ends"));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(said.out.contains("7 of 7 tickets completed"), "{}", said.out);
    assert!(
        said.err.contains("no terminal to ask on, so questions wait for whoever opens `tectum top`"),
        "{}",
        said.err
    );
    assert_eq!(rig.read("a.txt"), "from a\n");
    assert_eq!(json(&["status", "--json"])["houses"], json!([]), "its socket goes with it");
}

#[test]
fn the_documented_file_is_one() {
    let page = include_str!("../../../../docs/tracks.md");
    let example =
        page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let rig = Rig::with(&[("notes.toml", &example.replace("step_mode = true", "step_mode = false"))]);
    let server = ModelServer::answering(true, good);
    let said = run(&rig, &server, &["--track", "notes.toml", "--no-ask-spawn"]);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "release-notes: 2 of 2 tickets completed\n"),
        "{}",
        said.err
    );
}
