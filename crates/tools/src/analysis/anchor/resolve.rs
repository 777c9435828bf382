//! The present place of the lines of a slice: at their place, moved, changed, half gone or lost. Old
//! line numbers are never given back for want of better ones.

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    AROUND, AnchorText, EDGE, Slice,
    candidates::{AnchorCandidate, AnchorSide, find},
    cut, spelled,
};

/// The least mean of both sides for lines that were changed.
const FUZZY: f64 = 0.75;
/// The most that lines which are not the same are worth.
const SURE: f64 = 0.99;
/// The most that one side alone is worth.
const PARTIAL: f64 = 0.6;
/// The range of lengths that the lines may have now, relative to before.
const LENGTHS: (f64, f64) = (0.5, 2.0);
/// Bytes hashed while looking for moved lines. A text that repeats itself has many places that
/// begin and end alike, and each costs a hash of the whole window; beyond this the search goes
/// on by likeness.
const HASHED: usize = 64 * 1024 * 1024;

/// How a slice was found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnchorStatus {
    /// Unchanged at the same place.
    Exact,
    /// Unchanged at another place.
    Moved,
    /// Changed, but both ends were recognised.
    Fuzzy,
    /// Only one end was recognised; the other is a guess.
    Partial,
    /// Not found.
    Lost,
}

impl AnchorStatus {
    /// Its name in replies.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Moved => "moved",
            Self::Fuzzy => "fuzzy",
            Self::Partial => "partial",
            Self::Lost => "lost",
        }
    }
}

/// Where a slice is now.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Resolved {
    /// First line, from 1; none when it is lost.
    pub start: Option<usize>,
    /// Last line, included; none when it is lost.
    pub end: Option<usize>,
    /// From 0 to 1.
    pub confidence: f64,
    /// How it was found.
    pub status: AnchorStatus,
}

impl Resolved {
    /// From indices that count from 0, the end not included.
    fn at(start: usize, end: usize, confidence: f64, status: AnchorStatus) -> Self {
        Self { start: Some(start + 1), end: Some(end), confidence, status }
    }

    fn lost() -> Self {
        Self { start: None, end: None, confidence: 0.0, status: AnchorStatus::Lost }
    }
}

/// Finds a slice in a text. Whatever the slice says, it is only believed as far as the text
/// confirms it.
pub fn resolve(text: &str, slice: &Slice) -> Resolved {
    let page = AnchorText::of(text);
    let count = slice.line_count;
    if count == 0 || page.lines.is_empty() {
        return Resolved::lost();
    }
    let wanted = WantedSlice::of(slice);
    if let Some(found) = unchanged(&page, &wanted) {
        return found;
    }
    let starts = find(&page, &wanted.start_side());
    let ends = find(&page, &wanted.end_side());
    if let Some(found) = pair(&starts, &ends, count) {
        return found;
    }
    let best = |side: &[AnchorCandidate]| side.first().copied().filter(|best| best.score >= FUZZY);
    let total = page.lines.len();
    match (best(&starts), best(&ends)) {
        (Some(start), end) if end.is_none_or(|end| end.score <= start.score) => {
            let end = start.line.saturating_add(count).min(total);
            Resolved::at(start.line, end, start.score.min(PARTIAL), AnchorStatus::Partial)
        }
        (_, Some(end)) => {
            let start = (end.line + 1).saturating_sub(count);
            Resolved::at(start, end.line + 1, end.score.min(PARTIAL), AnchorStatus::Partial)
        }
        _ => Resolved::lost(),
    }
}

/// A slice as it came, with its lists and lines brought to the sizes we would have given them.
struct WantedSlice<'s> {
    hash: &'s str,
    start: usize,
    count: usize,
    head: Vec<&'s str>,
    tail: Vec<&'s str>,
    before: Vec<&'s str>,
    after: Vec<&'s str>,
}

