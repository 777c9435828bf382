//! Reading the journal: all records that are whole, in the order they were written, and the places of
//! others. A reader locks nothing and may run beside the writers.

use std::{
    collections::{HashMap, HashSet},
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::de::IgnoredAny;

use crate::{
    Entry, Record, Start,
    line::{self, Chain, HEAD},
};

/// How the names of segments end.
pub(crate) const ENDING: &str = "journal";
/// How the names of what was set aside end.
pub(crate) const ASIDE: &str = "torn";

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
    let files = tectum_state::list(folder)?.into_iter();
    let mut segments: Vec<Segment> = files
        .filter(|file| file.path.extension().is_some_and(|ending| ending == ENDING))
        .map(|file| Segment { path: file.path, size: file.size, written: file.written })
        .collect();
    // A name begins with the time when the segment was begun.
    segments.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(segments)
}

impl Segment {
    /// Reads from this offset, where a line begins: 0, or [`Line::next`]. What a writer adds later is
    /// not seen; read again from there to follow it. `Ok(None)` if the segment was removed.
    pub fn read_from(&self, offset: u64) -> io::Result<Option<SegmentReader>> {
        SegmentReader::open(&self.path, offset)
    }
}

/// The pieces of a segment, in their order.
#[derive(Debug)]
pub struct SegmentReader {
    bytes: Vec<u8>,
    /// The offset of the first of these bytes.
    begins: u64,
    at: usize,
    /// The hashes that the record before may have; none if it is not known.
    before: Vec<Chain>,
    /// True behind bytes that are no record, and behind a record that could not be checked: the next one
    /// may be linked to what is lost.
    lost: bool,
}

impl SegmentReader {
    pub(crate) fn open(path: &Path, offset: u64) -> io::Result<Option<Self>> {
        let Some(mut file) = tectum_state::open(path)? else { return Ok(None) };
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let before = if offset == 0 { vec![line::NOTHING] } else { Vec::new() };
        Ok(Some(Self { bytes, begins: offset, at: 0, before, lost: false }))
    }

    /// Goes on behind the first line break, for a reader that was opened anywhere.
    pub(crate) fn skip_to_line(&mut self) {
        let end = memchr::memchr(b'\n', &self.bytes);
        self.at = end.map_or(self.bytes.len(), |end| end + 1);
    }

    fn is_first(&self) -> bool {
        self.begins == 0 && self.at == 0
    }

    fn damage(&self, from: usize, why: &'static str) -> Damage {
        Damage { offset: self.begins + from as u64, length: (self.at - from) as u64, why }
    }

    /// The record that begins here, and where it ends; `None` if it is not whole.
    fn line(&self) -> Option<(Line, usize)> {
        let rest = &self.bytes[self.at..];
        let (Some(length), Some(hash)) = line::head(rest) else { return None };
        let end = HEAD.checked_add(length)?;
        let json = rest.get(HEAD..end)?;
        // Without the line break it may still be written.
        let is_ended = *rest.get(end)? == b'\n';
        let linked = self.before.iter().any(|before| line::chain(before, json) == hash);
        if !linked {
            // Of one whose link is not known, only the form can be checked.
            let unknown = self.before.is_empty() || self.lost || self.is_first() && continues(json);
            if !unknown || !is_ended || serde_json::from_slice::<IgnoredAny>(json).is_err() {
                return None;
            }
        }
        let json = String::from_utf8(json.to_vec()).ok()?;
        // Where another byte stands in the place of the line break, the records around it are whole.
        let end = self.at + end + usize::from(is_ended);
        let (offset, next) = (self.begins + self.at as u64, self.begins + end as u64);
        Some((Line { offset, next, json, linked, hash }, end))
    }

    /// Notes which hashes the next record may be linked to, behind a line that is none: the one that
    /// stands there, and the one that would be right.
    fn pass(&mut self, from: usize) {
        let bytes = &self.bytes[from..self.at];
        let json = bytes.get(HEAD..bytes.len() - 1).unwrap_or_default();
        let mut hashes: Vec<Chain> = self.before.iter().map(|before| line::chain(before, json)).collect();
        hashes.extend(line::head(bytes).1);
        if self.lost {
            self.before.extend(hashes);
        } else {
            self.before = hashes;
        }
        self.lost = true;
    }
}

