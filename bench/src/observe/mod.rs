//! What copies for observers cost a call: the same native call over pipes with nobody looking for
//! observers, with none found, with one, and with eight of which one hangs and one crashes. Every
//! figure is a ratio to the first within one run.

pub(crate) mod watcher;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;

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
/// An agent thinks between calls; this is a quick one.
const EVERY: Duration = Duration::from_millis(5);
/// Long enough for the observers to be found, and for whatever is done at the first calls.
const WARM_UP: Duration = Duration::from_millis(500);
/// How long observers may take to be found.
const PATIENCE: Duration = Duration::from_secs(30);

/// What one run is to do.
pub(crate) struct Plan {
    pub(crate) tectum: Option<PathBuf>,
    pub(crate) rounds: usize,
    pub(crate) slice: Duration,
    pub(crate) out: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) one_cpu: bool,
}

/// Who watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watched {
    /// Nobody is looked for.
    Off,
    /// So many, the last two of eight broken.
    By(usize),
}

impl Watched {
    const ALL: [Self; 4] = [Self::Off, Self::By(0), Self::By(1), Self::By(8)];

    fn name(self) -> String {
        match self {
            Self::Off => "tectum-off".to_owned(),
            Self::By(count) => format!("tectum-{count}"),
        }
    }

    /// How each of its observers is.
    fn observers(self) -> Vec<How> {
        let Self::By(count) = self else { return Vec::new() };
        let broken = [How::Hang, How::Crash];
        let fine = count.saturating_sub(if count > 2 { broken.len() } else { 0 });
        std::iter::repeat_n(How::Fine, fine).chain(broken).take(count).collect()
    }

    fn launch(self, tectum: &Path, data: &Data) -> Result<Launch> {
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

struct Lane {
    session: Session,
    calls: [Request; 1],
    turn: usize,
}

/// Measures, keeps and prints.
pub(crate) fn run(plan: &Plan) -> Result<()> {
    let tectum = plan.tectum.as_deref().context("--tectum PATH is needed: nobody else has observers")?;
    let machine = Machine::here();
    if plan.one_cpu {
        affinity::pin()?;
    }
    let data = Data::prepare(&plan.data)?;
    eprintln!("{CASE}: {} rounds", plan.rounds);
    let mut contenders: Vec<_> = Watched::ALL
        .into_iter()
        .map(|watched| Contender::ready(&watched.name(), |entry| open(watched, tectum, &data, entry)))
        .collect();
    let others_cpu = interleave(
        &mut contenders,
        plan.rounds,
        |lane| Some(lane.session.pid()),
        |lane, entry| lane.visit(entry, plan.slice),
    );
    let servers = contenders.into_iter().map(|contender| contender.entry).collect();
    let (case, view) = (CASE.to_owned(), View::of(plan.one_cpu));
    let record = Record { case, view, slice_ms: plan.slice.as_millis() as u64, machine, others_cpu, servers };
    if record.rounds() == 0 {
        bail!("nothing was measured");
    }
    record::save(&record, &plan.out)?;
    crate::say(&report::section(&record))
}

/// Starts it, and waits until all who are to watch do.
fn open(watched: Watched, tectum: &Path, data: &Data, entry: &mut Entry) -> Result<Lane> {
    let launch = watched.launch(tectum, data)?;
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
    let mut lane = Lane { session, calls, turn: 0 };
    lane.visit(&mut Entry::new("unmeasured"), WARM_UP)?;
    Ok(lane)
}

impl Lane {
    fn visit(&mut self, entry: &mut Entry, time: Duration) -> Result<()> {
        let paced = self.session.pace(&self.calls[0], EVERY, time)?;
        note(entry, "paced_", &paced);
        let burst = self.session.drive(&self.calls, &mut self.turn, 1, time)?;
        note(entry, "", &burst);
        entry.note("calls_per_s_1", burst.calls_per_s);
        Ok(())
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
