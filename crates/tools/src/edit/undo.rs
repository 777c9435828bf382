//! Before-images by call: what a change took away, kept long enough to put it back.
//!
//! A record is written before its change is made, so a crash between the two leaves a record
//! too many, never one too few. The store is bounded; the oldest records go first.

use std::{collections::VecDeque, path::PathBuf, sync::Mutex};

use serde::{Deserialize, Serialize};
use tectum_core::{CallId, Fault};

use super::undo_disk;

/// Records kept: more than a person will ever walk back.
pub(super) const MOST_RECORDS: usize = 200;
/// Bytes kept on disk.
pub(super) const MOST_BYTES: u64 = 256 * 1024 * 1024;
/// Bytes kept in memory, which the process itself needs as well.
const MOST_MEMORY: u64 = 64 * 1024 * 1024;

/// One change that can be undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) steps: Vec<Step>,
}

/// What one call did at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The full true name.
    pub(super) path: String,
    pub(super) was: Was,
    pub(super) left: Left,
}

/// What stood there before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Was {
    Nothing,
    Content(Vec<u8>),
    /// The thing came from this other path.
    Elsewhere(String),
}

/// What the call left there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Left {
    Nothing,
    /// Content with this revision.
    Revision(String),
    /// Something that is not compared: a directory, a link, a very large file.
    Anything,
}

impl Record {
    pub(super) fn size(&self) -> u64 {
        let image = |step: &Step| match &step.was {
            Was::Content(bytes) => bytes.len() as u64,
            _ => 0,
        };
        self.steps.iter().map(image).sum()
    }
}

/// The records of this house.
#[derive(Debug)]
pub(super) enum UndoStore {
    Memory(Mutex<VecDeque<(CallId, Record)>>),
    Disk(PathBuf),
}

impl UndoStore {
    /// Kept below this directory, or in memory until the process ends.
    pub(super) fn new(state_dir: Option<PathBuf>) -> Self {
        match state_dir {
            Some(directory) => Self::Disk(directory.join("undo")),
            None => Self::Memory(Mutex::default()),
        }
    }

    /// Keeps a record. False when it is too large or the disk refused: the change can still be
    /// made, but not be undone.
    pub(super) fn keep(&self, call: CallId, record: Record) -> bool {
        match self {
            Self::Memory(_) if record.size() > MOST_MEMORY => false,
            Self::Disk(_) if record.size() > MOST_BYTES => false,
            Self::Memory(records) => {
                let mut records = records.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                records.push_back((call, record));
                while records.len() > MOST_RECORDS || total(&records) > MOST_MEMORY {
                    records.pop_front();
                }
                true
            }
            Self::Disk(directory) => match undo_disk::write(directory, call, &record) {
                Ok(()) => true,
                Err(error) => {
                    tracing::warn!(%call, %error, "no before-image could be kept");
                    false
                }
            },
        }
    }

    /// Forgets a record whose change was not made after all.
    pub(super) fn forget(&self, call: CallId) {
        match self {
            Self::Memory(records) => {
                let mut records = records.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                records.retain(|(other, _)| *other != call);
            }
            Self::Disk(directory) => undo_disk::remove(directory, call),
        }
    }

    /// The record of a call.
    pub(super) fn find(&self, call: CallId) -> Result<Record, Fault> {
        let found = match self {
            Self::Memory(records) => {
                let records = records.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                records.iter().find(|(other, _)| *other == call).map(|(_, record)| record.clone())
            }
            Self::Disk(directory) => undo_disk::read(directory, call).unwrap_or_else(|error| {
                tracing::warn!(%call, %error, "a before-image could not be read");
                None
            }),
        };
        found.ok_or_else(|| {
            Fault::not_found(format!("there is nothing to undo for call {call}"))
                .hint("use the call id an edit's reply ends with; the newest 200 changes are kept")
        })
    }
}

fn total(records: &VecDeque<(CallId, Record)>) -> u64 {
    records.iter().map(|(_, record)| record.size()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(bytes: &[u8]) -> Record {
        let step = |was, left| Step { path: "/p/ä\n.txt".into(), was, left };
        Record {
            steps: vec![
                step(Was::Content(bytes.to_vec()), Left::Revision("0123".into())),
                step(Was::Nothing, Left::Anything),
                step(Was::Elsewhere("/p/b".into()), Left::Nothing),
                step(Was::Content(b"\n\0\xff".to_vec()), Left::Nothing),
            ],
        }
    }

    fn check(store: &UndoStore) {
        let first = CallId::fresh();
        assert!(store.keep(first, record(b"before")));
        assert_eq!(store.find(first).expect("kept"), record(b"before"));
        store.forget(first);
        assert!(store.find(first).is_err());
        // The oldest go first, by number.
        let calls: Vec<_> = (0..MOST_RECORDS + 5).map(|_| CallId::fresh()).collect();
        for call in &calls {
            assert!(store.keep(*call, record(b"x")));
        }
        let kept = calls.iter().filter(|call| store.find(**call).is_ok()).count();
        assert_eq!(kept, MOST_RECORDS);
        assert!(store.find(calls[calls.len() - 1]).is_ok());
        assert!(store.find(calls[0]).is_err());
    }

    #[test]
    fn records_are_kept_in_memory_and_bounded() {
        check(&UndoStore::new(None));
    }

    #[test]
    fn records_are_kept_on_disk_across_restarts() {
        let state = tempfile::tempdir().expect("tempdir");
        check(&UndoStore::new(Some(state.path().to_owned())));
        let call = CallId::fresh();
        assert!(UndoStore::new(Some(state.path().to_owned())).keep(call, record(b"later")));
        let again = UndoStore::new(Some(state.path().to_owned()));
        assert_eq!(again.find(call).expect("kept"), record(b"later"));
    }

    #[cfg(unix)]
    #[test]
    fn records_are_for_the_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let state = tempfile::tempdir().expect("tempdir");
        let call = CallId::fresh();
        assert!(UndoStore::new(Some(state.path().to_owned())).keep(call, record(b"secret")));
        let mode = |path: PathBuf| path.metadata().expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(state.path().join("undo")), 0o700);
        assert_eq!(mode(state.path().join("undo").join(call.to_string())), 0o600);
    }
}
