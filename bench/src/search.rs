//! Search: Tectum's warm server against `rg` as a whole command, over the same tree.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::cases::{Case, Measured, RunPlan};
use crate::lineup::{Grounds, Server};
use crate::record::Entry;
use crate::rounds::{Contender, interleave};
use crate::session::Session;
use crate::tree::{self, QUERIES, Query};
use crate::wire::{self, Request};

enum Searcher {
    Command(PathBuf),
    Server(Session),
}

pub(crate) fn measure(case: Case, plan: &RunPlan, grounds: &Grounds) -> Result<Measured> {
    let root = grounds.data.tree();
    tree::grow(&root)?;
    let mut contenders: Vec<_> = case
        .contenders(plan)
        .map(|server| {
            Contender::ready(server.name(), |entry| {
                let mut searcher = open(server, grounds, &root, entry)?;
                // This also fills the page cache and the server's own caches.
                for query in &QUERIES {
                    let found = searcher.search(query, &root)?.matches(query.mark).count();
                    ensure!(found > 0, "{}: found nothing of {}", query.name, query.hits());
                    if found != query.hits() {
                        entry.remarks.push(format!("{}: shows {found} of {} hits", query.name, query.hits()));
                    }
                }
                Ok(searcher)
            })
        })
        .collect();
    let others = interleave(
        &mut contenders,
        case.rounds(plan),
        |searcher| match searcher {
            Searcher::Command(_) => None,
            Searcher::Server(session) => Some(session.pid()),
        },
        |searcher, entry| {
            for query in &QUERIES {
                let began = Instant::now();
                searcher.search(query, &root)?;
                entry.note(format!("{}_ms", query.name), began.elapsed().as_secs_f64() * 1e3);
            }
            Ok(())
        },
    );
    Ok((others, contenders.into_iter().map(|contender| contender.entry).collect()))
}

fn open(server: Server, grounds: &Grounds, root: &Path, entry: &mut Entry) -> Result<Searcher> {
    if server == Server::Ripgrep {
        let program = grounds.peers.ripgrep()?;
        let about = Command::new(&program).arg("--version").output()?.stdout;
        let about = String::from_utf8_lossy(&about);
        entry.version = about.split_whitespace().nth(1).unwrap_or("unknown").to_owned();
        return Ok(Searcher::Command(program));
    }
    let launch = server.launch(grounds, root)?;
    let mut session = Session::spawn(&launch)?;
    entry.version = session.initialize()?;
    Ok(Searcher::Server(session))
}

impl Searcher {
    /// Everything from the request to the text of the hits.
    fn search(&mut self, query: &Query, root: &Path) -> Result<String> {
        match self {
            Self::Command(program) => {
                let kind = if query.regex { "-e" } else { "-F" };
                let mut command = Command::new(program);
                command.args(["--no-config", "-n", kind, query.pattern]).arg(root).stdin(Stdio::null());
                let output = command.output().context("rg could not be started")?;
                ensure!(output.status.success(), "rg failed: {}", String::from_utf8_lossy(&output.stderr));
                Ok(String::from_utf8(output.stdout)?)
            }
            Self::Server(session) => {
                let arguments = json!({"path": root, "pattern": query.pattern});
                wire::text(&session.ask(&Request::tool("search_content", arguments, ""))?)
            }
        }
    }
}
