//! Undo records as files: one line of JSON that says what is inside, then the images.
//!
//! These are our own files in our own state directory; no name in them comes from an agent.

use std::{
    cmp::Reverse,
    fs, io,
    io::{BufRead, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::SystemTime,
};

use serde::{Deserialize, Serialize};
use tectum_core::CallId;

use super::undo::{Left, MOST_BYTES, MOST_RECORDS, Record, Step, Was};

/// One step as the first line of a record tells it.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    path: String,
    /// The length of the image that follows.
    image: Option<u64>,
    from: Option<String>,
    left: Left,
}

/// Writes a record whole, or not at all, and lets the oldest go.
#[expect(clippy::disallowed_methods, reason = "our own state, never an agent's path")]
pub(super) fn write(directory: &Path, call: CallId, record: &Record) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    let heads: Vec<Head> = record.steps.iter().map(head).collect();
    let unfinished = directory.join(format!("{call}.part"));
    let mut file =
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    file.write_all(&serde_json::to_vec(&heads)?)?;
    file.write_all(b"\n")?;
    for step in &record.steps {
        if let Was::Content(bytes) = &step.was {
            file.write_all(bytes)?;
        }
    }
    // The clock of many file systems is too coarse to order records by.
    file.set_modified(SystemTime::now())?;
    fs::rename(&unfinished, directory.join(call.to_string()))?;
    prune(directory)
}

/// Reads a record; `None` when there is none.
#[expect(clippy::disallowed_methods, reason = "our own state, never an agent's path")]
pub(super) fn read(directory: &Path, call: CallId) -> io::Result<Option<Record>> {
    let file = match fs::File::open(directory.join(call.to_string())) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut reader = io::BufReader::new(file);
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line)?;
    let heads: Vec<Head> = serde_json::from_slice(&line)?;
    let mut steps = Vec::new();
    for Head { path, image, from, left } in heads {
        let was = match (image, from) {
            (Some(length), _) => {
                let mut bytes = Vec::new();
                reader.by_ref().take(length).read_to_end(&mut bytes)?;
                if bytes.len() as u64 != length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                Was::Content(bytes)
            }
            (None, Some(from)) => Was::Elsewhere(from),
            (None, None) => Was::Nothing,
        };
        steps.push(Step { path, was, left });
    }
    Ok(Some(Record { steps }))
}

/// Takes a record away.
#[expect(clippy::disallowed_methods, reason = "our own state, never an agent's path")]
pub(super) fn remove(directory: &Path, call: CallId) {
    let _ = fs::remove_file(directory.join(call.to_string()));
}

fn head(step: &Step) -> Head {
    let (image, from) = match &step.was {
        Was::Nothing => (None, None),
        Was::Content(bytes) => (Some(bytes.len() as u64), None),
        Was::Elsewhere(from) => (None, Some(from.clone())),
    };
    Head { path: step.path.clone(), image, from, left: step.left.clone() }
}

/// Removes the oldest records beyond the bounds. Another process may do the same meanwhile.
#[expect(clippy::disallowed_methods, reason = "our own state, never an agent's path")]
fn prune(directory: &Path) -> io::Result<()> {
    let mut records: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(directory)?.flatten() {
        if let Ok(about) = entry.metadata() {
            records.push((about.modified()?, about.len(), entry.path()));
        }
    }
    records.sort_by_key(|(written, ..)| Reverse(*written));
    let mut bytes = 0;
    for (index, (_, size, path)) in records.iter().enumerate() {
        bytes += size;
        if index >= MOST_RECORDS || bytes > MOST_BYTES {
            let _ = fs::remove_file(path);
        }
    }
    Ok(())
}
