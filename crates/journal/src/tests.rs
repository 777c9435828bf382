//! The journal as a whole: what was written is read, whatever happened to the disk in between.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf, sync::Arc, time::Duration};

use serde_json::{json, value::to_raw_value};
use tectum_core::{
    Call, CallId, Client as Caller, Fault, FaultKind, Judgement, NativeReply, Outcome, Payload,
    Recorder as _, Seen, SessionId, Snapshot, Trail,
};
use tectum_redact::Redactor;
use tempfile::TempDir;

use crate::{Entry, Gap, Piece, Record, Segment, Settings, SyncPolicy, Writer, entry_at, segments, verify};

/// A journal in a directory of its own.
struct Scene {
    home: TempDir,
    settings: Settings,
}

impl Scene {
    fn new() -> Self {
        let home = TempDir::new().expect("a directory");
        let settings = Settings {
            folder: home.path().join("journal"),
            sync: SyncPolicy::Off,
            segment: 1 << 20,
            most: 64 << 20,
            longest: Duration::from_secs(3600),
            seed: None,
            command: "test".into(),
            directory: "/project".into(),
        };
        Self { home, settings }
    }

    fn writer(&self) -> Writer {
        Writer::new(self.settings.clone(), || Redactor::new(&[], &[]))
    }

    fn segments(&self) -> Vec<Segment> {
        segments(&self.settings.folder).expect("listed")
    }

    fn only(&self) -> PathBuf {
        let segments = self.segments();
        assert_eq!(segments.len(), 1, "{segments:?}");
        segments[0].path.clone()
    }

    /// The subjects of all recorded calls, in their order.
    fn subjects(&self) -> Vec<String> {
        self.entries().iter().map(subject).collect()
    }

    fn entries(&self) -> Vec<Entry> {
        let calls = self.records().into_iter().filter_map(|record| match record {
            Record::Call(entry) => Some(*entry),
            _ => None,
        });
        calls.collect()
    }

    fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for segment in self.segments() {
            for piece in segment.read_from(0).expect("opened").expect("there") {
                if let Piece::Line(line) = piece {
                    records.push(line.record().expect("a record"));
                }
            }
        }
        records
    }
}

fn subject(entry: &Entry) -> String {
    let args: serde_json::Value = serde_json::from_str(entry.args.get()).expect("JSON");
    args["subject"].as_str().unwrap_or_default().to_owned()
}

fn call(subject: &str) -> Call {
    let args = to_raw_value(&json!({ "subject": subject })).expect("JSON");
    Call::new(SessionId::new("stdio"), "do", args)
}

fn outcome(call: CallId, result: Result<Payload, Fault>) -> Outcome {
    let took = Duration::from_millis(3);
    Outcome { call, result, directives: Vec::new(), paths: Vec::new(), edited: None, took }
}

fn said(text: &str) -> Result<Payload, Fault> {
    Ok(Payload::Native(NativeReply { text: text.into(), structured: json!({ "text": text }).to_string() }))
}

/// Records a call, and waits as its caller would.
async fn keep(writer: &Writer, seen: Seen<'_>) {
    if let Some(recording) = writer.record(seen) {
        recording.await;
    }
}

async fn record(writer: &Writer, call: &Call, result: Result<Payload, Fault>) {
    let outcome = outcome(call.id, result);
    keep(writer, Seen { call, outcome: &outcome, trail: &Trail::default(), tools: &Snapshot::default() })
        .await;
}

async fn record_all(writer: &Writer, subjects: impl IntoIterator<Item = String>) {
    for subject in subjects {
        record(writer, &call(&subject), said("fine")).await;
    }
}

fn names(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|n| n.to_string()).collect()
}

