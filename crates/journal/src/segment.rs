//! The segment that this process appends to. Nobody else does: its file is locked while it is open, and
//! the next process goes on in it when it is not full.

use std::{
    fs::File,
    io,
    os::unix::fs::{FileExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tectum_state::Lasts;

use crate::{
    line::{self, Chain, NOTHING},
    reader::{ASIDE, ENDING, Piece, SegmentReader, segments},
};

/// How much of a segment is read to find its last record; more if that one is longer.
const LAST: u64 = 64 << 10;
/// Room on the disk that is taken ahead, so that a change that was made can be recorded.
const AHEAD: u64 = 1 << 20;

/// A segment that is written to.
#[derive(Debug)]
pub(crate) struct OpenSegment {
    path: PathBuf,
    file: Arc<File>,
    length: u64,
    /// Up to where room is taken on the disk.
    reserved: u64,
    chain: Chain,
}

impl OpenSegment {
    /// A new segment, which goes on with the chain of another, or begins one.
    pub(crate) fn begin(folder: &Path, after: Option<&Self>) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{time:013}-{}-{number:06}.{ENDING}", std::process::id()));
        let chain = after.map_or(NOTHING, |after| after.chain);
        match tectum_state::try_lock(&path)? {
            Some(file) => Ok(Self { path, file: Arc::new(file), length: 0, reserved: 0, chain }),
            None => Err(io::Error::other("another process took the new segment")),
        }
    }

    /// The newest segment that nobody writes to and that is not full; what a crash left unfinished at
    /// its end is set aside.
    pub(crate) fn continued(folder: &Path, full: u64) -> io::Result<Option<Self>> {
        for segment in segments(folder)?.into_iter().rev().filter(|segment| segment.size < full) {
            match Self::taken_over(&segment.path) {
                Ok(None) => {}
                Ok(Some(open)) => return Ok(Some(open)),
                // It is no reason to record nothing.
                Err(error) => {
                    tracing::warn!(%error, segment = %segment.path.display(), "the segment is not continued");
                }
            }
        }
        Ok(None)
    }

    /// This segment; `None` if it has a writer.
    fn taken_over(path: &Path) -> io::Result<Option<Self>> {
        let Some(file) = tectum_state::try_lock(path)? else { return Ok(None) };
        let size = file.metadata()?.len();
        let (chain, length) = last(path, size)?;
        if length < size {
            set_aside(path, length, size)?;
            file.set_len(length)?;
        }
        Ok(Some(Self { path: path.to_owned(), file: Arc::new(file), length, reserved: length, chain }))
    }

    /// True if it takes a record of this size; a segment without records takes any. One that somebody
    /// removed takes none.
    pub(crate) fn takes(&self, size: u64, full: u64) -> bool {
        let room = self.length == 0 || self.length.saturating_add(size) <= full;
        room && self.file.metadata().is_ok_and(|about| about.nlink() > 0)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(crate) fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// Appends a record by its line that only lacks its head, whole or not at all.
    pub(crate) fn append(&mut self, line: String) -> io::Result<()> {
        let (line, chain) = line::finish(&self.chain, line);
        if let Err(error) = self.file.write_all_at(&line, self.length) {
            self.trim();
            return Err(error);
        }
        self.length += line.len() as u64;
        self.chain = chain;
        Ok(())
    }

    /// Takes room for a record of this size. An error means that the disk is full.
    pub(crate) fn reserve(&mut self, size: u64) -> io::Result<()> {
        if self.length + size <= self.reserved {
            return Ok(());
        }
        let taken = size.max(AHEAD);
        let taken = match tectum_state::reserve(&self.file, self.length, taken) {
            Ok(()) => taken,
            Err(_) => tectum_state::reserve(&self.file, self.length, size).map(|()| size)?,
        };
        self.reserved = self.length + taken;
        Ok(())
    }

    /// Gives back what is on the disk beyond the last record.
    fn trim(&mut self) {
        // It stays where this fails: nobody reads it as a record.
        let _ = self.file.set_len(self.length);
        self.reserved = self.length;
    }
}

impl Drop for OpenSegment {
    fn drop(&mut self) {
        if self.reserved > self.length {
            self.trim();
        }
        // Its file may still wait for a sync; others may continue or remove it all the same.
        let _ = self.file.unlock();
    }
}

/// The hash of the last whole record of a segment, and where it ends.
fn last(path: &Path, size: u64) -> io::Result<(Chain, u64)> {
    let mut window = LAST;
    loop {
        let from = size.saturating_sub(window);
        let Some(mut reader) = SegmentReader::open(path, from)? else { return Ok((NOTHING, 0)) };
        if from > 0 {
            reader.skip_to_line();
        }
        let lines = reader.filter_map(|piece| match piece {
            Piece::Line(line) => Some((line.hash, line.next)),
            Piece::Damaged(_) | Piece::Torn(_) => None,
        });
        match lines.last() {
            Some(last) => return Ok(last),
            None if from == 0 => return Ok((NOTHING, 0)),
            None => window = window.saturating_mul(16),
        }
    }
}

/// Copies the bytes behind the last record into a file of their own.
fn set_aside(path: &Path, length: u64, size: u64) -> io::Result<()> {
    let mut bytes = vec![0; usize::try_from(size - length).map_err(io::Error::other)?];
    if let Some(file) = tectum_state::open(path)? {
        file.read_exact_at(&mut bytes, length)?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{length}.{ASIDE}"));
    let aside = path.with_file_name(name);
    tectum_state::replace(&aside, &bytes, Lasts::Process)?;
    tracing::warn!(bytes = bytes.len(), aside = %aside.display(), "a record that was not finished was set aside");
    Ok(())
}

/// Removes the oldest segments that nobody writes to, until the rest is within its bounds.
pub(crate) fn make_room(folder: &Path, most: u64, longest: Duration) -> io::Result<()> {
    let mut files = tectum_state::list(folder)?;
    files.retain(|file| file.path.extension().is_some_and(|ending| ending == ENDING || ending == ASIDE));
    files.sort_by_key(|file| std::cmp::Reverse(file.written));
    let oldest = SystemTime::now().checked_sub(longest).unwrap_or(UNIX_EPOCH);
    let mut bytes = 0;
    for file in files {
        bytes += file.size;
        if (bytes > most || file.written < oldest)
            && let Ok(Some(_unused)) = tectum_state::try_lock(&file.path)
        {
            // Another process may have removed it just now.
            let _ = tectum_state::remove(&file.path);
        }
    }
    Ok(())
}
