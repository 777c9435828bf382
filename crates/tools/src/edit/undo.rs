//! Before-images by call: what a change took away, kept long enough to put it back.
//!
//! A record is on the disk before its change is made, so a crash between the two, of the process
//! or of the machine, leaves a record too many and never one too few. With `durability = "rename"`
//! nothing is synced, and that holds for processes alone. The store is bounded; the oldest records
//! go first.

use std::{borrow::Cow, collections::VecDeque, path::PathBuf};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tectum_core::{CallId, Fault, security::Durability};

use super::undo_log::UndoLog;

/// Records kept in memory: more than a person will ever walk back.
pub(super) const MOST_RECORDS: usize = 200;
/// Bytes kept in memory, which the process itself needs as well.
const MOST_MEMORY: u64 = 64 * 1024 * 1024;
/// Why a record is not kept that no bound has room for.
pub(super) const TOO_LARGE: &str = "it is larger than all that is kept";

/// One change that can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) steps: Vec<Step<'a>>,
}

/// What one call did at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step<'a> {
    /// The full true name.
    pub(super) path: String,
    pub(super) was: Was<'a>,
    pub(super) left: Left,
}

/// What stood there before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Was<'a> {
    Nothing,
    File(Image<'a>),
    /// The thing came from this other path.
    Elsewhere(String),
}

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// Its permission bits.
    pub(super) mode: u32,
}

/// What the call left there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Left {
    Nothing,
    /// Content with this revision.
    Revision(String),
    /// A directory, a link, a very large file: not its content but its device and inode count.
    Object(u64, u64),
    /// Something that is not compared.
    Anything,
}

impl Record<'_> {
    /// How many bytes its images have.
    pub(super) fn size(&self) -> u64 {
        let image = |step: &Step<'_>| match &step.was {
            Was::File(image) => image.bytes.len() as u64,
            _ => 0,
        };
        self.steps.iter().map(image).sum()
    }

    fn into_owned(self) -> Record<'static> {
        let own = |step: Step<'_>| {
            let was = match step.was {
                Was::Nothing => Was::Nothing,
                Was::File(image) => Was::File(image.into_owned()),
                Was::Elsewhere(from) => Was::Elsewhere(from),
            };
            Step { path: step.path, was, left: step.left }
        };
        Record { steps: self.steps.into_iter().map(own).collect() }
    }
}

impl Image<'_> {
    pub(super) fn into_owned(self) -> Image<'static> {
        Image { bytes: self.bytes.into_owned().into(), mode: self.mode }
    }
}

/// The records of this house.
#[derive(Debug)]
pub(super) enum UndoStore {
    Memory(Mutex<VecDeque<(CallId, Record<'static>)>>),
    Disk(UndoLog),
}

impl UndoStore {
    /// Kept below this directory, or in memory until the process ends.
    pub(super) fn new(state_dir: Option<PathBuf>, durability: Durability) -> Self {
        match state_dir {
            Some(directory) => Self::Disk(UndoLog::new(directory.join("undo"), durability)),
            None => Self::Memory(Mutex::default()),
        }
    }

    /// Keeps a record, or says why not: it is too large, or the disk refused. The change can still
    /// be made, but not be undone.
    pub(super) fn keep(&self, call: CallId, record: Record<'_>) -> Result<(), String> {
        match self {
            Self::Memory(_) if record.size() > MOST_MEMORY => Err(TOO_LARGE.to_owned()),
            Self::Memory(records) => {
                let mut records = records.lock();
                records.push_back((call, record.into_owned()));
                while records.len() > MOST_RECORDS || total(&records) > MOST_MEMORY {
                    records.pop_front();
                }
                Ok(())
            }
            Self::Disk(log) => log
                .keep(call, &record)
                .inspect_err(|error| tracing::warn!(%call, %error, "no before-image could be kept"))
                .map_err(|error| format!("no before-image could be kept ({error})")),
        }
    }

    /// Forgets a record whose change was not made after all.
    pub(super) fn forget(&self, call: CallId) {
        match self {
            Self::Memory(records) => {
                let mut records = records.lock();
                records.retain(|(other, _)| *other != call);
            }
            // A record that stays after all is harmless: what it says the change left is not there.
            Self::Disk(log) => drop(log.keep(call, &Record { steps: Vec::new() })),
        }
    }

    /// The record of a call.
    pub(super) fn find(&self, call: CallId) -> Result<Record<'static>, Fault> {
        let found = match self {
            Self::Memory(records) => {
                let records = records.lock();
                records.iter().find(|(other, _)| *other == call).map(|(_, record)| record.clone())
            }
            Self::Disk(log) => log.find(call).unwrap_or_else(|error| {
                tracing::warn!(%call, %error, "a before-image could not be read");
                None
            }),
        };
        found.filter(|record| !record.steps.is_empty()).ok_or_else(|| {
            Fault::not_found(format!("there is nothing to undo for call {call}"))
                .hint("use the call id an edit's reply ends with; the oldest changes are forgotten in time")
        })
    }
}

fn total(records: &VecDeque<(CallId, Record<'_>)>) -> u64 {
    records.iter().map(|(_, record)| record.size()).sum()
}

#[cfg(test)]
#[path = "undo_tests.rs"]
mod tests;
