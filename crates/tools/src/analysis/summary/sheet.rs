//! The page a summary is written on: lines that grow up to a limit, and what is said of a broken
//! file.

use std::fmt;

use crate::text::Lines;

/// Characters of a whole summary. It is read before a file is opened, so it must cost far less
/// than the file.
pub(super) const MOST_CHARS: usize = 4_000;
/// Characters of one line of it.
pub(super) const LINE_CHARS: usize = 120;

/// A text that is not what its name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// What is wrong with it.
    pub message: String,
    /// The line where it shows, from 1.
    pub line: Option<usize>,
    /// The character in that line, from 1.
    pub column: Option<usize>,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, "line {line}, column {column}: {}", self.message),
            (Some(line), None) => write!(f, "line {line}: {}", self.message),
            _ => f.write_str(&self.message),
        }
    }
}

/// Lines that grow up to a limit and then are only counted.
pub(super) struct Sheet {
    text: String,
    chars: usize,
    more: usize,
}

impl Sheet {
    pub(super) fn new() -> Self {
        Self { text: String::new(), chars: 0, more: 0 }
    }

    /// True once further lines are only counted.
    pub(super) fn full(&self) -> bool {
        self.more > 0
    }

    /// Adds a line, indented by so many steps and cut if it is long.
    pub(super) fn line(&mut self, level: usize, line: &str) {
        if self.full() {
            self.more += 1;
            return;
        }
        let indented = format!("{}{}", "  ".repeat(level), cut(line));
        let chars = indented.chars().count() + 1;
        // The note at the end needs some room too.
        const NOTE: usize = 40;
        if self.chars + chars > MOST_CHARS - NOTE {
            self.more = 1;
            return;
        }
        self.chars += chars;
        self.text.push_str(&indented);
        self.text.push('\n');
    }

    pub(super) fn finish(mut self) -> String {
        if self.full() {
            self.text.push_str(&format!("[{} more lines left out]\n", self.more));
        }
        self.text
    }
}

/// A line on a summary: cut when it is long, its control characters shown as blanks. A tab is kept:
/// in a makefile it means something.
pub(super) fn cut(line: &str) -> String {
    let mut shown: String =
        line.chars().take(LINE_CHARS).map(|c| if c.is_control() && c != '\t' { ' ' } else { c }).collect();
    // Counting a giant line to its end would tell nothing more.
    if line.chars().nth(LINE_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// `1 key`, `2 keys`.
pub(super) fn count(number: usize, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

/// The line and the column of a byte, both from 1.
pub(super) fn place(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let lines = Lines::of(before);
    let ended = before.ends_with(['\n', '\r']);
    let start = if ended { before.len() } else { lines.range(lines.count()).map_or(0, |line| line.start) };
    (lines.count().max(1) + usize::from(ended), before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_line_and_a_column() {
        let check = |text: &str, at, expect| assert_eq!(place(text, at), expect, "{text:?} {at}");
        check("", 0, (1, 1));
        check("ab", 1, (1, 2));
        check("a\nb", 2, (2, 1));
        check("a\r\nbé!", 6, (2, 3));
        check("a\n\n", 3, (3, 1));
        check("é", 1, (1, 1));
    }
}
