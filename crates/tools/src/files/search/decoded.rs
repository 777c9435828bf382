//! Making UTF-8 of files that are not, as reading does, so that both see the same text.

use crate::text::TextFile;

/// The bytes from the start by which UTF-16 without a mark is recognised.
const SAMPLE: usize = 4 * 1024;

/// The content of a file for the search.
pub(super) enum SearchBytes {
    /// UTF-8: searched as it is.
    AsItIs,
    /// Something else, and this is its text.
    Text(Vec<u8>),
    /// Neither text in a known encoding nor clearly binary.
    Unknown,
    /// No text.
    Binary,
}

/// Looks at a whole file. What is UTF-8, as nearly all are, is only looked at.
pub(super) fn decode(content: &[u8]) -> SearchBytes {
    let marked = is_utf16(content);
    let zero = if marked { None } else { memchr::memchr(0, content) };
    match zero {
        None if !marked && is_utf8(content) => return SearchBytes::AsItIs,
        // Zeros belong to UTF-16, which has them early and an even number of bytes.
        Some(at) if at >= SAMPLE || !content.len().is_multiple_of(2) => return SearchBytes::Binary,
        _ => {}
    }
    match TextFile::decode(content.to_vec()) {
        Ok(file) => SearchBytes::Text(file.text().as_bytes().to_vec()),
        Err(_) if marked || zero.is_some() => SearchBytes::Binary,
        Err(_) => SearchBytes::Unknown,
    }
}

/// ASCII is told faster than UTF-8.
fn is_utf8(bytes: &[u8]) -> bool {
    bytes.is_ascii() || std::str::from_utf8(bytes).is_ok()
}

/// Finds out on the way whether a stream is UTF-8.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// The bytes of a character whose end has not come yet.
    open: Vec<u8>,
    broken: bool,
}

impl Watch {
    /// Looks at the next bytes.
    pub(super) fn see(&mut self, mut bytes: &[u8]) {
        while !self.open.is_empty() && !self.broken {
            let Some((first, rest)) = bytes.split_first() else { return };
            self.open.push(*first);
            bytes = rest;
            match std::str::from_utf8(&self.open) {
                Ok(_) => self.open.clear(),
                Err(error) => self.broken = error.error_len().is_some(),
            }
        }
        if self.broken || bytes.is_ascii() {
            return;
        }
        if let Err(error) = std::str::from_utf8(bytes) {
            match error.error_len() {
                Some(_) => self.broken = true,
                None => self.open.extend_from_slice(&bytes[error.valid_up_to()..]),
            }
        }
    }

    /// The stream is over: a character that is still open is none.
    pub(super) fn end(&mut self) {
        self.broken |= !self.open.is_empty();
    }

    /// True if something was no UTF-8.
    pub(super) fn broken(&self) -> bool {
        self.broken
    }
}

/// True if bytes begin with a mark of UTF-16, whose units must be left as they are.
pub(super) fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expect: bool) {
        for step in 1..=bytes.len() {
            let mut watch = Watch::default();
            bytes.chunks(step).for_each(|chunk| watch.see(chunk));
            watch.end();
            assert_eq!(watch.broken(), !expect, "{step} bytes at once");
        }
    }

    #[test]
    fn a_stream_is_watched_in_pieces_of_any_size() {
        check("plain, café, 日本, 😀".as_bytes(), true);
        check(b"caf\xe9 noir", false);
        check(b"ends inside \xe6\x97", false);
    }
}
