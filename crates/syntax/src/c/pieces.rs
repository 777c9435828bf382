//! Divides a text into code, comments, strings and inclusions.

use super::{bytes, skim};

/// What a stretch of text is.
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
    static STOPS: [bool; 256] = bytes::set(b"\"'/#");
    let mut at = 0;
    while let Some(stop) = bytes::find(bytes, at, &STOPS) {
        at = stop + 1;
        match bytes[stop] {
            b'"' => {
                at = skim::string(bytes, stop, cpp);
                found(Piece::Quoted, stop, at);
            }
            b'\'' => {
                at = skim::apostrophe(bytes, stop, cpp);
                let number =
                    bytes.get(stop + 1).is_some_and(|byte| bytes::in_word(*byte)) && bytes[at - 1] != b'\'';
                if !number {
                    found(Piece::Quoted, stop, at);
                }
            }
            b'/' => {
                if let Some(end) = skim::comment(bytes, stop) {
                    at = end;
                    found(Piece::Comment, stop, at);
                }
            }
            _ if skim::begins_line(bytes, stop) => match directive_parts(bytes, stop, bytes.len()).0 {
                b"include" | b"include_next" | b"import" => {
                    at = skim::directive(bytes, stop);
                    found(Piece::Inclusion, stop, at);
                }
                b"error" | b"warning" => {
                    at = skim::directive(bytes, stop);
                    found(Piece::Quoted, stop + 1, at);
                }
                _ => {}
            },
            _ => {}
        }
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
