//! Lines that may be an end of a slice: like its outermost line, and judged by the lines that
//! follow it inwards, by those around the slice, and by how far away they are.

use std::collections::HashMap;

use super::AnchorText;

/// The least likeness of two lines that may be the same.
const ALIKE: f64 = 0.85;
/// The bonus for the lines around a slice when all are found.
const AROUND_BONUS: f64 = 0.1;
/// The greatest malus for distance.
const SHIFT_MALUS: f64 = 0.2;
/// The distance, in lines, at which it takes away all of that.
const FAR: f64 = 1000.0;
/// Candidates kept for each end: lines like `}` are everywhere, and every start is paired with
/// every end.
const CANDIDATES: usize = 400;
/// Lines compared character by character while looking for candidates, nearest first. Equal
/// lines are found without it; this bounds a file of many lines that are nearly alike.
const COMPARED: usize = 5_000;

/// Letters and digits of a line that is more than a bracket or a keyword.
const TELLING: usize = 4;

/// One end of a slice.
pub(super) struct AnchorSide<'s> {
    /// Its lines from the outermost inwards.
    pub(super) edge: Vec<&'s str>,
    /// The lines just outside.
    pub(super) around: &'s [&'s str],
    /// The place where the outermost line was.
    pub(super) expected: usize,
    /// True for the end: inwards is up.
    pub(super) backward: bool,
}

/// A line that may be that end.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnchorCandidate {
    pub(super) line: usize,
    pub(super) score: f64,
    /// The very line, with the very lines around the slice beside it.
    pub(super) joined: bool,
}

/// The candidates for one end, the best first and the nearest of equals first.
pub(super) fn find(page: &AnchorText<'_>, side: &AnchorSide<'_>) -> Vec<AnchorCandidate> {
    let Some(outermost) = side.edge.first() else { return Vec::new() };
    let mut likeness = Likeness::default();
    let mut places = equal(page, side, outermost);
    // The very line beats any that is only like it; of a line that says little there are many.
    let telling = outermost.chars().filter(|c| c.is_alphanumeric()).count() >= TELLING;
    if places.is_empty() || !telling {
        let more = CANDIDATES - places.len();
        places.extend(similar(page, side, outermost, &mut likeness).take(more));
    }
    let score = |place: usize| {
        let line = page.full[place];
        let joined = page.trimmed[line] == *outermost && side.beside(page, line) == side.around;
        AnchorCandidate { line, score: score(page, side, place), joined }
    };
    let mut found: Vec<AnchorCandidate> = places.into_iter().map(score).collect();
    let far = |candidate: &AnchorCandidate| candidate.line.abs_diff(side.expected);
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| far(a).cmp(&far(b))));
    found
}

/// Places in `page.full` whose line equals the outermost one: those with the most equal lines
/// inwards, then the nearest.
fn equal(page: &AnchorText<'_>, side: &AnchorSide<'_>, outermost: &str) -> Vec<usize> {
    let line = |place: usize| page.trimmed[page.full[place]];
    let depth = |place: usize| {
        let inner = side.edge.iter().enumerate();
        inner.take_while(|(step, text)| side.inwards(page, place, *step) == Some(**text)).count()
    };
    let places = (0..page.full.len()).filter(|place| line(*place) == outermost);
    let mut ranked: Vec<_> = places
        .map(|place| (std::cmp::Reverse(depth(place)), page.full[place].abs_diff(side.expected), place))
        .collect();
    ranked.sort_unstable();
    ranked.into_iter().take(CANDIDATES).map(|(.., place)| place).collect()
}

/// Places whose line is like the outermost one without being equal, nearest first.
fn similar<'p>(
    page: &'p AnchorText<'_>,
    side: &AnchorSide<'_>,
    outermost: &'p str,
    likeness: &'p mut Likeness<'p>,
) -> impl Iterator<Item = usize> {
    let line = |place: &usize| page.trimmed[page.full[*place]];
    let wanted = LineShape::of(outermost);
    let middle = page.full.partition_point(|at| *at < side.expected);
    let down = middle..page.full.len();
    let up = (0..middle).rev();
    let possible = move |place: &usize| line(place) != outermost && wanted.may_be_like(line(place));
    let near = interleaved(down, up).filter(possible).take(COMPARED);
    near.filter(move |place| likeness.to(outermost, page.trimmed[page.full[*place]]) >= ALIKE)
}

