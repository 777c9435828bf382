//! The encoding of a file's bytes, and the problems Python has with them before it reads a word: a
//! declaration it cannot follow, and bytes that are not what they should be. It decodes nothing itself.

use std::ops::Range;

use memchr::{memchr, memchr2, memmem};

use super::lex::{Lexer, Sort};
use crate::{Problem, Span};

/// A mark that says UTF-8, at the start of a file.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Every name of an encoding of text that Python has built in, those of one system only included;
/// lower case, with `_` for whatever is no letter, digit or dot.
const NAMES: &str = include_str!("encodings.txt");

/// Built in as well, but from bytes to bytes or from text to text.
const NOT_OF_TEXT: &str = "\
    base64 base64_codec base_64 bz2 bz2_codec hex hex_codec quopri quopri_codec quoted_printable \
    quotedprintable rot13 rot_13 uu uu_codec zip zlib zlib_codec";

const UTF_8: &str = "cp65001 u8 utf utf8 utf8_ucs2 utf8_ucs4 utf_8";

const ASCII: &str = "\
    646 ansi_x3.4_1968 ansi_x3.4_1986 ansi_x3_4_1968 ascii cp367 csascii ibm367 iso646_us \
    iso_646.irv_1991 iso_ir_6 us us_ascii";

/// The problem that Python would report about the bytes of a file. The span counts bytes, a byte order
/// mark included. Of encodings other than ASCII and UTF-8 only the name is looked at.
pub fn undecodable(bytes: &[u8]) -> Option<Problem> {
    let marked = bytes.starts_with(MARK);
    let declared = declaration(bytes, if marked { MARK.len() } else { 0 });
    let refused = match declared {
        Some(place) => match declared_as(&bytes[place.clone()], marked) {
            Ok(Reading::Utf8) => damaged_code(bytes),
            Ok(Reading::StrictUtf8) => damage(bytes).next().map(|at| problem(at, &codec_error(bytes, at))),
            Ok(Reading::Ascii) => beyond_ascii(bytes),
            Ok(Reading::Other) => None,
            Err(message) => Some(Problem { span: Span::new(place.start, place.end), message }),
        },
        None if marked => damaged_code(bytes),
        None => undeclared(bytes),
    };
    refused.or_else(|| Some(problem(memchr(0, bytes)?, "source code cannot contain null bytes")))
}

/// The way of reading that a declaration asks for.
enum Reading {
    /// As UTF-8 by the tokenizer itself, which does not look into comments.
    Utf8,
    /// As UTF-8 by a codec, which looks at everything.
    StrictUtf8,
    Ascii,
    Other,
}

/// The place of an encoding's name in a comment of the first two lines. Before one in the second line
/// there may be only blanks and a comment.
fn declaration(bytes: &[u8], from: usize) -> Option<Range<usize>> {
    let mut start = from;
    for _ in 0..2 {
        let rest = &bytes[start.min(bytes.len())..];
        let line = &rest[..memchr2(b'\n', b'\r', rest).unwrap_or(rest.len())];
        let written = line.iter().find(|byte| !b" \t\x0c".contains(byte));
        match written {
            Some(b'#') => {
                if let Some(name) = name_in(line) {
                    return Some(start + name.start..start + name.end);
                }
            }
            Some(_) => return None,
            None => {}
        }
        let end = if rest[line.len()..].starts_with(b"\r\n") { 2 } else { 1 };
        start += line.len() + end;
    }
    None
}

fn name_in(line: &[u8]) -> Option<Range<usize>> {
    const WORD: &[u8] = b"coding";
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    memmem::find_iter(line, WORD).find_map(|at| {
        let after =
            line[at + WORD.len()..].strip_prefix(b":").or(line[at + WORD.len()..].strip_prefix(b"="))?;
        let blanks = after.iter().take_while(|byte| b" \t".contains(byte)).count();
        let length = after[blanks..].iter().take_while(|byte| in_name(byte)).count();
        let start = line.len() - after.len() + blanks;
        (length > 0).then_some(start..start + length)
    })
}

