//! The beginnings and ends of lines. `\n`, `\r\n` and a lone `\r` end a line; a form feed, U+2028 and
//! the like do not.

use std::ops::Range;

/// The lines of a text. Numbers count from 1; text after the last line end is a line, nothing
/// after it is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    starts: Vec<usize>,
    end: usize,
}

impl Lines {
    /// Finds the lines of a text.
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = if bytes.is_empty() { Vec::new() } else { vec![0] };
        let mut ended = |at: usize| {
            if at < bytes.len() {
                starts.push(at);
            }
        };
        // A text without `\r` is the common one, and searching for one byte is faster.
        if memchr::memchr(b'\r', bytes).is_none() {
            memchr::memchr_iter(b'\n', bytes).for_each(|at| ended(at + 1));
        } else {
            for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
                if bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n') {
                    ended(at + 1);
                }
            }
        }
        Self { starts, end: bytes.len() }
    }

    /// The number of lines.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The range of a line with its end; `None` when there is no such line.
    pub fn range(&self, number: usize) -> Option<Range<usize>> {
        let start = *self.starts.get(number.checked_sub(1)?)?;
        Some(start..self.starts.get(number).copied().unwrap_or(self.end))
    }

    /// The number of the line that holds this offset; at the very end, of the last line.
    pub fn at(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).max(1)
    }
}

/// The lines of a text, each with its end.
pub fn split(text: &str) -> Vec<&str> {
    let lines = Lines::of(text);
    (1..=lines.count()).filter_map(|number| lines.range(number)).map(|range| &text[range]).collect()
}

/// A line without its end.
pub fn body(line: &str) -> &str {
    line.strip_suffix("\r\n").or_else(|| line.strip_suffix(['\n', '\r'])).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let lines = Lines::of(text);
        assert_eq!(split(text), expect);
        assert_eq!(lines.range(0), None);
        assert_eq!(lines.range(lines.count() + 1), None);
    }

    #[test]
    fn three_line_ends_and_no_other() {
        check("", &[]);
        check("a", &["a"]);
        check("a\nb\n", &["a\n", "b\n"]);
        check("a\r\nb\rc\n\r\nd", &["a\r\n", "b\r", "c\n", "\r\n", "d"]);
        check("a\r", &["a\r"]);
        check("a\x0cb\u{2028}c\u{85}d\x0be\n", &["a\x0cb\u{2028}c\u{85}d\x0be\n"]);
    }

    #[test]
    fn an_offset_knows_its_line() {
        let lines = Lines::of("ab\r\ncd\n");
        assert_eq!([0, 2, 3, 4, 6, 7].map(|at| lines.at(at)), [1, 1, 1, 2, 2, 2]);
        assert_eq!(Lines::of("").at(0), 1);
    }

    #[test]
    fn a_body_has_no_line_end() {
        assert_eq!(["a\r\n", "a\n", "a\r", "a", "\n"].map(body), ["a", "a", "a", "a", ""]);
    }
}
