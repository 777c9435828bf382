//! Several clients of one project in one house, and what becomes of them when it ends.
#![cfg(target_os = "linux")]

use std::io::Write as _;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, lives, marked, starts, until},
    rig::{Rig, Stdin, text},
};

const JOINS: &str = "[serve]\njoin = \"auto\"\n[permissions]\nallow = [\"run_shell\", \"shell_write\"]\n";

fn rig() -> Rig {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    rig.configure(JOINS);
    rig
}

fn houses(rig: &Rig) -> Vec<Value> {
    let output = rig.run(&["status", "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    told["houses"].as_array().expect("a list").clone()
}

#[track_caller]
fn reads(client: &mut Stdin) {
    let read = client.call("read_file", json!({"path": "a.txt"}));
    assert!(text(&read).contains("hello"), "{read}");
}

/// Begins a call and waits until it runs.
fn begin_call(rig: &Rig, client: &mut Stdin, id: &str) -> u32 {
    let marker = rig.project().join(format!("began-{}", id.trim_matches('"')));
    let command = format!("echo $$ > {}; exec sleep 1000", marker.display());
    let params = json!({"name": "run_shell", "arguments": {"command": command, "yield_ms": 120_000}});
    client.send_line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#));
    let pid = || std::fs::read_to_string(&marker).unwrap_or_default().trim().parse::<u32>().ok();
    until("the command runs", || pid().is_some());
    pid().expect("a number")
}

#[track_caller]
fn is_lost(answer: &Value, id: &Value) {
    assert_eq!(&answer["id"], id, "{answer}");
    let result = &answer["result"];
    assert_eq!((&result["isError"], &result["_meta"]["tectum/fault"]), (&json!(true), &json!("upstream")));
    assert!(text(result).contains("ended before it answered"), "{answer}");
}

#[test]
fn the_second_client_joins_the_first_ones_house_and_servers_start_once() {
    let rig = rig();
    let marker = rig.outside().join("starts");
    rig.configure(&format!("{JOINS}{}", marked("one", &marker, &[], "")));
    let (mut first, mut second) = (Client::new(&rig, Era::Legacy), Client::new(&rig, Era::Legacy));
    for client in [&mut first, &mut second] {
        client.until_listed("one__echo");
        let echoed = client.call("one__echo", json!({"text": "there"}));
        assert!(text(&echoed).contains("there"), "{echoed}");
    }
    assert_eq!(starts(&marker).len(), 1);
    let told = houses(&rig);
    assert_eq!((told.len(), &told[0]["pid"]), (1, &json!(first.pipe.child.id())), "{told:?}");
    assert_eq!(told[0]["clients"].as_array().map(Vec::len), Some(2));
    assert!(second.pipe.close().0.success());
    until("its client is gone", || houses(&rig)[0]["clients"].as_array().map(Vec::len) == Some(1));
    first.call("one__echo", json!({"text": "still"}));
}

#[test]
fn sessions_are_told_apart_and_end_with_their_client() {
    let rig = rig();
    let (mut first, mut second) = (rig.stdio(), rig.stdio());
    let begun = second.call("run_shell", json!({"command": "exec sleep 1000", "yield_ms": 100}));
    assert!(begun["structuredContent"]["session"].is_string(), "{begun}");
    let listed = first.call("shell_list", json!({}));
    assert!(!text(&listed).contains("sleep 1000"), "{listed}");
    let listed = second.call("shell_list", json!({}));
    assert!(text(&listed).contains("sleep 1000"), "{listed}");
    let marker = rig.project().join("pid");
    let command = format!("echo $$ > {}; exec sleep 1000", marker.display());
    second.call("run_shell", json!({"command": command, "yield_ms": 100}));
    let pid = || std::fs::read_to_string(&marker).unwrap_or_default().trim().parse::<u32>().ok();
    until("it runs", || pid().is_some());
    assert!(second.close().0.success());
    let pid = pid().expect("a number");
    until("it ends with its client", || !lives(pid));
    reads(&mut first);
}

#[test]
fn a_killed_house_costs_the_calls_in_flight_and_nothing_else() {
    let rig = rig();
    let (mut first, mut second) = (rig.stdio(), rig.stdio());
    reads(&mut second);
    begin_call(&rig, &mut second, "\"a\"");
    begin_call(&rig, &mut second, "900");
    first.child.kill().expect("killed");
    first.child.wait().expect("ended");
    is_lost(&second.receive(), &json!("a"));
    is_lost(&second.receive(), &json!(900));
    reads(&mut second);
    let told = houses(&rig);
    assert_eq!((told.len(), &told[0]["pid"]), (1, &json!(second.child.id())), "{told:?}");
    assert_eq!(told[0]["clients"][0]["name"], "rig", "the handshake was repeated");
    let mut third = rig.stdio();
    reads(&mut third);
    assert_eq!(houses(&rig).len(), 1, "and others join it");
}

#[test]
fn clients_of_a_house_that_ended_meet_again_in_one() {
    let rig = rig();
    rig.configure(&format!("{JOINS}ask = [\"write_file\"]\n"));
    let first = rig.stdio();
    let mut others: Vec<Client> = (0..4).map(|_| Client::new(&rig, Era::Legacy)).collect();
    // Each is asked something that the first house does not live to hear the answer of.
    let write =
        |n: usize| json!({"name": "write_file", "arguments": {"path": format!("b{n}.txt"), "content": "x"}});
    let mut lost = Vec::new();
    for (n, client) in others.iter_mut().enumerate() {
        client.silent = true;
        lost.push(client.start("tools/call", write(n)));
        while client.asked.is_empty() {
            client.hear();
        }
    }
    drop(first);
    for (client, id) in others.iter_mut().zip(lost) {
        is_lost(&client.wait(id), &json!(id));
    }
    let yes = json!({"action": "accept", "content": {"approve": true}});
    let mut before = 4;
    while !others.is_empty() {
        // One of them is the house now, and the others are its clients.
        until("they are together", || {
            let told = houses(&rig);
            told.len() == 1 && told[0]["clients"].as_array().map(Vec::len) == Some(before)
        });
        let pid = houses(&rig)[0]["pid"].clone();
        for (n, client) in others.iter_mut().enumerate() {
            let read = client.call("read_file", json!({"path": "a.txt"}));
            assert!(text(&read).contains("hello"), "{read}");
            let (seen, old) = (client.asked.len(), client.asked[0]["id"].clone());
            let call = client.start("tools/call", write(n));
            while client.asked.len() == seen {
                client.hear();
            }
            let question = client.asked[seen]["id"].clone();
            assert!(client.asked[..seen].iter().all(|asked| asked["id"] != question), "{question}");
            // The answer to a question of the dead house is no answer to this one.
            client.pipe.send(&json!({"jsonrpc": "2.0", "id": old, "result": yes}));
            let no = json!({"jsonrpc": "2.0", "id": question, "result": {"action": "decline"}});
            client.pipe.send(&no);
            let refused = client.wait(call);
            assert_eq!(refused["result"]["isError"], true, "{refused}");
        }
        let house = others.iter().position(|client| pid == client.pipe.child.id()).expect("one of them");
        drop(others.swap_remove(house));
        before -= 1;
    }
    assert!((0..4).all(|n| !rig.project().join(format!("b{n}.txt")).exists()));
}

#[test]
fn a_house_whose_own_client_leaves_hands_the_others_on() {
    let rig = rig();
    let (first, mut second, mut third) = (rig.stdio(), rig.stdio(), rig.stdio());
    let command = begin_call(&rig, &mut second, "77");
    assert!(first.close().0.success());
    is_lost(&second.receive(), &json!(77));
    until("the command of the lost call ends", || !lives(command));
    for client in [&mut second, &mut third] {
        reads(client);
        let listed = client.request("tools/list", json!({}));
        assert!(listed["tools"].as_array().is_some_and(|tools| tools.len() > 5));
    }
}

#[test]
fn a_client_of_the_newer_era_goes_on_as_well() {
    let rig = rig();
    let first = rig.stdio();
    let mut second = Client::new(&rig, Era::Modern);
    let read = json!({"path": "a.txt"});
    assert!(text(&second.call("read_file", read.clone())).contains("hello"));
    let marker = rig.project().join("began");
    let command = format!("touch {}; exec sleep 1000", marker.display());
    let slow = json!({"name": "run_shell", "arguments": {"command": command, "yield_ms": 120_000}});
    let slow = second.start("tools/call", slow);
    until("the command runs", || marker.exists());
    drop(first);
    let lost = second.wait(slow);
    is_lost(&lost, &json!(slow));
    assert_eq!(lost["result"]["resultType"], "complete");
    assert!(text(&second.call("read_file", read)).contains("hello"));
}

#[test]
fn a_question_of_a_dead_house_is_taken_back_and_its_answer_counts_for_nothing() {
    let rig = rig();
    rig.configure(&format!("{JOINS}ask = [\"write_file\"]\n"));
    let mut first = rig.stdio();
    let mut second = Client::new(&rig, Era::Legacy);
    second.silent = true;
    let write = json!({"name": "write_file", "arguments": {"path": "b.txt", "content": "x"}});
    let lost = second.start("tools/call", write.clone());
    while second.asked.is_empty() {
        second.hear();
    }
    first.child.kill().expect("killed");
    first.child.wait().expect("ended");
    is_lost(&second.wait(lost), &json!(lost));
    let old = second.asked[0]["id"].clone();
    let taken_back = |note: &Value| note["params"]["requestId"] == old;
    assert!(second.notes.iter().any(taken_back), "{:?}", second.notes);
    let again = second.start("tools/call", write);
    while second.asked.len() < 2 {
        second.hear();
    }
    assert_ne!(second.asked[1]["id"], old);
    let yes = json!({"action": "accept", "content": {"allow": true, "decision": "allow", "answer": "yes"}});
    second.pipe.send(&json!({"jsonrpc": "2.0", "id": old, "result": yes}));
    let no = json!({"jsonrpc": "2.0", "id": second.asked[1]["id"], "result": {"action": "decline"}});
    second.pipe.send(&no);
    let refused = second.wait(again);
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(!rig.project().join("b.txt").exists());
}

#[test]
fn a_line_that_was_half_written_when_the_house_died_is_whole_for_the_next() {
    let rig = rig();
    let (mut first, mut second) = (rig.stdio(), rig.stdio());
    reads(&mut second);
    let line = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call",
        "params": {"name": "read_file", "arguments": {"path": "a.txt"}}})
    .to_string();
    let (half, rest) = line.split_at(40);
    let stdin = second.stdin.as_mut().expect("open");
    stdin.write_all(half.as_bytes()).and_then(|()| stdin.flush()).expect("written");
    first.child.kill().expect("killed");
    first.child.wait().expect("ended");
    until("it is a house", || houses(&rig).iter().any(|house| house["pid"] == second.child.id()));
    second.send_line(rest);
    let answer = second.receive();
    assert!(answer["id"] == 5 && text(&answer["result"]).contains("hello"), "{answer}");
}

