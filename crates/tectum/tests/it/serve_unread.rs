//! A client on a pipe that stops reading: memory stays bounded, and what must arrive arrives.

use rustix::io::ioctl_fionread;
use serde_json::json;

use crate::{
    federated::{Client, Era, echo, until, with},
    resident::Resident,
    rig::{Rig, text},
};

/// Bytes that a process has read so far.
fn bytes_read(pid: u32) -> u64 {
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).expect("a process");
    let line = io.lines().find_map(|line| line.strip_prefix("rchar: ")).expect("a line");
    line.parse().expect("a number")
}

#[test]
fn notes_for_a_client_that_does_not_read_are_dropped_and_answers_are_kept() {
    const NOTES: u64 = 8_000;
    for era in Era::ALL {
        let rig = with(&echo("one", &[], ""));
        let mut client = Client::new(&rig, era);
        client.until_listed("one__progress");
        let pid = client.pipe.child.id();
        let (memory, read) = (Resident::now(pid), bytes_read(pid));
        // The client's own token stands in every note, so each of them is large.
        let token = "t".repeat(32 * 1024);
        let params = json!({"name": "one__progress", "arguments": {"count": NOTES},
            "_meta": {"progressToken": token}});
        let flood = client.start("tools/call", params);
        let others: Vec<u64> = (0..20).map(|_| client.begin("read_file", json!({"path": "a.txt"}))).collect();
        let sums: Vec<u64> = (0..20).map(|n| client.begin("one__add", json!({"a": n, "b": 1}))).collect();
        until("the whole flood", || bytes_read(pid) - read > NOTES * 60 || memory.growth() > 64 << 20);
        assert!(memory.growth() < 64 << 20, "{era:?}: {} bytes", memory.growth());
        assert_eq!(text(&client.wait(flood)["result"]), format!("{NOTES} notes were sent."));
        for id in others {
            assert_eq!(text(&client.wait(id)["result"]), "hello\n");
        }
        for (id, sum) in sums.into_iter().zip(1..) {
            assert_eq!(text(&client.wait(id)["result"]), format!("{sum}"));
        }
        let heard: Vec<u64> =
            client.notes.iter().filter_map(|note| note["params"]["progress"].as_u64()).collect();
        assert!(heard.is_sorted() && !heard.is_empty(), "{heard:?}");
        assert!(memory.growth() < 64 << 20, "{era:?}: {} bytes", memory.growth());
        println!("{era:?}: {} of {NOTES} notes heard, {} MiB", heard.len(), memory.growth() >> 20);
    }
}

#[test]
fn large_answers_wait_for_a_client_that_does_not_read() {
    const CALLS: u64 = 120;
    let rig = Rig::with(&[("large.txt", &"words, words\n".repeat(40_000))]);
    let mut client = rig.stdio();
    assert_eq!(client.call("read_file", json!({"path": "large.txt"}))["isError"], false);
    let memory = Resident::now(client.child.id());
    let ask = |id: u64| {
        let params = json!({"name": "read_file", "arguments": {"path": "large.txt"}});
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
    };
    let all: String = (1000..1000 + CALLS).map(ask).collect();
    assert!(all.len() < 60_000, "one read takes all of it");
    client.send_line(all.trim_end());
    until("a full pipe", || ioctl_fionread(client.stdout.get_ref()).expect("a pipe") > 500_000);
    let mut answered: Vec<u64> = (0..CALLS)
        .map(|_| {
            let answer = client.receive();
            assert_eq!(answer["result"]["isError"], false);
            answer["id"].as_u64().expect("an id")
        })
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, (1000..1000 + CALLS).collect::<Vec<_>>());
    assert!(memory.growth() < 96 << 20, "{} bytes", memory.growth());
    println!("{CALLS} large answers, {} MiB", memory.growth() >> 20);
}
