//! The cost of a coding agent's tasks in tokens: the list at the start of each conversation, and the
//! replies to its calls. No time is measured.

mod project;
mod serena;
mod server;
mod talk;
mod tasks;

use std::fmt::Write;

use anyhow::Result;
use tiktoken_rs::CoreBPE;

pub(crate) use self::server::{EconomyPlan, EconomyServer};

use self::project::Project;
use self::tasks::Task;
use crate::peers::Peers;
use crate::record::{self, Entry, Machine, Record, View};
use crate::report;

/// The cost of one server's conversations, for each task.
struct Bill {
    entry: Entry,
    openings: Vec<usize>,
    replies: Vec<usize>,
}

/// Runs every conversation once; the replies of a server do not change from run to run.
pub(crate) fn run(plan: &EconomyPlan) -> Result<()> {
    let (tasks, vocabulary) = (tasks::read()?, tiktoken_rs::o200k_base()?);
    let project = Project::prepare(&plan.data)?;
    let peers = Peers::at(&plan.peers);
    let mut bills = Vec::new();
    for server in EconomyServer::ALL {
        if !plan.servers.is_empty() && !plan.servers.contains(&server) {
            continue;
        }
        eprintln!("{}: {} tasks", server.name(), tasks.len());
        let mut bill = Bill { entry: Entry::new(server.name()), openings: Vec::new(), replies: Vec::new() };
        if let Err(error) = count(server, plan, &peers, &project, &tasks, &vocabulary, &mut bill) {
            bill.entry.remarks.push(format!("left out: {error:#}"));
            eprintln!("  left out: {error:#}");
        }
        bills.push(bill);
    }
    project.remove()?;
    report::say(&table(&tasks, &bills))?;
    let record = Record {
        case: "economy".to_owned(),
        view: View::AllCpus,
        slice_ms: 0,
        machine: Machine::here(),
        others_cpu: Vec::new(),
        servers: bills.into_iter().map(|bill| bill.entry).collect(),
    };
    if plan.servers.is_empty() {
        record::save(&record, &plan.out)?;
    }
    report::say(&report::section(&record))
}

fn count(
    server: EconomyServer,
    plan: &EconomyPlan,
    peers: &Peers,
    project: &Project,
    tasks: &[Task],
    vocabulary: &CoreBPE,
    bill: &mut Bill,
) -> Result<()> {
    let tokens = |text: &String| vocabulary.encode_ordinary(text).len();
    for task in tasks {
        project.renew()?;
        let launch = server.launch(plan, peers, project)?;
        let talk = talk::hold(server, &launch, &project.root, task)?;
        project.judge(task)?;
        bill.openings.push(tokens(&talk.opening));
        bill.entry.version = talk.version;
        bill.replies.push(talk.replies.iter().map(tokens).sum());
    }
    let replies: usize = bill.replies.iter().sum();
    let opening = bill.openings.iter().copied().max().unwrap_or_default();
    bill.entry.note("opening_tokens", opening as f64);
    bill.entry.note("reply_tokens", replies as f64);
    bill.entry.note("all_tokens", (replies + bill.openings.iter().sum::<usize>()) as f64);
    bill.entry.note("session_tokens", (replies + opening) as f64);
    for (task, replies) in tasks.iter().zip(&bill.replies) {
        bill.entry.note(task.name.as_str(), *replies as f64);
    }
    Ok(())
}

/// The replies of each task, one column a server.
fn table(tasks: &[Task], bills: &[Bill]) -> String {
    let bills: Vec<&Bill> = bills.iter().filter(|bill| bill.replies.len() == tasks.len()).collect();
    let mut out = "| tokens of the replies |".to_owned();
    for bill in &bills {
        let _ = write!(out, " {} |", bill.entry.server);
    }
    let _ = write!(out, "\n| --- |{}", " ---: |".repeat(bills.len()));
    for (number, task) in tasks.iter().enumerate() {
        let _ = write!(out, "\n| {} |", task.name);
        for bill in &bills {
            let _ = write!(out, " {} |", bill.replies[number]);
        }
    }
    out + "\n\n"
}
