//! Divides a text into code, comments, strings and inclusions.

use super::{bytes, skim};

/// The sorts of stretches of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Code, with directives.
    Code,
    /// A comment.
    Comment,
    /// A string or character.
    Quoted,
    /// `#include` and what it names.
    Inclusion,
}

/// Calls for every stretch of the text that is not code, in order. Text of `#error` is a string.
pub(super) fn apart(bytes: &[u8], cpp: bool, mut found: impl FnMut(Piece, usize, usize)) {
    Pieces::new(bytes, cpp).for_each(|(piece, start, end)| found(piece, start, end));
}

/// The same stretches, one after another: nothing is read beyond the one that was asked for.
pub(super) struct Pieces<'a> {
    bytes: &'a [u8],
    cpp: bool,
    at: usize,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(bytes: &'a [u8], cpp: bool) -> Self {
        Self { bytes, cpp, at: 0 }
    }

    /// The stretch that a byte begins, if it begins one, and where to go on.
    fn begin(&self, stop: usize) -> (Option<(Piece, usize)>, usize) {
        let (bytes, cpp) = (self.bytes, self.cpp);
        match bytes[stop] {
            b'"' => {
                let end = skim::string(bytes, stop, cpp);
                (Some((Piece::Quoted, stop)), end)
            }
            b'\'' => {
                let end = skim::apostrophe(bytes, stop, cpp);
                let number =
                    bytes.get(stop + 1).is_some_and(|byte| bytes::in_word(*byte)) && bytes[end - 1] != b'\'';
                ((!number).then_some((Piece::Quoted, stop)), end)
            }
            b'/' => match skim::comment(bytes, stop) {
                Some(end) => (Some((Piece::Comment, stop)), end),
                None => (None, stop + 1),
            },
            _ if skim::begins_line(bytes, stop) => match directive_parts(bytes, stop, bytes.len()).0 {
                b"include" | b"include_next" | b"import" => {
                    (Some((Piece::Inclusion, stop)), skim::directive(bytes, stop))
                }
                b"error" | b"warning" => (Some((Piece::Quoted, stop + 1)), skim::directive(bytes, stop)),
                _ => (None, stop + 1),
            },
            _ => (None, stop + 1),
        }
    }
}

impl Iterator for Pieces<'_> {
    type Item = (Piece, usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        static STOPS: [bool; 256] = bytes::set(b"\"'/#");
        while let Some(stop) = bytes::find(self.bytes, self.at, &STOPS) {
            let (piece, end) = self.begin(stop);
            self.at = end;
            if let Some((piece, start)) = piece {
                return Some((piece, start, end));
            }
        }
        self.at = self.bytes.len();
        None
    }
}

/// The word after the `#` of a directive, and what follows it up to an offset.
pub(super) fn directive_parts(bytes: &[u8], hash: usize, end: usize) -> (&[u8], usize) {
    let mut start = hash + 1;
    while matches!(bytes.get(start), Some(b' ' | b'\t')) {
        start += 1;
    }
    let start = start.min(end);
    let after = bytes::word_end(&bytes[..end], start);
    (&bytes[start..after], after)
}
