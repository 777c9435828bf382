//! One server that sends as much as it can, beside one that does not: the flood is cut, the server
//! is named, and its neighbour's callers notice nothing.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, command, echo, starts, until},
    rig::{Rig, fixture, text},
};

/// The memory that a flood may add to the binary.
const MOST_GROWTH: u64 = 32 * 1024 * 1024;

/// A small number in every run, the full one in a soak.
fn size(small: usize, full: usize) -> usize {
    if std::env::var_os("TECTUM_SOAK").is_some() { full } else { small }
}

/// A binary with a well-behaved server, its client, and what is measured at them.
struct Scene {
    rig: Rig,
    client: Client,
    bad: String,
}

/// The times of a neighbour's calls, and the memory held meanwhile.
#[derive(Default)]
struct Measured {
    took: Vec<Duration>,
    memory: u64,
}

impl Measured {
    /// The time that 99 of 100 calls stay below.
    fn p99(&self) -> Duration {
        let mut sorted = self.took.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() * 99 / 100).copied().unwrap_or_default()
    }
}

impl Scene {
    /// The bad server starts when it is asked for.
    fn new(how: &str, count: usize) -> Self {
        let rig = Rig::new();
        let count = count.to_string();
        let args = ["--role", "hostile", "--how", how, "--tools", &count];
        let bad = command("bad", fixture(), &args, "timeout = \"600s\"\nstart_timeout = \"60s\"");
        rig.configure(&echo("fine", &[], ""));
        let mut client = Client::new(&rig, Era::Legacy);
        client.until_listed("fine__echo");
        Self { rig, client, bad }
    }

    fn name_bad(&self) {
        self.rig.configure(&format!("{}{}", self.bad, echo("fine", &[], "")));
    }

    fn call(&mut self, into: &mut Measured) {
        let start = Instant::now();
        assert_eq!(self.client.say("fine__echo", json!({"text": "x"})), "x");
        into.took.push(start.elapsed());
        if into.took.len() % 16 == 1 {
            into.memory = into.memory.max(memory(&self.client));
        }
    }

    fn measure(&mut self, count: usize, into: &mut Measured) {
        (0..count).for_each(|_| self.call(into));
    }

    /// The state of the bad server, by the running binary.
    fn status(&self) -> Value {
        let projects = self.rig.home().join("state/tectum/projects");
        let found = std::fs::read_dir(projects).into_iter().flatten().flatten().find_map(|project| {
            let folder = project.path().join("servers/status");
            let file = std::fs::read_dir(folder).ok()?.flatten().next()?;
            serde_json::from_slice::<Value>(&std::fs::read(file.path()).ok()?).ok()
        });
        found.map_or(Value::Null, |status| status["servers"]["bad"].clone())
    }
}

/// Prints what became of the neighbour, and checks what was held.
#[expect(clippy::print_stdout, reason = "the figure of a soak")]
fn judge(flood: &str, without: &Measured, within: &Measured) {
    let growth = within.memory.saturating_sub(without.memory);
    let (quiet, loud) = (without.p99(), within.p99());
    println!(
        "soak: neighbours of a server that {flood} keep their pace | p99 {:.2} ms without, {:.2} ms with ({} calls), memory +{:.1} MiB",
        quiet.as_secs_f64() * 1e3,
        loud.as_secs_f64() * 1e3,
        within.took.len(),
        growth as f64 / (1024.0 * 1024.0),
    );
    assert!(growth < MOST_GROWTH, "{flood}: {growth} bytes more are held");
}

/// The memory that the binary holds.
fn memory(client: &Client) -> u64 {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", client.pipe.child.id())).expect("readable");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a figure");
    let kibibytes: u64 = line.split_whitespace().nth(1).expect("a number").parse().expect("a number");
    kibibytes * 1024
}

