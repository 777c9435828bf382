//! `tectum serve`: MCP on standard input and output, which carry the protocol and nothing else.

use std::{
    io::{self, IsTerminal as _},
    time::Duration,
};

use clap::Args;
use tectum::{
    config::{keys, servers::Live},
    houses::{self, Entrance},
    peers::serve::{self, LineServer, Relayed},
    servers::Household,
};
use tokio::runtime::Builder;
use tokio_util::sync::CancellationToken;

use super::{
    failure::Failure,
    options::Shared,
    screen::Screen,
    stop,
    warnings::{tell_strange_rules, tell_wide_reach},
    within,
};

/// The time calls in flight may still take when the client has left.
const DRAIN: Duration = Duration::from_secs(5);
/// Calls that block at the same time; more wait for their turn.
const MOST_BLOCKING: usize = 64;

/// Serve over standard input and output, for clients that start the server themselves.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Which tools clients see: auto, lean, all, or a profile of your own
    #[arg(long, value_name = "PROFILE")]
    tools: Option<String>,
    /// Join a Tectum that serves this project with the same settings, if one runs
    #[arg(long)]
    join: bool,
}

/// The profile that a command line names, as a setting.
pub(crate) fn profile_flag(name: Option<&String>) -> Vec<(&'static keys::Key, String, String)> {
    name.map(|name| (&keys::PROFILE, name.clone(), "--tools".to_owned())).into_iter().collect()
}

impl Serve {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let mut config = shared.load(self.flags(), screen)?;
        tell_wide_reach(&config, screen);
        if let Some(circle) = within::circle(&config, shared.above) {
            return Err(within::refuse(circle).into());
        }
        if io::stdin().is_terminal() && !screen.quiet {
            screen.tell("Speaking MCP on standard input and output: this is meant to be started by a client. Ctrl-C stops; `tectum up` serves over HTTP.");
        }
        let sources = shared.sources(self.flags());
        let mut carried = None;
        // Nothing of a house is built as long as another one serves.
        let door = loop {
            match houses::enter(&config, &sources) {
                Entrance::House(door) => break door,
                Entrance::Relay(stream) => match serve::relay(stream, carried)? {
                    Relayed::ClientLeft => return Ok(()),
                    Relayed::HouseEnded(left) => carried = Some(*left),
                },
            }
            config = shared.load(self.flags(), screen)?;
        };
        // One client, one thread: whoever reads a call answers it, and nothing is handed over.
        to_the_end(Builder::new_current_thread(), async {
            let ended = CancellationToken::new();
            stop::on_signal(ended.clone())?;
            let household = Household::start(&config, Live::new(sources), "serve").await?;
            let house = household.house.clone();
            let server = LineServer::new(house.clone(), household.federation.clone());
            let attending = household.attend(door, server.clone(), true);
            let serving = server.stdio(carried, ended);
            // The client is greeted while what the servers offer is still being read.
            let telling = async {
                household.settled().await;
                tell_strange_rules(&config, &house, screen);
            };
            let (served, ()) = tokio::join!(serving, telling);
            if let Some(attending) = attending {
                attending.end().await;
            }
            house.drain(DRAIN).await;
            household.stop().await;
            Ok(served?)
        })?
    }

    fn flags(&self) -> Vec<(&'static keys::Key, String, String)> {
        let mut flags = profile_flag(self.tools.as_ref());
        if self.join {
            flags.push((&keys::JOIN, "auto".to_owned(), "--join".to_owned()));
        }
        flags
    }
}

/// Runs a server in a runtime of its own. What still blocks at the end is left behind: a read of
/// standard input may wait for ever, and nobody needs its answer.
pub(crate) fn to_the_end<F: Future>(mut runtime: Builder, server: F) -> io::Result<F::Output> {
    // Every server and every client costs some.
    tectum::peers::child::files::take_all();
    let runtime = runtime.max_blocking_threads(MOST_BLOCKING).thread_name("tectum").enable_all().build()?;
    let done = runtime.block_on(server);
    runtime.shutdown_background();
    Ok(done)
}
