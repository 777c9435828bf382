//! A log of records in segments: every process appends to its own files and reads everybody's.
//!
//! Appending is one `write`, and one sync if records must survive a power cut. A record is whole or
//! ignored: one that a crash cut off fails its length or its checksum, and those before it stay valid.
//! A full segment is followed by a new one, and only then are the oldest removed.

use std::{
    cmp::Reverse,
    collections::VecDeque,
    fs::File,
    io::{self, Write as _},
    os::unix::fs::{FileExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use crate::{Entry, Lasts, create, list, open, remove, sync_folder, unique_number};

/// The bytes before the key: the length of the payload, and the checksum of key and payload.
const NUMBERS: usize = 16;

/// The limits of a log.
#[derive(Clone, Copy, Debug)]
pub struct LogBounds {
    /// The size at which a segment is full; a larger record gets its own.
    pub segment: u64,
    /// The most bytes of all segments together.
    pub bytes: u64,
    /// The most segments of all processes together.
    pub segments: usize,
    /// The most records of this process whose place is remembered, the newest ones.
    pub remembered: usize,
}

/// A log whose records are found by a key of fixed length.
#[derive(Debug)]
pub struct Log<const KEY: usize> {
    directory: PathBuf,
    bounds: LogBounds,
    lasts: Lasts,
    own: Mutex<OwnSegments<KEY>>,
}

/// The segments that this process writes and wrote.
#[derive(Debug, Default)]
struct OwnSegments<const KEY: usize> {
    open: Option<Segment>,
    /// The places of its newest records, the newest last.
    places: VecDeque<([u8; KEY], PathBuf, u64)>,
}

#[derive(Debug)]
struct Segment {
    path: PathBuf,
    file: File,
    length: u64,
}

impl<const KEY: usize> Log<KEY> {
    /// The log in a folder. Nothing is created before the first record.
    pub fn new(directory: PathBuf, bounds: LogBounds, lasts: Lasts) -> Self {
        Self { directory, bounds, lasts, own: Mutex::default() }
    }

    /// Appends a record whose payload `fill` writes. Of several with one key the newest counts.
    pub fn append(
        &self,
        key: [u8; KEY],
        fill: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut frame = vec![0; NUMBERS];
        frame.extend_from_slice(&key);
        fill(&mut frame)?;
        let length = (frame.len() - NUMBERS - KEY) as u64;
        let checksum = checksum(&frame[NUMBERS..]);
        frame[..8].copy_from_slice(&length.to_le_bytes());
        frame[8..NUMBERS].copy_from_slice(&checksum);
        if frame.len() as u64 > self.bounds.bytes {
            return Err(io::Error::other("the record is larger than the whole log may be"));
        }

        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        let segment = self.segment(&mut own, frame.len() as u64)?;
        let sync = |file: &File| match self.lasts {
            Lasts::PowerCut => file.sync_data(),
            Lasts::Process => Ok(()),
        };
        if let Err(error) = segment.file.write_all(&frame).and_then(|()| sync(&segment.file)) {
            // A partial record would hide the ones after it.
            if segment.file.set_len(segment.length).is_err() {
                own.open = None;
            }
            return Err(error);
        }
        let place = (key, segment.path.clone(), segment.length);
        segment.length += frame.len() as u64;
        own.places.push_back(place);
        if own.places.len() > self.bounds.remembered {
            own.places.pop_front();
        }
        Ok(())
    }

    /// The payload of the newest record with a key, whichever process appended it. A segment that cannot
    /// be read is an error only if no other has the record.
    pub fn find(&self, key: [u8; KEY]) -> io::Result<Option<Vec<u8>>> {
        let known = {
            let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
            own.places.iter().rev().find(|(other, ..)| *other == key).cloned()
        };
        if let Some((_, path, start)) = known
            && let Some((file, size)) = sized(&path)?
        {
            let record = RecordAt::<KEY>::read_header(&file, size, start)?.filter(|record| record.key == key);
            return record.map_or(Ok(None), |record| record.payload(&file));
        }
        let mut unreadable = None;
        for segment in newest_first(&self.directory)? {
            match newest(&segment.path, key) {
                Ok(Some(payload)) => return Ok(Some(payload)),
                Ok(None) => {}
                Err(error) => unreadable = Some(error),
            }
        }
        unreadable.map_or(Ok(None), Err)
    }

    /// The segment that takes a record of this size: the open one, or a new one.
    fn segment<'o>(&self, own: &'o mut OwnSegments<KEY>, size: u64) -> io::Result<&'o mut Segment> {
        let fits = |segment: &Segment| {
            let room = segment.length == 0 || segment.length + size <= self.bounds.segment;
            // Another process may have removed our segment, if we had not written for long.
            room && segment.file.metadata().is_ok_and(|about| about.nlink() > 0)
        };
        if !own.open.as_ref().is_some_and(fits) {
            own.open = None;
            let missing = self.directory.ancestors().take_while(|folder| !folder.is_dir()).count();
            self.make_room(size)?;
            own.open = Some(Segment::begin(&self.directory)?);
            if self.lasts == Lasts::PowerCut {
                // A new folder is a new name in the folder above it.
                let named_anew = self.directory.ancestors().take(missing + 1);
                named_anew.map(|folder| folder.join("segment")).try_for_each(|path| sync_folder(&path))?;
            }
        }
        own.open.as_mut().ok_or_else(|| io::Error::other("no segment"))
    }

    /// Removes the oldest segments so that one more fits.
    fn make_room(&self, size: u64) -> io::Result<()> {
        let mut bytes = self.bounds.segment.max(size);
        for (index, segment) in newest_first(&self.directory)?.iter().enumerate() {
            bytes += segment.size;
            if index + 1 >= self.bounds.segments || bytes > self.bounds.bytes {
                // Another process may have removed it just now.
                let _ = remove(&segment.path);
            }
        }
        Ok(())
    }
}

