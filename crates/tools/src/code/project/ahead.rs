//! Reading while the listing still goes on, for questions that will look at all files anyway.
//!
//! Each folder's sources are read through the handle the listing has open, by whichever thread
//! is free. It is never more than a start: what was not read here is read afterwards. Other
//! questions wait for the listing, so nothing is parsed here.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use parking_lot::Mutex;
use tectum_core::security::Folder;

use super::{super::languages::Only, Entry, FileContent, content::Buffer, reader::Reader};

/// Files handed to a thread at a time: few enough to share evenly, enough to hand over seldom.
const PART: usize = 16;

/// The work that a question does with files as soon as they are listed.
pub(crate) trait Ahead: Sync {
    /// Larger files are left for later.
    fn most_bytes(&self) -> u64;

    /// True if it wants to look at a file.
    fn wants(&self, reader: &Reader<'_>, entry: &Entry) -> bool;

    /// Looks at one; `None` where nothing was found, which may be because it is no text.
    fn look(&self, reader: &Reader<'_>, entry: &Arc<Entry>, content: FileContent<'_>) -> Option<()>;
}

/// Finds out what files define whose language needs no parser, and keeps it.
#[derive(Debug)]
pub(crate) struct Defining {
    most_files: usize,
    most_bytes: u64,
    taken: AtomicUsize,
}

impl Defining {
    /// Of so many files, none larger than this.
    pub(crate) fn new(most_files: usize, most_bytes: u64) -> Self {
        Self { most_files, most_bytes, taken: AtomicUsize::new(0) }
    }
}

impl Ahead for Defining {
    fn most_bytes(&self) -> u64 {
        self.most_bytes
    }

    fn wants(&self, reader: &Reader<'_>, entry: &Entry) -> bool {
        entry.named.as_ref().is_some_and(|language| language.skims())
            && !entry.is_vendored()
            && entry.facts(reader.ledger).is_none()
            && self.taken.fetch_add(1, Ordering::Relaxed) < self.most_files
    }

    fn look(&self, reader: &Reader<'_>, entry: &Arc<Entry>, content: FileContent<'_>) -> Option<()> {
        reader.facts(entry, content, Only::Any, false).map(drop)
    }
}

/// One listing's reading.
pub(super) struct Early<'l> {
    reader: Reader<'l>,
    ahead: &'l dyn Ahead,
    looked: AtomicUsize,
    /// One for each thread that reads, between its visits.
    buffers: Mutex<Vec<Buffer>>,
}

impl<'l> Early<'l> {
    pub(super) fn new(reader: Reader<'l>, ahead: &'l dyn Ahead) -> Self {
        Self { reader, ahead, looked: AtomicUsize::new(0), buffers: Mutex::default() }
    }

    /// Those of a folder's sources that are to be read, in the parts they are read in.
    pub(super) fn parts(&self, found: &[Arc<Entry>]) -> Vec<Vec<Arc<Entry>>> {
        let wanted = |entry: &&Arc<Entry>| self.ahead.wants(&self.reader, entry);
        let wanted: Vec<Arc<Entry>> = found.iter().filter(wanted).cloned().collect();
        wanted.chunks(PART).map(<[_]>::to_vec).collect()
    }

    /// Reads some sources of a folder.
    pub(super) fn read<S>(&self, folder: &Folder<'_, S>, entries: &[Arc<Entry>]) {
        let mut buffer = self.buffers.lock().pop().unwrap_or_default();
        let look =
            |entry: &Arc<Entry>, content: FileContent<'_>| self.ahead.look(&self.reader, entry, content);
        for entry in entries {
            if self.reader.is_cancelled() {
                break;
            }
            let Some(opened) = entry.path().file_name().and_then(|name| folder.open_stamped(name)) else {
                continue;
            };
            // What is too large for this question, or no source, is looked at by nobody here.
            let _ = self.reader.look(entry, Some(opened), &mut buffer, self.ahead.most_bytes(), &look);
        }
        self.buffers.lock().push(buffer);
        let before = self.looked.fetch_add(entries.len(), Ordering::Relaxed);
        self.reader.note(before + entries.len(), entries.len(), None);
    }

    /// The number of files that were looked at.
    pub(super) fn looked(&self) -> usize {
        self.looked.load(Ordering::Relaxed)
    }
}
