//! The record after kills, damage and full disks.

use std::{
    collections::BTreeSet,
    io::{BufRead as _, Write as _},
    path::Path,
};

use serde_json::{Value, json};
use tectum_journal::{Record, segments, verify};

use crate::{
    federated::echo,
    journal::{entries, folder, records},
    kill::{strace_said, system_calls_in},
    rig::{Rig, text},
};

/// The paths that recorded calls name.
fn paths(rig: &Rig) -> BTreeSet<String> {
    let path = |args: &str| serde_json::from_str::<Value>(args).ok()?["path"].as_str().map(ToOwned::to_owned);
    entries(rig).iter().filter_map(|entry| path(entry.args.get())).collect()
}

/// Makes one more call, which sets aside what a killed process left, and checks that all is well then.
#[track_caller]
fn goes_on(rig: &Rig, place: &str) {
    rig.run(&["call", "read_file", "path=and on"]);
    let found = verify(&folder(rig)).expect("verified");
    assert!(found.damages.is_empty() && found.torn.is_empty(), "{place}: {found:?}");
    assert!(found.aside.len() <= 1, "{place}: {found:?}");
    assert!(paths(rig).contains("and on"), "{place}");
}

/// A project in which calls of every kind may run.
fn scene() -> Rig {
    let rig = Rig::with(&[("a.txt", "two\n"), ("b.txt", "one\n")]);
    rig.configure(&format!("[permissions]\nallow = [\"run_shell\"]\n{}", echo("e", &[], "")));
    rig
}

#[test]
fn heavy_a_kill_at_every_system_call_loses_no_answered_call() {
    for (tool, args, says) in [
        ("read_file", &["path=a.txt"][..], "two"),
        ("edit_file", &["path=a.txt", "old_string=two", "new_string=four"], "four"),
        ("run_shell", &["command=cat a.txt"], "two"),
        ("e__echo", &["text=a.txt has two"], "two"),
    ] {
        let mut tried = 0;
        for (call, times) in system_calls_in(&scene(), tool, args) {
            // What looks and lets go is tried with the first tool.
            if tool != "read_file" && ["close", "statx", "newfstatat", "openat2"].contains(&call.as_str()) {
                continue;
            }
            for nth in 1..=times {
                let rig = scene();
                assert!(rig.run(&["call", "read_file", "path=b.txt"]).status.success());
                let inject = format!("inject={call}:signal=KILL:when={nth}");
                let options = ["-e", &format!("trace={call}"), "-e", &inject];
                let (ok, said) = strace_said(&rig, tool, args, &options);
                let place = format!("{tool} killed at {call} #{nth}");
                let is_recorded = || {
                    let all = entries(&rig);
                    all.iter().any(|entry| entry.tool == tool && entry.args.get().contains("a.txt"))
                };
                assert!(!(ok || said.contains(says)) || is_recorded(), "{place}: {said}");
                goes_on(&rig, &place);
                tried += 1;
            }
        }
        assert!(tried > 20, "{tool}: only {tried} system calls were tried");
    }
}

#[test]
fn heavy_a_kill_between_a_new_segment_and_the_end_of_an_old_one_loses_nothing() {
    const CALLS: usize = 60;
    let names: Vec<String> = (0..CALLS).map(|number| format!("{number}.txt")).collect();
    let text = "a line of text\n".repeat(200);
    let rig = Rig::with(&names.iter().map(|name| (name.as_str(), text.as_str())).collect::<Vec<_>>());
    rig.configure("[journal]\nkeep = \"64k\"\n");
    let inject = ["-f", "-e", "trace=unlink,unlinkat", "-e", "inject=unlink,unlinkat:signal=KILL:when=1"];
    let read = |name: &String| strace_said(&rig, "read_file", &[&format!("path={name}")], &inject).0;
    let answered = names.iter().take_while(|name| read(name)).count();
    assert!((4..CALLS).contains(&answered), "killed at the first end of a segment, after {answered}");
    let before = segments(&folder(&rig)).expect("listed");
    assert!(before.iter().map(|segment| segment.size).sum::<u64>() > 64 << 10, "{before:?}");
    let recorded = paths(&rig);
    assert!(names[..answered].iter().all(|name| recorded.contains(name)), "{recorded:?}");
    goes_on(&rig, "between both");
    let after = segments(&folder(&rig)).expect("listed");
    assert!(after.iter().map(|segment| segment.size).sum::<u64>() < 80 << 10, "{after:?}");
    assert!(paths(&rig).contains(&names[answered - 1]), "the newest stay");
}