/// The meaning of a declared name, or the reason why Python does not follow it.
fn declared_as(name: &[u8], marked: bool) -> Result<Reading, String> {
    let name = String::from_utf8_lossy(name);
    let short = known_to_tokenizer(&name);
    if short == Some("utf-8") {
        return Ok(Reading::Utf8);
    }
    if marked {
        return Err(format!("encoding problem: {} with BOM", short.unwrap_or(&name)));
    }
    if short.is_some() {
        return Ok(Reading::Other);
    }
    let plain = normal(&name);
    match plain.as_str() {
        known if is_in(UTF_8, known) => Ok(Reading::StrictUtf8),
        known if is_in(ASCII, known) => Ok(Reading::Ascii),
        other if is_in(NOT_OF_TEXT, other) => Err(format!("'{name}' is not a text encoding")),
        other if is_in(NAMES, other) || is_in(NAMES, &other.replace('.', "_")) => Ok(Reading::Other),
        _ => Err(format!("unknown encoding: {name}")),
    }
}

/// The two encodings that the tokenizer knows by several names, whatever follows these.
fn known_to_tokenizer(name: &str) -> Option<&'static str> {
    /// It compares no more than this.
    const COMPARED: usize = 12;
    let short: String =
        name.chars().take(COMPARED).collect::<String>().to_ascii_lowercase().replace('_', "-");
    let is =
        |known: &str| short.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
    match () {
        () if is("utf-8") => Some("utf-8"),
        () if ["latin-1", "iso-8859-1", "iso-latin-1"].into_iter().any(is) => Some("iso-8859-1"),
        () => None,
    }
}

/// A name as the table of encodings has it.
fn normal(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_").to_ascii_lowercase()
}

fn is_in(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|known| known == name)
}

/// The places of bytes that are no UTF-8.
fn damage(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let mut end = 0;
    bytes.utf8_chunks().filter_map(move |chunk| {
        let at = end + chunk.valid().len();
        end = at + chunk.invalid().len();
        (at < end).then_some(at)
    })
}

fn undeclared(bytes: &[u8]) -> Option<Problem> {
    let at = damage(bytes).next()?;
    let message = format!(
        "Non-UTF-8 code starting with '\\x{:02x}', but no encoding declared; see https://peps.python.org/pep-0263/ for details",
        bytes[at]
    );
    Some(problem(at, &message))
}

/// The first damage outside of comments.
fn damaged_code(bytes: &[u8]) -> Option<Problem> {
    let mut damage = damage(bytes).peekable();
    damage.peek()?;
    let from = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
    let mut lexer = Lexer::new(bytes, from);
    let comments: Vec<Range<usize>> = std::iter::from_fn(|| lexer.next())
        .filter(|token| token.sort == Sort::Comment)
        .map(|token| token.span().range())
        .collect();
    let in_comment = |at: usize| {
        let after = comments.partition_point(|comment| comment.end <= at);
        comments.get(after).is_some_and(|comment| comment.contains(&at))
    };
    let at = damage.find(|at| !in_comment(*at))?;
    Some(problem(at, &format!("(unicode error) {}", codec_error(bytes, at))))
}

/// The message of the UTF-8 codec about such bytes.
fn codec_error(bytes: &[u8], at: usize) -> String {
    let starts = matches!(bytes[at], 0xc2..=0xf4);
    let cut = std::str::from_utf8(&bytes[at..]).is_err_and(|error| error.error_len().is_none());
    let why = match (starts, cut) {
        (false, _) => "invalid start byte",
        (true, true) => "unexpected end of data",
        (true, false) => "invalid continuation byte",
    };
    format!("'utf-8' codec can't decode byte 0x{:02x}: {why}", bytes[at])
}

fn beyond_ascii(bytes: &[u8]) -> Option<Problem> {
    let at = bytes.iter().position(|byte| !byte.is_ascii())?;
    let message = format!("'ascii' codec can't decode byte 0x{:02x}: ordinal not in range(128)", bytes[at]);
    Some(problem(at, &message))
}

