//! Undo records on disk: every process appends to a file of its own, and reads everybody's.
//!
//! Keeping a record is one `write` and one sync. A file that is full is followed by a new one, and only
//! then do the oldest go. These are our own files in our own state directory; no name in them
//! comes from an agent.

use std::{
    cmp::Reverse,
    collections::VecDeque,
    fs::File,
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use tectum_core::{CallId, security::Durability};
use tectum_state as state;

use super::{
    undo_frame::{self, Frame},
    undo_record::{MOST_RECORDS, Record, TOO_LARGE},
};

/// How much is kept: enough for days of work, little beside the project itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// A segment is full at this size; a larger record has one for itself.
    pub(super) segment: u64,
    /// Bytes of all segments together.
    pub(super) bytes: u64,
    /// Segments of all processes together.
    pub(super) segments: usize,
}

const BOUNDS: Bounds = Bounds { segment: 16 * 1024 * 1024, bytes: 256 * 1024 * 1024, segments: 64 };

/// The segments of one project.
#[derive(Debug)]
pub(super) struct UndoLog {
    directory: PathBuf,
    bounds: Bounds,
    durability: Durability,
    own: Mutex<Own>,
}

/// What this process writes and wrote.
#[derive(Debug, Default)]
struct Own {
    open: Option<Segment>,
    /// Where its newest records are, the newest last.
    index: VecDeque<(CallId, PathBuf, u64)>,
}

#[derive(Debug)]
struct Segment {
    path: PathBuf,
    file: File,
    length: u64,
}

impl UndoLog {
    /// Nothing is made before there is something to keep.
    pub(super) fn new(directory: PathBuf, durability: Durability) -> Self {
        Self::bounded(directory, BOUNDS, durability)
    }

    pub(super) fn bounded(directory: PathBuf, bounds: Bounds, durability: Durability) -> Self {
        Self { directory, bounds, durability, own: Mutex::default() }
    }

    /// Appends a record and has the disk confirm it. One with the same call counts instead of the earlier one.
    pub(super) fn keep(&self, call: CallId, record: &Record<'_>) -> io::Result<()> {
        if record.size() > self.bounds.bytes {
            return Err(io::Error::other(TOO_LARGE));
        }
        let frame = undo_frame::encode(call, record)?;
        let mut own = self.own.lock();
        let segment = self.segment(&mut own, frame.len() as u64)?;
        let sync = |file: &File| match self.durability {
            Durability::Full => file.sync_data(),
            Durability::Rename => Ok(()),
        };
        if let Err(error) = segment.file.write_all(&frame).and_then(|()| sync(&segment.file)) {
            // Half a frame would hide the ones after it.
            if segment.file.set_len(segment.length).is_err() {
                own.open = None;
            }
            return Err(error);
        }
        let place = (call, segment.path.clone(), segment.length);
        segment.length += frame.len() as u64;
        own.index.push_back(place);
        if own.index.len() > MOST_RECORDS {
            own.index.pop_front();
        }
        Ok(())
    }

    /// The newest record of a call, of any process.
    pub(super) fn find(&self, call: CallId) -> io::Result<Option<Record<'static>>> {
        let known = {
            let own = self.own.lock();
            own.index.iter().rev().find(|(other, ..)| *other == call).cloned()
        };
        if let Some((_, path, start)) = known
            && let Some((file, size)) = open(&path)?
        {
            let frame = Frame::at(&file, size, start)?.filter(|frame| frame.call == call);
            return frame.map_or(Ok(None), |frame| frame.read(&file));
        }
        for segment in segments(&self.directory)? {
            match newest(&segment.path, call) {
                Ok(Some(record)) => return Ok(Some(record)),
                Ok(None) => {}
                // What one file lacks, another may have.
                Err(error) => {
                    tracing::warn!(path = %segment.path.display(), %error, "an undo segment is broken")
                }
            }
        }
        Ok(None)
    }

    /// The segment that takes a frame of this size: the open one, or a new one.
    fn segment<'o>(&self, own: &'o mut Own, size: u64) -> io::Result<&'o mut Segment> {
        let fits = |segment: &Segment| {
            let room = segment.length == 0 || segment.length + size <= self.bounds.segment;
            // Another process may have let ours go, if it had been silent for long.
            room && segment.file.metadata().is_ok_and(|about| about.nlink() > 0)
        };
        if !own.open.as_ref().is_some_and(fits) {
            own.open = None;
            let new = !self.directory.is_dir();
            self.make_room(size)?;
            own.open = Some(Segment::begin(&self.directory)?);
            if self.durability == Durability::Full {
                // The project's folder may be new with it, and the folder of all projects.
                self.directory
                    .ancestors()
                    .take(if new { 4 } else { 1 })
                    .try_for_each(|folder| state::sync_folder(&folder.join("segment")))?;
            }
        }
        own.open.as_mut().ok_or_else(|| io::Error::other("no segment"))
    }

    /// Lets the oldest segments go so that one more fits.
    fn make_room(&self, size: u64) -> io::Result<()> {
        let mut bytes = self.bounds.segment.max(size);
        for (index, segment) in segments(&self.directory)?.iter().enumerate() {
            bytes += segment.size;
            if index + 1 >= self.bounds.segments || bytes > self.bounds.bytes {
                // Another process may have let it go just now.
                let _ = state::remove(&segment.path);
            }
        }
        Ok(())
    }
}

impl Segment {
    fn begin(directory: &Path) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let path = directory.join(format!("{time:013}-{}-{number:06}.log", std::process::id()));
        let file = state::create(&path)?;
        Ok(Self { path, file, length: 0 })
    }
}

/// All segments, the one written last first.
fn segments(directory: &Path) -> io::Result<Vec<state::Entry>> {
    let mut found = state::list(directory)?;
    // Two segments of one process may have the same stamp; their names know their order.
    found.sort_by_cached_key(|segment| Reverse((segment.written, segment.path.clone())));
    Ok(found)
}

/// The newest record of a call in one segment.
fn newest(path: &Path, call: CallId) -> io::Result<Option<Record<'static>>> {
    let Some((file, size)) = open(path)? else { return Ok(None) };
    let mut found = None;
    let mut next = Frame::at(&file, size, 0)?;
    while let Some(frame) = next {
        if frame.call == call {
            found = Some(frame);
        }
        next = Frame::at(&file, size, frame.end())?;
    }
    found.map_or(Ok(None), |frame| frame.read(&file))
}

/// A segment to be read, with its size now; `None` when it was let go.
fn open(path: &Path) -> io::Result<Option<(File, u64)>> {
    let Some(file) = state::open(path)? else { return Ok(None) };
    let size = file.metadata()?.len();
    Ok(Some((file, size)))
}

#[cfg(test)]
#[path = "undo_log_tests.rs"]
mod tests;
