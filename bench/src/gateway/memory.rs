//! The memory of a session: a gateway right after its start, then with hundreds of sessions that have
//! each made a call and keep their connection.

use std::time::Duration;

use anyhow::Result;

use super::bench::GatewayBench;
use super::client::Client;
use super::front::{Front, Setting};
use crate::cases::Measured;
use crate::load;
use crate::record::Entry;
use crate::rounds::{Contender, interleave};

/// The number of sessions besides the first.
const SESSIONS: usize = 256;
/// Calls of the first session, so that what a gateway allocates once is not counted for the others.
const FIRST_CALLS: usize = 100;
/// The pause after an answer: what a server still does then belongs to its idle state.
const SETTLE: Duration = Duration::from_millis(200);

pub(super) fn measure(bench: &GatewayBench) -> Measured {
    let mut contenders: Vec<_> = bench
        .contenders(&Front::ALL)
        .map(|front| Contender::ready(front.name(), |_| Ok(Setting::alone(front))))
        .collect();
    let others =
        interleave(&mut contenders, bench.rounds, |_| None, |setting, entry| visit(bench, *setting, entry));
    (others, contenders.into_iter().map(|contender| contender.entry).collect())
}

fn visit(bench: &GatewayBench, setting: Setting, entry: &mut Entry) -> Result<()> {
    let server = bench.start(setting)?;
    let (mut first, version) = server.client()?;
    entry.version = version;
    server.checked(first.list_all(0, setting.tools()))?;
    let echo = setting.echo();
    for _ in 0..FIRST_CALLS {
        server.checked(first.ask(0, &echo))?;
    }
    std::thread::sleep(SETTLE);
    let before = load::resident_mb(server.pid())?;
    let mut more = Client::new(&server.address)?;
    for place in 0..SESSIONS {
        server.checked(more.open())?;
        server.checked(more.ask(place, &echo))?;
    }
    std::thread::sleep(SETTLE);
    let after = load::resident_mb(server.pid())?;
    entry.note("idle_mb", before);
    entry.note("session_kb", (after - before).max(0.0) * 1e3 / SESSIONS as f64);
    Ok(())
}