fn problem(at: usize, message: &str) -> Problem {
    Problem { span: Span::at(at), message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(bytes: &[u8]) {
        assert_eq!(undecodable(bytes), None, "{}", bytes.escape_ascii());
    }

    fn refuses(bytes: &[u8], at: usize, message: &str) {
        let problem = undecodable(bytes).unwrap_or_else(|| panic!("accepted: {}", bytes.escape_ascii()));
        assert!(problem.message.starts_with(message), "{}: {problem:?}", bytes.escape_ascii());
        assert_eq!(problem.span.start as usize, at, "{}: {problem:?}", bytes.escape_ascii());
    }

    #[test]
    fn accepts_what_python_accepts() {
        for bytes in [
            &b""[..],
            "x = 'é'\n".as_bytes(),
            b"\xef\xbb\xbfx = 1\n",
            b"\xef\xbb\xbf# coding: utf-8\nx = 1\n",
            b"\xef\xbb\xbf# coding: UTF_8_more\nx = 1\n",
            b"# coding: latin-1\nx = '\xe9'\n",
            b"#!/usr/bin/python\n# vim: set fileencoding=Latin_1-unix :\nx = '\xe9'\n",
            b"\r\n# coding= cp1252\r\nx = '\xe9'\r\n",
            b"# coding: 8859\nx = '\xe9'\n",
            b"# coding: utf--8\nx = 1\n",
            b"# coding: ANSI_X3.4-1968\nx = 1\n",
            b"# coding: cp437\nx = '\xe9'\n",
            // Bytes in a comment are not read where UTF-8 is declared.
            b"# coding: utf-8\n# \xe9\nx = 1\n",
            b"\xef\xbb\xbf# \xe9\nx = 1 # \xff\n",
            // These declare nothing.
            b"x = 1 # coding: foo\n",
            b"x = 1\n# coding: foo\n",
            b"'''\n# coding: foo\n'''\n",
            b"#\rx=1\r# coding: foo\r",
            b"# encoding foo\n# coding:\n",
        ] {
            accepts(bytes);
        }
    }

    #[test]
    fn refuses_bytes_that_nothing_declares() {
        refuses(b"x = 'a\xe9'\n", 6, "Non-UTF-8 code starting with '\\xe9', but no encoding declared; see ");
        refuses(b"# \xe9\nx = 1\n", 2, "Non-UTF-8");
        refuses(b"x = 1\n# coding: latin-1\ny = '\xe9'\n", 29, "Non-UTF-8");
        refuses(b"# coding: \nx = '\xe9'\n", 16, "Non-UTF-8");
        refuses(b"\xff\xfex\0=\x001\0", 0, "Non-UTF-8 code starting with '\\xff'");
        refuses(b"x\0=\x001\0", 1, "source code cannot contain null bytes");
        refuses(b"# coding: latin-1\nx = '\0'\n", 23, "source code cannot contain null bytes");
    }

    #[test]
    fn refuses_bytes_that_are_not_what_they_are_declared_to_be() {
        let broken = "(unicode error) 'utf-8' codec can't decode byte 0xe9: invalid continuation byte";
        refuses(b"# coding: utf-8\nx = '\xe9'\n", 21, broken);
        refuses(b"# coding: utf-8-sig\n# \xe9\nx = '# \xe9'\n", 31, broken);
        refuses(b"\xef\xbb\xbfcaf\xe9 = 1\n", 6, broken);
        refuses(
            b"# coding: utf8\n# \xe9\n",
            17,
            "'utf-8' codec can't decode byte 0xe9: invalid continuation byte",
        );
        refuses(
            b"# coding: u8\nx = '\x80'\n",
            18,
            "'utf-8' codec can't decode byte 0x80: invalid start byte",
        );
        refuses(
            b"# coding: u8\n# \xe2\x82",
            15,
            "'utf-8' codec can't decode byte 0xe2: unexpected end of data",
        );
        let beyond = "'ascii' codec can't decode byte 0xc3: ordinal not in range(128)";
        refuses("# coding: us-ascii\n# é\n".as_bytes(), 21, beyond);
    }

    #[test]
    fn refuses_declarations_that_cannot_be_followed() {
        refuses(b"# coding: foo\nx = 1\n", 10, "unknown encoding: foo");
        refuses(b"\n\t\x0c # -*- coding: foo_Bar -*-\n", 18, "unknown encoding: foo_Bar");
        refuses(b"#\r# coding: foo.bar\r", 12, "unknown encoding: foo.bar");
        refuses(b"# coding coding: foo\n", 17, "unknown encoding: foo");
        refuses(b"# coding= coding: foo\n", 10, "unknown encoding: coding");
        refuses(b"# coding: rot13\nx = 1\n", 10, "'rot13' is not a text encoding");
        refuses(b"\xef\xbb\xbf# coding: latin-1\n", 13, "encoding problem: iso-8859-1 with BOM");
        refuses(b"\xef\xbb\xbf# coding: utf8\n", 13, "encoding problem: utf8 with BOM");
        refuses(b"\xef\xbb\xbf# coding: foo\n", 13, "encoding problem: foo with BOM");
    }
}
