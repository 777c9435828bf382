//! What is to be hidden in a text, and the text without it.

use std::ops::Range;

/// What stands where something was hidden.
pub const HIDDEN: &str = "[redacted]";

/// A stretch that is hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    /// A value of JSON that is no string becomes one; inside of so many strings its quotes are
    /// escaped.
    pub(crate) quoted: Option<u8>,
}

impl Edit {
    pub(crate) fn inside(range: Range<usize>) -> Self {
        Self { range, quoted: None }
    }
}

/// The text with every stretch hidden.
pub(crate) fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    let mut edits = edits.into_iter().peekable();
    while let Some(mut edit) = edits.next() {
        // Stretches that meet are one.
        while let Some(next) = edits.next_if(|next| next.range.start <= edit.range.end) {
            edit.range.end = edit.range.end.max(next.range.end);
            edit.quoted = edit.quoted.or(next.quoted);
        }
        out.push_str(&text[kept..edit.range.start]);
        let quote = edit.quoted.map(|depth| format!("{}\"", "\\".repeat((1 << depth.min(16)) - 1)));
        let quote = quote.unwrap_or_default();
        out.push_str(&quote);
        out.push_str(HIDDEN);
        out.push_str(&quote);
        kept = edit.range.end;
    }
    out.push_str(&text[kept..]);
    out
}
