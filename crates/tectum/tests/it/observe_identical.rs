//! Watched or not, a client gets the same bytes: a sequence of calls that is drawn anew in each run,
//! with nobody looking and with observers that hang, are slow, crash and speak nonsense. A failure
//! names its seed; `TECTUM_SEED` draws the same calls again.

use std::{
    fmt::Write as _,
    hash::{BuildHasher as _, RandomState},
};

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, echo},
    rig::Rig,
    watched::{ON, copies, observer},
};

/// Calls of one run: enough that the ring of copies is overwritten for those that are slow.
const CALLS: usize = 300;

const FILES: [(&str, &str); 4] = [
    ("a.txt", "first\nsecond\nthird\n"),
    ("b.rs", "fn main() {\n    let x = 1;\n}\n"),
    ("sub/c.txt", "caf\u{e9}\r\nline\r\n"),
    ("sub/d.md", "# Title\n"),
];

/// The calls of a seed: the same seed gives the same calls.
fn calls(seed: u64) -> Vec<(&'static str, Value)> {
    let mut state = seed;
    let mut draw = |choices: usize| {
        // A plain linear generator: only its being repeatable matters.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("fits") % choices
    };
    let one = |number: usize, path: &str| match number {
        0 => ("read_file", json!({"path": path})),
        1 => ("list_directory", json!({"path": "sub"})),
        2 => ("search_content", json!({"path": ".", "pattern": "line|x"})),
        3 => ("edit_file", json!({"path": "a.txt", "old_string": "second", "new_string": "zwei"})),
        4 => ("edit_file", json!({"path": "a.txt", "old_string": "zwei", "new_string": "second"})),
        5 => ("code_outline", json!({"path": "b.rs"})),
        6 => ("read_file", json!({"path": "../outside"})),
        7 => ("read_file", json!({"path": 7, "limt": 3})),
        8 => ("no_such_tool", json!({"path": path})),
        9 => ("one__structured", json!({})),
        10 => ("one__echo", json!({"text": format!("{path} \u{1f600} \"quoted\"")})),
        11 => ("one__fail", json!({"text": "it broke"})),
        12 => ("one__big", json!({"bytes": 20_000})),
        13 => ("one__bare", json!({"json": "[1.0, {\"b\":2e1,\"a\":null}]"})),
        _ => ("write_file", json!({"path": "sub/new.txt", "content": path})),
    };
    (0..CALLS).map(|_| one(draw(15), FILES[draw(4)].0)).collect()
}

/// Every answer as it came, but for the call's own id, which is another in each run.
fn answers(rig: &Rig, settings: &str, known: &[String], seed: u64) -> Vec<String> {
    for (path, content) in FILES {
        rig.write(path, content);
    }
    let _ = std::fs::remove_file(rig.project().join("sub/new.txt"));
    // Files are set back between two runs, which would be news for the second.
    let quiet = "[attention]\norgans = \"off\"\n";
    rig.configure(&format!("{quiet}{settings}\n{}", echo("one", &["--also", "bare"], "")));
    let mut client = Client::new(rig, Era::Legacy);
    client.until_listed("one__bare");
    known.iter().for_each(|tool| client.until_listed(tool));
    calls(seed)
        .into_iter()
        .enumerate()
        .map(|(number, (tool, args))| {
            // Ids of their own: how often a list was asked for before must not show.
            let id = 1_000_000 + number;
            let params = json!({"name": tool, "arguments": args});
            client.pipe.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
            let mut line = String::new();
            loop {
                line.clear();
                let read = std::io::BufRead::read_line(&mut client.pipe.stdout, &mut line).expect("readable");
                assert!(read > 0, "the server closed its output");
                let message: Value = serde_json::from_str(&line).expect("JSON");
                // Notices of servers that came or went are no answers.
                if message["id"] == id {
                    let call = message["result"]["_meta"]["tectum/call"].as_str().unwrap_or("no id");
                    return line.replace(call, "c-ID");
                }
                assert!(message["method"].is_string(), "{line}");
            }
        })
        .collect()
}

#[test]
fn heavy_answers_are_the_same_bytes_whoever_watches() {
    let rig = Rig::new();
    let bad = ["hang", "slow", "crash", "garbage", "refuse"];
    let seed = std::env::var("TECTUM_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| RandomState::new().hash_one("calls"));
    let plain = answers(&rig, "", &[], seed);
    assert_eq!(plain.len(), CALLS);
    assert!(plain.iter().filter(|line| line.contains("c-ID")).count() > CALLS / 2);

    let mut settings = vec![("on, and nobody there".to_owned(), ON.to_owned(), vec![])];
    for how in ["normal", "hang", "crash"] {
        let table = observer(&rig, "o0", &["--how", how]);
        settings.push((format!("one: {how}"), format!("{ON}{table}"), vec!["o0__pid".to_owned()]));
    }
    let (mut ten, mut known) = (ON.to_owned(), Vec::new());
    for number in 0..10 {
        let name = format!("o{number}");
        let how = bad[number % bad.len()];
        let every = (1 + number / bad.len() * 6).to_string();
        write!(ten, "{}", observer(&rig, &name, &["--how", how, "--every", &every])).expect("written");
        known.push(format!("{name}__pid"));
    }
    settings.push(("ten, all of them bad".to_owned(), ten, known));
    for (what, settings, known) in settings {
        let watched = answers(&rig, &settings, &known, seed);
        for (number, (plain, watched)) in plain.iter().zip(&watched).enumerate() {
            assert_eq!(plain, watched, "{what}: call {number}, TECTUM_SEED={seed}");
        }
    }
    // They did watch.
    for number in 0..10 {
        assert!(!copies(&rig, &format!("o{number}")).is_empty(), "o{number} got nothing");
    }
}
