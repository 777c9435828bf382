//! The cost of copies for observers to a call: the same native call over pipes without discovery of
//! observers, with none found, with one, with eight of which one hangs and one crashes, and with ten
//! thousand that have a connection each. Every figure is a ratio to the first within one run.

pub(crate) mod eyes;
pub(crate) mod watcher;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use self::eyes::Eyes;
use self::watcher::How;
use crate::data::Data;
use crate::lineup::{Launch, Server};
use crate::record::{self, Entry, Machine, Record, View};
use crate::rounds::{Contender, interleave};
use crate::session::{Session, Slice};
use crate::stats::quantile;
use crate::wire::Request;
use crate::{affinity, report};

/// The name of the case.
const CASE: &str = "observe";
/// The delay between calls while waiting for observers.
const EVERY: Duration = Duration::from_millis(5);
/// The warm-up, long enough to find the observers, and for what is done at the first calls.
const WARM_UP: Duration = Duration::from_millis(500);
/// The timeout for finding the observers.
const PATIENCE: Duration = Duration::from_secs(30);

/// The plan of one run.
pub(crate) struct ObservePlan {
    pub(crate) tectum: Option<PathBuf>,
    /// The servers to measure; empty means all. Those without observers are always included.
    pub(crate) servers: Vec<String>,
    pub(crate) rounds: usize,
    /// The delay between calls, at an agent's pace.
    pub(crate) every: Duration,
    pub(crate) slice: Duration,
    pub(crate) out: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) one_cpu: bool,
}

impl ObservePlan {
    fn wants(&self, server: &str) -> bool {
        self.servers.is_empty() || self.servers.iter().any(|wanted| wanted == server)
    }
}

/// The observers of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watched {
    /// No discovery of observers.
    Off,
    /// This many, the last two of eight broken.
    By(usize),
    /// This many in one process over HTTP, each with its own connection.
    Eyes(usize),
}

impl Watched {
    const ALL: [Self; 5] = [Self::Off, Self::By(0), Self::By(1), Self::By(8), Self::Eyes(10_000)];

    fn name(self) -> String {
        match self {
            Self::Off => "tectum-off".to_owned(),
            Self::By(count) | Self::Eyes(count) => format!("tectum-{count}"),
        }
    }

    /// The behaviour of each observer.
    fn observers(self) -> Vec<How> {
        let Self::By(count) = self else { return Vec::new() };
        let broken = [How::Hang, How::Crash];
        let fine = count.saturating_sub(if count > 2 { broken.len() } else { 0 });
        std::iter::repeat_n(How::Fine, fine).chain(broken).take(count).collect()
    }

    fn launch(self, tectum: &Path, data: &Data, eyes: Option<&Eyes>) -> Result<Launch> {
        let name = self.name();
        let place = data.gateway(&format!("observe-{name}"))?;
        let own = std::env::current_exe()?;
        let mut config = "[federation]\nread = []\n".to_owned();
        if self != Self::Off {
            config.push_str("\n[observers]\ndiscover = true\n");
        }
        for (number, how) in self.observers().into_iter().enumerate() {
            let count = place.join(format!("{number}.count"));
            fs::write(&count, "")?;
            let args = json!(["watcher", how.word(), count]);
            let _ = write!(config, "\n[servers.o{number}]\ncommand = {}\nargs = {args}\n", json!(own));
        }
        if let (Self::Eyes(count), Some(Eyes { port, .. })) = (self, eyes) {
            // The saved state of servers at another port is useless.
            let _ = fs::remove_dir_all(place.join("state"));
            for number in 0..count {
                let url = format!("url = \"http://127.0.0.1:{port}/mcp\"\nera = \"legacy\"");
                let _ = write!(config, "\n[servers.o{number}]\n{url}\n");
            }
        }
        let file = place.join("bench.toml");
        fs::write(&file, config)?;
        Ok(Launch {
            log: data.log(&format!("observe-{name}")),
            name,
            version: None,
            program: tectum.to_owned(),
            args: vec!["serve".into(), "-C".into(), data.files().into(), "--config".into(), file.into()],
            env: vec![
                ("XDG_STATE_HOME", place.join("state").into()),
                ("XDG_CONFIG_HOME", place.join("config").into()),
            ],
        })
    }
}

struct ObserveLane {
    session: Session,
    eyes: Option<Eyes>,
    calls: [Request; 1],
    turn: usize,
}

