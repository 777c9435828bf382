//! The place where reading goes on after a body that never ends: at the next line that looks like a
//! definition.

use memchr::memchr;

use super::{
    bytes,
    words::{self, Key},
};

/// So often is the text read again from a later definition after a body that never ended; after
/// that, a body ends where the next definition seems to begin.
pub(super) const RESTARTS: u32 = 4;

/// A line is looked at this far to tell whether it begins a definition.
const LINE: usize = 400;

/// True if the line at an offset looks like a definition at the top of a file: it begins in the
/// first column with a word of a declaration, and is no label and no statement.
pub(super) fn begins_definition(bytes: &[u8], line: usize) -> bool {
    let Some(first) = bytes.get(line) else { return false };
    if !bytes::in_word(*first) || first.is_ascii_digit() {
        return false;
    }
    let rest = &bytes[line..bytes.len().min(line + LINE)];
    let end = memchr(b'\n', rest).unwrap_or(rest.len());
    let (text, next) = (rest[..end].trim_ascii_end(), rest.get(end + 1..).unwrap_or_default());
    let word = bytes::word_end(text, 0);
    match words::key(&text[..word], true) {
        Some(
            Key::Class | Key::Struct | Key::Union | Key::Enum | Key::Typedef | Key::Namespace | Key::Template,
        ) => text.ends_with(b"{") || next.starts_with(b"{") || text.ends_with(b">"),
        Some(Key::Storage | Key::Extern | Key::Primitive | Key::Qualifier) | None => {
            let open = memchr(b'(', text);
            let body = text.ends_with(b"{") || next.starts_with(b"{");
            let words = open.is_none_or(|open| {
                text[..open].split(|byte| byte.is_ascii_whitespace()).filter(|part| !part.is_empty()).count()
                    > 1
            });
            body && open.is_some() && (words || next.starts_with(b"{"))
        }
        _ => false,
    }
}

/// The next line after an offset that looks like a definition.
pub(super) fn next_definition(bytes: &[u8], from: usize) -> Option<usize> {
    memchr::memchr_iter(b'\n', &bytes[from..])
        .map(|at| from + at + 1)
        .find(|line| begins_definition(bytes, *line))
}
