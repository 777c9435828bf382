//! The record of calls: each is on the disk before its answer, whoever calls and however it ends.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json, value::to_raw_value};
use tectum_core::{
    Call, Effect, Fault, FaultKind, Prepared, Provider, SessionId, Snapshot, Subject, ToolInfo, ToolRole,
    Wants, World,
};
use tectum_journal::{Entry, Piece, Record, segments, verify};

use crate::{
    ask_front::{Front, asking, edit, yes},
    federated::{Client, Era, echo, until},
    rig::{Rig, text},
};

/// The folder of the only project's journal.
pub(crate) fn folder(rig: &Rig) -> PathBuf {
    let projects = rig.home().join("state/tectum/projects");
    let found = std::fs::read_dir(&projects).into_iter().flatten().flatten();
    let mut found = found.map(|project| project.path().join("journal")).filter(|journal| journal.exists());
    found.next().unwrap_or_else(|| projects.join("none/journal"))
}

/// All records, in the order of their segments.
pub(crate) fn records(folder: &Path) -> Vec<Record> {
    let mut records = Vec::new();
    for segment in segments(folder).expect("listed") {
        for piece in segment.read_from(0).expect("opened").into_iter().flatten() {
            match piece {
                Piece::Line(line) => records.push(line.record().expect("a record")),
                // A process may have been killed.
                Piece::Torn(_) => {}
                Piece::Damaged(damage) => panic!("{} is damaged: {damage:?}", segment.path.display()),
            }
        }
    }
    records
}

/// The calls among them.
pub(crate) fn entries(rig: &Rig) -> Vec<Entry> {
    let calls = records(&folder(rig)).into_iter().filter_map(|record| match record {
        Record::Call(entry) => Some(*entry),
        _ => None,
    });
    calls.collect()
}

/// The last call, as JSON.
fn last(rig: &Rig) -> Value {
    serde_json::to_value(entries(rig).last().expect("recorded")).expect("JSON")
}

const RULES: &str =
    "[approval]\nvia = \"client\"\n[permissions]\nask = [\"delete_file\"]\ndeny = [\"read_file(secret*)\"]\n";

/// Calls of every kind of ending: the tool, its arguments, and how the record says that it ended.
fn calls() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("read_file", json!({ "path": "a.txt" }), "native"),
        ("read_file", json!({ "path": "missing.txt" }), "not_found"),
        ("read_file", json!({ "path": "secret.txt" }), "permission"),
        ("read_file", json!({ "path": 7, "nonsense": true }), "invalid_input"),
        ("read_file", json!({ "path": "../../etc/passwd" }), "permission"),
        ("delete_file", json!({ "path": "a.txt" }), "permission"),
        ("edit_file", json!({ "path": "a.txt", "old_string": "hello", "new_string": "bye" }), "native"),
        ("e__echo", json!({ "text": "x" }), "peer"),
    ]
}

/// Checks that the last record is of this call.
#[track_caller]
fn check(rig: &Rig, number: usize, (tool, args, ending): &(&str, Value, &str)) {
    assert_eq!(entries(rig).len(), number, "one record for each call, {tool} {args}");
    let entry = last(rig);
    assert_eq!((&entry["tool"], &entry["args"]), (&json!(tool), args), "{entry}");
    let fault = entry["ending"]["fault"]["kind"].as_str();
    let ended = fault.or_else(|| entry["ending"].as_object()?.keys().next().map(String::as_str));
    assert_eq!(ended, Some(*ending), "{entry}");
}

#[test]
fn every_call_over_stdio_is_recorded_before_its_answer() {
    Era::ALL.into_iter().for_each(recorded_over_stdio);
}

