//! The memory that a process has gained, by what the kernel says.

use std::path::PathBuf;

/// A process, and its memory at one time.
pub(crate) struct Resident {
    status: PathBuf,
    before: u64,
}

impl Resident {
    pub(crate) fn now(pid: u32) -> Self {
        let status = PathBuf::from(format!("/proc/{pid}/status"));
        let before = field(&status, "VmRSS:");
        Self { status, before }
    }

    /// By how many bytes it has ever been above that.
    pub(crate) fn growth(&self) -> u64 {
        field(&self.status, "VmHWM:").saturating_sub(self.before)
    }
}

fn field(status: &std::path::Path, name: &str) -> u64 {
    let text = std::fs::read_to_string(status).expect("a process");
    let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}