#[test]
fn heavy_kills_in_the_middle_of_a_stream_lose_no_answered_call() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    for round in 0..20 {
        let mut client = rig.stdio();
        let burst: String = (0..200)
            .map(|n| {
                let params = json!({ "name": "read_file", "arguments": { "path": format!("{round}-{n}") } });
                let call = json!({ "jsonrpc": "2.0", "id": n, "method": "tools/call", "params": params });
                format!("{call}\n")
            })
            .collect();
        let mut stdin = client.stdin.take().expect("open");
        let writing = std::thread::spawn(move || drop(stdin.write_all(burst.as_bytes())));
        let mut answered = BTreeSet::new();
        for _ in 0..=round * 9 {
            answered.insert(client.receive()["id"].as_u64().expect("a number"));
        }
        client.child.kill().expect("killed");
        // What was on its way when it was killed was answered, too.
        for line in (&mut client.stdout).lines().map_while(Result::ok) {
            answered
                .extend(serde_json::from_str::<Value>(&line).ok().and_then(|answer| answer["id"].as_u64()));
        }
        client.child.wait().expect("ends");
        writing.join().expect("ends");
        let recorded = paths(&rig);
        for id in answered {
            assert!(recorded.contains(&format!("{round}-{id}")), "call {id} of round {round} was answered");
        }
        goes_on(&rig, &format!("round {round}"));
    }
    assert_eq!(segments(&folder(&rig)).expect("listed").len(), 1, "each goes on where the last one was");
}