fn recorded_over_stdio(era: Era) {
    let rig = Rig::with(&[("a.txt", "hello\n"), ("secret.txt", "x")]);
    rig.configure(&format!("{RULES}{}", echo("e", &[], "")));
    // Nobody behind this client can be asked.
    let mut client = Client::able(&rig, era, json!({}));
    client.until_listed("e__echo");
    for (number, call) in calls().into_iter().enumerate() {
        let (tool, args, _) = &call;
        client.call(tool, args.clone());
        check(&rig, number + 1, &call);
    }
    let unknown = client.start("tools/call", json!({ "name": "nonsense", "arguments": { "a": 1 } }));
    assert!(client.wait(unknown).get("error").is_some());
    check(&rig, calls().len() + 1, &("nonsense", json!({ "a": 1 }), "not_found"));

    let all: Vec<Value> =
        entries(&rig).iter().map(|entry| serde_json::to_value(entry).expect("JSON")).collect();
    let session = &all[0]["session"];
    assert!(all.iter().all(|entry| entry["session"] == *session), "one conversation");
    assert_eq!((&all[0]["client"]["door"], &all[0]["client"]["name"]), (&json!("stdio"), &json!("rig")));
    assert_eq!((&all[0]["effect"], &all[0]["paths"]), (&json!("read"), &json!(["a.txt"])));
    assert_eq!(all[0]["verdict"]["judgement"], "allow");
    assert!(all[0]["verdict"]["rule"].as_str().expect("a rule").contains("built-in default"), "{}", all[0]);
    assert_eq!(all[2]["verdict"]["judgement"], "deny");
    assert!(all[2]["verdict"]["rule"].as_str().expect("a rule").contains("secret*"), "{}", all[2]);
    assert_eq!(all[5]["verdict"]["judgement"], "ask");
    assert_eq!(all[5]["asked"]["approved"], false);
    assert_eq!(all[7]["server"], "e");
    // The id of a change is the one under which it is taken back.
    let undone = client.call("undo_edit", json!({ "call_id": all[6]["id"] }));
    assert_eq!(undone["isError"], false, "{undone}");
    assert_eq!(rig.read("a.txt"), "hello\n");

    let folder = folder(&rig);
    for segment in segments(&folder).expect("listed") {
        assert_eq!(segment.path.metadata().expect("there").permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(folder.metadata().expect("there").permissions().mode() & 0o777, 0o700);
    let found = verify(&folder).expect("verified");
    assert!(found.damages.is_empty() && found.torn.is_empty(), "{found:?}");
}

#[test]
fn a_call_whose_id_is_taken_and_one_too_many_are_recorded() {
    const MOST: u64 = 1024;
    let rig = Rig::new();
    rig.configure(&echo("e", &[], ""));
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("e__hang");
    let call = |name: &str, n: u64| json!({ "name": name, "arguments": { "n": n } });
    let first = client.start("tools/call", call("e__hang", 0));
    let again =
        json!({ "jsonrpc": "2.0", "id": first, "method": "tools/call", "params": call("read_file", 1) });
    client.pipe.send(&again);
    assert!(client.wait(first)["error"]["message"].as_str().expect("refused").contains("this id"));
    check(&rig, 1, &("read_file", json!({ "n": 1 }), "conflict"));
    for n in 1..MOST {
        client.start("tools/call", call("e__hang", n));
    }
    let beyond = client.start("tools/call", call("read_file", 2));
    let refused = client.wait(beyond);
    assert!(refused["error"]["message"].as_str().expect("refused").contains("too many calls"), "{refused}");
    check(&rig, 2, &("read_file", json!({ "n": 2 }), "conflict"));
}

/// Tools that panic with what they are given: in their work, and before it.
struct Panicking;

impl Provider for Panicking {
    fn tools(&self) -> Arc<[ToolInfo]> {
        let info = |name: &str| ToolInfo {
            name: name.into(),
            title: String::new(),
            description: String::new(),
            input_schema: Arc::new(json!({})),
            output_schema: None,
            effect: Effect::Read,
            world: World::Project,
            idempotent: true,
            primary: String::new(),
            role: ToolRole::Usual,
            server: None,
            listed: true,
            observed: true,
        };
        [info("inside"), info("beside")].into()
    }

    fn prepare(&self, call: &Call) -> Result<Prepared, Fault> {
        let said = call.args.get().to_owned();
        assert!(&*call.tool == "inside", "{said}");
        Ok(Prepared {
            wants: Wants { subject: Subject::None, paths: Vec::new() },
            effect: Effect::Read,
            world: World::Project,
            deadline: Duration::from_secs(600),
            max_output: 1000,
            work: Box::new(move |_| Box::pin(async move { panic!("{said}") })),
        })
    }
}

#[tokio::test]
async fn a_panic_in_a_tool_or_beside_it_is_recorded_without_the_secrets_it_tells() {
    let rig = Rig::new();
    let mut config = tectum::Config::built_in(rig.project()).expect("settings");
    config.state = Some(rig.home().join("state/tectum"));
    let house = tectum::build(&config).expect("built");
    house.registry().replace(Snapshot::of(&[Arc::new(Panicking)]));
    let canaries = crate::journal_secrets::canaries();
    for shape in &canaries {
        for tool in ["inside", "beside"] {
            let args = to_raw_value(&json!({ "text": shape.text })).expect("JSON");
            let fault =
                house.call(Call::new(SessionId::new("test"), tool, args)).await.result.expect_err(tool);
            assert_eq!(fault.kind, FaultKind::Internal, "{fault}");
        }
    }
    let all = entries(&rig);
    assert_eq!(all.len(), 2 * canaries.len(), "each is recorded");
    let all = all.iter().map(|entry| serde_json::to_value(entry).expect("JSON"));
    assert!(all.into_iter().all(|entry| entry["ending"]["fault"]["source"].is_string()));
    crate::journal_secrets::nothing_is_left(&canaries, &[folder(&rig)]);
}

#[test]
fn who_was_asked_and_what_was_answered_is_recorded() {
    for number in 0..4 {
        let rig = asking();
        let mut front = Front::all(&rig).remove(number);
        let asked = front.call("edit_file", edit("a.txt"));
        assert_eq!(front.answer("edit_file", asked, &yes())["isError"], false);
        let entry = last(&rig);
        assert_eq!((&entry["tool"], &entry["verdict"]["judgement"]), (&json!("edit_file"), &json!("ask")));
        assert_eq!((&entry["asked"]["by"], &entry["asked"]["approved"]), (&json!("client"), &json!(true)));
        let asked =
            front.call("edit_file", json!({ "path": "a.txt", "old_string": "the", "new_string": "a" }));
        front.answer("edit_file", asked, &json!({ "action": "decline" }));
        let entry = last(&rig);
        assert_eq!((&entry["asked"]["by"], &entry["asked"]["approved"]), (&json!("client"), &json!(false)));
        assert_eq!(entry["ending"]["fault"]["kind"], "permission", "{}: {entry}", front.name());
    }
}

#[test]
fn every_call_over_http_and_of_a_command_is_recorded_before_its_answer() {
    let rig = Rig::with(&[("a.txt", "hello\n"), ("secret.txt", "x")]);
    rig.configure(&format!("{RULES}{}", echo("e", &[], "")));
    let mut http = rig.http();
    http.handshake();
    until("the server is known", || {
        let list = http.post(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }));
        list.body.contains("e__echo")
    });
    for (number, call) in calls().into_iter().enumerate() {
        let (tool, args, _) = &call;
        http.call(tool, args.clone());
        check(&rig, number + 1, &call);
    }
    let entry = last(&rig);
    assert_eq!(entry["client"]["door"], "http");
    let session = http.session.clone().expect("a session");
    assert!(!entry.to_string().contains(&session), "what opens a session is not recorded");
    let status = http.send("GET", "/api/counters?x=1", &http.headers(), "");
    assert_eq!(status.status, 200);
    let asked = records(&folder(&rig)).into_iter().filter_map(|record| match record {
        Record::Hook(request) => Some((request.method, request.path, request.status)),
        _ => None,
    });
    assert_eq!(asked.collect::<Vec<_>>(), [("GET".into(), "/api/counters?x=1".into(), 200)]);

    assert!(rig.run(&["call", "read_file", "path=a.txt"]).status.success());
    assert!(!rig.run(&["call", "read_file", "path=missing.txt"]).status.success());
    let all = entries(&rig);
    let doors: Vec<&str> = all[all.len() - 2..].iter().map(|entry| entry.client.door.as_str()).collect();
    assert_eq!(doors, ["cli", "cli"]);
    assert_ne!(all[all.len() - 1].session, all[all.len() - 2].session, "each is a conversation of its own");
}

