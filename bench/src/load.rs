//! The kernel's figures about a process tree and about the machine, from /proc.

use std::fs;

use anyhow::{Context, Result};
use rustix::param::clock_ticks_per_second;

/// Resident memory of a process and all it started, in MB (10^6 bytes).
pub(crate) fn resident_mb(pid: u32) -> Result<f64> {
    let mut kib = 0.0;
    for pid in tree(pid) {
        // The rollup is exact; the counters in `status` are batched per thread.
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
        let line = rollup.lines().find(|line| line.starts_with("Rss:")).context("no Rss in smaps_rollup")?;
        kib +=
            line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).context("Rss in KiB")?;
    }
    Ok(kib * 1024.0 / 1e6)
}

/// The memory that a process shares with nobody, in MB (10^6 bytes).
pub(crate) fn private_mb(pid: u32) -> Result<f64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let private = rollup.lines().filter(|line| line.starts_with("Private_"));
    let kib = private.filter_map(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok()).sum::<f64>();
    Ok(kib * 1024.0 / 1e6)
}

/// The CPU seconds of a process and all it started so far. The kernel counts in hundredths of a
/// second, so a measurement must last for many of them.
pub(crate) fn cpu_seconds(pid: u32) -> f64 {
    tree(pid).into_iter().filter_map(ticks_of).sum::<f64>() / clock_ticks_per_second() as f64
}

/// A snapshot of the machine's clock ticks, to tell our own work from that of others.
pub(crate) struct Moment {
    busy: f64,
    all: f64,
    ours: f64,
}

impl Moment {
    /// Takes a snapshot. `servers` are the processes that belong to the run; the harness itself always does.
    pub(crate) fn now(servers: &[u32]) -> Option<Self> {
        let stat = fs::read_to_string("/proc/stat").ok()?;
        // cpu user nice system idle iowait irq softirq steal; guests are counted in user.
        let ticks: Vec<f64> = stat
            .lines()
            .next()?
            .split_whitespace()
            .skip(1)
            .take(8)
            .filter_map(|tick| tick.parse().ok())
            .collect();
        let all: f64 = ticks.iter().sum();
        let idle = ticks.get(3)? + ticks.get(4)?;
        let processes = servers.iter().flat_map(|pid| tree(*pid)).chain([std::process::id()]);
        Some(Self { busy: all - idle, all, ours: processes.filter_map(ticks_of).sum() })
    }

    /// The share of the whole machine that others used since `earlier`.
    pub(crate) fn others_since(&self, earlier: &Self) -> Option<f64> {
        let all = self.all - earlier.all;
        let others = (self.busy - earlier.busy) - (self.ours - earlier.ours);
        (all > 0.0).then(|| (others / all).max(0.0))
    }
}

fn tree(root: u32) -> Vec<u32> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        next += 1;
        let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
        for thread in threads.flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    found
}

/// User and system time, with that of children already waited for.
fn ticks_of(pid: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command name may contain spaces; fields are counted from its closing bracket.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    fields.get(11..15)?.iter().map(|field| field.parse::<f64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_time() {
        assert!(resident_mb(std::process::id()).expect("own memory") > 0.5);
        assert!(ticks_of(std::process::id()).is_some());
        assert!(tree(std::process::id()).contains(&std::process::id()));
    }
}
