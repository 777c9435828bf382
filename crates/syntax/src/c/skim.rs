//! Ends of comments, literals and directives. Each function is told where one begins and says
//! where it is over; what is never closed ends with its line, or with the text where it may
//! span lines.

use memchr::{memchr, memchr2, memmem};

use super::bytes::{self, in_word};

/// A longer delimiter of a raw string is refused by compilers.
const RAW_DELIMITER: usize = 16;

/// The longest word looked back at to tell a digit separator from a quote. No number is longer.
const LONGEST_NUMBER: usize = 256;

/// The line end after a comment that begins with two slashes; a backslash joins the next line.
pub(super) fn line_comment(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(length) = memchr(b'\n', &bytes[at..]) {
        let end = at + length;
        if !is_joined(bytes, end) {
            return end - usize::from(end > from && bytes[end - 1] == b'\r');
        }
        at = end + 1;
    }
    bytes.len()
}

/// True if the line end at an offset is hidden behind a backslash.
pub(super) fn is_joined(bytes: &[u8], line_end: usize) -> bool {
    let before = &bytes[..line_end];
    before.strip_suffix(b"\r").unwrap_or(before).ends_with(b"\\")
}

/// The end of a comment in stars.
pub(super) fn block_comment(bytes: &[u8], from: usize) -> usize {
    let mut at = (from + 2).min(bytes.len());
    while let Some(length) = memchr(b'/', &bytes[at..]) {
        let end = at + length + 1;
        if end > from + 3 && bytes[end - 2] == b'*' {
            return end;
        }
        at = end;
    }
    bytes.len()
}

/// The end of a comment, if one begins here.
pub(super) fn comment(bytes: &[u8], from: usize) -> Option<usize> {
    match bytes.get(from + 1) {
        Some(b'/') => Some(line_comment(bytes, from)),
        Some(b'*') => Some(block_comment(bytes, from)),
        _ => None,
    }
}

/// The end of a literal between two quotes of one kind. One that is not closed ends with its line.
fn quoted(bytes: &[u8], from: usize, quote: u8) -> usize {
    let mut at = from + 1;
    while let Some(byte) = bytes.get(at) {
        match *byte {
            b'\\' => {
                let crlf = bytes.get(at + 1) == Some(&b'\r') && bytes.get(at + 2) == Some(&b'\n');
                at += 2 + usize::from(crlf);
            }
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of the string that begins at a quote, raw where its prefix says so.
pub(super) fn string(bytes: &[u8], quote: usize, raw: bool) -> usize {
    if raw && quote > 0 && bytes[quote - 1] == b'R' {
        let prefix = word_before(bytes, quote);
        if matches!(prefix, b"R" | b"LR" | b"uR" | b"UR" | b"u8R")
            && let Some(end) = raw_string(bytes, quote)
        {
            return end;
        }
    }
    quoted(bytes, quote, b'"')
}

fn raw_string(bytes: &[u8], quote: usize) -> Option<usize> {
    let start = quote + 1;
    let window = &bytes[start..bytes.len().min(start + RAW_DELIMITER + 1)];
    let length = memchr2(b'(', b'\n', window).filter(|length| window[*length] == b'(')?;
    let mut closing = Vec::with_capacity(length + 2);
    closing.push(b')');
    closing.extend_from_slice(&window[..length]);
    closing.push(b'"');
    let content = start + length + 1;
    Some(memmem::find(&bytes[content..], &closing).map_or(bytes.len(), |at| content + at + closing.len()))
}

/// The end of what an apostrophe begins: a character, or the rest of a number that it divides.
pub(super) fn apostrophe(bytes: &[u8], from: usize, separators: bool) -> usize {
    let number = word_before(bytes, from).first().is_some_and(u8::is_ascii_digit);
    if !(separators && number && bytes.get(from + 1).is_some_and(|byte| in_word(*byte))) {
        return quoted(bytes, from, b'\'');
    }
    number_end(bytes, from, separators)
}

/// The end of a number, from anywhere in it.
pub(super) fn number_end(bytes: &[u8], from: usize, separators: bool) -> usize {
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        let sign =
            matches!(byte, b'+' | b'-') && at > from && matches!(bytes[at - 1], b'e' | b'E' | b'p' | b'P');
        let divider = separators && *byte == b'\'' && bytes.get(at + 1).is_some_and(|byte| in_word(*byte));
        if !(in_word(*byte) || *byte == b'.' || sign || divider) {
            break;
        }
        at += 1;
    }
    at
}

/// The word that ends at an offset.
fn word_before(bytes: &[u8], end: usize) -> &[u8] {
    let floor = end.saturating_sub(LONGEST_NUMBER);
    let start = bytes[floor..end].iter().rposition(|byte| !in_word(*byte)).map_or(floor, |at| floor + at + 1);
    &bytes[start..end]
}

/// True if only blanks stand before an offset on its line.
pub(super) fn begins_line(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t' | b'\x0b' | b'\x0c'));
    before.is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
}

/// The line end that closes the directive at a `#`; comments in stars and joined lines belong to it.
pub(super) fn directive(bytes: &[u8], from: usize) -> usize {
    static STOPS: [bool; 256] = bytes::set(b"\n\"'/");
    let mut at = from + 1;
    while let Some(stop) = bytes::find(bytes, at, &STOPS) {
        at = match bytes[stop] {
            b'\n' if is_joined(bytes, stop) => stop + 1,
            b'\n' => return stop - usize::from(bytes[stop - 1] == b'\r'),
            b'"' => quoted(bytes, stop, b'"'),
            b'\'' => closed_on_line(bytes, stop).unwrap_or(stop + 1),
            _ if bytes.get(stop + 1) == Some(&b'*') => block_comment(bytes, stop),
            _ if bytes.get(stop + 1) == Some(&b'/') => return line_comment(bytes, stop),
            _ => stop + 1,
        };
    }
    bytes.len()
}

/// The end of a character, which is short; an apostrophe in prose has no partner nearby.
fn closed_on_line(bytes: &[u8], from: usize) -> Option<usize> {
    let end = quoted(&bytes[..bytes.len().min(from + RAW_DELIMITER)], from, b'\'');
    (bytes[end - 1] == b'\'' && end > from + 1).then_some(end)
}
