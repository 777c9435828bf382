//! A person decides about calls of a whole house: what a yes covers, what is asked again, what is shown,
//! and what is written down.

use std::{path::PathBuf, sync::Arc};

use serde_json::{Value, json, value::to_raw_value};
use tectum::{
    Call, Config, Outcome, Payload, SessionId, Sources, Tectum,
    approval::{Answer, Desk, DeskEvent, OpenQuestion, Preview, Remember, Surface},
    core::{
        Effect, FaultKind, NativeReply, Prepared, Provider, Snapshot, Subject, ToolInfo, ToolRole, Wants,
        World, provider::Done,
    },
};
use tokio::{sync::broadcast, task::JoinHandle};

use crate::{journal::entries, rig::Rig};

struct House {
    rig: Rig,
    house: Tectum,
    desk: Arc<Desk>,
    events: broadcast::Receiver<DeskEvent>,
    _surface: Surface,
}

fn user_file(rig: &Rig) -> PathBuf {
    rig.home().join("config/tectum/tectum.toml")
}

fn config(rig: &Rig) -> Config {
    let sources = Sources {
        directory: rig.project(),
        user_file: Some(user_file(rig)),
        state: Some(rig.home().join("state/tectum")),
        ..Sources::default()
    };
    sources.load().unwrap_or_else(|problems| panic!("{problems}"))
}

impl House {
    fn new(settings: &str) -> Self {
        let rig = Rig::with(&[("a.txt", "teh cat\n"), ("b.txt", "teh dog\n")]);
        rig.configure(settings);
        let house = tectum::build(&config(&rig)).expect("built");
        let desk = Desk::of(&house);
        Self { events: desk.events(), _surface: desk.attach(), desk, house, rig }
    }

    fn call(&self, tool: &str, args: &Value) -> JoinHandle<Outcome> {
        let call = Call::new(SessionId::new("it"), tool, to_raw_value(args).expect("JSON"));
        tokio::spawn(self.house.call(call))
    }

    fn edit(&self) -> JoinHandle<Outcome> {
        self.call("edit_file", &json!({"path": "a.txt", "old_string": "teh", "new_string": "the"}))
    }

    async fn asked(&mut self) -> Arc<OpenQuestion> {
        loop {
            if let DeskEvent::Asked(question) = self.events.recv().await.expect("the desk is there") {
                return question;
            }
        }
    }

    fn answer(&self, question: &OpenQuestion, answer: Value) {
        let answer = Answer::parse(&answer.to_string()).expect("an answer");
        self.desk.answer(&question.id, answer, "test").expect("taken");
    }
}

fn diff(question: &OpenQuestion) -> &str {
    match &question.preview {
        Preview::Diff { text } => text,
        other => panic!("{other:?}"),
    }
}

const ASK: &str = "[permissions]\nask = [\"edit_file\", \"write_file\"]\n";

#[tokio::test]
async fn a_file_that_changed_while_the_person_thought_is_asked_about_again() {
    let mut house = House::new(ASK);
    let call = house.edit();
    let first = house.asked().await;
    assert!(diff(&first).contains("-teh cat\n+the cat"), "{}", diff(&first));
    assert_eq!((first.rule.line, first.paths[0].exists), (Some(2), true));
    assert_eq!(first.rule.file.as_deref().and_then(|file| file.file_name()), Some("tectum.toml".as_ref()));
    assert_eq!(house.rig.read("a.txt"), "teh cat\n", "nothing happens before the answer");
    house.rig.write("a.txt", "teh mouse\n");
    house.answer(&first, json!({"decision": "approve"}));
    let second = house.asked().await;
    assert!(diff(&second).contains("-teh mouse\n+the mouse"), "{}", diff(&second));
    assert_eq!(house.rig.read("a.txt"), "teh mouse\n", "the yes was to another content");
    house.answer(&second, json!({"decision": "approve"}));
    assert!(call.await.expect("ends").result.is_ok());
    assert_eq!(house.rig.read("a.txt"), "the mouse\n");
    let entry = entries(&house.rig).pop().expect("recorded");
    let asked = entry.asked.expect("asked");
    assert_eq!((asked.id.as_deref(), asked.by.as_deref()), (Some(&*second.id), Some("test")));
}

#[tokio::test]
async fn a_policy_that_changed_while_the_person_thought_decides() {
    for (rules, asked_again) in [("deny = [\"edit_file\"]", false), ("ask = [\"edit_*\"]", true)] {
        let mut house = House::new(ASK);
        let call = house.edit();
        let question = house.asked().await;
        house.rig.configure(&format!("[permissions]\n{rules}\n"));
        let Config { permissions, .. } = config(&house.rig);
        let allowlist = tectum::core::security::Allowlist::builder().base(house.rig.project()).build();
        let allowlist = Arc::new(allowlist.expect("opens"));
        house.house.replace_gate(tectum::core::Gate::new(permissions.own, allowlist));
        house.answer(&question, json!({"decision": "approve"}));
        if asked_again {
            let question = house.asked().await;
            assert!(question.rule.text.contains("ask rule `edit_*`"), "{question:?}");
            house.answer(&question, json!({"decision": "deny", "reason": "not by this rule"}));
        }
        let fault = call.await.expect("ends").result.expect_err("refused");
        assert_eq!(fault.kind, FaultKind::Permission);
        assert_eq!(fault.message.contains("not by this rule"), asked_again, "{fault}");
        assert_eq!(house.rig.read("a.txt"), "teh cat\n");
    }
}

