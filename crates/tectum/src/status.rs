//! The state of the servers and observers of running houses: one file for each process, in the state of
//! its project. What a process that was killed left behind is passed over, and removed by the next.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use rustix::process::{Pid, test_kill_process};
use serde::Serialize;
use serde_json::{Value, json};
use tectum_state::Lasts;

use crate::{Config, state};

/// The most running houses of one project that are told of; nobody looks at more.
const MOST: usize = 64;
/// The end of a log that is looked at.
const TAIL: u64 = 8 << 10;

/// The directory of what is kept about this project's servers.
pub fn directory(config: &Config) -> Option<PathBuf> {
    let state = config.state.as_deref()?;
    Some(state::of_project(state, &config.directory).join("servers"))
}

/// The report of one running house.
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
    let mut found: Vec<Status> = records(&folder(place))
        .into_iter()
        .map(|(pid, mut fields)| Status {
            pid,
            servers: fields["servers"].take(),
            observers: fields["observers"].take(),
        })
        .collect();
    found.truncate(MOST);
    found
}

/// True if a server ever said what it offers.
pub fn is_known(traces: &Path, name: &str) -> bool {
    traces.join(format!("{name}.json")).is_file()
}

/// The last lines of a server's log.
pub fn last_lines(traces: &Path, name: &str, most: usize) -> Vec<String> {
    let end =
        tectum_state::tail(&traces.join(format!("{name}.log")), TAIL).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&end);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    // What an earlier version wrote down may hold secrets still.
    let mut shown = tectum_redact::Lines::default();
    let shown: Vec<String> = lines.iter().map(|line| shown.redact(line).into_owned()).collect();
    shown[shown.len().saturating_sub(most)..].to_vec()
}

/// The records in a folder of processes that run, by their process numbers.
pub(crate) fn records(folder: &Path) -> Vec<(i32, Value)> {
    let living = files(folder).into_iter().filter_map(|file| said(&file).filter(Said::lives));
    let mut found: Vec<(i32, Value)> = living.map(|said| (said.pid, said.fields)).collect();
    found.sort_by_key(|(pid, _)| *pid);
    found
}

/// The file of this process. It is worth nothing after the process, so nobody waits for the disk.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    path: PathBuf,
    /// True when nothing is written any more.
    ended: Arc<Mutex<bool>>,
}

impl Record {
    pub(crate) fn new(place: &Path) -> Self {
        Self::in_folder(&folder(place))
    }

    /// The same in another folder of records.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join(format!("{}.json", std::process::id())), ended: Arc::default() }
    }

    /// Removes what others left that do not run any more.
    pub(crate) fn clear_others(&self) {
        let Some(folder) = self.path.parent() else { return };
        for file in files(folder).iter().filter(|file| **file != self.path) {
            if said(file).is_none_or(|said| !said.lives()) {
                // Another may have removed it just now.
                let _ = tectum_state::remove(file);
            }
        }
    }

    pub(crate) fn write(&self, servers: &impl Serialize, observers: &impl Serialize) {
        let mut said = json!({ "servers": servers, "observers": observers });
        redact(&mut said);
        self.put(said);
    }

    /// Writes these fields beside which process it is.
    pub(crate) fn put(&self, mut fields: Value) {
        let pid = std::process::id();
        fields["pid"] = json!(pid);
        fields["born"] = json!(i32::try_from(pid).ok().and_then(born));
        let ended = self.ended.lock();
        if *ended {
            return;
        }
        if let Err(error) = tectum_state::replace(&self.path, fields.to_string().as_bytes(), Lasts::Process) {
            tracing::warn!(%error, file = %self.path.display(), "a record of this process could not be written");
        }
    }

    pub(crate) fn remove(&self) {
        *self.ended.lock() = true;
        let _ = tectum_state::remove(&self.path);
    }
}

/// Hides secrets in what servers said, such as the reason why one did not start.
fn redact(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(redacted) = tectum_redact::text(text) {
                *text = redacted;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact),
        Value::Object(members) => members.values_mut().for_each(redact),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

struct Said {
    pid: i32,
    born: Option<u64>,
    fields: Value,
}

impl Said {
    /// True if its process runs; another that got its number later is not it.
    fn lives(&self) -> bool {
        let Some(pid) = Pid::from_raw(self.pid) else { return false };
        let there = matches!(test_kill_process(pid), Ok(()) | Err(rustix::io::Errno::PERM));
        let same = match (self.born, born(self.pid)) {
            (Some(then), Some(now)) => then == now,
            // Where nobody tells when a process began, its number has to do.
            _ => true,
        };
        there && same
    }
}

fn said(file: &Path) -> Option<Said> {
    let text = tectum_state::read_private(file).ok()??;
    let fields: Value = serde_json::from_str(&text).ok()?;
    let pid = i32::try_from(fields["pid"].as_i64()?).ok()?;
    Some(Said { pid, born: fields["born"].as_u64(), fields })
}

fn folder(place: &Path) -> PathBuf {
    place.join("status")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = tectum_state::list(folder).unwrap_or_default().into_iter();
    // One that is being written begins with a dot.
    let whole = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".json") && !name.starts_with('.')
    };
    entries.map(|entry| entry.path).filter(whole).collect()
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
            let path = folder(place).join(format!("other-{pid}.json"));
            tectum_state::replace(&path, text.as_bytes(), Lasts::Process).expect("written");
        };
        // A number that no system gives.
        put(0x3fff_ffff, 1);
        // The number of this process, but of one that began at another time.
        put(std::process::id(), 1);
        let pids: Vec<u32> = running(place).iter().filter_map(|status| status.pid.try_into().ok()).collect();
        assert_eq!(pids, [std::process::id()]);
        assert_eq!(running(place)[0].servers, json!({ "a": {} }));
        record.clear_others();
        assert_eq!(files(&folder(place)), std::slice::from_ref(&record.path));
        record.remove();
        // A write that was under way comes too late.
        record.write(&json!({ "a": {} }), &Value::Null);
        assert!(running(place).is_empty());
    }
}