#[tokio::test]
async fn everything_about_a_call_is_recorded_for_its_owner_alone() {
    let scene = Scene::new();
    let writer = scene.writer();
    let client = Caller { door: "stdio", name: "inspector".into(), version: "1.2".into() };
    let call = Call { client: Some(Arc::new(client)), ..call("a") };
    let trail = Trail {
        judged: Some((Judgement::Ask, "ask rule `do` (tectum.toml:3)".into())),
        asked: Some(tectum_core::Asked {
            id: Some("q-1".into()),
            by: Some("client".into()),
            subject: "x".into(),
            approved: true,
            waited: Duration::from_millis(2),
            instead_of: Some(serde_json::value::RawValue::from_string(r#"{"a":1}"#.into()).expect("JSON")),
        }),
        effect: Some(tectum_core::Effect::Change),
    };
    let structured = json!({ "stdout": "", "sandbox": "enforced" }).to_string();
    let reply = NativeReply { text: "done".into(), structured };
    let mut outcome = outcome(call.id, Ok(Payload::Native(reply)));
    outcome.paths = vec!["src/a.rs".into()];
    outcome.directives = vec![tectum_core::Directive::StopProcessing];
    keep(&writer, Seen { call: &call, outcome: &outcome, trail: &trail, tools: &Snapshot::default() }).await;
    let entries = scene.entries();
    let json = serde_json::to_value(&entries[0]).expect("JSON");
    assert_eq!(json["id"], call.id.to_string());
    assert_eq!(json["took"], 3000);
    assert_eq!(json["session"], writer.session(&call.session));
    assert_eq!(json["client"], json!({ "door": "stdio", "name": "inspector", "version": "1.2" }));
    assert_eq!((&json["tool"], &json["effect"]), (&json!("do"), &json!("change")));
    assert_eq!(json["verdict"], json!({ "judgement": "ask", "rule": "ask rule `do` (tectum.toml:3)" }));
    let asked =
        json!({ "id": "q-1", "by": "client", "approved": true, "waited": 2000, "instead_of": {"a": 1} });
    assert_eq!(json["asked"], asked);
    assert_eq!(json["paths"], json!(["src/a.rs"]));
    assert_eq!(json["directives"], json!([{ "type": "stop_processing" }]));
    assert_eq!(json["ending"]["native"]["text"], "done");
    assert_eq!(json["sandbox"], "enforced");
    assert_eq!((&json["bytes_in"], &json["tokens_out"]), (&json!(15), &json!(1)));
    let mode = |path: &std::path::Path| path.metadata().expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&scene.only()), mode(&scene.settings.folder)), (0o600, 0o700));
    let offset = fs::read_to_string(scene.only()).expect("text").find('\n').expect("two lines") as u64 + 1;
    assert_eq!(entry_at(&scene.only(), offset).expect("read").expect("there").id, call.id.to_string());
}

#[tokio::test]
async fn a_fault_is_recorded_with_its_cause_and_white_space_keeps_a_record_on_its_line() {
    let scene = Scene::new();
    let writer = scene.writer();
    let args = serde_json::value::RawValue::from_string("{\n  \"subject\": \"a\"\r\n}".into()).expect("JSON");
    let call = Call::new(SessionId::new("cli"), "do", args);
    let mut fault = Fault::new(FaultKind::NotFound, "no such file").hint("look for it");
    fault.source = Some("errno 2".into());
    record(&writer, &call, Err(fault)).await;
    let entry = serde_json::to_value(&scene.entries()[0]).expect("JSON");
    let failure =
        json!({ "kind": "not_found", "message": "no such file", "hint": "look for it", "source": "errno 2" });
    assert_eq!(entry["ending"], json!({ "fault": failure }));
    assert_eq!((&entry["client"]["door"], &entry["args"]["subject"]), (&json!("cli"), &json!("a")));
    assert_eq!(fs::read_to_string(scene.only()).expect("text").lines().count(), 2);
}

#[tokio::test]
async fn results_of_any_size_are_recorded_and_the_largest_are_counted() {
    let scene = Scene::new();
    let writer = scene.writer();
    record(&writer, &call("large"), said(&"x".repeat(3 << 19))).await;
    record(&writer, &call("too large"), said(&"x".repeat(5 << 20))).await;
    record(&writer, &call(&"y".repeat(5 << 20)), said("fine")).await;
    let entries = scene.entries();
    let ending = |n: usize| serde_json::to_value(&entries[n].ending).expect("JSON");
    assert_eq!(ending(0)["native"]["text"].as_str().map(str::len), Some(3 << 19));
    assert_eq!(ending(1), json!({ "omitted": {} }));
    assert!(entries[1].bytes_out > 10 << 20);
    assert!(entries[2].args.get().contains("bytes are not kept"), "{:?}", entries[2].args);
}