/// A flood in answer to a call: the call fails, and says why.
fn flooded_by_a_call(flood: &str, how: &str, count: usize, reason: &str) {
    let mut scene = Scene::new(how, count);
    scene.name_bad();
    scene.client.until_listed("bad__bad");
    let (mut without, mut within) = (Measured::default(), Measured::default());
    let calls = size(200, 5000);
    scene.measure(calls, &mut without);
    let flooding = scene.client.begin("bad__bad", json!({}));
    while !scene.client.has(flooding) {
        scene.call(&mut within);
    }
    let answer = scene.client.wait(flooding);
    let said = text(&answer["result"]);
    assert!(answer["result"]["isError"] == true && said.contains("bad") && said.contains(reason), "{said}");
    // Its end is told where people look, too, and the next use starts it again.
    until("it is named", || scene.status()["error"].to_string().contains(reason));
    assert_eq!(scene.client.say("bad__good", json!({})), "fine");
    judge(flood, &without, &within);
}

#[test]
fn soak_a_server_that_sends_notifications_without_end() {
    flooded_by_a_call("sends notifications without end", "notes", size(400_000, 1_000_000), "cut off");
}

#[test]
fn soak_a_server_that_writes_a_line_without_end() {
    flooded_by_a_call("writes a line without an end", "endless-line", 0, "cut off");
}

/// A flood in answer to the question what it offers.
fn flooded_by_a_list(flood: &str, how: &str, count: usize, named: impl Fn(&Value) -> bool) {
    let mut scene = Scene::new(how, count);
    let (mut without, mut within) = (Measured::default(), Measured::default());
    let calls = size(200, 5000);
    scene.measure(calls, &mut without);
    scene.name_bad();
    let end = Instant::now() + Duration::from_secs(60);
    while !named(&scene.status()) || within.took.len() < calls {
        assert!(Instant::now() < end, "it is not named: {}", scene.status());
        scene.call(&mut within);
    }
    judge(flood, &without, &within);
}

#[test]
fn soak_a_server_that_lists_tools_without_end_on_one_page() {
    flooded_by_a_list(
        "lists a million tools on one page",
        "many-tools",
        size(150_000, 1_000_000),
        |status| {
            // A page that is far too large ends the connection before the page ends.
            let error = status["error"].to_string();
            error.contains("limit is") || error.contains("cut off")
        },
    );
}

#[test]
fn soak_a_server_that_lists_tools_without_end_on_many_pages() {
    flooded_by_a_list(
        "lists a million tools on many pages",
        "many-pages",
        size(20_000, 1_000_000),
        |status| {
            status["tools"].as_u64() > Some(0)
                && status["remarks"].to_string().contains("tools/list has no end")
        },
    );
}

#[test]
fn soak_a_server_that_was_ill_when_it_was_first_met_is_there_when_it_is_well() {
    for (how, era) in [("dies-at-start", Era::Legacy), ("dies-at-list", Era::Modern)] {
        let rig = Rig::new();
        let (ill, marker) = (rig.outside().join("ill"), rig.outside().join("starts"));
        std::fs::write(&ill, "").expect("written");
        let [ill_path, marker_path] = [&ill, &marker].map(|path| path.to_str().expect("text"));
        let program = fixture();
        let args = ["-c", "echo $$ >> \"$0\"; exec \"$@\"", marker_path, program.to_str().expect("text")];
        let own = ["--role", "hostile", "--how", how, "--log", ill_path];
        let args: Vec<&str> = args.into_iter().chain(own).collect();
        rig.configure(&format!("{}{}", command("bad", "sh", &args, ""), echo("fine", &[], "")));
        let mut client = Client::new(&rig, era);
        client.until_listed("fine__echo");
        // More often than a server that was there before may die in a minute.
        until("its sixth start", || {
            let id = client.begin("bad__good", json!({}));
            let answer = client.wait(id);
            assert!(answer["error"]["message"].to_string().contains("bad"), "{answer}");
            starts(&marker).len() >= 6
        });
        std::fs::remove_file(&ill).expect("removed");
        let well = Instant::now();
        client.until_listed("bad__good");
        println!(
            "soak: a server that was never met is used when it is well | {:?} later ({how})",
            well.elapsed()
        );
        assert_eq!(client.say("bad__good", json!({})), "fine", "{how} {era:?}");
    }
}
