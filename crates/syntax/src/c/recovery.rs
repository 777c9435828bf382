//! What to do where brackets do not match: a body that never ends gives way to the next line
//! that looks like a definition, and what is open at the end of the text is closed there.

use memchr::memchr;

use super::{
    bytes,
    reader::Reader,
    state::{Group, Holder, NONE, Skipping},
    words::{self, Key},
};
use crate::{Gap, Span};

/// So often is the text read again from a later definition after a body that never ended; after
/// that, a body ends where the next definition seems to begin.
pub(super) const RESTARTS: u32 = 4;

/// A line is looked at this far to tell whether it begins a definition.
const LINE: usize = 400;

/// Whether the line at an offset looks like a definition at the top of a file: it begins in the
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

/// Ends a body that was never closed, and goes on with the definition at an offset.
pub(super) fn abandon_body(reader: &mut Reader<'_>, next: usize) {
    let group = reader.state.group;
    let open = group.open as usize;
    let end = bytes_end(reader.bytes, open, next);
    reader.end_symbol(group.symbol, open, end);
    reader.gaps.push(Gap { span: Span::new(open, end), why: "a body is not closed" });
    reader.state.group = Group::OFF;
    reader.drop_pending();
    reader.at = next;
}

/// The end of a stretch without the blanks at its end.
fn bytes_end(bytes: &[u8], from: usize, to: usize) -> usize {
    from + bytes[from..to].trim_ascii_end().len()
}

/// Closes whatever is open at the end of the text.
pub(super) fn close_all(reader: &mut Reader<'_>) {
    let end = reader.bytes.trim_ascii_end().len();
    let group = reader.state.group;
    if group.skipping != Skipping::Nothing {
        let open = group.open as usize;
        reader.end_symbol(group.symbol, open, end.max(open + 1));
        reader.gaps.push(Gap { span: Span::new(open, end.max(open + 1)), why: "a bracket is not closed" });
    }
    let mut scope = reader.state.scope;
    while scope != NONE {
        let open = reader.scopes[scope as usize];
        if open.holder != Holder::File {
            let from = open.open as usize;
            reader.end_symbol(open.own, from, end.max(from + 1));
            reader.gaps.push(Gap { span: Span::new(from, end.max(from + 1)), why: "a brace is not closed" });
        }
        scope = open.parent;
    }
}