#[tokio::test]
async fn secrets_do_not_reach_the_disk() {
    let scene = Scene::new();
    let writer = scene.writer();
    let secret = format!("ghp_{}", "q7Rw2Tz9Yx4Vb6Nm1Kj8Hg3Fd5Sa0LpCuEo7");
    let call = call(&format!("curl -H 'Authorization: Bearer {secret}'"));
    record(&writer, &call, said(&format!("export TOKEN={secret}"))).await;
    let mut fault = Fault::internal(format!("cannot reach https://me:{secret}@example.com"));
    fault.source = Some(format!("panicked at {secret}").into());
    record(&writer, &call, Err(fault)).await;
    writer.hook("GET", &format!("/api?token={secret}"), &format!("{{\"key\":\"{secret}\"}}"), 200);
    for segment in scene.segments() {
        let text = fs::read_to_string(segment.path).expect("text");
        assert!(!text.contains("q7Rw2Tz9Y"), "{text}");
        assert!(text.matches("[redacted]").count() >= 6, "{text}");
    }
}

#[tokio::test]
async fn a_flipped_byte_is_told_with_its_place_and_all_others_are_read() {
    let scene = Scene::new();
    record_all(&scene.writer(), names(0..4)).await;
    let path = scene.only();
    let whole = fs::read(&path).expect("read");
    let lines: Vec<usize> = std::iter::once(0)
        .chain(whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1))
        .collect();
    for at in 0..whole.len() {
        let flipped = [whole[at] ^ 1, b'\n', 0][at % 3];
        let mut bytes = whole.clone();
        bytes[at] = flipped;
        if bytes == whole {
            continue;
        }
        fs::write(&path, &bytes).expect("written");
        // The first line is the start of the process, so the second one is call 0.
        let hit = lines.iter().rposition(|start| *start <= at).expect("a line").checked_sub(1);
        let expect: Vec<String> = (0..4).filter(|n| Some(*n) != hit).map(|n| n.to_string()).collect();
        let mut read = scene.subjects();
        // A separator belongs to no record, so that none is lost.
        read.retain(|n| expect.contains(n));
        assert_eq!(read, expect, "byte {at} of {} became {flipped}", whole.len());
        let found = verify(&scene.settings.folder).expect("verified");
        let told = found.damages.iter().chain(&found.torn);
        let mut told = told.map(|(path, damage)| (path, damage.offset..damage.offset + damage.length));
        let is_told = told.any(|(other, range)| *other == path && range.contains(&(at as u64)));
        assert!(is_told, "byte {at}: {found:?}");
    }
    fs::write(&path, &whole).expect("written");
    let found = verify(&scene.settings.folder).expect("verified");
    assert_eq!((found.records, found.damages.len(), found.torn.len()), (5, 0, 0), "{found:?}");
}

#[tokio::test]
async fn a_torn_tail_is_set_aside_wherever_it_was_cut_and_never_fused() {
    let scene = Scene::new();
    record_all(&scene.writer(), names(0..3)).await;
    let path = scene.only();
    let whole = fs::read(&path).expect("read");
    let third = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').expect("lines") + 1;
    for cut in (third + 1..whole.len()).step_by(11).chain([whole.len() - 1]) {
        fs::write(&path, &whole[..cut]).expect("cut");
        record_all(&scene.writer(), names(7..8)).await;
        assert_eq!(scene.subjects(), ["0", "1", "7"], "cut at {cut}");
        let found = verify(&scene.settings.folder).expect("verified");
        assert!(found.damages.is_empty() && found.torn.is_empty(), "cut at {cut}: {found:?}");
        assert_eq!(fs::read(&found.aside[0]).expect("aside"), &whole[third..cut]);
        fs::remove_file(&found.aside[0]).expect("removed");
    }
}