#[test]
fn commands_that_make_no_call_and_a_journal_that_is_off_write_nothing() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    for args in [&["tools"][..], &["config", "show"], &["list"]] {
        assert!(rig.run(args).status.success());
    }
    assert!(!folder(&rig).exists());
    rig.configure("[journal]\nrecord = false\nlayout = \"seed\"\n");
    let mut client = rig.stdio();
    assert!(text(&client.call("read_file", json!({ "path": "a.txt" }))).contains("hello"));
    drop(client);
    assert!(!folder(&rig).exists() && !rig.project().join("logs").exists());
}

#[test]
fn a_projects_file_does_not_switch_the_record_off_or_loosen_it() {
    for (key, allowed) in [
        ("record = false", false),
        ("sync = \"off\"", false),
        ("layout = \"seed\"", false),
        ("keep = \"1g\"", false),
        ("keep_days = 1", false),
        ("sync = \"always\"", true),
    ] {
        let rig = Rig::with(&[("a.txt", ""), ("tectum.toml", &format!("[journal]\n{key}\n"))]);
        let ran = rig.run(&["call", "read_file", "path=a.txt"]);
        assert_eq!(ran.status.success(), allowed, "{key}: {}", String::from_utf8_lossy(&ran.stderr));
        assert!(!rig.project().join("logs").exists());
    }
}

