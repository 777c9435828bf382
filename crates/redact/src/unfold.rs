//! Removes one layer of encoding from a text: escapes of strings, of URLs and of HTML, colours of
//! terminals, and literals that continue on the next line.

use crate::{
    literal,
    view::{Builder, View},
};

/// The least length of a line of wrapped base64.
pub(crate) const WRAPPED: usize = 40;
/// The most spaces around the sign between two literals.
const MOST_SPACE: usize = 64;

/// The text with one layer removed, only the lines that change; `None` if none does. Lines can only be
/// wrapped base64 if a word of the text `is_wide`.
pub(crate) fn unfold(text: &str, is_wide: bool) -> Option<View<'static>> {
    let bytes = text.as_bytes();
    let mut built = Builder::default();
    let (mut at, mut done) = (0, 0);
    let mut is_open = false;
    let mut starts = Starts { bytes, is_wide, next: [0; 4] };
    while let Some(start) = starts.next(at) {
        let Some((length, reads)) = decoded(text, start) else {
            at = start + 1;
            continue;
        };
        let mut from = done;
        if is_open && let Some(end) = memchr::memchr(b'\n', &bytes[done..start]) {
            from = done + end + 1;
            built.copy(text, done..from);
            is_open = false;
        }
        if !is_open {
            let line = memchr::memrchr(b'\n', &bytes[from..start]).map_or(from, |end| from + end + 1);
            if line > from || from == 0 {
                built.gap();
            }
            from = line;
        }
        built.copy(text, from..start);
        built.decode(start..start + length, reads);
        (at, done, is_open) = (start + length, start + length, true);
    }
    if !is_open {
        return None;
    }
    let end = memchr::memchr(b'\n', &bytes[done..]).map_or(text.len(), |end| done + end + 1);
    built.copy(text, done..end);
    Some(built.view())
}

/// The bytes that can begin an encoding, in the groups that are searched together.
struct Starts<'t> {
    bytes: &'t [u8],
    is_wide: bool,
    /// The next of each group, if it is not behind us.
    next: [usize; 4],
}

impl Starts<'_> {
    /// The first of them from this place on.
    fn next(&mut self, at: usize) -> Option<usize> {
        let rest = &self.bytes[at..];
        let searches: [&dyn Fn() -> Option<usize>; 4] = [
            &|| memchr::memchr3(b'\\', b'%', b'&', rest),
            &|| memchr::memchr3(b'"', b'\'', b'`', rest),
            &|| memchr::memchr(0x1b, rest),
            &|| memchr::memchr(b'\n', rest).filter(|_| self.is_wide),
        ];
        for (next, search) in self.next.iter_mut().zip(searches) {
            if *next < at || at == 0 {
                *next = search().map_or(usize::MAX, |found| at + found);
            }
        }
        self.next.iter().min().copied().filter(|next| *next < usize::MAX)
    }
}

/// The length of the encoded part that begins here, and the character it decodes to, if any.
fn decoded(text: &str, at: usize) -> Option<(usize, Option<char>)> {
    let rest = &text[at..];
    match rest.as_bytes()[0] {
        b'\\' => escape(rest),
        b'%' => percent(rest),
        b'&' => entity(rest),
        0x1b => colour(rest).map(|length| (length, None)),
        b'\n' => wrapped(text, at).map(|length| (length, None)),
        quote => continued(rest, quote).map(|length| (length, None)),
    }
}

/// An escape as in strings of most languages.
pub(crate) fn escape(rest: &str) -> Option<(usize, Option<char>)> {
    let bytes = rest.as_bytes();
    let simple = |c: char| Some((2, Some(c)));
    match *bytes.get(1)? {
        b'n' => simple('\n'),
        b'r' => simple('\r'),
        b't' => simple('\t'),
        b'b' => simple('\u{8}'),
        b'f' => simple('\u{c}'),
        b'v' => simple('\u{b}'),
        b'a' => simple('\u{7}'),
        b'e' => simple('\u{1b}'),
        b'0'..=b'7' => {
            let digits = bytes[1..].iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            let code = u32::from_str_radix(&rest[1..1 + digits], 8).ok()?;
            Some((1 + digits, Some(char::from_u32(code)?)))
        }
        b'x' => hex(rest, 2, 2),
        b'u' if bytes.get(2) == Some(&b'{') => {
            let digits = bytes[3..].iter().take(7).position(|byte| *byte == b'}')?;
            let code = u32::from_str_radix(rest.get(3..3 + digits)?, 16).ok()?;
            Some((digits + 4, Some(char::from_u32(code)?)))
        }
        b'u' => match literal::unicode(rest) {
            Some((length, c)) => Some((length, Some(c))),
            None => hex(rest, 2, 4),
        },
        b'U' => hex(rest, 2, 8),
        // A line that continues on the next one.
        b'\n' => Some((2 + indent(&bytes[2..]), None)),
        b'\r' if bytes.get(2) == Some(&b'\n') => Some((3 + indent(&bytes[3..]), None)),
        sign if sign.is_ascii_punctuation() => simple(char::from(sign)),
        _ => None,
    }
}

fn hex(rest: &str, from: usize, digits: usize) -> Option<(usize, Option<char>)> {
    let written = rest.get(from..from + digits)?;
    if !written.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let c = char::from_u32(u32::from_str_radix(written, 16).ok()?)?;
    Some((from + digits, Some(c)))
}

