//! A record as bytes: a header of fixed length, one line of JSON that says what is inside,
//! then the images. A frame that is not whole is no frame.

use std::{fs::File, io, os::unix::fs::FileExt};

use serde::{Deserialize, Serialize};
use tectum_core::CallId;

use super::undo_record::{Image, Left, Record, UndoStep, Was};

/// The length of what follows the header, the checksum of the rest, and the call.
const HEADER: usize = 8 + 8 + CALL;
/// `c-` and 16 hex digits.
const CALL: usize = 18;

/// One step as the JSON line tells it.
#[derive(Debug, Serialize, Deserialize)]
struct StepHead {
    path: String,
    /// The length of the image that follows, and its file's permission bits.
    image: Option<(u64, u32)>,
    from: Option<String>,
    left: Left,
}

/// The bytes of a frame.
pub(super) fn encode(call: CallId, record: &Record<'_>) -> io::Result<Vec<u8>> {
    let heads: Vec<StepHead> = record.steps.iter().map(head).collect();
    let mut frame = Vec::with_capacity(HEADER + 256 * heads.len() + record.size() as usize);
    frame.extend_from_slice(&[0; 16]);
    frame.extend_from_slice(call.to_string().as_bytes());
    serde_json::to_writer(&mut frame, &heads)?;
    frame.push(b'\n');
    for step in &record.steps {
        if let Was::File(image) = &step.was {
            frame.extend_from_slice(&image.bytes);
        }
    }
    let length = (frame.len() - HEADER) as u64;
    let checksum = checksum(&frame[16..]);
    frame[..8].copy_from_slice(&length.to_le_bytes());
    frame[8..16].copy_from_slice(&checksum);
    Ok(frame)
}

fn head(step: &UndoStep<'_>) -> StepHead {
    let (image, from) = match &step.was {
        Was::Nothing => (None, None),
        Was::File(image) => (Some((image.bytes.len() as u64, image.mode)), None),
        Was::Elsewhere(from) => (None, Some(from.clone())),
    };
    StepHead { path: step.path.clone(), image, from, left: step.left.clone() }
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(bytes).as_bytes()[..8]);
    first
}

/// A frame in a file, of which only the header was looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) call: CallId,
    start: u64,
    length: u64,
    checksum: [u8; 8],
}

impl Frame {
    /// The frame that begins here; `None` at the end of the file, and where a process was
    /// killed before its frame was whole.
    pub(super) fn at(file: &File, size: u64, start: u64) -> io::Result<Option<Self>> {
        let mut header = [0; HEADER];
        let room = size.saturating_sub(start);
        if room < HEADER as u64 {
            return Ok(None);
        }
        file.read_exact_at(&mut header, start)?;
        let (numbers, call) = header.split_at(16);
        let (length, checksum) = numbers.split_at(8);
        let (Ok(length), Ok(checksum)) = (length.try_into(), checksum.try_into()) else { return Ok(None) };
        let length = u64::from_le_bytes(length);
        let call = std::str::from_utf8(call).ok().and_then(CallId::parse);
        let whole = length <= room - HEADER as u64;
        Ok(call.filter(|_| whole).map(|call| Self { call, start, length, checksum }))
    }

    /// Where the next one begins.
    pub(super) fn end(&self) -> u64 {
        self.start + HEADER as u64 + self.length
    }

    /// What it holds; `None` when its bytes are not the ones that were written.
    pub(super) fn read(&self, file: &File) -> io::Result<Option<Record<'static>>> {
        let mut bytes = vec![0; CALL + usize::try_from(self.length).unwrap_or(0)];
        file.read_exact_at(&mut bytes, self.start + 16)?;
        Ok((checksum(&bytes) == self.checksum).then(|| decode(&bytes[CALL..])).flatten())
    }
}

fn decode(payload: &[u8]) -> Option<Record<'static>> {
    let line = memchr::memchr(b'\n', payload)?;
    let heads: Vec<StepHead> = serde_json::from_slice(&payload[..line]).ok()?;
    let mut images = &payload[line + 1..];
    let mut steps = Vec::new();
    for StepHead { path, image, from, left } in heads {
        let was = match (image, from) {
            (Some((length, mode)), _) => {
                let (bytes, rest) = images.split_at_checked(usize::try_from(length).ok()?)?;
                images = rest;
                Was::File(Image { bytes: bytes.to_vec().into(), mode })
            }
            (None, Some(from)) => Was::Elsewhere(from),
            (None, None) => Was::Nothing,
        };
        steps.push(UndoStep { path, was, left });
    }
    Some(Record { steps })
}
