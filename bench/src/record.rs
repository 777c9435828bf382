//! The record of a case: every figure of every round, as JSON.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) case: String,
    pub(crate) view: View,
    pub(crate) slice_ms: u64,
    pub(crate) machine: Machine,
    /// For each round, the share of the machine that work outside this run used.
    pub(crate) others_cpu: Vec<f64>,
    pub(crate) servers: Vec<Entry>,
}

/// The CPUs that client and server share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum View {
    AllCpus,
    OneCpu,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cpus: usize,
    pub(crate) kernel: String,
}

/// One server's part of a case.
#[derive(Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) server: String,
    pub(crate) version: String,
    /// Why it is absent, where it stopped, or what its figures do not show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) remarks: Vec<String>,
    /// For each figure, one number a round.
    pub(crate) figures: BTreeMap<String, Vec<f64>>,
}

impl Record {
    pub(crate) fn rounds(&self) -> usize {
        self.servers.iter().flat_map(|entry| entry.figures.values()).map(Vec::len).max().unwrap_or(0)
    }
}

impl Entry {
    pub(crate) fn new(server: &str) -> Self {
        let (server, version) = (server.to_owned(), String::new());
        Self { server, version, remarks: Vec::new(), figures: BTreeMap::new() }
    }

    pub(crate) fn note(&mut self, figure: impl Into<String>, value: f64) {
        // A thousandth of the unit is far below the resolution of any figure here.
        let value = (value * 1000.0).round() / 1000.0;
        self.figures.entry(figure.into()).or_default().push(value);
    }

    pub(crate) fn figure(&self, figure: &str) -> &[f64] {
        self.figures.get(figure).map(Vec::as_slice).unwrap_or_default()
    }
}

impl View {
    pub(crate) fn of(one_cpu: bool) -> Self {
        if one_cpu { Self::OneCpu } else { Self::AllCpus }
    }
}

impl Machine {
    pub(crate) fn here() -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let models = info.lines().filter(|line| line.starts_with("model name"));
        let cpus = models.clone().count();
        let cpu = models.clone().next().and_then(|line| line.split_once(": ")).map(|(_, model)| model);
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self { cpu: cpu.unwrap_or("unknown").to_owned(), cpus, kernel: kernel.trim().to_owned() }
    }
}

/// Saves the record as `DIR/CASE.json`, or `DIR/CASE.one-cpu.json`.
pub(crate) fn save(record: &Record, dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("could not make `{}`", dir.display()))?;
    let suffix = if record.view == View::OneCpu { ".one-cpu" } else { "" };
    let path = dir.join(format!("{}{suffix}.json", record.case));
    let json = serde_json::to_string_pretty(record)? + "\n";
    fs::write(&path, json).with_context(|| format!("could not write `{}`", path.display()))
}

/// All records of a directory, in the order of their names.
pub(crate) fn load(dir: &Path) -> Result<Vec<Record>> {
    let list = fs::read_dir(dir).with_context(|| format!("no results at `{}`", dir.display()))?;
    let mut paths = list.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let json = fs::read_to_string(path)?;
        serde_json::from_str(&json).with_context(|| format!("`{}` is not a record", path.display()))
    };
    paths.iter().map(read).collect()
}