impl Iterator for SegmentReader {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if self.at >= self.bytes.len() {
            return None;
        }
        if let Some((line, end)) = self.line() {
            // One that could not be checked may state a wrong hash.
            (self.at, self.before, self.lost) = (end, vec![line.hash], !line.linked);
            return Some(Piece::Line(line));
        }
        let from = self.at;
        let mut start = from;
        // The first byte may stand in the place of a line break; everything else goes up to the next.
        self.at += 1;
        while self.line().is_none() {
            let Some(end) = memchr::memchr(b'\n', &self.bytes[start..]) else {
                self.at = self.bytes.len();
                return Some(Piece::Torn(self.damage(from, "the record is not finished")));
            };
            self.at = start + end + 1;
            self.pass(start);
            start = self.at;
            if self.at == self.bytes.len() {
                break;
            }
        }
        Some(Piece::Damaged(self.damage(from, "these bytes are not what was written")))
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
    /// False if its hash could not be checked, because the record before it is not known.
    pub linked: bool,
    pub(crate) hash: Chain,
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
    let Some(mut file) = tectum_state::open(segment)? else { return Ok(None) };
    file.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.by_ref().take(HEAD as u64).read_to_end(&mut bytes)?;
    let Some(length) = line::head(&bytes).0 else { return Ok(None) };
    bytes.clear();
    file.take(length as u64).read_to_end(&mut bytes)?;
    Ok(match serde_json::from_slice(&bytes) {
        Ok(Record::Call(entry)) => Some(*entry),
        Ok(_) | Err(_) => None,
    })
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
    /// Unfinished records that were set aside at a later start.
    pub aside: Vec<PathBuf>,
}

/// Checks every record and every link of the chain.
pub fn verify(folder: &Path) -> io::Result<Verified> {
    let mut found = Verified::default();
    let mut known: HashMap<String, HashSet<Chain>> = HashMap::new();
    for segment in segments(folder)? {
        let Some(reader) = segment.read_from(0)? else { continue };
        found.segments += 1;
        let mut hashes = HashSet::new();
        for piece in reader {
            match piece {
                Piece::Line(line) => {
                    found.records += 1;
                    let linked = line.linked || line.offset == 0 && goes_on(&line, &known);
                    if !linked {
                        let why = "its link to the record before cannot be confirmed";
                        let length = line.next - line.offset;
                        found
                            .damages
                            .push((segment.path.clone(), Damage { offset: line.offset, length, why }));
                    }
                    hashes.insert(line.hash);
                }
                Piece::Damaged(damage) => found.damages.push((segment.path.clone(), damage)),
                Piece::Torn(damage) => found.torn.push((segment.path.clone(), damage)),
            }
        }
        if let Some(name) = segment.path.file_name() {
            known.insert(name.to_string_lossy().into_owned(), hashes);
        }
    }
    let files = tectum_state::list(folder)?.into_iter().map(|file| file.path);
    found.aside = files.filter(|path| path.extension().is_some_and(|ending| ending == ASIDE)).collect();
    found.aside.sort();
    Ok(found)
}

/// True if this is the first record of a segment that continues another one.
fn continues(json: &[u8]) -> bool {
    matches!(serde_json::from_slice(json), Ok(Record::Start(Start { follows: Some(_), .. })))
}

/// True if the first record of a segment continues the chain of the segment it names, at whichever record:
/// another process may have gone on in that one, too. One that is not there any more was removed for its
/// age.
fn goes_on(line: &Line, known: &HashMap<String, HashSet<Chain>>) -> bool {
    let Ok(Record::Start(Start { follows: Some(name), .. })) = line.record() else { return false };
    let links = |before: &Chain| line::chain(before, line.json.as_bytes()) == line.hash;
    known.get(&name).is_none_or(|hashes| hashes.iter().any(links))
}
