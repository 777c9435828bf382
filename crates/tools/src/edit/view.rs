//! A text seen with less care, so that a search finds what only looks different, and the way
//! back from a place in that view to the text itself.

use std::ops::Range;

use super::search::ChangedPart;
use crate::text::{Lines, body};

/// The tolerance of a view. Each forgives what the ones before it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Care {
    /// `\r\n` and `\r` are `\n`.
    LineEnds,
    /// Blanks at the end of a line do not count.
    TrailingSpace,
    /// Curly quotes are straight, dashes are hyphens, every kind of space is a space, three dots are
    /// one sign.
    Punctuation,
}

/// A text as it is searched.
#[derive(Debug)]
pub(super) struct View {
    pub(super) text: String,
    /// True when blanks were dropped after the last character: it was meant to end a line.
    pub(super) ends_line: bool,
    runs: Vec<Run>,
    source: usize,
}

/// A stretch of the view and the stretch of the source it stands for. They go byte by byte, unless
/// the stretch is one unit.
#[derive(Debug)]
struct Run {
    view: Range<usize>,
    source: Range<usize>,
    unit: bool,
}

/// The sign that three dots are seen as.
const DOTS: &str = "\u{2026}";

impl View {
    pub(super) fn new(source: &str, care: Care) -> Self {
        let mut view = Self {
            text: String::with_capacity(source.len()),
            ends_line: false,
            runs: Vec::new(),
            source: source.len(),
        };
        let lines = Lines::of(source);
        for number in 1..=lines.count() {
            let Some(range) = lines.range(number) else { break };
            let whole = &source[range.clone()];
            let words = body(whole);
            let kept = match care {
                Care::LineEnds => words,
                Care::TrailingSpace => words.trim_end_matches([' ', '\t']),
                Care::Punctuation => words.trim_end_matches(|c| c == '\t' || fold(c) == ' '),
            };
            if care == Care::Punctuation && (!kept.is_ascii() || kept.contains("...")) {
                view.push_folded(range.start, kept);
            } else {
                view.push(range.start..range.start + kept.len(), kept);
            }
            if words.len() < whole.len() {
                view.push(range.start + words.len()..range.end, "\n");
            } else {
                view.ends_line = kept.len() < words.len();
            }
        }
        view
    }

    /// Adds a line with its typography made plain.
    fn push_folded(&mut self, start: usize, line: &str) {
        let mut at = 0;
        while let Some(c) = line[at..].chars().next() {
            let dots = line[at..].starts_with("...");
            let length = if dots { 3 } else { c.len_utf8() };
            let source = start + at..start + at + length;
            if dots {
                self.push_run(source, DOTS, true)
            } else {
                self.push(source, fold(c).encode_utf8(&mut [0; 4]))
            }
            at += length;
        }
    }

    fn push(&mut self, source: Range<usize>, text: &str) {
        let unit = source.len() != text.len();
        self.push_run(source, text, unit);
    }

    fn push_run(&mut self, source: Range<usize>, text: &str, unit: bool) {
        let view = self.text.len()..self.text.len() + text.len();
        self.text.push_str(text);
        if view.is_empty() {
            return;
        }
        let run = Run { view, source, unit };
        match self.runs.last_mut() {
            Some(last) if !last.unit && !run.unit && last.source.end == run.source.start => {
                last.view.end = run.view.end;
                last.source.end = run.source.end;
            }
            _ => self.runs.push(run),
        }
    }

    /// The beginning, in the source, of the part that the view has at this offset.
    pub(super) fn start_of(&self, offset: usize) -> usize {
        let index = self.runs.partition_point(|run| run.view.end <= offset);
        self.runs.get(index).map_or(self.source, |run| run.source.start + (offset - run.view.start))
    }

    /// The end, in the source, of the part that the view has before this offset.
    pub(super) fn end_of(&self, offset: usize) -> usize {
        let index = self.runs.partition_point(|run| run.view.end < offset);
        match self.runs.get(index) {
            Some(run) if offset == run.view.end => run.source.end,
            Some(run) if offset > run.view.start => run.source.start + (offset - run.view.start),
            _ => 0,
        }
    }

    /// The same difference without a cut inside of a unit of this view's source.
    pub(super) fn whole_units(&self, mut change: ChangedPart) -> ChangedPart {
        let inside = |offset: usize| {
            let index = self.runs.partition_point(|run| run.source.end <= offset);
            self.runs.get(index).filter(|run| run.unit && run.source.start < offset)
        };
        if let Some(unit) = inside(change.old.start) {
            let back = change.old.start - unit.source.start;
            change.old.start -= back;
            change.new.start -= back;
        }
        if let Some(unit) = inside(change.old.end) {
            let on = unit.source.end - change.old.end;
            change.old.end += on;
            change.new.end += on;
        }
        change
    }

    /// The view's offset for one in the source; inside a unit, the start of the unit.
    pub(super) fn seen(&self, offset: usize) -> usize {
        let index = self.runs.partition_point(|run| run.source.end <= offset);
        match self.runs.get(index) {
            None => self.text.len(),
            Some(run) if run.source.start >= offset || run.unit => run.view.start,
            Some(run) => run.view.start + (offset - run.source.start),
        }
    }
}

/// The plain character a typographic one stands for.
pub(super) fn fold(c: char) -> char {
    match c {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{02bc}' | '\u{00b4}' | '\u{ff07}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ff02}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        '\u{00a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, care: Care, expect: &str, ends_line: bool) -> View {
        let view = View::new(source, care);
        assert_eq!((view.text.as_str(), view.ends_line), (expect, ends_line));
        view
    }

    #[test]
    fn each_view_forgives_more() {
        check("a \r\nb\rc\n", Care::LineEnds, "a \nb\nc\n", false);
        check("a \t\r\nb  ", Care::TrailingSpace, "a\nb", true);
        check("\u{201c}a\u{201d}\u{a0}\u{2014} b\u{a0}\n", Care::Punctuation, "\"a\" - b\n", false);
        let view = check("a...b\n", Care::Punctuation, "a\u{2026}b\n", false);
        assert_eq!([0, 1, 2, 3, 4].map(|at| view.seen(at)), [0, 1, 1, 1, 4]);
    }

    #[test]
    fn the_way_back_is_exact() {
        let view = check("ab  \r\n\u{2019}c", Care::Punctuation, "ab\n'c", false);
        // Offsets in the view, and what begins and ends there in the source.
        assert_eq!([0, 1, 2, 3, 4, 5].map(|at| view.start_of(at)), [0, 1, 4, 6, 9, 10]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|at| view.end_of(at)), [0, 1, 2, 6, 9, 10]);
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 9, 10].map(|at| view.seen(at)), [0, 1, 2, 2, 2, 2, 3, 4, 5]);
    }
}
