//! Names as replies spell them: one line each, whatever bytes the file system holds.

use std::{borrow::Cow, ffi::OsStr};

/// A name or path in Unicode. Control characters are escaped, since a line end in a name
/// would look like another row; no tool takes such a path anyway.
pub(super) fn spell(name: &OsStr) -> Cow<'_, str> {
    let text = name.to_string_lossy();
    if !text.contains(char::is_control) {
        return text;
    }
    let escape = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(escape).collect())
}

/// `1 file`, `2 files`.
pub(super) fn count(number: u64, one: &str, many: &str) -> String {
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
}
