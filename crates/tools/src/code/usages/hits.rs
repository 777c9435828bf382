//! The places of a word in one file, without the file.

use tectum_syntax::{Mention, Role};

/// Lines held of one file; a file with more of them is data, and its usages are only counted.
const MOST_ROWS: usize = 20_000;
/// Characters shown of a line.
const MOST_SHOWN: usize = 240;
/// Of these, so many before the word.
const LEAD: usize = 80;
/// How many roles there are.
pub(crate) const ROLES: usize = 7;

/// The places of a word in one version of a file.
#[derive(Debug)]
pub(crate) struct Hits {
    /// In the order of the text.
    pub(super) rows: Box<[Row]>,
    /// How often the word stands there in each role, held or not.
    pub(super) counts: [u64; ROLES],
    /// Some rows are not held.
    pub(super) cut: bool,
}

/// A line on which the word stands in one role.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) role: Role,
    pub(super) times: u32,
    pub(super) text: Box<str>,
}

impl Hits {
    /// The mentions of a text as lines; `None` without any.
    pub(super) fn of(text: &str, mentions: &[Mention], room: usize) -> Option<Self> {
        if mentions.is_empty() {
            return None;
        }
        let mut rows: Vec<Row> = Vec::new();
        let mut counts = [0; ROLES];
        let mut cut = false;
        let mut place = Place { text, at: 0, line: 1, start: 0, column: 1 };
        // The row of each role on the line being looked at.
        let mut on_line = [None; ROLES];
        for mention in mentions {
            let before = place.line;
            place.advance(mention.span.start as usize);
            if place.line != before {
                on_line = [None; ROLES];
            }
            let role = mention.role as usize;
            counts[role] += 1;
            if let Some(row) = on_line[role] {
                let row: &mut Row = &mut rows[row];
                row.times += 1;
            } else if rows.len() < MOST_ROWS.min(room) {
                on_line[role] = Some(rows.len());
                let (line, column) = (place.line, place.column);
                rows.push(Row { line, column, role: mention.role, times: 1, text: place.shown() });
            } else {
                cut = true;
            }
        }
        Some(Self { rows: rows.into(), counts, cut })
    }

    /// What they weigh in memory.
    pub(super) fn weight(&self) -> usize {
        size_of::<Self>() + self.rows.iter().map(|row| size_of::<Row>() + row.text.len()).sum::<usize>()
    }

    /// Whether the word is defined here.
    pub(super) fn defines(&self) -> bool {
        self.counts[Role::Definition as usize] > 0
    }
}

/// A place that moves through a text from line to line.
struct Place<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    start: usize,
    column: u32,
}

impl Place<'_> {
    /// Goes on to a later offset. `\n`, `\r\n` and a lone `\r` end a line.
    fn advance(&mut self, to: usize) {
        let bytes = self.text.as_bytes();
        let to = to.clamp(self.at, bytes.len());
        for found in memchr::memchr2_iter(b'\n', b'\r', &bytes[self.at..to]) {
            let end = self.at + found;
            if bytes[end] == b'\n' || bytes.get(end + 1) != Some(&b'\n') {
                self.line = self.line.saturating_add(1);
                self.start = end + 1;
                self.column = 1;
            }
        }
        let from = self.at.max(self.start);
        let passed = self.text.get(from..to).map_or(0, |passed| passed.chars().count());
        self.column = self.column.saturating_add(u32::try_from(passed).unwrap_or(u32::MAX));
        self.at = to;
    }

    /// The line of the place, trimmed, and cut around it when it is long.
    fn shown(&self) -> Box<str> {
        let bytes = self.text.as_bytes();
        let end = memchr::memchr2(b'\n', b'\r', &bytes[self.at..]).map_or(bytes.len(), |end| self.at + end);
        let line = &self.text[self.start..end];
        if line.len() <= MOST_SHOWN {
            return line.trim().into();
        }
        let at = self.at - self.start;
        let begin = line.floor_char_boundary(at.saturating_sub(LEAD));
        let begin = if line[..begin].trim().is_empty() { 0 } else { begin };
        let rest = line[begin..].trim_start();
        let stop = rest.floor_char_boundary(MOST_SHOWN.min(rest.len()));
        let head = if begin > 0 { "…" } else { "" };
        let tail = if stop < rest.trim_end().len() { "…" } else { "" };
        format!("{head}{}{tail}", rest[..stop].trim_end()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tectum_syntax::Span;

    fn rows(text: &str, word: &str) -> Vec<(u32, u32, u32, String)> {
        let mention = |(at, _): (usize, &str)| Mention {
            span: Span::new(at, at + word.len()),
            role: Role::Call,
            member: false,
        };
        let mentions: Vec<Mention> = text.match_indices(word).map(mention).collect();
        let hits = Hits::of(text, &mentions, MOST_ROWS).expect("some");
        assert_eq!(hits.counts[Role::Call as usize], mentions.len() as u64);
        hits.rows.iter().map(|row| (row.line, row.column, row.times, row.text.to_string())).collect()
    }

    #[track_caller]
    fn check(text: &str, expect: &[(u32, u32, u32, &str)]) {
        let found = rows(text, "w");
        let found: Vec<_> = found.iter().map(|(a, b, c, d)| (*a, *b, *c, d.as_str())).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn every_line_end_counts_once() {
        check("w\n w\r\nxx w\r w ", &[(1, 1, 1, "w"), (2, 2, 1, "w"), (3, 4, 1, "xx w"), (4, 2, 1, "w")]);
        check("\r\n\r\nw", &[(3, 1, 1, "w")]);
    }

    #[test]
    fn a_line_is_one_row_and_columns_are_characters() {
        check("éé w(w, w)\n", &[(1, 4, 3, "éé w(w, w)")]);
    }

    #[test]
    fn long_lines_are_cut_around_the_word() {
        let found = rows(&format!("{}w{}", "é".repeat(5_000), "x".repeat(5_000)), "w");
        let (line, column, _, text) = &found[0];
        assert_eq!((*line, *column), (1, 5_001));
        assert!(text.starts_with("…é") && text.contains("éwx") && text.ends_with("x…"), "{text}");
        assert!(text.chars().count() <= MOST_SHOWN + 2);
        let found = rows(&format!("{}w", " ".repeat(5_000)), "w");
        assert_eq!(found[0].3, "w");
    }

    #[test]
    fn what_is_not_held_is_counted() {
        let mentions: Vec<Mention> = (0..10)
            .map(|line| Mention { span: Span::new(line * 2, line * 2 + 1), role: Role::Call, member: false })
            .collect();
        let hits = Hits::of(&"w\n".repeat(10), &mentions, 3).expect("some");
        assert_eq!((hits.rows.len(), hits.counts[Role::Call as usize], hits.cut), (3, 10, true));
    }
}
