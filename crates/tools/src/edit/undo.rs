//! Before-images by call: what a change took away, kept long enough to put it back.
//!
//! A record is on the disk before its change is made, so a crash between the two, of the process
//! or of the machine, leaves a record too many and never one too few. With `durability = "rename"`
//! nothing is synced, and that holds for processes alone. The store is bounded; the oldest records
//! go first.

use std::{collections::VecDeque, path::PathBuf};

use parking_lot::Mutex;
use tectum_core::{CallId, Fault, security::Durability};

use super::{
    undo_log::UndoLog,
    undo_record::{MOST_RECORDS, Record, TOO_LARGE},
};

/// Bytes kept in memory, which the process itself needs as well.
const MOST_MEMORY: u64 = 64 * 1024 * 1024;
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