#[test]
fn a_torn_tail_is_set_aside_and_a_flipped_byte_is_told_with_its_place() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    for path in ["x", "y", "z"] {
        rig.run(&["call", "read_file", &format!("path={path}")]);
    }
    let folder = folder(&rig);
    let segment = segments(&folder).expect("listed").remove(0).path;
    let whole = std::fs::read(&segment).expect("read");
    std::fs::write(&segment, &whole[..whole.len() - 9]).expect("torn");
    goes_on(&rig, "after a tear");
    let found = verify(&folder).expect("verified");
    let [aside] = &found.aside[..] else { panic!("{found:?}") };
    assert!(whole.ends_with(&[&std::fs::read(aside).expect("kept")[..], &whole[whole.len() - 9..]].concat()));
    assert_eq!(paths(&rig), ["and on", "x", "y"].map(Into::into).into());

    let mut bytes = std::fs::read(&segment).expect("read");
    let at = bytes.windows(10).position(|part| part == br#""path":"y""#).expect("there") + 8;
    bytes[at] = b'q';
    std::fs::write(&segment, bytes).expect("flipped");
    let found = verify(&folder).expect("verified");
    let [(path, damage)] = &found.damages[..] else { panic!("{found:?}") };
    assert_eq!(*path, segment);
    assert!((damage.offset..damage.offset + damage.length).contains(&(at as u64)), "{damage:?}");
    let read: Vec<String> = segments(&folder)
        .expect("listed")
        .iter()
        .flat_map(|segment| segment.read_from(0).expect("opened").expect("there"))
        .filter_map(|piece| match piece {
            tectum_journal::Piece::Line(line) => Some(line.json),
            _ => None,
        })
        .collect();
    for (word, there) in [("x", true), ("y", false), ("q", false), ("and on", true)] {
        let path = format!(r#""path":"{word}""#);
        assert_eq!(read.iter().any(|json| json.contains(&path)), there, "{word}");
    }
}

const EDIT: fn(&str, &str) -> Value =
    |old, new| json!({ "path": "a.txt", "old_string": old, "new_string": new });

#[test]
fn a_full_disk_stops_changes_and_no_readers_and_recovers_by_itself() {
    let rig = Rig::with(&[("a.txt", "one\n"), ("large.txt", &"a line of text\n".repeat(1000))]);
    let state = rig.home().join("state");
    std::fs::create_dir_all(&state).expect("made");
    let mut command = rig.command("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
    command.arg(r#"mount -t tmpfs -o size=2m full "$0" && exec "$1" serve"#);
    command.arg(&state).arg(env!("CARGO_BIN_EXE_tectum"));
    let mut client = Rig::client(command);
    client.handshake();
    // The disk as the server sees it.
    let inside = Path::new("/proc").join(client.child.id().to_string()).join("root");
    let disk = inside.join(state.strip_prefix("/").expect("absolute"));
    let filler = disk.join("filler");
    let edited = client.call("edit_file", EDIT("one", "two"));
    assert_eq!(edited["isError"], false, "{edited}");

    let mut fill = std::fs::File::create(&filler).expect("created");
    while fill.write_all(&[0; 4096]).is_ok() {}
    drop(fill);
    // Room that was taken ahead is used up first.
    for _ in 0..100 {
        let read = client.call("read_file", json!({ "path": "large.txt" }));
        assert_eq!(read["isError"], false, "reading goes on: {read}");
    }
    let refused = client.call("edit_file", EDIT("two", "four"));
    assert!(text(&refused).contains("could not be recorded: No space left"), "{refused}");
    assert!(text(&refused).contains("make room"), "{refused}");
    assert_eq!(rig.read("a.txt"), "two\n");

    std::fs::remove_file(&filler).expect("removed");
    let edited = client.call("edit_file", EDIT("two", "three"));
    assert_eq!(edited["isError"], false, "it works again: {edited}");
    let projects = disk.join("tectum/projects");
    let project = std::fs::read_dir(projects).expect("there").next().expect("one").expect("one").path();
    let records = records(&project.join("journal"));
    assert!(records.iter().any(|record| matches!(record, Record::Gap(gap) if gap.calls > 0)));
    assert!(matches!(records.last(), Some(Record::Call(entry)) if entry.tool == "edit_file"));
}

#[test]
fn a_change_whose_record_may_fail_is_not_made() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    for (call, when) in [("fallocate", "1+"), ("pwrite64", "1+")] {
        let inject = format!("inject={call}:error=ENOSPC:when={when}");
        let options = ["-f", "-e", &format!("trace={call}"), "-e", &inject];
        let args = ["path=a.txt", "old_string=one", "new_string=two"];
        let (ok, said) = strace_said(&rig, "edit_file", &args, &options);
        assert!(!ok && said.contains("could not be recorded: No space left"), "{call}: {said}");
        assert_eq!(rig.read("a.txt"), "one\n", "{call}");
        let (ok, said) = strace_said(&rig, "read_file", &["path=a.txt"], &options);
        assert!(ok && said.contains("one"), "{call}: {said}");
    }
}

#[test]
fn calls_in_flight_share_a_sync() {
    let rig = Rig::with(&[("a.txt", "one\n")]);
    rig.configure("[journal]\nsync = \"always\"\n");
    let log = rig.outside().join("calls");
    let mut strace = rig.command("strace");
    // A slow disk: while it syncs for the first call, others come.
    strace.args(["-f", "-qq", "-y", "-e", "trace=fdatasync", "-e", "inject=fdatasync:delay_enter=100000"]);
    strace.arg("-o").arg(&log);
    strace.arg(env!("CARGO_BIN_EXE_tectum")).arg("serve");
    let mut client = Rig::client(strace);
    client.handshake();
    const BURST: usize = 64;
    let burst: Vec<String> = (0..BURST)
        .map(|n| {
            let params = json!({ "name": "read_file", "arguments": { "path": "a.txt" } });
            json!({ "jsonrpc": "2.0", "id": format!("b{n}"), "method": "tools/call", "params": params })
                .to_string()
        })
        .collect();
    client.send_line(&burst.join("\n"));
    for _ in 0..BURST {
        assert!(client.receive()["result"].is_object());
    }
    assert_eq!(entries(&rig).len(), BURST);
    let (status, said) = client.close();
    assert!(status.success(), "{said}");
    let calls = std::fs::read_to_string(log).expect("readable");
    let syncs = calls.lines().filter(|line| line.contains("fdatasync(") && line.contains(".journal")).count();
    assert!((1..BURST).contains(&syncs), "{syncs} syncs for {BURST} calls:\n{calls}");
}
