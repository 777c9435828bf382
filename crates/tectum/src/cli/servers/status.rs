//! The traces of a server in running Tectums: its state, and the end of what it complained.

use std::path::Path;

use serde_json::Value;
use tectum::{config::servers::survey::Server, peers::federation::Review, status::Status};

use super::super::screen::counted;

/// The end of a log that is looked at, and the lines of it that are shown.
const TAIL: u64 = 8 << 10;
const LINES: usize = 5;

/// The reports of the running instances about a server, each with its process.
pub(super) fn of_server(running: &[Status], name: &str) -> Vec<Value> {
    let one = |status: &Status| {
        let mut now = status.servers.get(name)?.clone();
        now.as_object_mut()?.insert("pid".into(), status.pid.into());
        Some(now)
    };
    running.iter().filter_map(one).collect()
}

/// The parts of a server that are withheld until a person approves them, and the command for that.
pub(super) fn waits(traces: Option<&Path>, server: &Server) -> Option<String> {
    let (spec, traces) = (server.verdict.as_ref().ok()?, traces?);
    let (review, name) = (Review::read(traces, spec), &spec.name);
    let what = match (review.lost, review.changes.len() as u64) {
        (Some(why), _) => format!("{why}; its tools and instructions are withheld"),
        (None, 0) => return None,
        (None, count) => format!("{} since it was approved is withheld", counted(count, "change")),
    };
    Some(format!("{what}: `tectum approve-tools {name}` shows it"))
}

/// True if a server ever said what it offers.
pub(in crate::cli) fn is_known(traces: &Path, name: &str) -> bool {
    traces.join(format!("{name}.json")).is_file()
}

/// The last lines of a server's log.
pub(super) fn last_lines(traces: &Path, name: &str) -> Vec<String> {
    let end =
        tectum_state::tail(&traces.join(format!("{name}.log")), TAIL).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&end);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    // What an earlier version wrote down may hold secrets still.
    let mut shown = tectum_redact::Lines::default();
    let shown: Vec<String> = lines.iter().map(|line| shown.redact(line).into_owned()).collect();
    shown[shown.len().saturating_sub(LINES)..].to_vec()
}
