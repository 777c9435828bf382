//! What a running Tectum left about its servers: their state, and the end of what they complained.

use std::{
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
};

use rustix::process::{Pid, test_kill_process};
use serde_json::Value;

/// The most of a status that is read.
const MAX_STATUS: u64 = 1 << 20;
/// The end of a log that is looked at, and the lines of it that are shown.
const TAIL: u64 = 8 << 10;
const LINES: usize = 5;

/// What a running instance says about its servers or its observers; `None` when none is running.
pub(in crate::cli) fn running(traces: &Path, part: &str) -> Option<Value> {
    let text = read(&traces.join("status.json"), None, MAX_STATUS).ok()?;
    let status: Value = serde_json::from_str(&text).ok()?;
    let pid = status["pid"].as_i64().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?))?;
    // An instance that was killed leaves its status behind.
    match test_kill_process(pid) {
        Ok(()) | Err(rustix::io::Errno::PERM) => Some(status[part].clone()),
        Err(_) => None,
    }
}

/// Whether a server ever said what it offers.
pub(in crate::cli) fn is_known(traces: &Path, name: &str) -> bool {
    traces.join(format!("{name}.json")).is_file()
}

/// The last lines of a server's log.
pub(super) fn last_lines(traces: &Path, name: &str) -> Vec<String> {
    let text = read(&traces.join(format!("{name}.log")), Some(TAIL), TAIL).unwrap_or_default();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].iter().map(|line| (*line).to_owned()).collect()
}

#[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
fn read(path: &Path, tail: Option<u64>, most: u64) -> io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    if let Some(tail) = tail {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(tail)))?;
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
