//! The ranges to hide in a text, and the text without them.

use std::ops::Range;

/// The placeholder for a hidden range.
pub const HIDDEN: &str = "[redacted]";

/// A range to hide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    /// The number of strings around a JSON value that is not a string: it becomes one, with its quotes
    /// escaped for that depth.
    pub(crate) quoted: Option<u8>,
}

impl Edit {
    pub(crate) fn inside(range: Range<usize>) -> Self {
        Self { range, quoted: None }
    }
}

/// The text with every range hidden.
pub(crate) fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    let mut edits = edits.into_iter().peekable();
    while let Some(mut edit) = edits.next() {
        // Ranges that overlap or touch become one.
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
