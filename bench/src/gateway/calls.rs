//! A call through each gateway over HTTP: one at a time, many in flight in one session, and many
//! sessions with one call each; and the CPU time of the gateway with all it started.

use std::time::Duration;

use anyhow::Result;

use super::bench::{GatewayBench, Running};
use super::client::Client;
use super::front::{Front, Setting};
use crate::cases::Measured;
use crate::load;
use crate::record::Entry;
use crate::rounds::{Contender, interleave};
use crate::session::Slice;
use crate::stats::quantile;
use crate::wire::Request;

/// The number of calls in flight if more than one is.
pub(super) const MANY: usize = 64;
/// The warm-up, long enough for what a gateway does at its first calls.
pub(super) const WARM_UP: Duration = Duration::from_millis(300);

/// The clients are dropped before the server they are connected to.
struct GatewayLane {
    /// Many connections of one session.
    one: Client,
    /// Many sessions with a connection each.
    each: Client,
    echo: Request,
    server: Running,
}

pub(super) fn measure(bench: &GatewayBench) -> Measured {
    let mut contenders: Vec<_> = bench
        .contenders(&Front::ALL)
        .map(|front| {
            Contender::ready(front.name(), |entry| {
                let mut lane = open(bench, front, entry)?;
                let warm_up = WARM_UP.min(bench.slice);
                lane.visit(&mut Entry::new("unmeasured"), warm_up)?;
                Ok(lane)
            })
        })
        .collect();
    let others = interleave(
        &mut contenders,
        bench.rounds,
        |lane| Some(lane.server.pid()),
        |lane, entry| lane.visit(entry, bench.slice),
    );
    (others, contenders.into_iter().map(|contender| contender.entry).collect())
}

fn open(bench: &GatewayBench, front: Front, entry: &mut Entry) -> Result<GatewayLane> {
    let setting = Setting::alone(front);
    let server = bench.start(setting)?;
    let (mut one, version) = server.client()?;
    entry.version = version;
    server.checked(one.list_all(0, setting.tools()))?;
    let echo = setting.echo();
    server.checked(one.ask(0, &echo))?;
    for _ in 1..MANY {
        one.connect()?;
    }
    let mut each = Client::new(&server.address)?;
    for place in 0..MANY {
        server.checked(each.open())?;
        server.checked(each.ask(place, &echo))?;
    }
    Ok(GatewayLane { one, each, echo, server })
}

impl GatewayLane {
    fn visit(&mut self, entry: &mut Entry, time: Duration) -> Result<()> {
        let Self { one, each, echo, server } = self;
        let (slice, cpu) = server.checked(measured(server.pid(), || one.drive(echo, 1, time)))?;
        note_latency(entry, &slice);
        entry.note("calls_per_s_1", slice.calls_per_s);
        entry.note("cpu_us_1", cpu);
        let (slice, cpu) = server.checked(measured(server.pid(), || one.drive(echo, MANY, time)))?;
        entry.note("calls_per_s_64", slice.calls_per_s);
        entry.note("cpu_us_64", cpu);
        let slice = server.checked(each.drive(echo, MANY, time))?;
        entry.note("sessions_per_s_64", slice.calls_per_s);
        Ok(())
    }
}

/// The slice, with the CPU microseconds that a call took of the server and all it started.
pub(super) fn measured(pid: u32, drive: impl FnOnce() -> Result<Slice>) -> Result<(Slice, f64)> {
    let before = load::cpu_seconds(pid);
    let slice = drive()?;
    let cpu = load::cpu_seconds(pid) - before;
    let calls = slice.latencies.len().max(1) as f64;
    Ok((slice, cpu * 1e6 / calls))
}

pub(super) fn note_latency(entry: &mut Entry, slice: &Slice) {
    entry.note("p50_us", quantile(&slice.latencies, 0.5).unwrap_or_default());
    entry.note("p99_us", quantile(&slice.latencies, 0.99).unwrap_or_default());
}
