//! Reading the journal: all records that are whole, in the order they were written, and where others
//! were. A reader locks nothing and may run beside the writers.

use std::{
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::{Entry, Record};

/// The folder of a project's journal.
pub fn folder(project_state: &Path) -> PathBuf {
    project_state.join("journal")
}

/// A segment, by its facts.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The path of the file.
    pub path: PathBuf,
    /// The size in bytes.
    pub size: u64,
    /// The time when it was last written.
    pub written: SystemTime,
}

/// The segments of a journal, the one that was begun first at the front. None if there is no journal.
pub fn segments(folder: &Path) -> io::Result<Vec<Segment>> {
    todo!()
}

impl Segment {
    /// Reads from this offset, where a line begins: 0, or [`Line::next`]. What a writer adds later is
    /// not seen; read again from there to follow it. `Ok(None)` if the segment was removed.
    pub fn read_from(&self, offset: u64) -> io::Result<Option<SegmentReader>> {
        todo!()
    }
}

/// The pieces of a segment, in their order.
#[derive(Debug)]
pub struct SegmentReader {}

impl Iterator for SegmentReader {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        todo!()
    }
}

/// A piece of a segment.
#[derive(Debug)]
pub enum Piece {
    /// A whole record.
    Line(Line),
    /// Bytes that are no record.
    Damaged(Damage),
    /// The last bytes, the beginning of a record: it is being written now, or a crash cut it off.
    Torn(Damage),
}

/// A whole record in its place.
#[derive(Debug)]
pub struct Line {
    /// The offset of its first byte.
    pub offset: u64,
    /// The offset of the next line.
    pub next: u64,
    /// The record as JSON.
    pub json: String,
}

impl Line {
    /// The record. An error means that a later version of Tectum wrote it.
    pub fn record(&self) -> serde_json::Result<Record> {
        serde_json::from_str(&self.json)
    }
}

/// A place where something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The offset of its first byte.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
    /// What is wrong.
    pub why: &'static str,
}

/// The call that was recorded at this place, as a [`Line`] told it; `None` if it is not there any more.
pub fn entry_at(segment: &Path, offset: u64) -> io::Result<Option<Entry>> {
    todo!()
}

/// What a check of a whole journal found.
#[derive(Debug, Default)]
pub struct Verified {
    /// The segments that were read.
    pub segments: u64,
    /// The whole records.
    pub records: u64,
    /// What is wrong, by segment.
    pub damages: Vec<(PathBuf, Damage)>,
    /// Unfinished records at the end of a segment: written now, or cut off by a crash.
    pub torn: Vec<(PathBuf, Damage)>,
}

/// Checks every record and every link of the chain.
pub fn verify(folder: &Path) -> io::Result<Verified> {
    todo!()
}
