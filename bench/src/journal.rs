//! The record of calls: what a million of them take of the disk, how fast they are indexed, found and listed, and
//! how fast a session is replayed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json, value::to_raw_value};
use tectum_core::{Call, NativeReply, Outcome, Payload, Recorder as _, Seen, SessionId, Snapshot, Trail};
use tectum_journal::{
    Piece, Settings, SyncPolicy, Writer,
    index::{Index, Query, Term},
    segments,
};
use tectum_redact::Redactor;

use crate::data::{Data, Text};
use crate::report;
use crate::stats::median;

/// Calls of one session.
const SESSION: usize = 1_000;
/// Questions of each kind.
const ASKED: usize = 100;

/// What one run is to do.
pub(crate) struct JournalPlan {
    pub(crate) tectum: Option<PathBuf>,
    pub(crate) entries: usize,
    pub(crate) data: PathBuf,
}

/// Measures and prints.
pub(crate) fn run(plan: &JournalPlan) -> Result<()> {
    let tectum = plan.tectum.clone().context("--tectum PATH is needed")?;
    let place = Data::prepare(&plan.data)?.gateway("journal")?;
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(place.join("project"))?;
    let rig = Rig { tectum, place };
    let told: Value = serde_json::from_str(&rig.run(&["log", "path", "--json"])?.0)?;
    let folder = PathBuf::from(told["path"].as_str().context("the folder of the record")?);
    let start = Instant::now();
    write(&folder, &rig.place.join("project"), plan.entries)?;
    say("calls written", plan.entries as f64 / start.elapsed().as_secs_f64(), "a second")?;

    let (disk, raw) = sizes(&folder)?;
    say("disk of the record ÷ raw JSON (aim: 1.3)", disk as f64 / raw as f64, "")?;
    let before = peak_kb()?;
    let start = Instant::now();
    let mut index = Index::rebuild(&folder, &mut |_| {})?;
    let rate = plan.entries as f64 / start.elapsed().as_secs_f64();
    say("index made anew, calls a second (aim: 100000)", rate, "")?;
    say("memory of that", (peak_kb()? - before) as f64 / 1024.0, "MB above what was taken before")?;
    let indexed: u64 = tectum_size(&tectum_journal::index::place(&folder))?;
    say("disk of record and index ÷ raw JSON", (disk + indexed) as f64 / raw as f64, "")?;

    for (name, query) in [
        ("a rare word", Query { terms: Term::all("number4242"), ..Query::default() }),
        ("a word of every call", Query { terms: Term::all("needle"), ..Query::default() }),
        (
            "two words and a tool",
            Query {
                terms: Term::all("needle number77*"),
                tools: vec!["read_file".into()],
                ..Query::default()
            },
        ),
        ("a path", Query { paths: vec!["src/file7.rs".into()], ..Query::default() }),
        ("errors of a session", Query { sessions: sessions(&mut index)?, failed: true, ..Query::default() }),
    ] {
        let mut times = Vec::new();
        for _ in 0..ASKED {
            let start = Instant::now();
            index.search(&query, 20)?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        say(&format!("search by {name}, p50 (aim: 10)"), median(&times).context("asked")?, "ms")?;
    }
    drop(index);
    for (name, words) in [
        ("`tectum log search` as a whole", &["log", "search", "needle", "--json"][..]),
        ("`tectum log list` as a whole (aim: 50)", &["log", "list", "--json"][..]),
        ("`tectum log stats` as a whole", &["log", "stats", "--json"][..]),
    ] {
        let mut times = Vec::new();
        for _ in 0..ASKED / 10 {
            times.push(rig.run(words)?.1.as_secs_f64() * 1e3);
        }
        say(name, median(&times).context("asked")?, "ms")?;
    }
    let (said, took) = rig.run(&["replay", "last", "--json"])?;
    let calls = serde_json::from_str::<Value>(&said)?["calls"].as_u64().context("calls")?;
    let (_, empty) = rig.run(&["log", "list", "--json"])?;
    say("replay, calls a second (aim: 10000)", calls as f64 / took.saturating_sub(empty).as_secs_f64(), "")?;
    let (always, syncs) = together(&rig.place, SyncPolicy::Always)?;
    say("records a second that 64 callers wait for, `always`", always, &format!("with {syncs} syncs"))?;
    let (off, _) = together(&rig.place, SyncPolicy::Off)?;
    say("the same with `off`", off, "")
}

fn say(what: &str, figure: f64, unit: &str) -> Result<()> {
    report::say(format!("{what}: {figure:.2} {unit}").trim_end())?;
    report::say("\n")
}

/// The binary with a home of its own.
struct Rig {
    tectum: PathBuf,
    place: PathBuf,
}

impl Rig {
    /// What it says, and how long that takes.
    fn run(&self, words: &[&str]) -> Result<(String, Duration)> {
        let start = Instant::now();
        let said = Command::new(&self.tectum)
            .args(words)
            .arg("-C")
            .arg(self.place.join("project"))
            .env("XDG_STATE_HOME", self.place.join("state"))
            .env("XDG_CONFIG_HOME", self.place.join("config"))
            .stdin(Stdio::null())
            .output()?;
        ensure!(said.status.success(), "{words:?}: {}", String::from_utf8_lossy(&said.stderr));
        Ok((String::from_utf8(said.stdout)?, start.elapsed()))
    }
}

fn writer(folder: &Path, project: &Path, sync: SyncPolicy) -> Writer {
    let settings = Settings {
        folder: folder.to_owned(),
        sync,
        segment: 8 << 20,
        most: u64::MAX,
        longest: Duration::from_secs(24 * 60 * 60),
        seed: None,
        command: "bench".into(),
        directory: project.to_owned(),
    };
    Writer::new(settings, || Redactor::new(&[], &[]))
}

/// The calls a second of 64 callers that each wait for their record, and the syncs for all of them.
fn together(place: &Path, sync: SyncPolicy) -> Result<(f64, u64)> {
    const CALLERS: usize = 64;
    const EACH: usize = 200;
    let writer = writer(&place.join(format!("{sync:?}")), place, sync);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let start = Instant::now();
    runtime.block_on(async {
        let mut callers = tokio::task::JoinSet::new();
        for _ in 0..CALLERS {
            let writer = writer.clone();
            callers.spawn(async move {
                for _ in 0..EACH {
                    let args = to_raw_value(&json!({ "path": "src/main.rs" }))?;
                    let call = Call::new(SessionId::new("together"), "read_file", args);
                    let reply =
                        NativeReply { text: "x".into(), structured: json!({"content": "x"}).to_string() };
                    let outcome = Outcome {
                        call: call.id,
                        result: Ok(Payload::Native(reply)),
                        directives: Vec::new(),
                        paths: Vec::new(),
                        edited: None,
                        took: Duration::from_micros(20),
                    };
                    let (trail, tools) = (Trail::default(), Snapshot::default());
                    let seen = Seen { call: &call, outcome: &outcome, trail: &trail, tools: &tools };
                    if let Some(recording) = writer.record(seen) {
                        recording.await;
                    }
                }
                Ok::<_, anyhow::Error>(())
            });
        }
        callers.join_all().await.into_iter().collect::<Result<()>>()
    })?;
    let rate = (CALLERS * EACH) as f64 / start.elapsed().as_secs_f64();
    Ok((rate, writer.syncs()))
}

/// Records calls as an agent makes them: short arguments, results of some lines.
fn write(folder: &Path, project: &Path, entries: usize) -> Result<()> {
    let writer = writer(folder, project, SyncPolicy::Off);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut random = Text::seeded(7);
    // Tools that take a path alone, so that a replay reads their arguments.
    let tools = ["read_file", "list_directory", "get_tree"];
    // The last session is long enough to be replayed for a while.
    let last = entries - entries / 10;
    runtime.block_on(async {
        for number in 0..entries {
            let tool = tools[number % tools.len()];
            let path = format!("src/file{}.rs", number % 997);
            let args = to_raw_value(&json!({ "path": path }))?;
            let session = format!("session{}", number.min(last) / SESSION);
            let call = Call::new(SessionId::new(session), tool, args);
            let text = format!("needle number{number}\n{}\n{}\n", random.line(), random.line());
            let structured = json!({ "path": path, "lines": 3 }).to_string();
            let outcome = Outcome {
                edited: None,
                call: call.id,
                result: Ok(Payload::Native(NativeReply { text, structured })),
                directives: Vec::new(),
                paths: vec![tectum_core::security::RawPath::new(path)],
                took: Duration::from_micros(random.next() % 5_000),
            };
            let (trail, tools) = (Trail::default(), Snapshot::default());
            let seen = Seen { call: &call, outcome: &outcome, trail: &trail, tools: &tools };
            ensure!(writer.record(seen).is_none(), "nobody waits for the disk");
        }
        Ok::<_, anyhow::Error>(())
    })?;
    writer.close();
    Ok(())
}

/// The bytes of the files, and of the JSON in them.
fn sizes(folder: &Path) -> Result<(u64, u64)> {
    let (mut disk, mut raw) = (0, 0);
    for segment in segments(folder)? {
        disk += segment.size;
        for piece in segment.read_from(0)?.into_iter().flatten() {
            if let Piece::Line(line) = piece {
                raw += line.json.len() as u64 + 1;
            }
        }
    }
    Ok((disk, raw))
}

fn tectum_size(folder: &Path) -> Result<u64> {
    fs::read_dir(folder)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
}

fn sessions(index: &mut Index) -> Result<Vec<String>> {
    Ok(index.sessions(0, u64::MAX, 1)?.into_iter().map(|row| row.session).collect())
}

fn peak_kb() -> Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("the kernel tells the peak")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