/// A tool whose definition can change.
struct Defined(&'static str);

impl Provider for Defined {
    fn tools(&self) -> Arc<[ToolInfo]> {
        Arc::new([ToolInfo {
            name: "tool".into(),
            title: String::new(),
            description: self.0.into(),
            input_schema: Arc::new(Value::Null),
            output_schema: None,
            effect: Effect::Change,
            world: World::Open,
            idempotent: false,
            primary: String::new(),
            role: ToolRole::Usual,
            server: None,
            listed: true,
            observed: true,
        }])
    }

    fn prepare(&self, _: &Call) -> Result<Prepared, tectum::Fault> {
        let reply = NativeReply { text: self.0.into(), structured: "{}".into() };
        Ok(Prepared {
            wants: Wants { subject: Subject::None, paths: Vec::new() },
            effect: Effect::Change,
            world: World::Open,
            deadline: std::time::Duration::from_secs(600),
            max_output: 1000,
            work: Box::new(|_| Box::pin(async { Ok(Done::new(Payload::Native(reply))) })),
        })
    }
}

#[tokio::test]
async fn a_tool_that_was_defined_anew_is_asked_about_again() {
    let mut house = House::new("");
    house.house.registry().replace(Snapshot::of(&[Arc::new(Defined("first"))]));
    let call = house.call("tool", &json!({}));
    let question = house.asked().await;
    house.house.registry().replace(Snapshot::of(&[Arc::new(Defined("second"))]));
    house.answer(&question, json!({"decision": "approve"}));
    let again = house.asked().await;
    assert_ne!(again.id, question.id);
    house.answer(&again, json!({"decision": "approve"}));
    let Ok(Payload::Native(reply)) = call.await.expect("ends").result else { panic!("it ran") };
    assert_eq!(reply.text, "second");
}

#[tokio::test]
async fn edited_arguments_run_in_the_place_of_the_calls_own_and_are_shown_as_such() {
    let mut house = House::new("[permissions]\nask = [\"edit_file\"]\ndeny = [\"edit_file(b.txt)\"]\n");
    let call = house.edit();
    let question = house.asked().await;
    let edited = json!({"path": "a.txt", "old_string": "teh", "new_string": "a"});
    house.answer(&question, json!({"decision": "approve", "arguments": edited}));
    let outcome = call.await.expect("ends");
    assert!(outcome.result.is_ok(), "{outcome:?}");
    assert_eq!(house.rig.read("a.txt"), "a cat\n");
    assert_eq!(outcome.edited.expect("told").get(), edited.to_string());
    let entry = serde_json::to_value(entries(&house.rig).pop().expect("recorded")).expect("JSON");
    assert_eq!(entry["args"], edited);
    assert_eq!(entry["asked"]["instead_of"]["new_string"], "the");
    // A rule that forbids them still does.
    house.rig.write("a.txt", "teh cat\n");
    let call = house.edit();
    let question = house.asked().await;
    let edited = json!({"path": "b.txt", "old_string": "teh", "new_string": "a"});
    house.answer(&question, json!({"decision": "approve", "arguments": edited}));
    let fault = call.await.expect("ends").result.expect_err("refused");
    assert!(fault.message.contains("deny rule `edit_file(b.txt)`"), "{fault}");
    assert_eq!(house.rig.read("b.txt"), "teh dog\n");
}

#[tokio::test]
async fn a_question_shows_commands_and_addresses_and_what_happened_before() {
    let mut house = House::new("[permissions]\ndefault = \"ask\"\n");
    let run = json!({"command": "make all", "cwd": "."});
    for denied in 0..2 {
        let call = house.call("run_shell", &run);
        let question = house.asked().await;
        let shown = serde_json::to_value(&*question).expect("JSON");
        let folder = house.rig.project().canonicalize().expect("there");
        assert_eq!(shown["preview"], json!({"kind": "command", "command": "make all", "folder": folder}));
        assert!(shown["sandbox"].as_str().expect("told").starts_with("on: "), "{shown}");
        assert_eq!(shown["before"], json!({"approved": 0, "denied": denied, "failed": 0}));
        house.answer(&question, json!({"decision": "deny"}));
        call.await.expect("ends").result.expect_err("denied");
    }
    let call = house.call("fetch_url", &json!({"url": "https://example.org/x"}));
    let question = house.asked().await;
    assert_eq!(question.preview, Preview::Address { url: "https://example.org/x".into() });
    house.answer(&question, json!({"decision": "deny"}));
    call.await.expect("ends").result.expect_err("denied");
    // A call that would fail says so; one that was approved and failed is counted.
    let edit = json!({"path": "a.txt", "old_string": "absent", "new_string": "x"});
    for failed in 0..2 {
        let call = house.call("edit_file", &edit);
        let question = house.asked().await;
        assert!(
            matches!(&question.preview, Preview::Text { text } if text.starts_with("This call would fail"))
        );
        assert_eq!((question.before.approved, question.before.failed), (failed, failed));
        house.answer(&question, json!({"decision": "approve"}));
        call.await.expect("ends").result.expect_err("nothing to replace");
    }
    assert_eq!(house.rig.read("a.txt"), "teh cat\n");
}

#[tokio::test]
async fn a_yes_for_the_project_becomes_a_rule_of_this_project_in_the_users_own_file() {
    let settings = "# mine\n[permissions]   # about calls\ndefault = 'ask'\nallow = [ \"read_file\" ]\n\n[files] # last\n";
    let mut house = House::new(settings);
    let call = house.edit();
    let question = house.asked().await;
    let answer = Answer { remember: Remember::Project, ..Answer::yes() };
    let remembered = house.desk.answer(&question.id, answer, "test").expect("taken").remembered;
    let remembered = remembered.expect("a rule");
    assert_eq!((remembered.rule.as_str(), remembered.problem.as_deref()), ("edit_file(a.txt)", None));
    call.await.expect("ends").result.expect("runs");
    let project = house.rig.project().canonicalize().expect("there");
    let line = format!("allow_in = [\"{}=edit_file(a.txt)\"]\n", project.display());
    assert!(remembered.diff.contains(&format!("+{line}")), "{}", remembered.diff);
    let written = std::fs::read_to_string(user_file(&house.rig)).expect("readable");
    assert_eq!(written.replace(&line, ""), settings, "nothing else changed");
    assert!(written.contains(&line), "{written}");
    // A house that starts now runs it without asking; one of another project asks.
    house.rig.write("a.txt", "teh cat\n");
    let again = tectum::build(&config(&house.rig)).expect("built");
    let edit = json!({"path": "a.txt", "old_string": "teh", "new_string": "the"});
    let call = Call::new(SessionId::new("it"), "edit_file", to_raw_value(&edit).expect("JSON"));
    again.call(call).await.result.expect("allowed");
    let other = Rig::with(&[("a.txt", "teh cat\n")]);
    other.configure(&written);
    let other = tectum::build(&config(&other)).expect("built");
    let call = Call::new(SessionId::new("it"), "edit_file", to_raw_value(&edit).expect("JSON"));
    let fault = other.call(call).await.result.expect_err("asked");
    assert!(fault.message.contains("nobody is there"), "{fault}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_a_yes_and_a_no_one_wins_and_journal_and_effect_agree() {
    const ROUNDS: usize = 60;
    let mut house = House::new(ASK);
    let mut effects = Vec::new();
    for round in 0..ROUNDS {
        let file = format!("new-{round}.txt");
        let call = house.call("write_file", &json!({"path": file, "content": "x\n"}));
        let question = house.asked().await;
        let race = |answer: Answer, by: &'static str| {
            let (desk, id) = (house.desk.clone(), question.id.clone());
            tokio::spawn(async move { desk.answer(&id, answer, by).is_ok() })
        };
        let (yes, no) = (race(Answer::yes(), "yes"), race(Answer::no("no"), "no"));
        let (yes, no) = (yes.await.expect("ends"), no.await.expect("ends"));
        assert_ne!(yes, no, "one winner");
        let ran = call.await.expect("ends").result.is_ok();
        assert_eq!((ran, house.rig.project().join(&file).exists()), (yes, yes));
        effects.push(yes);
    }
    let recorded: Vec<bool> = entries(&house.rig)
        .into_iter()
        .map(|entry| {
            let asked = entry.asked.expect("asked");
            assert_eq!(asked.by.as_deref(), Some(if asked.approved { "yes" } else { "no" }));
            asked.approved
        })
        .collect();
    assert_eq!(recorded, effects);
}

#[tokio::test]
async fn the_approvers_secret_is_out_of_reach_of_every_tool() {
    let rig = Rig::new();
    let state = rig.home().join("state/tectum");
    let secret = tectum::token::approver(Some(&state)).expect("made").secret;
    // Everything is served, the state of Tectum included.
    rig.configure(&format!(
        "[workspace]\nroots = [\"{}\"]\n[permissions]\ndefault = \"allow\"\n",
        rig.outside().display()
    ));
    let mut client = rig.stdio();
    for (tool, args) in [
        ("read_file", json!({"path": "home/state/tectum/approver"})),
        ("get_file_slice", json!({"path": "home/state/tectum/approver", "start_line": 1, "end_line": 1})),
        ("search_content", json!({"pattern": &secret[..16], "path": "."})),
        ("edit_file", json!({"path": "home/state/tectum/approver", "old_string": "a", "new_string": "b"})),
        (
            "run_shell",
            json!({"command": "cat home/state/tectum/approver; grep -r . home/state; env", "cwd": "."}),
        ),
    ] {
        let result = client.call(tool, args);
        assert!(!result.to_string().contains(&secret), "{tool}: {result}");
    }
    assert_eq!(tectum::token::approver(Some(&state)).expect("unchanged").secret, secret);
}