#[test]
fn processes_of_one_project_write_beside_each_other() {
    let mut rig = Rig::with(&[("a.txt", "hello\n")]);
    rig.set("TECTUM_SERVE_JOIN", "off");
    let mut clients = [rig.stdio(), rig.stdio(), rig.stdio()];
    for round in 0..20 {
        for (number, client) in clients.iter_mut().enumerate() {
            client.call("read_file", json!({ "path": format!("{number}-{round}") }));
        }
        assert!(!rig.run(&["call", "read_file", &format!("path=3-{round}")]).status.success());
    }
    let folder = folder(&rig);
    let mut paths: Vec<String> = entries(&rig)
        .iter()
        .map(|entry| serde_json::from_str::<Value>(entry.args.get()).expect("JSON")["path"].to_string())
        .collect();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), 80);
    assert_eq!(segments(&folder).expect("listed").len(), 4, "each has a segment of its own");
    drop(clients);
    rig.run(&["call", "read_file", "path=a.txt"]);
    assert_eq!(segments(&folder).expect("listed").len(), 4, "and the next goes on in one of them");
    let found = verify(&folder).expect("verified");
    assert!(found.damages.is_empty() && found.torn.is_empty(), "{found:?}");
}

#[test]
fn the_record_is_kept_within_its_bounds() {
    let rig = Rig::with(&[("a.txt", &"a line of text\n".repeat(200))]);
    rig.configure("[journal]\nkeep = \"64k\"\n");
    let mut client = rig.stdio();
    for _ in 0..60 {
        client.call("read_file", json!({ "path": "a.txt" }));
    }
    let folder = folder(&rig);
    let all = segments(&folder).expect("listed");
    let bytes: u64 = all.iter().map(|segment| segment.size).sum();
    assert!(all.len() > 3 && bytes < 80 * 1024, "{} segments, {bytes} bytes", all.len());
    assert!(entries(&rig).len() < 60 && last(&rig)["ending"]["native"]["text"].is_string());
    assert!(verify(&folder).expect("verified").damages.is_empty());
}

#[test]
fn the_files_for_people_hold_what_ran() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    rig.configure("[permissions]\nallow = [\"run_shell\"]\n[journal]\nlayout = \"seed\"\n");
    let mut client = rig.stdio();
    client.call("read_file", json!({ "path": "a.txt" }));
    let script = "cat >/dev/null; printf 'out\\n'\n# \"quoted\" \t and $HOME\nprintf err >&2; exit 3";
    client.call("run_shell", json!({ "command": script, "stdin": "in" }));
    let sessions: Vec<PathBuf> = std::fs::read_dir(rig.project().join("logs/sessions"))
        .expect("there")
        .map(|entry| entry.expect("one").path())
        .collect();
    let [session] = &sessions[..] else { panic!("one session: {sessions:?}") };
    let read = |name: &str| std::fs::read_to_string(session.join(name)).expect(name);
    // Everything is there while the process runs.
    let comms: Vec<Value> =
        read("comms.log").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let told: Vec<(&str, &str)> = comms
        .iter()
        .map(|line| (line["direction"].as_str().expect("IN"), line["kind"].as_str().expect("a kind")))
        .collect();
    assert_eq!(
        told,
        [("IN", "tool_call"), ("OUT", "tool_result"), ("IN", "tool_call"), ("OUT", "tool_result")]
    );
    let command: Value = serde_json::from_str(read("clicalls.log").trim()).expect("one line of JSON");
    for (key, value) in [("command", script), ("stdin", "in"), ("stdout", "out\n"), ("stderr", "err")] {
        assert_eq!(command[key], value, "{command}");
    }
    assert!(command["latency"].is_number() && command["exit_code"] == 3, "{command}");
    let tools = read("toolcalls.log");
    assert!(tools.contains("`read_file`") && tools.contains(script) && tools.contains("hello"), "{tools}");
    let scripts: Vec<PathBuf> = std::fs::read_dir(session.join("scripts/generated"))
        .expect("there")
        .map(|entry| entry.expect("one").path())
        .collect();
    assert_eq!(scripts.len(), 1);
    assert_eq!(std::fs::read_to_string(&scripts[0]).expect("there"), script, "byte for byte");
    let (status, said) = client.close();
    assert!(status.success(), "{said}");
    assert!(session.join("apihooks.log").exists());
    for path in [session.join("comms.log"), scripts[0].clone()] {
        assert_eq!(path.metadata().expect("there").permissions().mode() & 0o777, 0o600);
    }
}
