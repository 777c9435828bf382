//! Search mode: how often `find_tools` finds the tool for a task among hundreds of definitions, and
//! the cost to a model against reading all of them. The definitions are our own, in the shape of those
//! of well-known servers.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::data::Data;
use crate::lineup::Launch;
use crate::session::Session;
use crate::wire::{self, Request};

/// A name, a description, and the names of its arguments, one tool a line.
const TOOLS: &str = include_str!("../data/registry-tools.tsv");
/// A task, and the tool that is right for it.
const TASKS: &str = include_str!("../data/registry-tasks.tsv");
/// The number of results that count.
const FOUND: usize = 5;
/// The aims: the share of tasks whose tool is found, and of tokens that are saved.
const LEAST_RECALL: f64 = 0.9;
const LEAST_SAVED: f64 = 0.9;
/// Bytes per token, a rule of thumb for English and JSON.
const BYTES_PER_TOKEN: usize = 4;

/// The plan of one run.
pub(crate) struct FindPlan {
    pub(crate) tectum: Option<PathBuf>,
    pub(crate) data: PathBuf,
}

/// The definitions, as a server lists them.
pub(crate) fn definitions() -> Vec<String> {
    rows(TOOLS).map(|row| definition(&row)).collect()
}

fn definition(row: &[&str]) -> String {
    let arguments = row.get(2).copied().unwrap_or_default();
    let arguments: Vec<&str> = arguments.split(',').filter(|name| !name.is_empty()).collect();
    let described = |name: &&str| {
        let words = name.replace('_', " ");
        ((*name).to_owned(), json!({"type": "string", "description": format!("The {words} to use")}))
    };
    let properties: serde_json::Map<String, Value> = arguments.iter().map(described).collect();
    let schema = json!({"type": "object", "properties": properties, "required": arguments.iter().take(1).collect::<Vec<_>>()});
    json!({"name": row[0], "description": row.get(1), "inputSchema": schema}).to_string()
}

fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table.lines().map(|line| line.split('\t').collect())
}

/// Searches for every task and prints the results.
pub(crate) fn run(plan: &FindPlan) -> Result<()> {
    let tectum = plan.tectum.clone().context("--tectum PATH is needed")?;
    let data = Data::prepare(&plan.data)?;
    let place = data.gateway("find")?;
    let own = std::env::current_exe()?;
    let config = format!(
        "[federation]\nread = []\nexposure = \"search\"\n[tools]\nnative = false\n\
         [servers.registry]\ncommand = {}\nargs = [\"registry\"]\nprefix = false\n",
        json!(own)
    );
    let file = place.join("bench.toml");
    fs::write(&file, config)?;
    let launch = Launch {
        log: data.log("find"),
        name: "tectum".to_owned(),
        version: None,
        program: tectum,
        args: vec!["serve".into(), "-C".into(), data.files().into(), "--config".into(), file.into()],
        env: vec![
            ("XDG_STATE_HOME", place.join("state").into()),
            ("XDG_CONFIG_HOME", place.join("config").into()),
        ],
    };
    let mut session = Session::spawn(&launch)?;
    session.initialize()?;
    let listed: Value = serde_json::from_slice(&session.ask(&Request::new("tools/list", &json!({})))?)?;
    let listed =
        listed["result"]["tools"].as_array().context("no list")?.iter().map(read_by_models).sum::<usize>();
    let all: usize = definitions().iter().map(String::len).sum();
    let (mut right, mut replies, mut missed) = (0, 0, Vec::new());
    let tasks: Vec<Vec<&str>> = rows(TASKS).collect();
    for task in &tasks {
        let [words, expected] = task[..] else { bail!("a task is words and a tool: {task:?}") };
        let request = Request::tool("find_tools", json!({"query": words, "limit": FOUND}), "");
        let text = wire::text(&session.ask(&request)?)?;
        replies += text.len();
        if text.lines().any(|line| line == expected) {
            right += 1
        } else {
            missed.push(format!("    missed: {words} ({expected})\n"))
        }
    }
    let recall = right as f64 / tasks.len() as f64;
    let searching = listed + replies / tasks.len();
    let saved = 1.0 - searching as f64 / all as f64;
    let met = |met: bool| if met { "met" } else { "not met" };
    crate::report::say(&format!(
        "find: {} tasks over {} tools\n  recall@{FOUND} {recall:.2} (aim {LEAST_RECALL}: {})\n  \
         tokens: all definitions {}, the list and one search {} ({:.0} % fewer, aim {:.0} %: {})\n{}",
        tasks.len(),
        definitions().len(),
        met(recall >= LEAST_RECALL),
        all / BYTES_PER_TOKEN,
        searching / BYTES_PER_TOKEN,
        saved * 100.0,
        LEAST_SAVED * 100.0,
        met(saved >= LEAST_SAVED),
        missed.concat(),
    ))
}

/// The bytes of a definition that a model reads.
fn read_by_models(tool: &Value) -> usize {
    json!({"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]})
        .to_string()
        .len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_has_its_tool() {
        let tools: Vec<Vec<&str>> = rows(TOOLS).collect();
        assert!(tools.len() >= 300 && rows(TASKS).count() == 60);
        for task in rows(TASKS) {
            assert!(tools.iter().any(|tool| tool[0] == task[1]), "{task:?}");
        }
    }
}
