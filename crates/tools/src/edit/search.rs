//! The text an edit looks for, and a match: below the ways of finding one.

use std::ops::Range;

use crate::text::body;

/// A text to be found and what takes its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct EditSearch<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    pub(super) count: Count,
}

/// The number of places that are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    One,
    All,
    Exactly(usize),
}

impl Count {
    pub(super) fn new(replace_all: bool, expected: Option<usize>) -> Self {
        match expected {
            Some(count) => Self::Exactly(count),
            None if replace_all => Self::All,
            None => Self::One,
        }
    }
}

/// One place: the whole match, and the part of it that really changes.
pub(super) struct EditHit {
    pub(super) span: Range<usize>,
    pub(super) edit: (Range<usize>, String),
}

/// The rest of both texts between their common beginning and their common end.
pub(super) struct ChangedPart {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// Both texts without the final newline that the file does not have.
pub(super) fn without_final_newline<'a>(text: &str, search: &EditSearch<'a>) -> Option<EditSearch<'a>> {
    let ends = |text: &str| text.ends_with(['\n', '\r']);
    let differs = ends(search.old) && !ends(text);
    differs.then(|| EditSearch { old: body(search.old), new: body(search.new), count: search.count })
}
