//! Bytes that wait to be written, in order. What was written is skipped, not moved away: a large
//! backlog that leaves in small pieces would be copied again for each of them.

use std::io;

/// Written bytes that are kept in front of the others at most.
const MOST_WRITTEN: usize = 1024 * 1024;

/// The bytes that are still to be written.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    /// More is appended here.
    pub(crate) bytes: Vec<u8>,
    written: usize,
}

impl Backlog {
    /// The bytes that are still to be written.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.written
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a message; one that stands alone is not copied.
    pub(crate) fn push(&mut self, message: Vec<u8>) {
        if self.bytes.is_empty() {
            self.bytes = message;
        } else {
            self.bytes.extend_from_slice(&message);
        }
    }

    /// Writes until `write` takes nothing more.
    pub(crate) fn flush(&mut self, mut write: impl FnMut(&[u8]) -> io::Result<usize>) -> io::Result<()> {
        while !self.is_empty() {
            match write(&self.bytes[self.written..])? {
                0 => break,
                more => self.written += more,
            }
        }
        if self.is_empty() {
            self.bytes.clear();
            if self.bytes.capacity() > 4 * MOST_WRITTEN {
                self.bytes = Vec::new();
            }
            self.written = 0;
        } else if self.written > MOST_WRITTEN && self.written > self.bytes.len() / 2 {
            // Less is moved than was written since the last time.
            self.bytes.drain(..self.written);
            self.written = 0;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_comes_out_once_and_in_order() {
        let mut backlog = Backlog::default();
        let all: Vec<u8> = (0..6 * MOST_WRITTEN).map(|number| (number % 251) as u8).collect();
        let mut out = Vec::new();
        for piece in all.chunks(MOST_WRITTEN) {
            backlog.push(piece.to_vec());
            let mut turns = 0;
            let taken = backlog.flush(|bytes| {
                turns += 1;
                let take = if turns > 10 { 0 } else { bytes.len().min(65_537) };
                out.extend_from_slice(&bytes[..take]);
                Ok(take)
            });
            taken.expect("written");
            assert!(backlog.bytes.len() - backlog.len() <= backlog.len().max(MOST_WRITTEN));
        }
        assert!(!backlog.is_empty());
        backlog
            .flush(|bytes| {
                out.extend_from_slice(bytes);
                Ok(bytes.len())
            })
            .expect("written");
        assert!(out == all && backlog.is_empty() && backlog.bytes.capacity() <= 4 * MOST_WRITTEN);
    }
}
