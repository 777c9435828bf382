//! One line of a text: its number, its columns, and how it is shown.

/// Characters shown of a line.
const MOST_SHOWN: usize = 240;
/// Of these, so many before the word.
const LEAD: usize = 80;

/// A line, in a text that is gone through from front to back.
pub(super) struct Line<'t> {
    text: &'t str,
    /// Its number, from 1.
    pub(super) number: u32,
    start: usize,
    /// Up to here the ends of lines are counted.
    at: usize,
    /// Somewhere in the text `\r` stands, and may end a line.
    returns: bool,
}

impl<'t> Line<'t> {
    /// The first line of a text.
    pub(super) fn first(text: &'t str) -> Self {
        let returns = memchr::memchr(b'\r', text.as_bytes()).is_some();
        Self { text, number: 1, start: 0, at: 0, returns }
    }

    /// Goes on to the line that holds a later offset. `\n`, `\r\n` and a lone `\r` end a line.
    pub(super) fn advance(&mut self, to: usize) {
        let bytes = self.text.as_bytes();
        let to = to.clamp(self.at, bytes.len());
        let passed = &bytes[self.at..to];
        if self.returns {
            for found in memchr::memchr2_iter(b'\n', b'\r', passed) {
                let end = self.at + found;
                if bytes[end] == b'\n' || bytes.get(end + 1) != Some(&b'\n') {
                    self.number = self.number.saturating_add(1);
                    self.start = end + 1;
                }
            }
        } else if let Some(last) = memchr::memrchr(b'\n', passed) {
            let ends = memchr::memchr_iter(b'\n', &passed[..last]).count() + 1;
            self.number = self.number.saturating_add(u32::try_from(ends).unwrap_or(u32::MAX));
            self.start = self.at + last + 1;
        }
        self.at = to;
    }

    /// Goes on to a later line by its number; false where the text ends before it.
    pub(super) fn advance_to(&mut self, number: u32) -> bool {
        let bytes = self.text.as_bytes();
        while self.number < number {
            let Some(end) = memchr::memchr2(b'\n', b'\r', &bytes[self.start..]) else { return false };
            let end = self.start + end;
            let joined = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
            self.start = end + 1 + usize::from(joined);
            self.number += 1;
        }
        self.at = self.at.max(self.start);
        true
    }

    /// The column of an offset in the line: characters, from 1.
    pub(super) fn column(&self, at: usize) -> u32 {
        let before = self.text.get(self.start..at).map_or(0, |before| before.chars().count());
        u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The offset of a column in the line, at most its end.
    pub(super) fn offset(&self, column: u32) -> usize {
        let line = self.whole();
        let before = (column as usize).saturating_sub(1);
        self.start + line.char_indices().nth(before).map_or(line.len(), |(at, _)| at)
    }

    /// The line around an offset in it, trimmed, and cut when it is long.
    pub(super) fn shown(&self, at: usize) -> Box<str> {
        let line = self.whole();
        if line.len() <= MOST_SHOWN {
            return line.trim().into();
        }
        let at = at.saturating_sub(self.start);
        let begin = line.floor_char_boundary(at.saturating_sub(LEAD));
        let begin = if line[..begin].trim().is_empty() { 0 } else { begin };
        let rest = line[begin..].trim_start();
        let stop = rest.floor_char_boundary(MOST_SHOWN.min(rest.len()));
        let head = if begin > 0 { "…" } else { "" };
        let tail = if stop < rest.trim_end().len() { "…" } else { "" };
        format!("{head}{}{tail}", rest[..stop].trim_end()).into()
    }

    /// All of it, without its end.
    fn whole(&self) -> &'t str {
        let rest = &self.text[self.start..];
        let end = memchr::memchr2(b'\n', b'\r', rest.as_bytes()).unwrap_or(rest.len());
        &rest[..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text shown of the first `w`, found by its offset and, again, by its line and column.
    fn shown(text: &str) -> (u32, u32, String) {
        let at = text.find('w').expect("a word");
        let mut by_offset = Line::first(text);
        by_offset.advance(at);
        let (number, column) = (by_offset.number, by_offset.column(at));
        let mut by_number = Line::first(text);
        assert!(by_number.advance_to(number), "{text:?}");
        assert_eq!(by_number.offset(column), at, "{text:?}");
        assert_eq!(by_number.shown(at), by_offset.shown(at), "{text:?}");
        (number, column, by_offset.shown(at).into())
    }

    #[test]
    fn a_line_is_found_by_offset_and_by_number() {
        for (text, expect) in [
            ("w", (1, 1, "w")),
            ("a\nb\n  éw x\nc", (3, 4, "éw x")),
            ("a\r\nb\r\n\rw", (4, 1, "w")),
            ("\n\n\nw\n", (4, 1, "w")),
            ("a\rb w\r\n", (2, 3, "b w")),
        ] {
            let (number, column, line) = shown(text);
            assert_eq!((number, column, line.as_str()), expect, "{text:?}");
        }
    }

    #[test]
    fn what_is_not_there_is_not_shown() {
        assert!(!Line::first("a\nb").advance_to(3));
        let line = Line::first("ab\ncd");
        assert_eq!((line.offset(1), line.offset(9)), (0, 2));
    }

    #[test]
    fn long_lines_are_cut_around_the_word() {
        let (line, column, text) = shown(&format!("{}w{}", "é".repeat(5_000), "x".repeat(5_000)));
        assert_eq!((line, column), (1, 5_001));
        assert!(text.starts_with("…é") && text.contains("éwx") && text.ends_with("x…"), "{text}");
        assert!(text.chars().count() <= MOST_SHOWN + 2);
        assert_eq!(shown(&format!("{}w", " ".repeat(5_000))).2, "w");
    }
}
