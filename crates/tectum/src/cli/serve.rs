//! `tectum serve`: MCP on standard input and output, which carry the protocol and nothing else.

use std::{io, time::Duration};

use tectum::peers::serve;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use super::{Shared, failure::Failure, screen::Screen, stop};

/// How long calls in flight may still take when the client has left.
const DRAIN: Duration = Duration::from_secs(5);
/// More workers than this only move work between caches.
const MOST_WORKERS: usize = 4;
/// Calls that block at the same time; more wait for their turn.
const MOST_BLOCKING: usize = 64;

pub(crate) fn run(shared: &Shared, screen: &Screen) -> Result<(), Failure> {
    let house = tectum::build(&shared.load(Vec::new(), screen)?)?;
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let ended = CancellationToken::new();
        stop::on_signal(ended.clone())?;
        let served = serve::stdio(house.clone(), ended).await;
        house.drain(DRAIN).await;
        served
    });
    // A read of standard input may still wait in a thread; nobody needs its answer.
    runtime.shutdown_background();
    Ok(served?)
}

/// The runtime of a server.
pub(crate) fn runtime() -> io::Result<Runtime> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Builder::new_multi_thread()
        .worker_threads(cores.min(MOST_WORKERS))
        .max_blocking_threads(MOST_BLOCKING)
        .thread_name("tectum")
        .enable_all()
        .build()
}
