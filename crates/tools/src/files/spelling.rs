//! Names as replies spell them: one line each, whatever bytes the file system holds.

use std::{
    borrow::Cow,
    ffi::{OsStr, OsString},
    fmt::Write,
    os::unix::ffi::{OsStrExt, OsStringExt},
};

/// A name or path in Unicode. Control characters are escaped, since a line end in a name
/// would look like another row; no tool takes such a path anyway.
pub(crate) fn spell(name: &OsStr) -> Cow<'_, str> {
    let text = name.to_string_lossy();
    if !text.contains(char::is_control) {
        return text;
    }
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(escape).collect())
}

/// A name or path as a word to go on from. Unlike the spelling it stands for exactly these
/// bytes: what is no plain character is written `\xNN`, and a backslash is doubled.
pub(crate) fn token(name: &OsStr) -> String {
    let mut token = String::with_capacity(name.len());
    let escape = |token: &mut String, bytes: &[u8]| {
        for byte in bytes {
            let _ = write!(token, r"\x{byte:02x}");
        }
    };
    for chunk in name.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => token.push_str(r"\\"),
                c if c.is_control() => escape(&mut token, c.encode_utf8(&mut [0; 4]).as_bytes()),
                c => token.push(c),
            }
        }
        escape(&mut token, chunk.invalid());
    }
    token
}

/// The name a token stands for. A backslash that escapes nothing is one.
pub(crate) fn from_token(token: &str) -> OsString {
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.as_bytes();
    while let [first, after @ ..] = rest {
        let (byte, length) = match after {
            [b'\\', ..] if *first == b'\\' => (b'\\', 2),
            [b'x', high, low, ..] if *first == b'\\' => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, 4),
                _ => (*first, 1),
            },
            _ => (*first, 1),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    OsString::from_vec(bytes)
}

fn digit(hex: u8) -> Option<u8> {
    char::from(hex).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// A word in quotes, written as an argument is written.
pub(crate) fn quoted(word: &str) -> String {
    serde_json::Value::from(word).to_string()
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line() {
        assert_eq!(spell(OsStr::new("plain näme")), "plain näme");
        assert_eq!(spell(OsStr::new("a\n[file] b\x1b")), r"a\n[file] b\u{1b}");
    }

    #[test]
    fn a_token_stands_for_exactly_its_bytes() {
        let check = |name: &[u8], expect: &str| {
            let name = OsStr::from_bytes(name);
            assert_eq!(token(name), expect);
            assert_eq!(from_token(expect), name);
        };
        check("plain näme \"x\"".as_bytes(), "plain näme \"x\"");
        check(b"caf\xe9", r"caf\xe9");
        check(b"caf\\xe9", r"caf\\xe9");
        check(b"\\\\\n", r"\\\\\x0a");
        assert_eq!(from_token(r"a\b\x1\"), r"a\b\x1\");
    }
}
