//! Finding the text an edit means: exactly first, then with growing tolerance, and never at
//! two places when one was meant.

use std::ops::Range;

use memchr::memmem;
use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::Fault;

use super::{
    indentation, nearest,
    search::{ChangedPart, Count, EditHit, EditSearch, without_final_newline},
    typography,
    view::{Care, View},
};
use crate::text::TextFile;

/// How a text was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Byte for byte.
    Exact,
    /// After taking `\r\n`, `\n` and `\r` for the same, and so the end of a file that ends without.
    LineEnds,
    /// After ignoring blanks at the ends of lines.
    TrailingSpace,
    /// With other indentation; the new text was indented as the file is.
    Indentation,
    /// After taking curly quotes, dashes and special spaces for their plain forms.
    Punctuation,
}

/// The tiers, the strictest first.
const TIERS: [Tier; 5] =
    [Tier::Exact, Tier::LineEnds, Tier::TrailingSpace, Tier::Indentation, Tier::Punctuation];

impl Tier {
    /// The difference of a place that only this tier finds.
    pub(super) fn difference(self) -> &'static str {
        match self {
            Self::Exact => "nothing",
            Self::LineEnds => "line ends",
            Self::TrailingSpace => "blanks at line ends",
            Self::Indentation => "indentation",
            Self::Punctuation => "typographic punctuation",
        }
    }

    /// The note in a reply about a match that was not exact.
    pub(super) fn note(self) -> Option<&'static str> {
        match self {
            Self::Exact => None,
            Self::LineEnds => Some("matched ignoring line ends; the file's own were kept"),
            Self::TrailingSpace => Some("matched ignoring blanks at line ends"),
            Self::Indentation => {
                Some("matched with other indentation; the new text was indented like the file")
            }
            Self::Punctuation => Some(
                "matched taking typographic quotes, dashes and spaces for plain ones; \
                 new ones were written in the style of the place where it is clear, as given where not",
            ),
        }
    }
}

/// The places of the text, and the edits that replace it.
#[derive(Debug)]
pub(super) struct Matches {
    pub(super) tier: Tier,
    pub(super) edits: Vec<(Range<usize>, String)>,
    /// The lines where the matches begin.
    pub(super) lines: Vec<usize>,
    /// When all were meant: the next tier that knows further places, and their lines.
    pub(super) further: Option<(Tier, Vec<usize>)>,
}

/// Finds the text in a file known to the reader by this name.
pub(super) fn find(name: &str, file: &TextFile, search: &EditSearch<'_>) -> Result<Matches, Fault> {
    // A caller that read the whole file may quote its byte order mark, which is not text.
    let unmarked =
        |text| if file.facts().bom { str::strip_prefix(text, '\u{feff}').unwrap_or(text) } else { text };
    let search = &EditSearch { old: unmarked(search.old), new: unmarked(search.new), count: search.count };
    if search.old.is_empty() {
        return Err(Fault::invalid("old_string is empty, so there is no place to edit")
            .hint("quote the text to replace; set_file_slice inserts lines, write_file makes a new file"));
    }
    if search.old == search.new {
        return Err(Fault::invalid("old_string and new_string are the same, so nothing would change"));
    }
    for (index, tier) in TIERS.into_iter().enumerate() {
        let hits = hits(file, search, tier);
        if !hits.is_empty() {
            let lines: Vec<_> = hits.iter().map(|hit| file.lines().at(hit.span.start)).collect();
            let overlap = hits.windows(2).any(|pair| pair[1].span.start < pair[0].span.end);
            check_count(name, search.count, &lines, overlap)?;
            let all = search.count == Count::All;
            let further = if all { further(file, search, &TIERS[index + 1..], &hits) } else { None };
            let edits = hits.into_iter().map(|hit| hit.edit).collect();
            return Ok(Matches { tier, lines, edits, further });
        }
    }
    Err(nearest::not_found(name, file, search))
}

