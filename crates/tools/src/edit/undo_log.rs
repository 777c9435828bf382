//! Undo records on disk: every process appends to a log of the project, and reads everybody's.

use std::{io, path::PathBuf};

use tectum_core::{CallId, security::Durability};
use tectum_state::{Lasts, Log, LogBounds};

use super::{
    undo_frame::{self, CALL},
    undo_record::{MOST_RECORDS, Record, TOO_LARGE},
};

/// The bounds of the log: enough for days of work, little beside the project itself.
const BOUNDS: LogBounds =
    LogBounds { segment: 16 * 1024 * 1024, bytes: 256 * 1024 * 1024, segments: 64, remembered: MOST_RECORDS };

/// The records of one project, each under its call.
#[derive(Debug)]
pub(super) struct UndoLog {
    log: Log<CALL>,
    bounds: LogBounds,
}

impl UndoLog {
    /// Nothing is made before there is something to keep.
    pub(super) fn new(directory: PathBuf, durability: Durability) -> Self {
        Self::bounded(directory, BOUNDS, durability)
    }

    pub(super) fn bounded(directory: PathBuf, bounds: LogBounds, durability: Durability) -> Self {
        let lasts = match durability {
            Durability::Full => Lasts::PowerCut,
            Durability::Rename => Lasts::Process,
        };
        Self { log: Log::new(directory, bounds, lasts), bounds }
    }

    /// Appends a record and has the disk confirm it. One with the same call counts instead of the earlier one.
    pub(super) fn keep(&self, call: CallId, record: &Record<'_>) -> io::Result<()> {
        if record.size() > self.bounds.bytes {
            return Err(io::Error::other(TOO_LARGE));
        }
        self.log.append(undo_frame::key(call)?, |payload| undo_frame::encode(record, payload))
    }

    /// The newest record of a call, of any process.
    pub(super) fn find(&self, call: CallId) -> io::Result<Option<Record<'static>>> {
        let payload = self.log.find(undo_frame::key(call)?)?;
        Ok(payload.and_then(|payload| undo_frame::decode(&payload)))
    }
}

#[cfg(test)]
#[path = "undo_log_tests.rs"]
mod tests;
