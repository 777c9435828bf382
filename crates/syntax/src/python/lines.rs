//! Python's logical lines: where each begins, how far it is indented, where its code ends. Reads
//! every byte once and keeps none; strings, comments, brackets and joined lines are stepped over.

use super::{
    bytes::{
        COUNT, COUNT_STOP, Prefix, STEP, STOP, begins_statement, byte, find_line_end, is_blank, is_line_end,
        is_word, line_end_len, literal_end, quotes_len,
    },
    lex::Lexer,
};
use crate::{Gap, Span};

/// The columns of a tab stop, as Python compares indentation.
const TAB: u32 = 8;

/// Walks over logical lines: [`Lines::begin`] finds one, [`Lines::finish`] leaves it.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Stretches that could not be understood.
    pub(super) gaps: Vec<Gap>,
    // Each of these is tried to the end of the text once only, so that a file full of unclosed
    // literals costs no more than its length.
    unclosed_triple: [bool; 2],
    unclosed_fields: bool,
}

impl<'t> Lines<'t> {
    /// From a place on, which must not lie inside a literal or a bracket.
    pub(super) fn new(bytes: &'t [u8], at: usize) -> Self {
        Self {
            bytes,
            at: at.min(bytes.len()),
            gaps: Vec::new(),
            unclosed_triple: [false; 2],
            unclosed_fields: false,
        }
    }

    /// The beginning of the next line with code, and its column.
    pub(super) fn begin(&mut self) -> Option<(usize, u32)> {
        let bytes = self.bytes;
        let mut at = self.at;
        loop {
            let mut column = 0;
            // Of an indentation joined over several lines by backslashes, the first part counts.
            let mut joined = None;
            while bytes[at..].first_chunk() == Some(b"    ") {
                at += 4;
                column += 4;
            }
            loop {
                match byte(bytes, at) {
                    b' ' => column += 1,
                    b'\t' => column = (column / TAB + 1) * TAB,
                    0x0c => column = 0,
                    b'\\' if is_line_end(byte(bytes, at + 1)) => {
                        joined = joined.or(Some(column).filter(|column| *column > 0));
                        at += line_end_len(bytes, at + 1);
                        column = 0;
                    }
                    _ => break,
                }
                at += 1;
            }
            match byte(bytes, at) {
                b'\n' | b'\r' => at += line_end_len(bytes, at),
                b'#' => at = find_line_end(bytes, at),
                _ if at >= bytes.len() => {
                    self.at = bytes.len();
                    return None;
                }
                _ => {
                    self.at = at;
                    return Some((at, joined.unwrap_or(column)));
                }
            }
        }
    }

    /// Leaves the line from a place in it outside all brackets, and tells where its code ends:
    /// before blanks and comments.
    pub(super) fn finish(&mut self, from: usize) -> usize {
        let bytes = self.bytes;
        let mut depth = 0i32;
        let mut at = from;
        loop {
            // Four bytes with one look at the sum of them, then the last few one by one.
            while let Some(four) = bytes[at..].first_chunk::<4>() {
                let sum: u32 = four.iter().map(|byte| COUNT[*byte as usize]).sum();
                if sum >= COUNT_STOP {
                    break;
                }
                depth += (sum & 0xff) as i32 - (sum >> 8) as i32;
                at += 4;
            }
            let mut run = bytes.len() - at;
            for (offset, byte) in bytes[at..].iter().enumerate() {
                let step = STEP[*byte as usize];
                if step == STOP {
                    run = offset;
                    break;
                }
                depth += i32::from(step);
            }
            at += run;
            match byte(bytes, at) {
                b'"' | b'\'' => at = self.string(from, at),
                b'\n' | b'\r' if depth <= 0 => {
                    self.at = at + line_end_len(bytes, at);
                    return trimmed(bytes, from, at);
                }
                b'\n' | b'\r' => {
                    let next = at + line_end_len(bytes, at);
                    if begins_statement(bytes, next) {
                        self.gap(from, at, "a bracket is not closed");
                        self.at = next;
                        return trimmed(bytes, from, at);
                    }
                    at = next;
                }
                b'#' if depth <= 0 => {
                    self.at = find_line_end(bytes, at);
                    return trimmed(bytes, from, at);
                }
                b'#' => at = find_line_end(bytes, at),
                b'\\' if is_line_end(byte(bytes, at + 1)) => at += 1 + line_end_len(bytes, at + 1),
                b'\\' => at += 1,
                _ => {
                    if depth > 0 {
                        self.gap(from, bytes.len(), "a bracket is not closed");
                    }
                    self.at = bytes.len();
                    return trimmed(bytes, from, bytes.len());
                }
            }
        }
    }

    /// The place after the bracket that closes the one at a place; none where it is not closed
    /// before the next definition.
    pub(super) fn matching(&mut self, open: usize) -> Option<usize> {
        let bytes = self.bytes;
        let mut depth = 0i32;
        let mut at = open;
        while at < bytes.len() {
            let next = bytes[at];
            match STEP[next as usize] {
                STOP => match next {
                    b'"' | b'\'' => at = self.string(open, at),
                    b'#' => at = find_line_end(bytes, at),
                    b'\n' | b'\r' => {
                        at += line_end_len(bytes, at);
                        if begins_statement(bytes, at) {
                            return None;
                        }
                    }
                    _ => at += 1,
                },
                step => {
                    at += 1;
                    depth += i32::from(step);
                    if depth == 0 && step != 0 {
                        return Some(at);
                    }
                }
            }
        }
        None
    }

