//! Commands: what `run_shell` costs beside a bare loop that starts the same shell, one at a time and many at
//! once, and the memory that long output takes.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::data::Data;
use crate::lineup::Launch;
use crate::report;
use crate::session::Session;
use crate::stats::{Spread, median, ratios};
use crate::wire::Request;

/// Commands in flight where many are.
const MANY: usize = 64;
/// What a long command says.
const LONG: usize = 50 * 1024 * 1024;

/// What one run is to do.
pub(crate) struct ShellPlan {
    pub(crate) tectum: Option<PathBuf>,
    pub(crate) rounds: usize,
    pub(crate) slice: Duration,
    pub(crate) data: PathBuf,
}

/// Measures and prints.
pub(crate) fn run(plan: &ShellPlan) -> Result<()> {
    let mut sandboxed = open(plan, "on")?;
    let mut open_ = open(plan, "off")?;
    let shell = ["/bin/bash", "/usr/bin/bash"].into_iter().find(|path| PathBuf::from(path).exists());
    let shell = shell.unwrap_or("/bin/sh");
    let request = Request::tool("run_shell", json!({"command": "true"}), "EXIT CODE: 0");
    let mut figures: [Vec<f64>; 4] = Default::default();
    let mut rates: [Vec<f64>; 3] = Default::default();
    for _ in 0..plan.rounds {
        for (at, session) in [(0, &mut sandboxed), (1, &mut open_)] {
            let alone = session.drive(std::slice::from_ref(&request), &mut 0, 1, plan.slice)?;
            figures[at].push(median(&alone.latencies).context("it answered")?);
            rates[at]
                .push(session.drive(std::slice::from_ref(&request), &mut 0, MANY, plan.slice)?.calls_per_s);
        }
        figures[2].push(bare(shell, plan.slice)?);
        figures[3].push(bare("sh", plan.slice)?);
        rates[2].push(bare_many(shell, plan.slice)?);
    }
    for (name, figure, beside) in [
        ("`run_shell true` with guard and sandbox ÷ the same shell started bare", &figures[0], &figures[2]),
        ("… without sandbox", &figures[1], &figures[2]),
        ("with guard and sandbox ÷ `sh -c true`, where that is another shell", &figures[0], &figures[3]),
        ("64 at once, calls a second ÷ 64 threads that start the same shell bare", &rates[0], &rates[2]),
    ] {
        let spread = Spread::of(&ratios(figure, beside)).context("there were rounds")?;
        let (ours, theirs) = (median(figure).unwrap_or_default(), median(beside).unwrap_or_default());
        report::say(&format!(
            "{name}: {:.2} ({:.2} to {:.2}); {ours:.0} beside {theirs:.0}\n",
            spread.median, spread.low, spread.high
        ))?;
    }
    let long = format!("yes 0123456789abcde | head -c {LONG}");
    let before = peak_kb(sandboxed.pid())?;
    let start = Instant::now();
    sandboxed.ask(&Request::tool(
        "run_shell",
        json!({"command": long, "yield_ms": 600_000}),
        "bytes omitted",
    ))?;
    report::say(&format!(
        "50 MB of output: peak of {} kB beside {before} kB before, {:.0} MB a second\n",
        peak_kb(sandboxed.pid())?,
        LONG as f64 / 1e6 / start.elapsed().as_secs_f64()
    ))
}

fn open(plan: &ShellPlan, sandbox: &str) -> Result<Session> {
    let tectum = plan.tectum.clone().context("--tectum PATH is needed")?;
    let data = Data::prepare(&plan.data)?;
    let place = data.gateway(&format!("shell-{sandbox}"))?;
    let project = place.join("project");
    fs::create_dir_all(&project)?;
    let file = place.join("bench.toml");
    fs::write(&file, format!("[permissions]\nallow = [\"run_shell\"]\n[shell]\nsandbox = \"{sandbox}\"\n"))?;
    let launch = Launch {
        log: data.log(&format!("shell-{sandbox}")),
        name: format!("tectum, sandbox {sandbox}"),
        version: None,
        program: tectum,
        args: vec!["serve".into(), "-C".into(), project.into(), "--config".into(), file.into()],
        env: vec![
            ("XDG_STATE_HOME", place.join("state").into()),
            ("XDG_CONFIG_HOME", place.join("config").into()),
        ],
    };
    let mut session = Session::spawn(&launch)?;
    session.initialize()?;
    Ok(session)
}

/// The median time of starting a shell and reading what it says to the end, in microseconds.
fn bare(shell: &str, time: Duration) -> Result<f64> {
    let (start, mut times) = (Instant::now(), Vec::new());
    while start.elapsed() < time {
        let begun = Instant::now();
        once(shell)?;
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    median(&times).context("it ran")
}

/// Shells a second, started by as many threads as calls are in flight.
fn bare_many(shell: &str, time: Duration) -> Result<f64> {
    let start = Instant::now();
    let count = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..MANY)
            .map(|_| {
                scope.spawn(move || {
                    let mut count = 0_u32;
                    while start.elapsed() < time && once(shell).is_ok() {
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum::<u32>()
    });
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}

fn once(shell: &str) -> Result<()> {
    let said = Command::new(shell).args(["-c", "true"]).stdin(Stdio::null()).output()?;
    ensure!(said.status.success(), "{shell} -c true failed");
    Ok(())
}

fn peak_kb(pid: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("the kernel tells the peak")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
