//! A record as bytes: one line of JSON that says what is inside, then the images.

use std::io;

use serde::{Deserialize, Serialize};
use tectum_core::CallId;

use super::undo_record::{Image, Left, Record, UndoStep, Was};

/// A call's id: `c-` and 16 hex digits.
pub(super) const CALL: usize = 18;

/// One step as the JSON line tells it.
#[derive(Debug, Serialize, Deserialize)]
struct StepHead {
    path: String,
    /// The length of the image that follows, and its file's permission bits.
    image: Option<(u64, u32)>,
    from: Option<String>,
    left: Left,
    #[serde(default, skip_serializing_if = "is_none")]
    made: usize,
}

/// Most calls make no folder, and a record without a word about them was written before they were counted.
fn is_none(made: &usize) -> bool {
    *made == 0
}

/// The key of a call's record.
pub(super) fn key(call: CallId) -> io::Result<[u8; CALL]> {
    call.to_string().as_bytes().try_into().map_err(|_| io::Error::other("the call's id has another length"))
}

/// Adds the bytes of a record to what is there.
pub(super) fn encode(record: &Record<'_>, payload: &mut Vec<u8>) -> io::Result<()> {
    let heads: Vec<StepHead> = record.steps.iter().map(head).collect();
    payload.reserve(256 * heads.len() + record.size() as usize);
    serde_json::to_writer(&mut *payload, &heads)?;
    payload.push(b'\n');
    for step in &record.steps {
        if let Was::File(image) = &step.was {
            payload.extend_from_slice(&image.bytes);
        }
    }
    Ok(())
}

fn head(step: &UndoStep<'_>) -> StepHead {
    let (image, from) = match &step.was {
        Was::Nothing => (None, None),
        Was::File(image) => (Some((image.bytes.len() as u64, image.mode)), None),
        Was::Elsewhere(from) => (None, Some(from.clone())),
    };
    StepHead { path: step.path.clone(), image, from, left: step.left.clone(), made: step.made }
}

/// The record that these bytes are.
pub(super) fn decode(payload: &[u8]) -> Option<Record<'static>> {
    let line = memchr::memchr(b'\n', payload)?;
    let heads: Vec<StepHead> = serde_json::from_slice(&payload[..line]).ok()?;
    let mut images = &payload[line + 1..];
    let mut steps = Vec::new();
    for StepHead { path, image, from, left, made } in heads {
        let was = match (image, from) {
            (Some((length, mode)), _) => {
                let (bytes, rest) = images.split_at_checked(usize::try_from(length).ok()?)?;
                images = rest;
                Was::File(Image { bytes: bytes.to_vec().into(), mode })
            }
            (None, Some(from)) => Was::Elsewhere(from),
            (None, None) => Was::Nothing,
        };
        steps.push(UndoStep { path, was, left, made });
    }
    Some(Record { steps })
}
