//! The disk that our own state is on, and the record of calls, near their bounds.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use tectum_attention::{Event, Input, Severity, Vitals};

use super::sense::{Calls, House, Sense, fact};

/// The organ.
const SPACE: &str = "internal:space";
/// The interval between two looks.
const LOOK: Duration = Duration::from_secs(60);
/// The disk is nearly full below these bytes, or below this share of it.
const LEAST_FREE: u64 = 512 << 20;
const LEAST_SHARE: f64 = 0.02;
/// The record is nearly full above this share of its bound.
const NEARLY: f64 = 0.95;

/// When was looked last, and what was told.
#[derive(Default)]
pub(super) struct Space {
    next: Option<Instant>,
    disk_told: bool,
    journal_told: bool,
}

impl Sense for Space {
    fn organ(&self) -> &'static str {
        SPACE
    }

    fn look(&mut self, house: &House, _: &Calls, inputs: &mut Vec<Input>) {
        if self.next.is_some_and(|next| Instant::now() < next) {
            return;
        }
        self.next = Some(Instant::now() + LOOK);
        let Some(state) = &house.state else { return };
        let (free, total) = disk(state).unwrap_or((u64::MAX, 1));
        let journal = house.journal.as_deref().map_or(0, size);
        house.attention.with(|workspace| {
            workspace.set_vitals(Vitals {
                disk_free_bytes: free,
                journal_bytes: journal,
                memory_bytes: memory().unwrap_or_default(),
                ..Vitals::default()
            });
        });
        let full = free < LEAST_FREE || (free as f64) < LEAST_SHARE * total as f64;
        if full && !self.disk_told {
            inputs.push(Input::Event(Event {
                new: format!("{} MB free of {} MB", free >> 20, total >> 20),
                severity: Severity::Failure,
                ..fact(SPACE, house, "disk", "free")
            }));
        }
        self.disk_told = full;
        let full = journal as f64 > NEARLY * house.journal_keep as f64;
        if full && !self.journal_told {
            let (size, most) = (journal >> 20, house.journal_keep >> 20);
            inputs.push(Input::Event(Event {
                new: format!("{size} MB of {most} MB; the oldest calls are dropped next"),
                details: Some("journal.keep".into()),
                ..fact(SPACE, house, "journal", "size")
            }));
        }
        self.journal_told = full;
    }
}

/// Free and all bytes of the disk that a path is on.
fn disk(path: &Path) -> Option<(u64, u64)> {
    let found = path.ancestors().find_map(|path| rustix::fs::statvfs(path).ok())?;
    Some((found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize))
}

/// The bytes of a folder's files.
#[expect(clippy::disallowed_methods, reason = "our own record, not an agent's path")]
fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.metadata().ok())
        .filter(|meta| meta.is_file())
        .map(|meta| meta.len())
        .sum()
}

/// The memory of this process, in bytes.
fn memory() -> Option<u64> {
    let status = tectum_state::read(Path::new("/proc/self/status")).ok()??;
    let status = String::from_utf8_lossy(&status).into_owned();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kb| kb * 1024)
}