/// An escape of a URL. One that was escaped again is decoded completely at once, since otherwise each
/// layer would be a pass.
pub(crate) fn percent(rest: &str) -> Option<(usize, Option<char>)> {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while bytes[at..].starts_with(b"25") && bytes.get(at + 2..at + 4).is_some_and(is_hex) {
        at += 2;
    }
    let (length, reads) = hex(rest, at, 2)?;
    reads.filter(char::is_ascii).map(|c| (length, Some(c)))
}

fn is_hex(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_hexdigit)
}

const ENTITIES: &[(&str, char)] = &[
    ("amp;", '&'),
    ("lt;", '<'),
    ("gt;", '>'),
    ("quot;", '"'),
    ("apos;", '\''),
    ("equals;", '='),
    ("colon;", ':'),
    ("lowbar;", '_'),
    ("hyphen;", '-'),
    ("period;", '.'),
    ("NewLine;", '\n'),
    ("Tab;", '\t'),
    ("nbsp;", ' '),
];

pub(crate) fn entity(rest: &str) -> Option<(usize, Option<char>)> {
    let mut at = 1;
    while rest[at..].starts_with("amp;") {
        at += 4;
    }
    let name = &rest[at..];
    if let Some((entity, c)) = ENTITIES.iter().find(|(entity, _)| name.starts_with(*entity)) {
        return Some((at + entity.len(), Some(*c)));
    }
    let number = name.strip_prefix('#').and_then(|number| {
        let end = number.bytes().take(10).position(|byte| byte == b';')?;
        let code = match number[..end].strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number[..end].parse(),
        };
        Some((at + end + 2, Some(char::from_u32(code.ok()?)?)))
    });
    number.or((at > 1).then_some((at, Some('&'))))
}

/// A colour or another control sequence of a terminal.
fn colour(rest: &str) -> Option<usize> {
    let inner = rest[1..].strip_prefix('[')?;
    let end = inner.bytes().take(32).position(|byte| byte.is_ascii_alphabetic())?;
    inner.as_bytes()[..end].iter().all(|byte| b"0123456789;:?".contains(byte)).then_some(end + 3)
}

/// A line break inside of base64, with the indentation after it.
fn wrapped(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let line = &bytes[..at];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let run = line.iter().rev().take(WRAPPED).take_while(|byte| is_base64(**byte)).count();
    let indent = indent(&bytes[at + 1..]);
    let next = bytes.get(at + 1 + indent)?;
    (run == WRAPPED && is_base64(*next)).then_some(1 + indent)
}

/// The end of a literal and the beginning of its continuation: `" + "`, `"` at the end of a line and
/// `"` at the beginning of the next.
fn continued(rest: &str, quote: u8) -> Option<usize> {
    let bytes = &rest.as_bytes()[..rest.len().min(MOST_SPACE)];
    let (mut at, mut has_sign, mut has_line) = (1, false, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\r' => {}
            b'\n' => has_line = true,
            b'+' | b'.' if !has_sign => has_sign = true,
            // A string of the shell or of make that continues.
            b'\\' if matches!(bytes.get(at + 1), Some(b'\n' | b'\r')) => {}
            _ if *byte == quote => return (at > 1 && (has_sign || has_line)).then_some(at + 1),
            _ => return None,
        }
        at += 1;
    }
    None
}

fn indent(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// True if the byte is in either base64 alphabet. Without a table, so that many are told at once.
pub(crate) fn is_base64(byte: u8) -> bool {
    let (letter, digit) = ((byte | 0x20).wrapping_sub(b'a') < 26, byte.wrapping_sub(b'0') < 10);
    letter | digit | (byte == b'+') | (byte == b'/') | (byte == b'-') | (byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        let view = unfold(text, true);
        assert_eq!(view.as_ref().map(|view| view.text.trim_matches('\n')), expect, "{text}");
        // Every decoded byte maps back to its source.
        if let Some(view) = &view {
            view.source(0..view.text.len(), |range| assert!(text.get(range).is_some()));
        }
    }

    #[test]
    fn one_layer_comes_off() {
        check("nothing to do; 100% & more", None);
        check(r"a\nb", Some("a\nb"));
        check(r"a\\nb", Some(r"a\nb"));
        check(r"\u0041\x42\103\u{44}\e", Some("ABCD\u{1b}"));
        check(r"\ud83d\ude00 \/ \_", Some("😀 / _"));
        check("a%3Db%25253D", Some("a=b="));
        check("&amp;lt;&#39;&#x41;", Some("<'A"));
        check("\u{1b}[31;1mred\u{1b}[0m", Some("red"));
        check("a \\\n   b", Some("a b"));
        check("\"abc\" +\n  \"def\"", Some("\"abcdef\""));
        check("\"abc\"\n  \"def\"", Some("\"abcdef\""));
        check(r"\d \w \", None);
    }

    #[test]
    fn only_lines_where_something_came_off_are_kept() {
        check("one\ntwo\\tx\nthree\nfour\nfive%41", Some("two\tx\n\nfiveA"));
    }

    #[test]
    fn nothing_is_too_odd_to_be_read() {
        for odd in [
            "\\", "%", "%4", "%é1", "&", "&#", "&#x;", "\u{1b}", "\u{1b}[", "\\u", "\\u{", "\\ud83d", "\\é",
            "\"\n",
        ] {
            for text in [odd.to_owned(), format!("{odd}é"), format!("é{odd}{odd}")] {
                unfold(&text, true);
            }
        }
    }
}