/// Measures, saves and prints the case.
pub(crate) fn run(plan: &ObservePlan) -> Result<()> {
    let tectum = plan.tectum.as_deref().context("--tectum PATH is needed: nobody else has observers")?;
    let machine = Machine::here();
    if plan.one_cpu {
        affinity::pin()?;
    }
    let data = Data::prepare(&plan.data)?;
    eprintln!("{CASE}: {} rounds", plan.rounds);
    let mut contenders: Vec<_> = Watched::ALL
        .into_iter()
        .filter(|watched| *watched == Watched::Off || plan.wants(&watched.name()))
        .map(|watched| Contender::ready(&watched.name(), |entry| open(watched, tectum, &data, entry)))
        .collect();
    let others_cpu = interleave(
        &mut contenders,
        plan.rounds,
        |lane| lane.eyes.iter().map(Eyes::pid).chain([lane.session.pid()]).collect::<Vec<_>>(),
        |lane, entry| lane.visit(entry, plan.every, plan.slice),
    );
    let servers = contenders.into_iter().map(|contender| contender.entry).collect();
    let (case, view) = (CASE.to_owned(), View::of(plan.one_cpu));
    let record = Record { case, view, slice_ms: plan.slice.as_millis() as u64, machine, others_cpu, servers };
    if record.rounds() == 0 {
        bail!("nothing was measured");
    }
    record::save(&record, &plan.out)?;
    report::say(&report::section(&record))
}

/// Starts Tectum, and waits until all observers get copies.
fn open(watched: Watched, tectum: &Path, data: &Data, entry: &mut Entry) -> Result<ObserveLane> {
    let mut eyes = matches!(watched, Watched::Eyes(_)).then(Eyes::start).transpose()?;
    let launch = watched.launch(tectum, data, eyes.as_ref())?;
    let mut session = Session::spawn(&launch)?;
    entry.version = session.initialize()?;
    session.ask(&Request::new("tools/list", &json!({})))?;
    let calls = [Server::Tectum.read(&data.one_byte(), "x")];
    let place = data.gateway(&format!("observe-{}", watched.name()))?;
    let deadline = Instant::now() + PATIENCE;
    for number in 0..watched.observers().len() {
        let count = place.join(format!("{number}.count"));
        while fs::metadata(&count)?.len() == 0 {
            session.ask(&calls[0])?;
            if Instant::now() > deadline {
                bail!("observer {number} of {} got no copy", watched.name());
            }
            std::thread::sleep(EVERY);
        }
    }
    if let (Watched::Eyes(count), Some(eyes)) = (watched, &mut eyes) {
        eyes.until(|seen| seen.streams == count)?;
        session.ask(&calls[0])?;
        eyes.until(|seen| seen.told >= 2 * count)?;
    }
    let mut lane = ObserveLane { session, eyes, calls, turn: 0 };
    lane.visit(&mut Entry::new("unmeasured"), EVERY, WARM_UP)?;
    Ok(lane)
}

impl ObserveLane {
    fn visit(&mut self, entry: &mut Entry, every: Duration, time: Duration) -> Result<()> {
        self.signal(Signal::CONT)?;
        let measured = self.measure(entry, every, time);
        self.signal(Signal::STOP)?;
        measured
    }

    /// Stops or continues a Tectum that is behind with very many copies, so that it does not disturb
    /// other measurements.
    fn signal(&self, signal: Signal) -> Result<()> {
        match (&self.eyes, Pid::from_raw(self.session.pid().cast_signed())) {
            (Some(_), Some(pid)) => Ok(kill_process(pid, signal)?),
            _ => Ok(()),
        }
    }

    fn measure(&mut self, entry: &mut Entry, every: Duration, time: Duration) -> Result<()> {
        let paced = self.session.pace(&self.calls[0], every, time)?;
        note(entry, "paced_", &paced);
        let burst = self.session.drive(&self.calls, &mut self.turn, 1, time)?;
        note(entry, "", &burst);
        entry.note("calls_per_s_1", burst.calls_per_s);
        Ok(())
    }
}

impl Drop for ObserveLane {
    /// Continues the process, since a stopped one does not notice that its client leaves.
    fn drop(&mut self) {
        let _ = self.signal(Signal::CONT);
    }
}

fn note(entry: &mut Entry, how: &str, slice: &Slice) {
    entry.note(format!("{how}p50_us"), quantile(&slice.latencies, 0.5).unwrap_or_default());
    entry.note(format!("{how}p99_us"), quantile(&slice.latencies, 0.99).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_eight_hangs_and_one_crashes() {
        let observers = Watched::By(8).observers();
        let count = |how: How| observers.iter().filter(|one| **one == how).count();
        assert_eq!([count(How::Fine), count(How::Hang), count(How::Crash)], [6, 1, 1]);
        assert_eq!(Watched::By(1).observers(), [How::Fine]);
        assert!(Watched::By(0).observers().is_empty() && Watched::Off.observers().is_empty());
    }
}
