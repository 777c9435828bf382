//! Reading while the listing still goes on, for questions that need what every file defines.
//!
//! Each folder's sources are read through the handle the listing has open, by whichever thread
//! is free. It is never more than a start: what was not read here is read afterwards.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use tectum_core::security::Folder;

use super::{super::Only, Content, Entry, content::Buffer, reader::Reader};

/// Files handed to a thread at a time: few enough to share evenly, enough to hand over seldom.
const PART: usize = 16;

/// Which files a question will ask about. Of these only the ones whose language needs no parser
/// are read ahead: other questions wait for the listing, so it must not take long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ahead {
    /// How many of them.
    pub(crate) most_files: usize,
    /// How large they may be.
    pub(crate) most_bytes: u64,
}

/// One listing's reading.
pub(super) struct Early<'l> {
    reader: Reader<'l>,
    ahead: Ahead,
    taken: AtomicUsize,
    /// One for each thread that reads, between its visits.
    buffers: Mutex<Vec<Buffer>>,
}

impl<'l> Early<'l> {
    pub(super) fn new(reader: Reader<'l>, ahead: Ahead) -> Self {
        Self { reader, ahead, taken: AtomicUsize::new(0), buffers: Mutex::default() }
    }

    /// Those of a folder's sources that are to be read, in the parts they are read in.
    pub(super) fn parts(&self, found: &[Arc<Entry>]) -> Vec<Vec<Arc<Entry>>> {
        let wanted = |entry: &&Arc<Entry>| {
            entry.named.as_ref().is_some_and(|language| language.skims())
                && !entry.is_vendored()
                && entry.facts(self.reader.ledger).is_none()
                && self.taken.fetch_add(1, Ordering::Relaxed) < self.ahead.most_files
        };
        let wanted: Vec<Arc<Entry>> = found.iter().filter(wanted).cloned().collect();
        wanted.chunks(PART).map(<[_]>::to_vec).collect()
    }

    /// Reads some sources of a folder.
    pub(super) fn read<S>(&self, folder: &Folder<'_, S>, entries: &[Arc<Entry>]) {
        let mut buffer = self.lock().pop().unwrap_or_default();
        for entry in entries {
            if self.reader.ctx.cancel.is_cancelled() {
                break;
            }
            let Some(opened) = entry.path().file_name().and_then(|name| folder.open_stamped(name)) else {
                continue;
            };
            let facts = |entry: &Arc<Entry>, content: Content<'_>| {
                self.reader.facts(entry, content, Only::Any, false)
            };
            // What is too large for this question, or no source, is looked at by nobody here.
            let _ = self.reader.look(entry, Some(opened), &mut buffer, self.ahead.most_bytes, &facts);
        }
        self.lock().push(buffer);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Buffer>> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
