//! Mutated messages: each costs one answer, none costs the process.

use std::{
    collections::HashMap,
    io::{BufRead, Write},
};

use serde_json::{Value, json};

use crate::rig::{Rig, text};

/// Messages sent; each with an id of its own.
fn messages() -> usize {
    if std::env::var_os("TECTUM_SOAK").is_some() { 1_000_000 } else { 50_000 }
}

/// Small and fixed, so that a failure can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

#[test]
fn soak_every_mutated_message_is_answered_once() {
    let count = messages();
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    let mut client = rig.stdio();
    let mut stdin = client.stdin.take().expect("open");
    let writer = std::thread::spawn(move || {
        let mut dice = Dice(7);
        for id in 0..count {
            stdin.write_all(&mutated(id, &mut dice)).expect("the server reads on");
        }
        stdin
    });
    let mut answers: HashMap<u64, usize> = HashMap::new();
    for _ in 0..count {
        let mut line = Vec::new();
        assert!(
            client.stdout.read_until(b'\n', &mut line).expect("readable") > 0,
            "the server closed its output"
        );
        let answer: Value = serde_json::from_slice(&line).expect("protocol only");
        assert!(answer["id"].is_u64(), "an id could be read: {answer}");
        *answers.entry(answer["id"].as_u64().expect("a number")).or_default() += 1;
    }
    client.stdin = Some(writer.join().expect("sent"));
    assert_eq!(answers.len(), count, "some ids were not answered");
    assert!(answers.values().all(|count| *count == 1), "some ids were answered twice");
    assert_eq!(text(&client.call("read_file", json!({"path": "a.txt"}))), "hello\n");
    println!("soak: malformed messages cost one answer each | {count} messages, {count} answers, 0 crashes");
}

/// A message whose beginning, with its id, is whole, and whose rest is anything.
fn mutated(id: usize, dice: &mut Dice) -> Vec<u8> {
    const RESTS: &[&str] = &[
        r#""method":"tools/call","params":{"name":"read_file","arguments":{"path":"a.txt"}}}"#,
        r#""method":"tools/list","params":{"cursor":null,"_meta":{"progressToken":1}}}"#,
        r#""method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#,
        r#""method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        r#""method":"tools/call","params":{"name":"get_file_slice","arguments":{"path":"a.txt","start_line":1,"end_line":1}}}"#,
    ];
    let mut rest = RESTS[dice.roll(RESTS.len())].as_bytes().to_vec();
    for _ in 0..1 + dice.roll(4) {
        let at = dice.roll(rest.len().max(1));
        match dice.roll(5) {
            0 => rest.truncate(at),
            1 if !rest.is_empty() => rest[at] = dice.roll(256) as u8,
            2 => rest.insert(at.min(rest.len()), b"{}[]\",:\\0e"[dice.roll(10)]),
            3 if !rest.is_empty() => drop(rest.remove(at)),
            _ => {
                let copy = rest[at.min(rest.len())..].to_vec();
                rest.extend(copy);
            }
        }
    }
    rest.retain(|byte| *byte != b'\n');
    let mut line = format!(r#"{{"jsonrpc":"2.0","id":{id},"#).into_bytes();
    line.extend(rest);
    line.push(b'\n');
    line
}
