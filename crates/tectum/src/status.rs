//! How the servers and observers of running houses are: one file for each process, in the state of
//! its project. What a process that was killed left behind is passed over, and removed by the next.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, test_kill_process};
use serde::Serialize;
use serde_json::{Value, json};

use crate::state;

/// The most running houses of one project that are told of; nobody looks at more.
const MOST: usize = 64;

/// What one running house says.
#[derive(Clone, Debug)]
pub struct Status {
    /// Its process.
    pub pid: i32,
    /// Its servers by name.
    pub servers: Value,
    /// Its observers by name; null where it looks for none.
    pub observers: Value,
}

/// All houses that run for a project, by their process numbers.
pub fn running(place: &Path) -> Vec<Status> {
    let mut found: Vec<Status> = files(place)
        .iter()
        .filter_map(|file| said(file).filter(Said::lives))
        .map(|said| said.status)
        .collect();
    found.sort_by_key(|status| status.pid);
    found.truncate(MOST);
    found
}

/// The file of this process.
#[derive(Clone, Debug)]
pub(crate) struct Record(PathBuf);

impl Record {
    pub(crate) fn new(place: &Path) -> Self {
        Self(folder(place).join(format!("{}.json", std::process::id())))
    }

    /// Removes what others left that do not run any more.
    #[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
    pub(crate) fn clear_others(&self, place: &Path) {
        for file in files(place).iter().filter(|file| **file != self.0) {
            if said(file).is_none_or(|said| !said.lives()) {
                // Another may have removed it just now.
                let _ = std::fs::remove_file(file);
            }
        }
    }

    pub(crate) fn write(&self, servers: &impl Serialize, observers: &impl Serialize) {
        let pid = std::process::id();
        let born = i32::try_from(pid).ok().and_then(born);
        let text =
            json!({ "pid": pid, "born": born, "servers": servers, "observers": observers }).to_string();
        if let Err(error) = state::write_private(&self.0, &text) {
            tracing::debug!(%error, "how the servers are could not be written down");
        }
    }

    #[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

struct Said {
    status: Status,
    born: Option<u64>,
}

impl Said {
    /// Whether its process runs; another that got its number later is not it.
    fn lives(&self) -> bool {
        let Some(pid) = Pid::from_raw(self.status.pid) else { return false };
        let there = matches!(test_kill_process(pid), Ok(()) | Err(rustix::io::Errno::PERM));
        let same = match (self.born, born(self.status.pid)) {
            (Some(then), Some(now)) => then == now,
            // Where nobody tells when a process began, its number has to do.
            _ => true,
        };
        there && same
    }
}

fn said(file: &Path) -> Option<Said> {
    let text = state::read_private(file).ok()??;
    let mut value: Value = serde_json::from_str(&text).ok()?;
    let pid = i32::try_from(value["pid"].as_i64()?).ok()?;
    let born = value["born"].as_u64();
    let status = Status { pid, servers: value["servers"].take(), observers: value["observers"].take() };
    Some(Said { status, born })
}

fn folder(place: &Path) -> PathBuf {
    place.join("status")
}

#[expect(clippy::disallowed_methods, reason = "our own state, not an agent's path")]
fn files(place: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder(place)).into_iter().flatten().flatten();
    // One that is being written begins with a dot.
    let whole = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".json") && !name.starts_with('.')
    };
    entries.map(|entry| entry.path()).filter(whole).collect()
}

/// When a process began, in the system's own unit.
#[expect(clippy::disallowed_methods, reason = "the system's own record of a process")]
fn born(pid: i32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything; the start is the 20th field behind it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_that_run_are_told_of_and_the_rest_is_cleared() {
        let home = tempfile::tempdir().expect("a directory");
        let place = home.path();
        let record = Record::new(place);
        record.write(&json!({ "a": {} }), &Value::Null);
        let put = |pid: u32, born: u64| {
            let text = json!({ "pid": pid, "born": born, "servers": {}, "observers": {} }).to_string();
            state::write_private(&folder(place).join(format!("other-{pid}.json")), &text).expect("written");
        };
        // A number that no system gives.
        put(0x3fff_ffff, 1);
        // The number of this process, but of one that began at another time.
        put(std::process::id(), 1);
        let pids: Vec<u32> = running(place).iter().filter_map(|status| status.pid.try_into().ok()).collect();
        assert_eq!(pids, [std::process::id()]);
        assert_eq!(running(place)[0].servers, json!({ "a": {} }));
        record.clear_others(place);
        assert_eq!(files(place), std::slice::from_ref(&record.0));
        record.remove();
        assert!(running(place).is_empty());
    }
}
