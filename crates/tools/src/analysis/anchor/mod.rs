//! Slices that find their lines again: what is kept of a range of lines so that it can be
//! recognised after the file has changed. Pure: text in, places out; no file is opened here.

mod candidates;
mod resolve;
#[cfg(test)]
mod tests;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use resolve::{AnchorStatus, Resolved, resolve};

use crate::text;

/// Lines kept from each end of a slice.
const EDGE: usize = 3;
/// Lines kept from each side around it.
const AROUND: usize = 2;
/// Characters kept of a line. More would not tell it better from others, and a file that is one
/// giant line must not come back as its own anchor.
const LINE_CHARS: usize = 200;

/// A range of lines with what is needed to find it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct Slice {
    /// First line, from 1.
    pub start_line: usize,
    /// Last line, included.
    pub end_line: usize,
    /// Hash of the lines.
    pub content_hash: String,
    /// Its first lines.
    #[serde(default)]
    pub head: Vec<String>,
    /// Its last lines.
    #[serde(default)]
    pub tail: Vec<String>,
    /// Lines before it.
    #[serde(default)]
    pub before: Vec<String>,
    /// Lines after it.
    #[serde(default)]
    pub after: Vec<String>,
    /// Number of lines.
    pub line_count: usize,
    /// A remark, kept as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotation: Option<String>,
}

/// Lines that cannot be made a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Lines count from 1.
    Zero,
    /// The first line comes after the last.
    Reversed,
    /// The text ends before the first line.
    Beyond {
        /// Lines in the text.
        total: usize,
    },
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => f.write_str("lines count from 1"),
            Self::Reversed => f.write_str("start_line comes after end_line"),
            Self::Beyond { total: 0 } => f.write_str("start_line does not exist: the file is empty"),
            Self::Beyond { total } => write!(f, "start_line does not exist: the file ends at line {total}"),
        }
    }
}

impl Slice {
    /// The slice of lines `first` to `last`, both included and counted from 1. A last line past
    /// the end means the end.
    pub fn create(text: &str, first: usize, last: usize) -> Result<Self, Refused> {
        let page = AnchorText::of(text);
        let total = page.lines.len();
        if first < 1 || last < 1 {
            return Err(Refused::Zero);
        }
        if first > last {
            return Err(Refused::Reversed);
        }
        if first > total {
            return Err(Refused::Beyond { total });
        }
        let last = last.min(total);
        let inside = first - 1..last;
        let owned = |lines: Vec<&str>| lines.into_iter().map(str::to_owned).collect();
        Ok(Self {
            start_line: first,
            end_line: last,
            content_hash: spelled(page.hash(inside.clone())),
            head: owned(page.forward(inside.start, inside.end, EDGE)),
            tail: owned(page.backward(inside.start, inside.end, EDGE)),
            before: owned(page.backward(0, inside.start, AROUND)),
            after: owned(page.forward(inside.end, total, AROUND)),
            line_count: inside.len(),
            annotation: None,
        })
    }

    /// The same slice with a remark.
    pub fn annotated(mut self, annotation: Option<String>) -> Self {
        self.annotation = annotation;
        self
    }
}

/// A hash as it is written down.
fn spelled(hash: u64) -> String {
    format!("{hash:016x}")
}

/// The lines of a text as slices see them. Indices count from 0.
struct AnchorText<'t> {
    /// Without line ends and trailing blanks.
    lines: Vec<&'t str>,
    /// Trimmed on both sides and cut; blank lines are empty.
    trimmed: Vec<&'t str>,
    /// The places of the lines that are not blank.
    full: Vec<usize>,
}

impl<'t> AnchorText<'t> {
    fn of(text: &'t str) -> Self {
        let lines: Vec<&str> =
            text::split(text).into_iter().map(|line| text::body(line).trim_end()).collect();
        let trimmed: Vec<&str> = lines.iter().map(|line| cut(line.trim_start())).collect();
        let full = (0..trimmed.len()).filter(|at| !trimmed[*at].is_empty()).collect();
        Self { lines, trimmed, full }
    }

    /// FNV-1a over the lines, joined by LF.
    fn hash(&self, range: std::ops::Range<usize>) -> u64 {
        const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const PRIME: u64 = 0x0100_0000_01b3;
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
        let mut hash = OFFSET;
        for (index, line) in self.lines[range].iter().enumerate() {
            if index > 0 {
                hash = step(hash, b'\n');
            }
            hash = line.bytes().fold(hash, step);
        }
        hash
    }

    /// Up to `most` lines that are not blank, from `from` on and before `to`.
    fn forward(&self, from: usize, to: usize, most: usize) -> Vec<&'t str> {
        let first = self.full.partition_point(|at| *at < from);
        let found = self.full[first..].iter().take_while(|at| **at < to).take(most);
        found.map(|at| self.trimmed[*at]).collect()
    }

    /// The last `most` lines that are not blank in the same range, in their order.
    fn backward(&self, from: usize, to: usize, most: usize) -> Vec<&'t str> {
        let end = self.full.partition_point(|at| *at < to);
        let found = self.full[..end].iter().rev().take_while(|at| **at >= from).take(most);
        let mut lines: Vec<_> = found.map(|at| self.trimmed[*at]).collect();
        lines.reverse();
        lines
    }
}

/// The first characters of a line.
fn cut(line: &str) -> &str {
    // A character takes one byte at least, so a short line needs no counting.
    if line.len() <= LINE_CHARS {
        return line;
    }
    line.char_indices().nth(LINE_CHARS).map_or(line, |(end, _)| &line[..end])
}
