//! Commands end whole: whatever they started is gone, however it was started and however they end.
#![cfg(target_os = "linux")]

use std::{
    fs,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::rig::{Rig, Stdin, text};

/// After this long a survivor is one. The promise is a second; a loaded machine gets more.
const PATIENCE: Duration = Duration::from_secs(10);
/// Trees of the short form, and of the long one.
const FEW: u64 = 15;
const MANY: u64 = 1000;

/// The ways to end a command.
#[derive(Clone, Copy, Debug)]
enum Way {
    Timeout,
    Cancel,
    Kill,
    ClientGone,
    Killed,
}

const WAYS: [Way; 5] = [Way::Timeout, Way::Cancel, Way::Kill, Way::ClientGone, Way::Killed];

/// One tree in a project of its own. Every process of it has a word in its command line that no other
/// process has, so that a cleared environment hides nobody.
struct Tree {
    rig: Rig,
    word: String,
}

impl Tree {
    fn new(number: u64) -> Self {
        let rig = Rig::new();
        rig.configure("[permissions]\nallow = [\"run_shell\"]\n");
        let word = format!("{}{number:04}", std::process::id());
        Self { rig, word }
    }

    fn alive(&self) -> Vec<u32> {
        let own = std::process::id();
        let is_ours =
            |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).contains(&format!("tree{}", self.word));
        let processes = fs::read_dir("/proc").expect("readable").flatten();
        processes
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|pid| *pid != own)
            .filter(|pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(is_ours))
            .collect()
    }

    /// Writes the scripts of a random tree and gives the command that grows it.
    fn random(&self, dice: &mut Dice) -> String {
        let nodes = 2 + dice.roll(6);
        for node in 0..nodes {
            let mut script = String::new();
            if dice.roll(2) == 0 {
                script.push_str("trap '' TERM HUP INT\n");
            }
            // Each node but the first has a parent before it.
            let children: Vec<u64> = (node + 1..nodes).filter(|child| dice.parent(*child) == node).collect();
            for child in children {
                let it = format!("sh ./tree{}/{child}.sh", self.word);
                script.push_str(&match dice.roll(6) {
                    0 => format!("{it} &\n"),
                    1 => format!("setsid {it} &\n"),
                    2 => format!("(setsid {it} &)\n"),
                    3 => format!("env -i PATH=\"$PATH\" setsid {it} &\n"),
                    4 => format!("nohup {it} >/dev/null 2>&1 &\n"),
                    _ => format!("(({it} &) &)\n"),
                });
            }
            for _ in 0..dice.roll(4) {
                script.push_str(&format!("sh -c ': tree{}; sleep 1000; :' &\n", self.word));
            }
            if node == 0 {
                script.push_str("echo up\n");
            }
            script.push_str(&format!("while :; do sh -c ': tree{}; sleep 1000; :'; done\n", self.word));
            self.rig.write(&format!("tree{}/{node}.sh", self.word), script);
        }
        format!("sh ./tree{}/0.sh", self.word)
    }

    /// Starts the command, ends it, and says how long the last of its processes was there afterwards.
    fn end(&self, command: &str, way: Way) -> Duration {
        let mut client = self.rig.stdio();
        let mut args = json!({"command": format!("{command} # tree{}", self.word), "yield_ms": 600_000});
        let start = match way {
            Way::Timeout => {
                args["timeout_ms"] = json!(400);
                let ended = client.call("run_shell", args);
                assert!(text(&ended).contains("timed out"), "{ended}");
                Instant::now()
            }
            Way::Cancel => {
                client.send(&json!({"jsonrpc": "2.0", "id": "it", "method": "tools/call",
                    "params": {"name": "run_shell", "arguments": args}}));
                self.wait_until_grown();
                client.notify("notifications/cancelled", json!({"requestId": "it"}));
                Instant::now()
            }
            Way::Kill => {
                let session = begun(&mut client, args);
                let start = Instant::now();
                client.call("shell_kill", json!({"session": session}));
                start
            }
            Way::ClientGone => {
                begun(&mut client, args);
                let start = Instant::now();
                client.close();
                return self.gone(way, start);
            }
            Way::Killed => {
                begun(&mut client, args);
                client.child.kill().expect("killed");
                Instant::now()
            }
        };
        self.gone(way, start)
    }

    fn wait_until_grown(&self) {
        while self.alive().len() < 3 {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[track_caller]
    fn gone(&self, way: Way, start: Instant) -> Duration {
        while !self.alive().is_empty() && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        let left = self.alive();
        assert!(left.is_empty(), "{way:?}: {} processes survived", left.len());
        start.elapsed()
    }
}

impl Drop for Tree {
    /// A failed test must not leave its tree behind.
    fn drop(&mut self) {
        for pid in self.alive() {
            let _ = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
        }
    }
}

/// Runs it until it is up, and gives its session.
fn begun(client: &mut Stdin, mut args: Value) -> String {
    args["yield_ms"] = json!(150);
    let begun = client.call("run_shell", args);
    let session = begun["structuredContent"]["session"].as_str().expect("a session").to_owned();
    let mut said = text(&begun).to_owned();
    while !said.contains("up\n") {
        said.push_str(text(&client.call("shell_poll", json!({"session": session, "yield_ms": 10}))));
    }
    session
}

/// Numbers that are the same for the same seed.
struct Dice {
    seed: u64,
    state: u64,
}

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % sides
    }

    /// Any node before this one, always the same.
    fn parent(&self, node: u64) -> u64 {
        Self { seed: 0, state: self.seed ^ node.wrapping_mul(0x9E37_79B9_7F4A_7C15) }.roll(node)
    }
}

#[test]
fn soak_random_trees_end_whole() {
    let count = if std::env::var_os("TECTUM_SOAK").is_some() { MANY } else { FEW };
    let mut longest = Duration::ZERO;
    for number in 0..count {
        let tree = Tree::new(number);
        let command = tree.random(&mut Dice { seed: number, state: number });
        let way = WAYS[(number % 5) as usize];
        longest = longest.max(tree.end(&command, way));
    }
    println!(
        "soak: {count} random trees of commands end whole | 0 survivors, the last gone after {longest:?}"
    );
}

#[test]
fn a_storm_of_two_hundred_ends_whole() {
    for (number, way) in WAYS.into_iter().enumerate() {
        let tree = Tree::new(5_000 + number as u64);
        let storm = format!(
            "trap '' TERM HUP; for i in $(seq 200); do setsid sh -c ': tree{}; sleep 1000; :' & done; echo up; wait; sleep 1000",
            tree.word
        );
        let took = tree.end(&storm, way);
        eprintln!("{way:?}: all of a storm gone after {took:?}");
    }
}

#[test]
fn what_a_terminal_started_ends_with_it() {
    let tree = Tree::new(6_000);
    let mut client = tree.rig.stdio();
    let command = format!("setsid sh -c ': tree{}; sleep 1000; :' & echo up; sleep 1000", tree.word);
    let args = json!({"command": command, "pty": true, "yield_ms": 200});
    let begun = client.call("run_shell", args);
    assert_eq!(begun["structuredContent"]["running"], true, "{begun}");
    let start = Instant::now();
    client.call("shell_kill", json!({"session": begun["structuredContent"]["session"]}));
    tree.gone(Way::Kill, start);
}
