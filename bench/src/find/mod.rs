//! Search mode: how often `find_tools` finds the tool for a task among the tools of well-known servers, and
//! the cost to a model against reading all of their definitions.

mod servers;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use self::servers::ToolList;
use crate::data::Data;
use crate::floor::Floor;
use crate::lineup::Launch;
use crate::peers::Peers;
use crate::session::Session;
use crate::wire::{self, Request};

/// Tasks in our own words, and the tools that are right for each.
const TASKS: &str = include_str!("../../data/registry-tasks.tsv");
/// The number of results that count.
const FOUND: usize = 5;
/// The aims: the share of tasks whose tool is found, and of tokens that are saved.
const LEAST_RECALL: f64 = 0.9;
const LEAST_SAVED: f64 = 0.9;

/// The plan of one run.
pub(crate) struct FindPlan {
    pub(crate) tectum: Option<PathBuf>,
    pub(crate) data: PathBuf,
    pub(crate) peers: PathBuf,
}

/// A sentence, and the names of the tools that are right.
struct FindTask {
    words: &'static str,
    right: Vec<&'static str>,
}

fn tasks() -> Result<Vec<FindTask>> {
    let task = |line: &'static str| {
        let (words, right) = line.split_once('\t').with_context(|| format!("no tool: {line}"))?;
        Ok(FindTask { words, right: right.split(',').collect() })
    };
    TASKS.lines().map(task).collect()
}

/// A server that lists the first `count` definitions of a file.
pub(crate) fn registry(file: &Path, count: usize) -> Result<Floor> {
    let tools: Vec<String> = servers::definitions(file)?.iter().take(count).map(Value::to_string).collect();
    Ok(Floor::listing(&tools))
}

/// Searches for every task and prints the results.
pub(crate) fn run(plan: &FindPlan) -> Result<()> {
    let tectum = plan.tectum.clone().context("--tectum PATH is needed")?;
    let data = Data::prepare(&plan.data)?;
    let place = data.gateway("find")?;
    let (lists, left_out) = servers::lists(&data, &Peers::at(&plan.peers), &place)?;
    // What an earlier run approved may be another version of a server.
    let state = place.join("state");
    if state.exists() {
        fs::remove_dir_all(&state)?;
    }
    let wanted: usize = lists.iter().map(|list| list.taken).sum();
    let all = servers::listed(&mut start(&tectum, &data, &place, &lists, "all")?)?;
    ensure!(all.len() == wanted, "Tectum lists {} tools of {wanted}", all.len());
    let mut session = start(&tectum, &data, &place, &lists, "search")?;
    let listed = servers::listed(&mut session)?;

    let vocabulary = tiktoken_rs::o200k_base()?;
    let tokens = |text: &str| vocabulary.encode_ordinary(text).len();
    let cost = |tools: &[Value]| tools.iter().map(|tool| tokens(&read_by_models(tool))).sum::<usize>();
    let (mut first, mut found, mut replies, mut missed) = (0, 0, 0, Vec::new());
    let tasks = tasks()?;
    for task in &tasks {
        let request = Request::tool("find_tools", json!({"query": task.words, "limit": FOUND}), "");
        let answer = session.ask(&request)?;
        replies += tokens(&wire::text(&answer)?);
        let answer: Value = serde_json::from_slice(&answer)?;
        let results = answer["result"]["structuredContent"]["tools"].as_array().context("no results")?;
        let is_right = |tool: &Value| tool["name"].as_str().is_some_and(|name| task.right.contains(&name));
        match results.iter().position(is_right) {
            Some(place) => {
                first += usize::from(place == 0);
                found += 1;
            }
            None => missed.push(format!("    missed: {} ({})\n", task.words, task.right.join(", "))),
        }
    }
    let share = |count: usize| count as f64 / tasks.len() as f64;
    let (whole, searching) = (cost(&all), cost(&listed) + replies / tasks.len());
    let saved = 1.0 - searching as f64 / whole as f64;
    let met = |met: bool| if met { "met" } else { "not met" };
    crate::report::say(&format!(
        "find: {} tasks over {} tools of {} servers\n  recall@{FOUND} {:.2} (aim {LEAST_RECALL}: {}), \
         recall@1 {:.2}\n  tokens: all definitions {whole}, the list and one search {searching} \
         ({:.0} % fewer, aim {:.0} %: {})\n{}{}",
        tasks.len(),
        all.len(),
        lists.len(),
        share(found),
        met(share(found) >= LEAST_RECALL),
        share(first),
        saved * 100.0,
        LEAST_SAVED * 100.0,
        met(saved >= LEAST_SAVED),
        missed.concat(),
        left_out.concat(),
    ))
}

/// Tectum before one server for each list.
fn start(tectum: &Path, data: &Data, place: &Path, lists: &[ToolList], exposure: &str) -> Result<Session> {
    let own = json!(std::env::current_exe()?);
    let mut config = format!(
        "[federation]\nread = []\nexposure = \"{exposure}\"\n[tools]\nnative = false\n[servers]\nfirst_wait = \"60s\"\n"
    );
    for ToolList { server, file, taken } in lists {
        let args = json!(["registry", file, taken.to_string()]);
        config.push_str(&format!("[servers.{server}]\ncommand = {own}\nargs = {args}\n"));
    }
    let file = place.join(format!("{exposure}.toml"));
    fs::write(&file, config)?;
    let mut session = Session::spawn(&Launch {
        log: data.log("find"),
        name: "tectum".to_owned(),
        version: None,
        program: tectum.to_owned(),
        args: vec!["serve".into(), "-C".into(), data.files().into(), "--config".into(), file.into()],
        env: vec![
            ("XDG_STATE_HOME", place.join("state").into()),
            ("XDG_CONFIG_HOME", place.join("config").into()),
        ],
    })?;
    session.initialize()?;
    Ok(session)
}

/// The part of a definition that a model reads.
fn read_by_models(tool: &Value) -> String {
    json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]})
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_has_a_task_and_every_task_a_server() {
        let tasks = tasks().expect("lines of words and tools");
        assert_eq!(tasks.len(), 60);
        let named: Vec<&str> = tasks
            .iter()
            .flat_map(|task| &task.right)
            .filter_map(|tool| Some(tool.split_once("__")?.0))
            .collect();
        for server in &servers::SERVERS {
            assert!(named.contains(&server.name), "no task for {}", server.name);
        }
        for name in named {
            assert!(servers::SERVERS.iter().any(|server| server.name == name), "no server {name}");
        }
    }
}