#[tokio::test]
async fn processes_that_write_together_have_segments_of_their_own_and_later_ones_go_on_in_them() {
    let scene = Scene::new();
    let (one, other) = (scene.writer(), scene.writer());
    for n in 0..10 {
        record_all(if n % 2 == 0 { &one } else { &other }, names(n..n + 1)).await;
    }
    assert_eq!(scene.segments().len(), 2);
    one.close();
    other.close();
    record_all(&scene.writer(), names(10..11)).await;
    assert_eq!(scene.segments().len(), 2, "a segment is continued");
    let mut subjects = scene.subjects();
    subjects.sort_by_key(|n| n.parse::<u32>().expect("a number"));
    assert_eq!(subjects, names(0..11));
    assert!(verify(&scene.settings.folder).expect("verified").damages.is_empty());
}

#[tokio::test]
async fn a_full_segment_is_followed_by_one_that_continues_its_chain() {
    let mut scene = Scene::new();
    scene.settings.segment = 2000;
    record_all(&scene.writer(), names(0..20)).await;
    assert!(scene.segments().len() > 3);
    assert_eq!(scene.subjects(), names(0..20));
    let found = verify(&scene.settings.folder).expect("verified");
    assert!(found.damages.is_empty() && found.torn.is_empty(), "{found:?}");
    // A segment that somebody replaces by another does not continue the one before.
    let segments = scene.segments();
    fs::copy(&segments[1].path, &segments[2].path).expect("replaced");
    assert!(!verify(&scene.settings.folder).expect("verified").damages.is_empty());
}

#[tokio::test]
async fn the_oldest_segments_go_when_there_is_too_much_or_too_old() {
    let mut scene = Scene::new();
    (scene.settings.segment, scene.settings.most) = (2000, 8000);
    record_all(&scene.writer(), names(0..60)).await;
    let size: u64 = scene.segments().iter().map(|segment| segment.size).sum();
    assert!(size < 10_000, "{size}");
    let subjects = scene.subjects();
    assert_eq!(subjects, names(60 - subjects.len()..60), "the newest are there, without a gap");
    assert!(verify(&scene.settings.folder).expect("verified").damages.is_empty());
    scene.settings.longest = Duration::ZERO;
    scene.settings.segment = 100;
    record_all(&scene.writer(), names(60..61)).await;
    assert_eq!(scene.subjects(), ["60"]);
}

#[tokio::test]
async fn a_segment_with_a_writer_is_not_removed_and_one_that_is_removed_is_replaced() {
    let mut scene = Scene::new();
    let first = scene.writer();
    record_all(&first, names(0..1)).await;
    (scene.settings.segment, scene.settings.longest) = (100, Duration::ZERO);
    record_all(&scene.writer(), names(1..3)).await;
    record_all(&first, names(3..4)).await;
    let mut subjects = scene.subjects();
    subjects.sort();
    assert_eq!(subjects, ["0", "2", "3"]);
    fs::remove_dir_all(&scene.settings.folder).expect("removed");
    record_all(&first, names(4..5)).await;
    assert_eq!(scene.subjects(), ["4"]);
}

#[tokio::test]
async fn records_are_synced_before_the_answer_where_that_is_wanted() {
    for sync in [SyncPolicy::Always, SyncPolicy::Interval] {
        let mut scene = Scene::new();
        scene.settings.sync = sync;
        let writer = scene.writer();
        let calls = (0..64).map(|n| {
            let writer = writer.clone();
            tokio::spawn(async move { record_all(&writer, names(n..n + 1)).await })
        });
        for call in calls.collect::<Vec<_>>() {
            call.await.expect("recorded");
        }
        writer.close();
        record_all(&writer, names(64..65)).await;
        let mut subjects = scene.subjects();
        subjects.sort_by_key(|n| n.parse::<u32>().expect("a number"));
        assert_eq!(subjects, names(0..65));
    }
}

