//! Measures MCP servers and readers of code side by side in one run and prints ratios between them,
//! never times alone.
#![allow(
    clippy::disallowed_methods,
    reason = "a developer program works on its own files and starts its own processes"
)]

mod affinity;
mod aims;
mod approval;
mod calls;
mod cases;
mod cli;
mod code;
mod data;
mod economy;
mod fetch;
mod find;
mod floor;
mod gateway;
mod journal;
mod lineup;
mod load;
mod memory;
mod observe;
mod peers;
mod record;
mod relay;
mod report;
mod rounds;
mod run;
mod search;
mod session;
mod shell;
mod start;
mod stats;
mod tree;
mod turns;
mod wire;

use anyhow::Result;

use crate::cli::{Command, FloorOptions};
use crate::floor::Floor;

fn main() -> Result<()> {
    match cli::parse(std::env::args_os().skip(1))? {
        Command::Run(plan) => run::run(&plan),
        Command::Code(plan) => code::run(&plan),
        Command::Report(dir) => report::say(&report::all(&record::load(&dir)?)),
        Command::Gateway(plan) => gateway::run(&plan),
        Command::Turns(plan) => turns::run(&plan),
        Command::Observe(plan) => observe::run(&plan),
        Command::Find(plan) => find::run(&plan),
        Command::Fetch(plan) => fetch::run(&plan),
        Command::Shell(plan) => shell::run(&plan),
        Command::Journal(plan) => journal::run(&plan),
        Command::Approval(plan) => approval::run(&plan),
        Command::Registry(file, count) => floor::serve(find::registry(&file, count)?),
        Command::Economy(plan) => economy::run(&plan),
        Command::Watcher(how, count) => observe::watcher::serve(how, &count),
        Command::Eyes => observe::eyes::serve(),
        Command::Floor(FloorOptions { root, tools, port: None, .. }) => {
            floor::serve(Floor::new(&root, tools))
        }
        Command::Floor(FloorOptions { root, tools, port: Some(port), upstream }) => {
            gateway::limit::serve(port, Floor::new(&root, tools), &upstream)
        }
        Command::Help => report::say(cli::HELP),
    }
}
