//! Reading the record costs no more memory when ten times as much is in it.

use std::{process::Command, time::Duration};

use serde_json::{json, value::to_raw_value};
use tectum::{
    Call, Outcome, Payload, SessionId,
    core::{NativeReply, Recorder as _, Seen, Snapshot, Trail},
};
use tectum_journal::{Settings, SyncPolicy, Writer};
use tectum_redact::Redactor;

use crate::rig::Rig;

/// Calls of one session.
const SESSION: usize = 500;
/// Records of the smaller journal, the larger one has ten times as many: about 30 MB.
const FEW: usize = 2_000;
/// What the caches of the database take until they are full.
const BUFFERS_KB: u64 = 40 * 1024;
/// What a reader's cache of 16 MB takes until it is full, and an allocator keeps. Whoever held the larger record
/// would take more than twice of that.
const SLACK_KB: u64 = 20 * 1024;

/// Records so many calls, each with a text of about a kilobyte.
fn recorded(calls: usize) -> Rig {
    let rig = Rig::new();
    rig.run(&["call", "list_directory"]);
    let said = rig.run(&["log", "path"]);
    let folder = String::from_utf8(said.stdout).expect("UTF-8").trim().to_owned();
    let settings = Settings {
        folder: folder.into(),
        sync: SyncPolicy::Off,
        segment: 4 << 20,
        most: u64::MAX,
        longest: Duration::from_secs(24 * 60 * 60),
        seed: None,
        command: "serve".into(),
        directory: rig.project(),
    };
    let writer = Writer::new(settings, || Redactor::new(&[], &[]));
    for number in 0..calls {
        let path = format!("src/file{}.rs", number % 97);
        let args = to_raw_value(&json!({ "path": path })).expect("JSON");
        let call = Call::new(SessionId::new(format!("s{}", number / SESSION)), "read_file", args);
        let words: Vec<String> =
            (0..120).map(|word| format!("w{:x}", (number * 131 + word * 7919) % 65_521)).collect();
        let text = format!("needle{number} {}", words.join(" "));
        let structured = json!({ "path": path }).to_string();
        let outcome = Outcome {
            edited: None,
            call: call.id,
            result: Ok(Payload::Native(NativeReply { text, structured })),
            directives: Vec::new(),
            paths: Vec::new(),
            took: Duration::from_micros(20),
        };
        let (trail, tools) = (Trail::default(), Snapshot::default());
        let seen = Seen { call: &call, outcome: &outcome, trail: &trail, tools: &tools };
        assert!(writer.record(seen).is_none(), "nobody waits for the disk");
    }
    writer.close();
    rig
}

/// The most memory that a command had at a time, in KiB.
fn peak(rig: &Rig, args: &[&str]) -> u64 {
    const RUN: &str = "import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
    let mut command: Command = rig.command("python3");
    let output = command.args(["-c", RUN, env!("CARGO_BIN_EXE_tectum")]).args(args).output().expect("runs");
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim().parse().expect("a number")
}

#[test]
fn ten_times_the_record_takes_no_more_memory_to_read() {
    let (small, large) = (recorded(FEW), recorded(10 * FEW));
    [&small, &large].iter().for_each(|rig| drop(rig.run(&["log", "list"])));
    for args in [
        &["log", "list", "--json"][..],
        &["log", "search", "needle7", "--json"],
        &["log", "stats", "--json"],
        &["log", "show", "last", "--json"],
        &["log", "export", "--format", "jsonl"],
        &["log", "verify"],
        &["replay", "last", "--json"],
    ] {
        let (few, many) = (peak(&small, args), peak(&large, args));
        assert!(
            many <= few + SLACK_KB,
            "{args:?}: {few} KiB for {FEW} records, {many} for ten times as many"
        );
    }
}

#[test]
fn soak_an_index_is_made_in_bounded_memory() {
    let each = if std::env::var_os("TECTUM_SOAK").is_some() { 50_000 } else { 1_000 };
    let made = |records: usize| peak(&recorded(records), &["log", "list", "--json"]);
    let (few, many) = (made(each), made(4 * each));
    println!("soak: peak of the index of {each} and of {} records | {few} and {many} KiB", 4 * each);
    assert!(many <= few + BUFFERS_KB, "{few} KiB to index {each} records, {many} for four times as many");
}