/// Places that only a more tolerant tier finds, beside these.
fn further(
    file: &TextFile,
    search: &EditSearch<'_>,
    tiers: &[Tier],
    known: &[EditHit],
) -> Option<(Tier, Vec<usize>)> {
    // Both are in ascending order and do not overlap among themselves.
    let is_new = |hit: &EditHit| {
        let next = known.partition_point(|other| other.span.end <= hit.span.start);
        known.get(next).is_none_or(|other| hit.span.end <= other.span.start)
    };
    tiers.iter().find_map(|tier| {
        let lines: Vec<_> = hits(file, search, *tier)
            .iter()
            .filter(|hit| is_new(hit))
            .map(|hit| file.lines().at(hit.span.start))
            .collect();
        (!lines.is_empty()).then_some((*tier, lines))
    })
}

fn check_count(name: &str, count: Count, lines: &[usize], overlap: bool) -> Result<(), Fault> {
    /// Enough to choose from; the total is said as well.
    const SHOWN: usize = 5;
    let found = lines.len();
    let meant = match count {
        Count::One => 1,
        Count::All => return Ok(()),
        Count::Exactly(count) => count,
    };
    if found == meant {
        return Ok(());
    }
    let shown: Vec<_> = lines.iter().take(SHOWN).map(usize::to_string).collect();
    let rest = match found.saturating_sub(SHOWN) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    let rest = if overlap { format!("{rest}, overlapping") } else { rest };
    let (times, places) = if found == 1 { ("once", "line") } else { ("times", "lines") };
    let times = if found == 1 { times.to_owned() } else { format!("{found} {times}") };
    let message = format!(
        "old_string occurs {times} in {name} ({places} {}{rest}), not {}; nothing was changed",
        shown.join(", "),
        if meant == 1 { "once".to_owned() } else { format!("{meant} times") },
    );
    Err(Fault::conflict(message).hint(match count {
        // Of two that overlap only the first can be replaced.
        _ if overlap => "add neighbouring text to old_string until it fits one place",
        Count::Exactly(_) => "look at these lines and correct expected_count or old_string",
        _ => "add neighbouring lines to old_string until it fits one place, or pass replace_all=true",
    }))
}

fn hits(file: &TextFile, search: &EditSearch<'_>, tier: Tier) -> Vec<EditHit> {
    let text = file.text();
    let ascii = text.is_ascii() && search.old.is_ascii();
    let has_returns = |text: &str| memchr::memchr(b'\r', text.as_bytes()).is_some();
    match tier {
        Tier::Exact => exact(text, search),
        // Views that would show the text as it is are not made.
        Tier::LineEnds if !has_returns(text) && !has_returns(search.old) => {
            at_end(text, search, Care::LineEnds).into_iter().collect()
        }
        Tier::LineEnds => seen(text, search, Care::LineEnds),
        _ if search.old.trim().is_empty() => Vec::new(),
        Tier::TrailingSpace => seen(text, search, Care::TrailingSpace),
        Tier::Indentation => indentation::hits(file, search),
        Tier::Punctuation if ascii => Vec::new(),
        Tier::Punctuation => seen(text, search, Care::Punctuation),
    }
}

fn exact(text: &str, search: &EditSearch<'_>) -> Vec<EditHit> {
    let change = common(search.old, search.new);
    places(text, search.old, search.count)
        .into_iter()
        .map(|start| start..start + search.old.len())
        // Half of a `\r\n` is no place to cut.
        .filter(|span| !inside_line_end(text, span.start) && !inside_line_end(text, span.end))
        .map(|span| EditHit {
            edit: (
                span.start + change.old.start..span.start + change.old.end,
                search.new[change.new.clone()].to_owned(),
            ),
            span,
        })
        .collect()
}

fn seen(text: &str, search: &EditSearch<'_>, care: Care) -> Vec<EditHit> {
    let (file, old) = (View::new(text, care), View::new(search.old, care));
    let ends_line = |end: usize| matches!(file.text.as_bytes().get(end), None | Some(b'\n'));
    let sight = Sight { text, file: &file, old: &old, ends_line: old.ends_line };
    let mut hits: Vec<EditHit> = places(&file.text, &old.text, search.count)
        .into_iter()
        .filter(|start| !old.ends_line || ends_line(start + old.text.len()))
        .map(|start| sight.hit(start, search, care))
        .collect();
    // Each place is replaced, so two that overlap are one; where one is meant they are two.
    let free = |last: &EditHit| match hits.last() {
        Some(before) => before.span.end <= last.span.start || search.count == Count::One,
        None => true,
    };
    let last = at_end(text, search, care).filter(free);
    hits.extend(last);
    hits
}