impl Segment {
    fn begin(directory: &Path) -> io::Result<Self> {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let name = format!("{time:013}-{}-{:06}.log", std::process::id(), unique_number());
        let path = directory.join(name);
        let file = create(&path)?;
        Ok(Self { path, file, length: 0 })
    }
}

/// A record in a segment, of which only the header was read.
#[derive(Clone, Copy, Debug)]
struct RecordAt<const KEY: usize> {
    key: [u8; KEY],
    start: u64,
    length: u64,
    checksum: [u8; 8],
}

impl<const KEY: usize> RecordAt<KEY> {
    /// The record that begins here; `None` at the end, and where a process was killed before its
    /// record was whole.
    fn read_header(file: &File, size: u64, start: u64) -> io::Result<Option<Self>> {
        let mut numbers = [0; NUMBERS];
        let mut key = [0; KEY];
        let room = size.saturating_sub(start);
        if room < (NUMBERS + KEY) as u64 {
            return Ok(None);
        }
        file.read_exact_at(&mut numbers, start)?;
        file.read_exact_at(&mut key, start + NUMBERS as u64)?;
        let (length, checksum) = numbers.split_at(8);
        let (Ok(length), Ok(checksum)) = (length.try_into(), checksum.try_into()) else { return Ok(None) };
        let length = u64::from_le_bytes(length);
        // A power cut may leave zeros in the place of a record.
        let written = checksum != [0; 8];
        let whole = length <= room - (NUMBERS + KEY) as u64;
        Ok((written && whole).then_some(Self { key, start, length, checksum }))
    }

    /// The offset of the next record.
    fn end(&self) -> u64 {
        self.start + (NUMBERS + KEY) as u64 + self.length
    }

    /// The payload; `None` if its bytes are not the ones that were written.
    fn payload(&self, file: &File) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = vec![0; KEY + usize::try_from(self.length).unwrap_or(0)];
        file.read_exact_at(&mut bytes, self.start + NUMBERS as u64)?;
        Ok((checksum(&bytes) == self.checksum).then(|| bytes.split_off(KEY)))
    }
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(bytes).as_bytes()[..8]);
    first
}

/// All segments, the most recently written first.
fn newest_first(directory: &Path) -> io::Result<Vec<Entry>> {
    let mut found = list(directory)?;
    // Two segments of one process may have the same timestamp; their names give the order.
    found.sort_by_cached_key(|segment| Reverse((segment.written, segment.path.clone())));
    Ok(found)
}

/// The newest record with a key in one segment.
fn newest<const KEY: usize>(path: &Path, key: [u8; KEY]) -> io::Result<Option<Vec<u8>>> {
    let Some((file, size)) = sized(path)? else { return Ok(None) };
    let mut found = None;
    let mut next = RecordAt::read_header(&file, size, 0)?;
    while let Some(record) = next {
        if record.key == key {
            found = Some(record);
        }
        next = RecordAt::read_header(&file, size, record.end())?;
    }
    found.map_or(Ok(None), |record| record.payload(&file))
}

/// Opens a segment to read it, with its current size; `None` if it was removed.
fn sized(path: &Path) -> io::Result<Option<(File, u64)>> {
    let Some(file) = open(path)? else { return Ok(None) };
    let size = file.metadata()?.len();
    Ok(Some((file, size)))
}

#[cfg(test)]
#[path = "log_tests.rs"]
mod tests;