    /// The end of the literal whose quote stands at a place, or where to go on after an open one.
    pub(super) fn string(&mut self, from: usize, quote: usize) -> usize {
        let bytes = self.bytes;
        let (prefix, _) = Prefix::before(bytes, from, quote);
        if prefix.fields && !self.unclosed_fields {
            return match Lexer::fields_end(bytes, quote, prefix.raw) {
                Ok(end) => end,
                Err(end) => {
                    let line_end = find_line_end(bytes, quote);
                    self.unclosed_fields = end > line_end;
                    self.gap(quote, end.max(line_end), "a string is not closed");
                    end.min(line_end)
                }
            };
        }
        if quotes_len(bytes, quote) == 1 {
            return literal_end(bytes, quote).unwrap_or_else(|resume| {
                self.gap(quote, resume, "a string is not closed");
                resume
            });
        }
        let kind = usize::from(bytes[quote] == b'"');
        if self.unclosed_triple[kind] {
            return find_line_end(bytes, quote);
        }
        literal_end(bytes, quote).unwrap_or_else(|resume| {
            self.unclosed_triple[kind] = true;
            self.gap(quote, bytes.len(), "a string is not closed");
            resume
        })
    }

    fn gap(&mut self, start: usize, end: usize, why: &'static str) {
        self.gaps.push(Gap { span: Span::new(start, end), why });
    }
}

/// Visits every logical line that holds one of the places, with the places in it. Places between
/// lines are in comments and are passed over.
pub(super) fn lines_with(text: &str, places: &[usize], mut visit: impl FnMut(Span, &[usize])) {
    let mut lines = Lines::new(text.as_bytes(), 0);
    let mut rest = places;
    while !rest.is_empty()
        && let Some((start, _)) = lines.begin()
    {
        let end = lines.finish(start);
        rest = &rest[rest.partition_point(|place| *place < start)..];
        let inside = rest.partition_point(|place| *place < end);
        if inside > 0 {
            visit(Span::new(start, end), &rest[..inside]);
            rest = &rest[inside..];
        }
    }
}

/// The places where a word stands as a whole word.
pub(super) fn whole_words(text: &str, word: &str) -> Vec<usize> {
    if word.is_empty() {
        return Vec::new();
    }
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, word.as_bytes())
        .filter(|start| {
            let before = start.checked_sub(1).is_some_and(|before| is_word(bytes[before]));
            !before && !is_word(byte(bytes, start + word.len()))
        })
        .collect()
}

/// The end of the code in a stretch: without blanks and joined lines that hold nothing.
fn trimmed(bytes: &[u8], from: usize, end: usize) -> usize {
    let mut end = end;
    while end > from {
        let last = bytes[end - 1];
        let joined = is_line_end(last) || (last == b'\\' && is_line_end(byte(bytes, end)));
        if !is_blank(last) && !joined {
            break;
        }
        end -= 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(u32, &str)]) {
        let mut lines = Lines::new(text.as_bytes(), 0);
        let mut found = Vec::new();
        while let Some((start, column)) = lines.begin() {
            let end = lines.finish(start);
            found.push((column, &text[start..end]));
        }
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn splits_logical_lines() {
        check("", &[]);
        check("\n \n# c\n", &[]);
        check("a\nb", &[(0, "a"), (0, "b")]);
        check("a # c\r\nb\rc", &[(0, "a"), (0, "b"), (0, "c")]);
        check("f(\n# (\n1)\nx", &[(0, "f(\n# (\n1)"), (0, "x")]);
        check("a = '''\nx\n''' ; b\nc", &[(0, "a = '''\nx\n''' ; b"), (0, "c")]);
        check("a = 1 + \\\n  2\nb", &[(0, "a = 1 + \\\n  2"), (0, "b")]);
        check("a \\\n\nb", &[(0, "a"), (0, "b")]);
        // Wherever brackets and line ends stand among the bytes before them.
        for n in 1..12 {
            let name = "n".repeat(n);
            let open = format!("{name}([{name}{{\n{name}}}]{name})");
            check(
                &format!("{open}#c\n{:n$}{name}))\nx", ""),
                &[(0, &open), (n as u32, &format!("{name}))")), (0, "x")],
            );
        }
        check("f'{\"(\"}' 'x\\\ny'\nb", &[(0, "f'{\"(\"}' 'x\\\ny'"), (0, "b")]);
    }

    #[test]
    fn counts_columns_as_python_does() {
        check("\ta\n        b\n  \tc", &[(8, "a"), (8, "b"), (8, "c")]);
        check("   \x0cx\n\x0c  y", &[(0, "x"), (2, "y")]);
        check("  \\\n      x", &[(2, "x")]);
    }

    #[test]
    fn goes_on_after_what_is_broken() {
        check("f(\ndef g(): pass", &[(0, "f("), (0, "def g(): pass")]);
        check("x = 'a\ny", &[(0, "x = 'a"), (0, "y")]);
        check("'''a\nb\nc", &[(0, "'''a"), (0, "b"), (0, "c")]);
        check(")\na", &[(0, ")"), (0, "a")]);
        check("f'{(\nx\ny", &[(0, "f'{("), (0, "x"), (0, "y")]);
        check("x \\", &[(0, "x \\")]);
    }
}
