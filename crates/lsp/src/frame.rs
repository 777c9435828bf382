//! The frames of the protocol: a header with the length of the body, and the body. Both have a limit,
//! and a stream that breaks the format is given up.

use bytes::{Bytes, BytesMut};
use thiserror::Error;

/// The most bytes of one header. Two short lines are usual.
const MOST_HEADER: usize = 4 * 1024;
/// The most bytes of one body: ten thousand long diagnostics.
const MOST_BODY: usize = 16 * 1024 * 1024;
/// The end of a header.
const BLANK: &[u8] = b"\r\n\r\n";

/// Why a stream cannot be read further.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum Broken {
    #[error("a header without an end")]
    Endless,
    #[error("a header without a Content-Length")]
    NoLength,
    #[error("a message of {0} bytes, which is more than {MOST_BODY}")]
    TooLarge(u64),
}

/// Cuts a stream into bodies.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    bytes: BytesMut,
    /// The length of the body that has begun.
    body: Option<usize>,
}

impl Frames {
    /// Adds bytes that were read, however they were split.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
    }

    /// The next complete body.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>, Broken> {
        let length = match self.body {
            Some(length) => length,
            None => match self.header()? {
                Some(length) => *self.body.insert(length),
                None => return Ok(None),
            },
        };
        if self.bytes.len() < length {
            return Ok(None);
        }
        self.body = None;
        Ok(Some(self.bytes.split_to(length).freeze()))
    }

    fn header(&mut self) -> Result<Option<usize>, Broken> {
        let looked_at = &self.bytes[..self.bytes.len().min(MOST_HEADER)];
        let Some(end) = memchr::memmem::find(looked_at, BLANK) else {
            return if looked_at.len() < MOST_HEADER { Ok(None) } else { Err(Broken::Endless) };
        };
        let header = self.bytes.split_to(end + BLANK.len());
        let length = header[..end].split(|byte| *byte == b'\n').find_map(length).ok_or(Broken::NoLength)?;
        match usize::try_from(length) {
            Ok(length) if length <= MOST_BODY => Ok(Some(length)),
            _ => Err(Broken::TooLarge(length)),
        }
    }
}

fn length(line: &[u8]) -> Option<u64> {
    let (name, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
    name.trim().eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok()).flatten()
}

/// A body with its header.
pub(crate) fn framed(body: &[u8]) -> Vec<u8> {
    let mut frame = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    frame.extend_from_slice(body);
    frame
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(bytes: &[u8], step: usize) -> Result<Vec<Vec<u8>>, Broken> {
        let (mut frames, mut found) = (Frames::default(), Vec::new());
        for chunk in bytes.chunks(step) {
            frames.push(chunk);
            while let Some(body) = frames.next()? {
                found.push(body.to_vec());
            }
        }
        Ok(found)
    }

    #[test]
    fn other_headers_and_letter_case_do_not_matter() {
        let stream = b"Content-Type: x\r\ncontent-length:  2\r\n\r\n{}Content-Length: 0\r\n\r\n";
        assert_eq!(all(stream, 1).expect("fine"), [b"{}".to_vec(), Vec::new()]);
    }

    #[test]
    fn what_breaks_the_form_is_given_up() {
        for (stream, why) in [
            (vec![b'x'; MOST_HEADER], Broken::Endless),
            (b"Content-Type: x\r\n\r\n".to_vec(), Broken::NoLength),
            (b"Content-Length: -1\r\n\r\n".to_vec(), Broken::NoLength),
            (b"\xff\xfe: 1\r\n\r\n".to_vec(), Broken::NoLength),
            (b"Content-Length: 99999999999\r\n\r\n".to_vec(), Broken::TooLarge(99_999_999_999)),
        ] {
            assert_eq!(all(&stream, 7), Err(why));
        }
    }

    #[test]
    fn a_stream_that_never_ends_a_header_takes_no_memory() {
        let mut frames = Frames::default();
        frames.push(&vec![b'x'; MOST_HEADER - 1]);
        assert_eq!(frames.next(), Ok(None));
        frames.push(b"x");
        assert_eq!(frames.next(), Err(Broken::Endless));
    }

    proptest! {
        #[test]
        fn what_was_framed_comes_out_whole(
            bodies in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 0..8),
            step in 1_usize..64,
        ) {
            let stream: Vec<u8> = bodies.iter().flat_map(|body| framed(body)).collect();
            prop_assert_eq!(all(&stream, step).expect("whole"), bodies);
        }

        #[test]
        fn no_stream_does_harm(stream in proptest::collection::vec(any::<u8>(), 0..9000), step in 1_usize..5000) {
            let _ = all(&stream, step);
        }
    }
}
