//! A decoded text with a map back to its source: which bytes of the source each part was decoded from.

use std::{borrow::Cow, ops::Range};

/// A decoded text over a source. If both are the same, it has no parts.
#[derive(Debug)]
pub(crate) struct View<'t> {
    pub(crate) text: Cow<'t, str>,
    parts: Vec<Part>,
}

/// A range of the text and the range of the source that it was decoded from.
#[derive(Debug)]
struct Part {
    text: Range<usize>,
    source: Range<usize>,
}

impl<'t> View<'t> {
    pub(crate) fn plain(text: &'t str) -> Self {
        Self { text: Cow::Borrowed(text), parts: Vec::new() }
    }

    /// Calls `give` with the ranges of the source that a range of the text was decoded from. What was
    /// left out between them is not included.
    pub(crate) fn source(&self, range: Range<usize>, mut give: impl FnMut(Range<usize>)) {
        if self.parts.is_empty() {
            return give(range);
        }
        let first = self.parts.partition_point(|part| part.text.end <= range.start);
        for part in self.parts[first..].iter().take_while(|part| part.text.start < range.end) {
            // A copied part may be hidden partly; a decoded one is hidden whole.
            if part.text.len() == part.source.len() {
                let start = part.source.start + range.start.saturating_sub(part.text.start);
                let end = part.source.end - part.text.end.saturating_sub(range.end);
                give(start..end);
            } else {
                give(part.source.clone());
            }
        }
    }
}

/// Builds a view from left to right.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    text: String,
    parts: Vec<Part>,
}

impl Builder {
    /// Copies a range of the source.
    pub(crate) fn copy(&mut self, source: &str, range: Range<usize>) {
        if !range.is_empty() {
            let start = self.text.len();
            self.text.push_str(&source[range.clone()]);
            self.parts.push(Part { text: start..self.text.len(), source: range });
        }
    }

    /// Adds a range of the source that decodes to another character, or to nothing.
    pub(crate) fn decode(&mut self, range: Range<usize>, reads: Option<char>) {
        let start = self.text.len();
        self.text.extend(reads);
        match self.parts.last_mut() {
            // What decodes to nothing belongs to the part before it.
            Some(last) if reads.is_none() && last.text.len() != last.source.len() => {
                last.source.end = range.end;
            }
            _ => self.parts.push(Part { text: start..self.text.len(), source: range }),
        }
    }

    /// Ends a line where lines of the source are left out.
    pub(crate) fn gap(&mut self) {
        self.text.push('\n');
    }

    pub(crate) fn view(self) -> View<'static> {
        View { text: Cow::Owned(self.text), parts: self.parts }
    }
}