/// One from each in turn until both are spent.
fn interleaved(
    mut a: impl Iterator<Item = usize>,
    mut b: impl Iterator<Item = usize>,
) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || match (a.next(), b.next()) {
        (None, None) => None,
        both => Some(both),
    })
    .flat_map(|(a, b)| a.into_iter().chain(b))
}

impl AnchorSide<'_> {
    /// The line so many steps inwards from a place, blank ones passed over.
    fn inwards<'t>(&self, page: &AnchorText<'t>, place: usize, step: usize) -> Option<&'t str> {
        let place = if self.backward { place.checked_sub(step) } else { place.checked_add(step) };
        page.full.get(place?).map(|at| page.trimmed[*at])
    }

    /// As many lines just outside of a place as are known of the slice; one where none are known,
    /// to tell whether the text begins or ends there.
    fn beside<'t>(&self, page: &AnchorText<'t>, line: usize) -> Vec<&'t str> {
        let most = self.around.len().max(1);
        if self.backward {
            page.forward(line + 1, page.lines.len(), most)
        } else {
            page.backward(0, line, most)
        }
    }

    /// The share of the lines around the slice that stand around this place too.
    fn around_share(&self, page: &AnchorText<'_>, line: usize) -> f64 {
        if self.around.is_empty() {
            return 0.0;
        }
        let there = self.beside(page, line);
        let found = self.around.iter().filter(|text| there.iter().any(|line| alike(text, line) >= ALIKE));
        found.count() as f64 / self.around.len() as f64
    }
}

fn score(page: &AnchorText<'_>, side: &AnchorSide<'_>, place: usize) -> f64 {
    let line = page.full[place];
    let inner = side.edge.iter().enumerate();
    let likeness: f64 =
        inner.map(|(step, text)| side.inwards(page, place, step).map_or(0.0, |line| alike(text, line))).sum();
    let shift = line.abs_diff(side.expected) as f64 / FAR;
    likeness / side.edge.len() as f64 + AROUND_BONUS * side.around_share(page, line)
        - SHIFT_MALUS * shift.min(1.0)
}

/// The likeness of two lines, from 0 to 1.
fn alike(a: &str, b: &str) -> f64 {
    if a == b { 1.0 } else { strsim::normalized_levenshtein(a, b) }
}

/// Likenesses found before: the lines of a file repeat themselves.
#[derive(Default)]
struct Likeness<'t>(HashMap<&'t str, f64>);

impl<'t> Likeness<'t> {
    fn to(&mut self, wanted: &str, line: &'t str) -> f64 {
        *self.0.entry(line).or_insert_with(|| alike(wanted, line))
    }
}

/// The facts about a line that need no comparison letter by letter.
struct LineShape {
    chars: usize,
    letters: [u16; 64],
}

impl LineShape {
    fn of(line: &str) -> Self {
        let mut letters = [0; 64];
        for c in line.chars() {
            letters[c as usize % 64] += 1;
        }
        Self { chars: line.chars().count(), letters }
    }

    /// False when the number of characters, or which they are, rules a likeness out.
    fn may_be_like(&self, line: &str) -> bool {
        // In bytes first: a line is at most four times as long in bytes as in characters.
        if line.len() * 20 < self.chars * 17 || line.len() > self.chars * 5 {
            return false;
        }
        let other = Self::of(line);
        let longer = self.chars.max(other.chars);
        let edits = longer - (longer * 17).div_ceil(20);
        // An edit takes away one letter at most and adds one at most.
        let counts = || self.letters.iter().zip(&other.letters);
        let missing: usize = counts().map(|(a, b)| usize::from(a.saturating_sub(*b))).sum();
        let added: usize = counts().map(|(a, b)| usize::from(b.saturating_sub(*a))).sum();
        missing.max(added) <= edits
    }
}
