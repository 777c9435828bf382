//! Matching whole lines that are only indented differently, and indenting the new lines as the
//! file does it.

use std::ops::Range;

use super::search::{Count, EditHit, EditSearch, without_final_newline};
use crate::text::{Indent, TextFile, body, split};

/// The places where the lines of the old text stand with other indentation. The change must
/// keep the structure: equal indentation stays equal, deeper stays deeper.
pub(super) fn hits(file: &TextFile, search: &EditSearch<'_>) -> Vec<EditHit> {
    let old = split(search.old);
    let words: Vec<&str> = old.iter().map(|line| line.trim()).collect();
    // The longest line is the rarest, so the fewest places are compared as a whole.
    let Some((anchor, rarest)) = words.iter().enumerate().max_by_key(|(_, words)| words.len()) else {
        return Vec::new();
    };
    if !rarest.contains(char::is_alphanumeric) {
        return Vec::new();
    }
    let mut hits = Vec::new();
    let mut free = 1;
    for number in 1 + anchor..=file.lines().count() {
        let first = number - anchor;
        // When one place is meant, a second one that overlaps the first might be it.
        let taken = first < free && search.count != Count::One;
        if taken || file.line(number).trim() != *rarest {
            continue;
        }
        let same = (first..).zip(&words).all(|(number, words)| file.line(number).trim() == *words);
        if !same || first + words.len() - 1 > file.lines().count() {
            continue;
        }
        if let Some(shift) = Shift::between(file, first, &old, search.new) {
            let last = first + words.len() - 1 == file.lines().count();
            let search = without_final_newline(file.text(), search).filter(|_| last).unwrap_or(*search);
            hits.push(hit(file, first, &split(search.old), &search, &shift));
            free = first + words.len();
        }
    }
    hits
}

fn hit(file: &TextFile, first: usize, old: &[&str], search: &EditSearch<'_>, shift: &Shift) -> EditHit {
    let new = split(search.new);
    // Lines that old and new text share at both ends stay as the file has them.
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[before..], &new[before..]);
    let after = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let start = |number: usize| file.lines().range(number).map_or(file.text().len(), |range| range.start);
    let whole = start(first)..end_of(file, first + old.len() - 1, search.old);
    let from = if before == old.len() { whole.end } else { start(first + before) };
    let to = if after == 0 { whole.end } else { start(first + old.len() - after) };
    let inserted = new_rest[..new_rest.len() - after].iter().map(|line| shift.apply(line)).collect();
    EditHit { span: whole, edit: (from..to, inserted) }
}

/// The end of a line: behind its line end if the old text had one there, before it if not.
fn end_of(file: &TextFile, number: usize, old: &str) -> usize {
    let Range { start, end } = file.lines().range(number).unwrap_or(0..0);
    if old.ends_with(['\n', '\r']) { end } else { start + body(&file.text()[start..end]).len() }
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The indentations of the file, each with the one it stands for in the old text.
#[derive(Debug)]
struct Shift {
    /// Pairs of old and file indentation, shallow to deep.
    pairs: Vec<(String, String)>,
    /// One step deeper: in the old text and in the file, where they differ.
    step: Option<(String, String)>,
}

impl Shift {
    fn between(file: &TextFile, first: usize, old: &[&str], new: &str) -> Option<Self> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        for (number, line) in (first..).zip(old).filter(|(_, line)| !line.trim().is_empty()) {
            let pair = (indent_of(line).to_owned(), indent_of(file.line(number)).to_owned());
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        pairs.sort_by_key(|(old, file)| (old.len(), file.len()));
        let deeper = |pair: &[(String, String)]| {
            pair[0].0.len() < pair[1].0.len() && pair[0].1.len() < pair[1].1.len()
        };
        if !pairs.windows(2).all(deeper) {
            return None;
        }
        let step = step(&pairs, file.facts().indent, new);
        Some(Self { pairs, step })
    }

    /// The line with the file's indentation.
    fn apply(&self, line: &str) -> String {
        let indent = indent_of(line);
        let words = &line[indent.len()..];
        if body(words).is_empty() {
            return line.to_owned();
        }
        format!("{}{words}", self.indent(indent))
    }

    fn indent(&self, indent: &str) -> String {
        let below = |(old, _): &&(String, String)| indent.starts_with(old.as_str());
        if let Some((old, file)) = self.pairs.iter().rev().find(below) {
            return format!("{file}{}", self.steps(&indent[old.len()..]));
        }
        let above = |(old, _): &&(String, String)| old.starts_with(indent);
        match self.pairs.iter().find(above) {
            Some((old, file)) => {
                let surplus = self.steps(&old[indent.len()..]);
                file.strip_suffix(surplus.as_str()).unwrap_or_default().to_owned()
            }
            None => self.steps(indent),
        }
    }

    fn steps(&self, indent: &str) -> String {
        match &self.step {
            Some((old, file)) => indent.replace(old.as_str(), file),
            None => indent.to_owned(),
        }
    }
}

/// One step of indentation in the old text and in the file, if they differ.
fn step(pairs: &[(String, String)], indent: Indent, new: &str) -> Option<(String, String)> {
    for pair in pairs.windows(2) {
        let old = pair[1].0.strip_prefix(pair[0].0.as_str());
        let file = pair[1].1.strip_prefix(pair[0].1.as_str());
        if let (Some(old), Some(file)) = (old, file) {
            return (old != file).then(|| (old.to_owned(), file.to_owned()));
        }
    }
    // One depth alone says how it is written when one side has tabs and the other spaces.
    let all = |text: &str, c: char| !text.is_empty() && text.chars().all(|other| other == c);
    if let [(old, file)] = pairs {
        if all(old, ' ') && all(file, '\t') && old.len() % file.len() == 0 {
            return Some((" ".repeat(old.len() / file.len()), "\t".into()));
        }
        if all(old, '\t') && all(file, ' ') && file.len() % old.len() == 0 {
            return Some(("\t".into(), " ".repeat(file.len() / old.len())));
        }
    }
    match (Indent::of(new), indent) {
        (Indent::Spaces(width), Indent::Tabs) => Some((" ".repeat(width), "\t".into())),
        (Indent::Tabs, Indent::Spaces(width)) => Some(("\t".into(), " ".repeat(width))),
        _ => None,
    }
}
