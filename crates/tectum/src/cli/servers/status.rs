//! The traces of a server in running Tectums: its state, and what waits for a person.

use std::path::Path;

use serde_json::Value;
use tectum::{config::servers::survey::Server, peers::federation::Review, status::Status};

pub(in crate::cli) use tectum::status::{is_known, last_lines};

use super::super::screen::counted;

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