impl<'s> WantedSlice<'s> {
    fn of(slice: &'s Slice) -> Self {
        let tidy = |line: &'s String| Some(cut(line.trim())).filter(|line| !line.is_empty());
        let first = |lines: &'s [String], most| lines.iter().filter_map(tidy).take(most).collect();
        let last = |lines: &'s [String], most| {
            let mut lines: Vec<_> = lines.iter().rev().filter_map(tidy).take(most).collect();
            lines.reverse();
            lines
        };
        Self {
            hash: &slice.content_hash,
            start: slice.start_line.saturating_sub(1),
            count: slice.line_count,
            head: first(&slice.head, EDGE),
            tail: last(&slice.tail, EDGE),
            before: last(&slice.before, AROUND),
            after: first(&slice.after, AROUND),
        }
    }

    fn start_side(&self) -> AnchorSide<'_> {
        AnchorSide { edge: self.head.clone(), around: &self.before, expected: self.start, backward: false }
    }

    fn end_side(&self) -> AnchorSide<'_> {
        let edge = self.tail.iter().rev().copied().collect();
        let expected = self.start.saturating_add(self.count - 1);
        AnchorSide { edge, around: &self.after, expected, backward: true }
    }
}

/// Looks for lines with the same hash: at the old place first, then at the nearest place whose
/// ends are the same.
fn unchanged(page: &AnchorText<'_>, wanted: &WantedSlice<'_>) -> Option<Resolved> {
    let (total, count) = (page.lines.len(), wanted.count);
    let last = total.checked_sub(count)?;
    let same = |start: usize| spelled(page.hash(start..start + count)) == wanted.hash;
    let at_home = wanted.start <= last && same(wanted.start);
    let neighbours = |start: usize| {
        page.backward(0, start, AROUND) == wanted.before
            && page.forward(start + count, total, AROUND) == wanted.after
    };
    let home = || Resolved::at(wanted.start, wanted.start + count, 1.0, AnchorStatus::Exact);
    if at_home && neighbours(wanted.start) {
        return Some(home());
    }
    let alike = |start: usize| {
        page.forward(start, start + count, EDGE) == wanted.head
            && page.backward(start, start + count, EDGE) == wanted.tail
    };
    let mut starts: Vec<usize> = (0..=last).filter(|start| alike(*start)).collect();
    starts.sort_by_key(|start| start.abs_diff(wanted.start));
    // Lines that are at the old place by chance, between other neighbours, are not meant if the
    // same stand between the right ones.
    if at_home {
        let better = starts.iter().copied().filter(|start| neighbours(*start)).find(|start| same(*start));
        return Some(
            better.map_or_else(home, |start| Resolved::at(start, start + count, 1.0, AnchorStatus::Moved)),
        );
    }
    let mut left = HASHED;
    for start in starts {
        let bytes: usize = page.lines[start..start + count].iter().map(|line| line.len() + 1).sum();
        left = left.checked_sub(bytes)?;
        if same(start) {
            return Some(Resolved::at(start, start + count, 1.0, AnchorStatus::Moved));
        }
    }
    None
}

/// The best start and end that belong together.
fn pair(starts: &[AnchorCandidate], ends: &[AnchorCandidate], count: usize) -> Option<Resolved> {
    let fits = |length: usize| {
        let share = length as f64 / count as f64;
        (LENGTHS.0..=LENGTHS.1).contains(&share)
    };
    let mut best: Option<(f64, usize, usize)> = None;
    for start in starts {
        for end in ends {
            let mean = f64::midpoint(start.score, end.score);
            // The first of equals is the one nearest to the old place.
            // Where nothing outside changed and both outermost lines stand, only the middle did.
            let known = mean >= FUZZY || (start.joined && end.joined);
            let better = known && best.is_none_or(|(most, ..)| mean > most);
            if better && end.line >= start.line && fits(end.line - start.line + 1) {
                best = Some((mean, start.line, end.line));
            }
        }
    }
    best.map(|(mean, start, end)| Resolved::at(start, end + 1, mean.min(SURE), AnchorStatus::Fuzzy))
}