/// The place at the very end of a text without a final newline, where the old text has one. The
/// new text loses its own, so that the file still ends as it did.
fn at_end(text: &str, search: &EditSearch<'_>, care: Care) -> Option<EditHit> {
    let search = without_final_newline(text, search)?;
    // A file is only looked at as far as the old text can reach, unless blanks do not count.
    let reach = text.len().saturating_sub(search.old.len() + 1);
    let from = if care == Care::LineEnds && text.is_char_boundary(reach) { reach } else { 0 };
    let (file, old) = (View::new(&text[from..], care), View::new(search.old, care));
    let start = file.text.len().checked_sub(old.text.len())?;
    if old.text.is_empty() || !file.text.ends_with(&old.text) {
        return None;
    }
    let sight = Sight { text: &text[from..], file: &file, old: &old, ends_line: true };
    let EditHit { span, edit } = sight.hit(start, &search, care);
    let moved = |range: Range<usize>| range.start + from..range.end + from;
    Some(EditHit { span: moved(span), edit: (moved(edit.0), edit.1) })
}

/// A file and the old text, both seen with the same care.
struct Sight<'s> {
    text: &'s str,
    file: &'s View,
    old: &'s View,
    /// Blanks after the match belong to it.
    ends_line: bool,
}

impl Sight<'_> {
    /// The hit that begins at this offset of the file's view.
    fn hit(&self, start: usize, search: &EditSearch<'_>, care: Care) -> EditHit {
        let Self { text, file, old, ends_line } = *self;
        let change = old.whole_units(common(search.old, search.new));
        let (from, to) = (old.seen(change.old.start), old.seen(change.old.end));
        let end = start + old.text.len();
        let span = file.start_of(start)..if ends_line { file.start_of(end) } else { file.end_of(end) };
        let mut new = search.new[change.new.clone()].to_owned();
        if care == Care::Punctuation {
            let there = |at: usize| text[file.start_of(start + old.seen(at))..].chars().next();
            match typography::fitted(search.old, search.new, change.new.clone(), there) {
                Some(fitted) => new = fitted,
                // Half of it in another style would be worse than none.
                None => return EditHit { edit: (span.clone(), search.new.to_owned()), span },
            }
        }
        // What old and new text share at both ends stays as the file has it.
        let first = if from == 0 { span.start } else { file.end_of(start + from) };
        let last = if change.old.end == search.old.len() { span.end } else { file.start_of(start + to) };
        EditHit { edit: (first..last.max(first), new), span }
    }
}

/// The places of a text in another, without overlaps, since each place is to be replaced. When one is
/// meant, a second one that overlaps the first might be it.
fn places(text: &str, old: &str, count: Count) -> Vec<usize> {
    let (text, old) = (text.as_bytes(), old.as_bytes());
    let mut starts: Vec<_> = memmem::find_iter(text, old).collect();
    if count == Count::One
        && let [only] = starts[..]
        && let Some(more) = memmem::find(&text[only + 1..], old)
    {
        starts.push(only + 1 + more);
    }
    starts
}

fn common(old: &str, new: &str) -> ChangedPart {
    let mut start = old.chars().zip(new.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    // A line end is kept or replaced as a whole.
    while inside_line_end(old, start) || inside_line_end(new, start) {
        start -= 1;
    }
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let same = old_rest.chars().rev().zip(new_rest.chars().rev()).take_while(|(a, b)| a == b);
    let mut end: usize = same.map(|(c, _)| c.len_utf8()).sum();
    while inside_line_end(old, old.len() - end) || inside_line_end(new, new.len() - end) {
        end -= 1;
    }
    ChangedPart { old: start..old.len() - end, new: start..new.len() - end }
}

fn inside_line_end(text: &str, offset: usize) -> bool {
    let bytes = text.as_bytes();
    offset > 0 && bytes.get(offset) == Some(&b'\n') && bytes[offset - 1] == b'\r'
}

#[cfg(test)]
#[path = "matching_tests.rs"]
mod tests;
