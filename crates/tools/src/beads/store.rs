//! Our own store, `beads.jsonl`: one bead in each line. What is not a bead stays where it is, byte
//! for byte, and so does every line that a change is not about.

use std::{collections::HashSet, ops::Range};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tectum_core::Fault;
use tectum_state::Moment;

use super::bead::Bead;

/// Letters and digits of an id.
const BASE: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
/// Draws of an id before the store counts as full.
const DRAWS: usize = 1000;
/// Lines that are named when they are broken; the rest is counted.
const NAMED: usize = 5;

/// The file, and what its lines say.
#[derive(Debug, Default)]
pub(super) struct Store {
    bytes: Vec<u8>,
    /// The beads, as they stand in the file.
    pub(super) beads: Vec<Bead>,
    /// The place of each bead's line, without its end.
    places: Vec<Range<usize>>,
    /// The lines that are no beads, with the reasons.
    pub(super) broken: Vec<String>,
}

/// The members that a line must and may have.
#[derive(Debug, Deserialize)]
struct OwnLine {
    id: String,
    title: String,
    #[serde(default = "open")]
    status: String,
    created: Option<String>,
    #[serde(default)]
    blocks: Vec<String>,
    #[serde(default)]
    depends_on: Vec<String>,
}

fn open() -> String {
    "open".into()
}

/// The content of a new bead.
#[derive(Debug)]
pub(super) struct NewBead {
    pub(super) title: String,
    pub(super) description: String,
    pub(super) parent: Option<String>,
    pub(super) depends_on: Vec<String>,
}

impl Store {
    /// Reads the file. No content at all is an empty store.
    pub(super) fn parse(bytes: Vec<u8>) -> Self {
        let (mut beads, mut places, mut broken) = (Vec::new(), Vec::new(), Vec::new());
        let mut known = HashSet::new();
        for (number, place) in lines(&bytes) {
            match read(&bytes[place.clone()]) {
                Ok(bead) if known.insert(bead.id.clone()) => {
                    beads.push(bead);
                    places.push(place);
                }
                Ok(bead) => broken.push(format!("line {number} repeats {}, and the first counts", bead.id)),
                Err(why) => broken.push(format!("line {number} is {why}")),
            }
        }
        Self { bytes, beads, places, broken }
    }

    /// The content with one more bead at its end, and that bead.
    pub(super) fn with_new(&self, others: &[Bead], new: NewBead) -> Result<(Vec<u8>, Bead), Fault> {
        let id = fresh_id(self.beads.iter().chain(others))?;
        let now = Moment::now();
        let mut line = Map::new();
        let fields = [
            ("id", json!(id)),
            ("title", json!(new.title)),
            ("description", json!(new.description)),
            ("status", json!("open")),
            ("created", json!(now.to_string())),
            ("updated", json!(now.to_string())),
            ("parent", json!(new.parent)),
            ("blocks", json!([])),
            ("relates_to", json!([])),
            ("depends_on", json!(new.depends_on)),
        ];
        line.extend(fields.map(|(name, value)| (name.to_owned(), value)));
        let end = if self.bytes.windows(2).any(|pair| pair == b"\r\n") { "\r\n" } else { "\n" };
        let mut bytes = self.bytes.clone();
        if bytes.last().is_some_and(|last| *last != b'\n') {
            bytes.extend_from_slice(end.as_bytes());
        }
        bytes.extend_from_slice(Value::Object(line).to_string().as_bytes());
        bytes.extend_from_slice(end.as_bytes());
        let Self { mut beads, .. } = Self::parse(bytes.clone());
        let bead = beads.pop().ok_or_else(|| Fault::internal("the new bead does not read again"))?;
        Ok((bytes, bead))
    }

    /// The content after a change of one bead, and what that bead says then. Other fields of its line
    /// stay; `None` for a change that changes nothing.
    pub(super) fn with_changed(
        &self,
        index: usize,
        status: Option<&str>,
        depends_on: &[String],
    ) -> Result<Option<(Vec<u8>, Bead)>, Fault> {
        let (bead, place) = (&self.beads[index], self.places[index].clone());
        if status.is_none_or(|status| status == bead.status) && depends_on == bead.depends_on {
            return Ok(None);
        }
        let unreadable = |_| Fault::internal("the bead's line was read and does not read again");
        let mut line: Map<String, Value> =
            serde_json::from_slice(&self.bytes[place.clone()]).map_err(unreadable)?;
        if let Some(status) = status {
            line.insert("status".into(), json!(status));
        }
        line.insert("depends_on".into(), json!(depends_on));
        line.insert("updated".into(), json!(Moment::now().to_string()));
        let line = Value::Object(line).to_string();
        let after = Bead {
            status: status.unwrap_or(&bead.status).to_owned(),
            depends_on: depends_on.to_vec(),
            ..bead.clone()
        };
        let bytes = [&self.bytes[..place.start], line.as_bytes(), &self.bytes[place.end..]].concat();
        Ok(Some((bytes, after)))
    }
}

/// A sentence about lines that are no beads.
pub(super) fn told(file: &str, broken: &[String]) -> Option<String> {
    let first = broken.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join("; ");
    match broken.len() {
        0 => None,
        count if count > NAMED => Some(format!("{file}: {first}; and {} more such lines", count - NAMED)),
        _ => Some(format!("{file}: {first}")),
    }
}

/// The lines that say something, with their numbers and without their ends.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut start = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut number = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let end = if rest[..length].ends_with(b"\r") { length - 1 } else { length };
        let place = start..start + end;
        (start, number) = (start + length + 1, number + 1);
        Some((number, place))
    })
    .filter(|(_, place)| !bytes[place.clone()].trim_ascii().is_empty())
}

fn read(line: &[u8]) -> Result<Bead, String> {
    let OwnLine { id, title, status, created, blocks, depends_on } =
        serde_json::from_slice(line).map_err(|error| format!("no bead ({error})"))?;
    super::bead::check_id(&id).map_err(|_| "no bead (its id is none)".to_owned())?;
    let created = created.as_deref().and_then(Moment::parse);
    Ok(Bead { id, title, status, created, blocks, depends_on, ..Bead::default() })
}

/// An id that no bead has and none names: one that is named would make a new bead part of an old plan.
fn fresh_id<'b>(beads: impl Iterator<Item = &'b Bead>) -> Result<String, Fault> {
    let random = || {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).is_ok().then(|| u64::from_le_bytes(bytes))
    };
    first_free(beads, std::iter::from_fn(random).take(DRAWS)).ok_or_else(|| {
        Fault::conflict("nearly all 1,679,616 ids of this store are taken")
            .hint("move closed beads out of .beads/beads.jsonl")
    })
}

fn first_free<'b>(
    beads: impl Iterator<Item = &'b Bead>,
    mut numbers: impl Iterator<Item = u64>,
) -> Option<String> {
    let mut taken = HashSet::new();
    for bead in beads {
        let named = [&bead.depends_on, &bead.blocks, &bead.under];
        taken.insert(bead.id.as_str());
        taken.extend(named.into_iter().flatten().map(String::as_str));
    }
    numbers.find_map(|mut number| {
        let mut id = String::from("bd-");
        for _ in 0..4 {
            id.push(char::from(BASE[usize::try_from(number % 36).unwrap_or_default()]));
            number /= 36;
        }
        (!taken.contains(id.as_str())).then_some(id)
    })
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
