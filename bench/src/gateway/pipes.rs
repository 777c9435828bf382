//! A call through each gateway that uses pipes both to its client and to the server.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::bench::GatewayBench;
use super::calls::{MANY, WARM_UP, measured, note_latency};
use super::front::{Front, Setting};
use crate::cases::Measured;
use crate::record::Entry;
use crate::rounds::{Contender, interleave};
use crate::session::Session;
use crate::wire::Request;

/// The timeout for a gateway to meet its server.
const MEETING: Duration = Duration::from_secs(30);

struct PipeLane {
    session: Session,
    echo: [Request; 1],
}

pub(super) fn measure(bench: &GatewayBench) -> Measured {
    let mut contenders: Vec<_> = bench
        .contenders(&[Front::Direct, Front::Tectum, Front::FastMcp])
        .map(|front| {
            Contender::ready(front.name(), |entry| {
                let mut lane = open(bench, front, entry)?;
                for depth in [1, MANY] {
                    lane.session.drive(&lane.echo, &mut 0, depth, WARM_UP.min(bench.slice))?;
                }
                Ok(lane)
            })
        })
        .collect();
    let others = interleave(
        &mut contenders,
        bench.rounds,
        |lane| Some(lane.session.pid()),
        |PipeLane { session, echo }, entry| {
            for depth in [1, MANY] {
                let (slice, cpu) =
                    measured(session.pid(), || session.drive(echo, &mut 0, depth, bench.slice))?;
                entry.note(format!("calls_per_s_{depth}"), slice.calls_per_s);
                entry.note(format!("cpu_us_{depth}"), cpu);
                if depth == 1 {
                    note_latency(entry, &slice);
                }
            }
            Ok(())
        },
    );
    (others, contenders.into_iter().map(|contender| contender.entry).collect())
}

fn open(bench: &GatewayBench, front: Front, entry: &mut Entry) -> Result<PipeLane> {
    let setting = Setting::alone(front);
    let launch = setting.launch(&bench.grounds, None)?;
    let mut session = Session::spawn(&launch)?;
    let own = session.initialize()?;
    entry.version = launch.version.map(str::to_owned).unwrap_or(own);
    let echo = setting.echo();
    let list = Request::new("tools/list", &serde_json::json!({}));
    let deadline = Instant::now() + MEETING;
    // A gateway may answer before it has met its server.
    while memchr::memmem::find(&session.ask(&list)?, b"echo").is_none() {
        ensure!(Instant::now() < deadline, "never lists `echo`");
        std::thread::sleep(Duration::from_millis(1));
    }
    session.ask(&echo)?;
    Ok(PipeLane { session, echo: [echo] })
}
