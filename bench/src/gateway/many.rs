//! The cost of more servers behind a gateway: the list of all tools, and a call of one, when every
//! server is known and running. The floor with as many tools of its own shows the minimum for a list.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::bench::{GatewayBench, Running};
use super::calls::{MANY, WARM_UP, note_latency};
use super::client::Client;
use super::front::{Front, Setting};
use crate::cases::Measured;
use crate::load;
use crate::record::Entry;
use crate::rounds::{Contender, interleave};
use crate::stats::median;
use crate::wire::Request;

/// The numbers of servers behind a gateway.
const COUNTS: [usize; 3] = [1, 16, 64];

/// The client is dropped before the server it is connected to.
struct ManyLane {
    client: Client,
    echo: Request,
    tools: usize,
    server: Running,
}

pub(super) fn settings(bench: &GatewayBench, fronts: &'static [Front]) -> Vec<Setting> {
    let before = |front| COUNTS.map(|servers| Setting { front, servers });
    bench.contenders(fronts).flat_map(before).collect()
}

pub(super) fn measure(bench: &GatewayBench) -> Measured {
    let mut contenders: Vec<_> = settings(bench, &[Front::Direct, Front::Tectum, Front::RustProxy])
        .into_iter()
        .map(|setting| {
            Contender::ready(&setting.name(), |entry| {
                let mut lane = open(bench, setting, entry)?;
                lane.visit(&mut Entry::new("unmeasured"), WARM_UP.min(bench.slice))?;
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

fn open(bench: &GatewayBench, setting: Setting, entry: &mut Entry) -> Result<ManyLane> {
    // A gateway that knows its servers may leave them unstarted; without that knowledge it must meet
    // them all.
    setting.forget(&bench.grounds)?;
    let server = bench.start(setting)?;
    let (mut client, version) = server.client()?;
    entry.version = version;
    for _ in 1..MANY {
        client.connect()?;
    }
    let tools = setting.tools();
    server.checked(client.list_all(0, tools))?;
    let echo = setting.echo();
    server.checked(client.ask(0, &echo))?;
    Ok(ManyLane { client, echo, tools, server })
}

impl ManyLane {
    fn visit(&mut self, entry: &mut Entry, time: Duration) -> Result<()> {
        entry.note("idle_mb", load::resident_mb(self.server.pid())?);
        let mut lists = Vec::new();
        let began = Instant::now();
        while lists.is_empty() || began.elapsed() < time {
            let (tools, took) = self.server.checked(self.client.list(0))?;
            ensure!(tools >= self.tools, "lists {tools} tools of {}", self.tools);
            lists.push(took.as_secs_f64() * 1e6);
        }
        entry.note("tools_list_us", median(&lists).unwrap_or_default());
        let slice = self.server.checked(self.client.drive(&self.echo, 1, time))?;
        note_latency(entry, &slice);
        let slice = self.server.checked(self.client.drive(&self.echo, MANY, time))?;
        entry.note("calls_per_s_64", slice.calls_per_s);
        Ok(())
    }
}
