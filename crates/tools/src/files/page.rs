//! Cutting a text into pages that are whole lines, or pieces of one giant line.

use std::{borrow::Cow, fmt, ops::Range};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use tectum_core::Fault;

use crate::text::Lines;

/// A place to read from: a line, and a character in it. Both count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) line: usize,
    pub(super) character: usize,
}

impl Cursor {
    /// The start of a line.
    pub(super) fn line(line: usize) -> Self {
        Self { line, character: 1 }
    }

    /// Reads `2001` or `1:1048577`.
    fn parse(token: &str) -> Option<Self> {
        let (line, character) = token.split_once(':').unwrap_or((token, "1"));
        let (line, character) = (line.trim().parse().ok()?, character.trim().parse().ok()?);
        (line > 0 && character > 0).then_some(Self { line, character })
    }
}

impl<'de> Deserialize<'de> for Cursor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = serde_json::Value::deserialize(deserializer)?;
        let token = given.as_str().map_or_else(|| given.to_string(), str::to_owned);
        Self::parse(&token).ok_or_else(|| {
            de::Error::custom(format!(
                "must be a line from 1 on, or a line and a character like \"1:1048577\", got {given}"
            ))
        })
    }
}

impl JsonSchema for Cursor {
    fn schema_name() -> Cow<'static, str> {
        "Cursor".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["integer", "string"]})
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.character {
            1 => write!(f, "{}", self.line),
            character => write!(f, "{}:{character}", self.line),
        }
    }
}

/// One page of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LinesPage {
    /// Its bytes in the text.
    pub(super) range: Range<usize>,
    /// Its last line, whole or in part.
    pub(super) last_line: usize,
    /// The beginning of the next page.
    pub(super) next: Option<Cursor>,
}

/// The page that begins at `from` and ends with line `last` or after `budget` bytes. Both
/// lines must exist.
pub(super) fn cut(
    text: &str,
    lines: &Lines,
    from: Cursor,
    last: usize,
    budget: usize,
) -> Result<LinesPage, Fault> {
    let line = lines.range(from.line).unwrap_or(text.len()..text.len());
    let begin = line.start + skip(&text[line.clone()], from)?;
    let end = lines.range(last).map_or(text.len(), |last| last.end);
    let full = begin.saturating_add(budget);
    if end <= full {
        return Ok(LinesPage { range: begin..end, last_line: last, next: None });
    }
    if full >= line.end {
        // `full` lies inside the text, so the lines before the one it falls into fit.
        let whole = lines.at(full) - 1;
        let end = lines.range(whole).map_or(line.end, |whole| whole.end);
        return Ok(LinesPage { range: begin..end, last_line: whole, next: Some(Cursor::line(whole + 1)) });
    }
    let end = piece(text, begin, full);
    let next = if end < line.end {
        Some(Cursor { line: from.line, character: from.character + text[begin..end].chars().count() })
    } else {
        (from.line < last).then(|| Cursor::line(from.line + 1))
    };
    Ok(LinesPage { range: begin..end, last_line: from.line, next })
}

/// The bytes of a line before the cursor's character.
fn skip(line: &str, from: Cursor) -> Result<usize, Fault> {
    if from.character == 1 {
        return Ok(0);
    }
    line.char_indices()
        .nth(from.character - 1)
        .map(|(at, _)| at)
        .ok_or_else(|| past_the_line(from, line.chars().count()))
}

/// The refusal of a cursor beyond its line.
pub(super) fn past_the_line(from: Cursor, characters: usize) -> Fault {
    Fault::invalid(format!(
        "offset=\"{from}\" is past the end: line {} has {characters} characters",
        from.line
    ))
    .hint("the file may have changed; read it again from the start of the line")
}

/// The end of the longest piece from `begin` up to `full` that splits no character; one
/// character at least.
pub(super) fn piece(text: &str, begin: usize, full: usize) -> usize {
    let down = (begin + 1..=full.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    down.unwrap_or_else(|| begin + text[begin..].chars().next().map_or(0, char::len_utf8))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All pages of a text, with the place each begins at.
    fn pages(text: &str, budget: usize) -> Vec<(String, &str)> {
        let lines = Lines::of(text);
        let mut from = Cursor::line(1);
        let mut pages = Vec::new();
        loop {
            let page = cut(text, &lines, from, lines.count(), budget).expect("a page");
            pages.push((from.to_string(), &text[page.range]));
            match page.next {
                Some(next) => from = Cursor::parse(&next.to_string()).expect("its own form"),
                None => return pages,
            }
        }
    }

    fn check(text: &str, budget: usize, expect: &[(&str, &str)]) {
        let found = pages(text, budget);
        let found: Vec<_> = found.iter().map(|(from, page)| (from.as_str(), *page)).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn pages_are_whole_lines() {
        check("aa\nbb\ncc\n", 7, &[("1", "aa\nbb\n"), ("3", "cc\n")]);
        check("aa\nbb\ncc", 6, &[("1", "aa\nbb\n"), ("3", "cc")]);
        check("aa\n", 3, &[("1", "aa\n")]);
    }

    #[test]
    fn a_giant_line_is_cut_between_characters() {
        check("abcdef\nx\n", 4, &[("1", "abcd"), ("1:5", "ef\n"), ("2", "x\n")]);
        check("ééé", 3, &[("1", "é"), ("1:2", "é"), ("1:3", "é")]);
        check("😀😀", 1, &[("1", "😀"), ("1:2", "😀")]);
    }

    #[test]
    fn a_bad_cursor_is_refused() {
        for token in ["", "0", "x", "1:0", "-1", "1:2:3"] {
            assert_eq!(Cursor::parse(token), None, "{token}");
        }
        let lines = Lines::of("ab\n");
        assert!(cut("ab\n", &lines, Cursor { line: 1, character: 9 }, 1, 10).is_err());
    }
}