#[test]
fn whoever_is_different_does_not_join() {
    let mut rig = rig();
    let _first = rig.stdio();
    let _lean = rig.stdio_with(&["--tools", "lean"]);
    rig.set("SOME_VARIABLE", "other");
    let _other = rig.stdio();
    assert_eq!(houses(&rig).len(), 3);
    rig.set("TERM", "of-another-terminal");
    let _same = rig.stdio();
    assert_eq!(houses(&rig).len(), 3, "a terminal is no difference");
    rig.set("TECTUM_SERVE_JOIN", "off");
    let _off = rig.stdio();
    assert_eq!(houses(&rig).len(), 4);
}

#[test]
fn joining_is_asked_for() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    let (_first, _second) = (rig.stdio(), rig.stdio());
    assert_eq!(houses(&rig).len(), 2, "it is off unless somebody wants it");
    let (_third, _fourth) = (rig.stdio_with(&["--join"]), rig.stdio_with(&["--join"]));
    assert_eq!(houses(&rig).len(), 3);
}

#[test]
fn a_house_that_does_not_answer_is_not_joined() {
    let rig = rig();
    let first = rig.stdio();
    let pid = Pid::from_child(&first.child);
    kill_process(pid, Signal::STOP).expect("stopped");
    let mut second = rig.stdio();
    reads(&mut second);
    kill_process(pid, Signal::CONT).expect("goes on");
    assert_eq!(houses(&rig).len(), 2);
}