#[tokio::test]
async fn changes_are_refused_while_nothing_can_be_recorded_and_the_gap_is_told() {
    let scene = Scene::new();
    let writer = scene.writer();
    // A file in the place of the folder: nothing can be created there, whoever asks.
    fs::write(&scene.settings.folder, "").expect("written");
    let fault = writer.ready_for(&call("x")).expect_err("refused");
    assert!(fault.message.contains("could not be recorded"), "{fault}");
    assert!(fault.hint.as_deref().unwrap_or_default().contains("make room"), "{fault:?}");
    record_all(&writer, names(0..3)).await;
    fs::remove_file(&scene.settings.folder).expect("removed");
    writer.ready_for(&call("x")).expect("it recovers by itself");
    record_all(&writer, names(3..4)).await;
    assert_eq!(scene.subjects(), ["3"]);
    let gap = scene.records().into_iter().find_map(|record| match record {
        Record::Gap(gap) => Some(gap),
        _ => None,
    });
    assert!(matches!(gap, Some(Gap { calls: 3, .. })), "{gap:?}");
    drop(writer);
    assert_eq!(fs::metadata(scene.only()).expect("there").len(), scene.segments()[0].size);
}

#[tokio::test]
async fn the_files_for_people_say_the_same() {
    let mut scene = Scene::new();
    scene.settings.seed = Some(scene.home.path().to_owned());
    let writer = scene.writer();
    let script = "echo \"a\tb\"\n\n# ends without a line break";
    let args = to_raw_value(&json!({ "command": script, "stdin": "in" })).expect("JSON");
    let ran = Call::new(SessionId::new("cli"), "run_shell", args);
    let report =
        json!({ "stdout": "out", "stderr": "err", "exit_code": 3, "sandbox": "enforced" }).to_string();
    let reply = NativeReply { text: "STDOUT:\nout".into(), structured: report };
    record(&writer, &ran, Ok(Payload::Native(reply))).await;
    record(&writer, &call("a"), Err(Fault::not_found("no such thing").hint("look"))).await;
    writer.hook("GET", "/api/policy", "a\nb", 200);
    let sessions = scene.home.path().join("logs/sessions");
    let folders: Vec<PathBuf> =
        fs::read_dir(&sessions).expect("there").map(|entry| entry.expect("one").path()).collect();
    let [folder] = &folders[..] else { panic!("{folders:?}") };
    let name = folder.file_name().expect("named").to_string_lossy().into_owned();
    assert!(name.len() == "20261118_044000_test".len() && name.ends_with("_test"), "{name}");
    let read = |name: &str| fs::read_to_string(folder.join(name)).expect(name);
    let lines = |name: &str| -> Vec<serde_json::Value> {
        read(name).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let comms = lines("comms.log");
    let ways: Vec<_> = comms.iter().map(|line| line["direction"].as_str().expect("a word")).collect();
    assert_eq!(ways, ["IN", "OUT", "IN", "OUT"]);
    assert_eq!(comms[0]["kind"], "tool_call");
    assert_eq!(comms[0]["payload"]["args"]["command"], script);
    let commands = lines("clicalls.log");
    assert_eq!(commands.len(), 1);
    for (key, value) in [("command", script), ("stdin", "in"), ("stdout", "out"), ("stderr", "err")] {
        assert_eq!(commands[0][key], value);
    }
    assert_eq!(commands[0]["latency"], 0.003);
    let hook = read("apihooks.log");
    assert!(hook.ends_with("] GET /api/policy a b\n") && hook.lines().count() == 1, "{hook}");
    let scripts: Vec<PathBuf> = fs::read_dir(folder.join("scripts/generated"))
        .expect("there")
        .map(|entry| entry.expect("one").path())
        .collect();
    assert_eq!(scripts.len(), 1);
    assert!(scripts[0].to_string_lossy().ends_with("_0001.sh"), "{scripts:?}");
    assert_eq!(fs::read_to_string(&scripts[0]).expect("there"), script);
    let tools = read("toolcalls.log");
    assert!(tools.starts_with("## 0001 ") && tools.contains("## 0002 "), "{tools}");
    assert!(tools.contains("ERROR: no such thing\nHint: look"), "{tools}");
}
