//! Sets MCP servers and readers of code side by side in one run and prints ratios between them,
//! never times alone.
#![allow(
    clippy::disallowed_methods,
    reason = "a developer program works on its own files and starts its own processes"
)]

mod affinity;
mod aims;
mod calls;
mod cases;
mod cli;
mod code;
mod data;
mod economy;
mod find;
mod floor;
mod gateway;
mod lineup;
mod load;
mod memory;
mod observe;
mod peers;
mod record;
mod report;
mod rounds;
mod search;
mod session;
mod start;
mod stats;
mod tree;
mod turns;
mod wire;

use std::io::Write;

use anyhow::Result;

use crate::cli::Command;
use crate::floor::Floor;

fn main() -> Result<()> {
    match cli::parse(std::env::args_os().skip(1))? {
        Command::Run(plan) => cases::run(&plan),
        Command::Code(plan) => code::run(&plan),
        Command::Report(dir) => say(&report::all(&record::load(&dir)?)),
        Command::Gateway(plan) => gateway::run(&plan),
        Command::Turns(plan) => turns::run(&plan),
        Command::Observe(plan) => observe::run(&plan),
        Command::Find(plan) => find::run(&plan),
        Command::Registry => floor::serve(Floor::listing(&find::definitions())),
        Command::Economy(plan) => economy::run(&plan),
        Command::Watcher(how, count) => observe::watcher::serve(how, &count),
        Command::Eyes => observe::eyes::serve(),
        Command::Floor(cli::Floor { root, tools, port: None, .. }) => floor::serve(Floor::new(&root, tools)),
        Command::Floor(cli::Floor { root, tools, port: Some(port), upstream }) => {
            gateway::limit::serve(port, Floor::new(&root, tools), &upstream)
        }
        Command::Help => say(cli::HELP),
    }
}

/// Results go to standard output, progress to standard error.
fn say(text: &str) -> Result<()> {
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}