#[test]
fn who_joins_finds_the_rules_of_now() {
    let rig = rig();
    let mut first = rig.stdio();
    reads(&mut first);
    rig.configure(&format!("{JOINS}deny = [\"read_file\"]\n"));
    let mut second = rig.stdio();
    let refused = second.call("read_file", json!({"path": "a.txt"}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert_eq!(houses(&rig).len(), 1);
}

#[test]
fn large_messages_and_many_of_them_pass_through_a_relay() {
    let rig = rig();
    let big = "0123456789abcde\n".repeat(160 * 1024);
    let _first = rig.stdio();
    let mut second = rig.stdio();
    let written = second.call("write_file", json!({"path": "big.txt", "content": big}));
    assert_ne!(written["isError"], true, "{written}");
    assert_eq!(rig.read("big.txt").len(), big.len());
    rig.write("some.txt", &big[..8 * 1024]);
    // Nothing is read before all is written: both directions fill up.
    let mut stdin = second.stdin.take().expect("open");
    let writing = std::thread::spawn(move || {
        for id in 0..2000 {
            let call = json!({"jsonrpc": "2.0", "id": format!("n{id}"), "method": "tools/call",
                "params": {"name": "read_file", "arguments": {"path": "some.txt"}}});
            writeln!(stdin, "{call}").expect("written");
        }
        stdin
    });
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < 2000 {
        let answer = second.receive();
        assert_ne!(answer["result"]["isError"], true, "{answer}");
        seen.insert(answer["id"].as_str().expect("ours").to_owned());
    }
    second.stdin = Some(writing.join().expect("written"));
    reads(&mut second);
}

#[test]
fn up_is_joined_as_well() {
    let rig = rig();
    let mut up = rig.tectum();
    up.args(["up", "--port", "0", "--no-auth"]).stdout(std::process::Stdio::null());
    let mut up = up.stderr(std::process::Stdio::null()).spawn().expect("starts");
    until("it is there", || !houses(&rig).is_empty());
    let mut client = rig.stdio();
    reads(&mut client);
    let told = houses(&rig);
    assert_eq!((told.len(), &told[0]["pid"]), (1, &json!(up.id())), "{told:?}");
    up.kill().expect("killed");
    up.wait().expect("ended");
    reads(&mut client);
}
