//! The page a summary is written on: lines that grow up to a limit.

use crate::text::{Lines, body};

/// Characters of a whole summary. It is read before a file is opened, so it must cost far less
/// than the file.
pub(super) const MOST_CHARS: usize = 4_000;
/// Characters of one line of it.
const LINE_CHARS: usize = 120;
/// Lines shown of a text of which nothing else is known.
const SHOWN: usize = 8;

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
    fn full(&self) -> bool {
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

    /// Adds the first lines of a text.
    pub(super) fn start_of(&mut self, text: &str) {
        let lines = Lines::of(text);
        for range in (1..=lines.count().min(SHOWN)).filter_map(|number| lines.range(number)) {
            self.line(0, body(&text[range]));
        }
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
fn cut(line: &str) -> String {
    let mut shown: String =
        line.chars().take(LINE_CHARS).map(|c| if c.is_control() && c != '\t' { ' ' } else { c }).collect();
    // Counting a giant line to its end would tell nothing more.
    if line.chars().nth(LINE_CHARS).is_some() {
        shown.push('…');
    }
    shown
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
    fn a_text_is_shown_by_its_start() {
        let check = |text: &str, expect: &str| {
            let mut sheet = Sheet::new();
            sheet.start_of(text);
            assert_eq!(sheet.finish(), expect);
        };
        check("", "");
        check("a\r\nb", "a\nb\n");
        check(&"x\n".repeat(20), &"x\n".repeat(8));
        check(&"é".repeat(121), &format!("{}…\n", "é".repeat(120)));
        check("a\x1b[31m\tb\n", "a [31m\tb\n");
    }

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
