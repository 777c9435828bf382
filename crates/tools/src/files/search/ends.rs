//! Line ends as the rest of the house counts them: a lone `\r` ends a line too. It becomes
//! `\n` before the search, byte for byte, so that line numbers agree with `read_file`.

use std::io::{self, Read};

use super::decoded::{Watch, is_utf16};

/// Makes every lone `\r` a `\n`. A `\r` at the very end counts as lone.
pub(super) fn settle(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\r', &bytes[at..]) {
        at += found + 1;
        if bytes.get(at) != Some(&b'\n') {
            bytes[at - 1] = b'\n';
        }
    }
}

/// The same for a stream.
pub(super) struct Settled<R, F> {
    stream: R,
    /// Asked before each read whether to give up.
    stop: F,
    /// The byte after a `\r` that ended the last read.
    ahead: Option<u8>,
    /// True if the stream is left as it is; known after its first bytes.
    left: Option<bool>,
    /// True if it was UTF-8 so far.
    watch: Watch,
}

impl<R: Read, F: Fn() -> bool> Settled<R, F> {
    pub(super) fn new(stream: R, stop: F) -> Self {
        Self { stream, stop, ahead: None, left: None, watch: Watch::default() }
    }

    /// True if bytes came that are not UTF-8, nor marked as UTF-16.
    pub(super) fn undecoded(&self) -> bool {
        self.watch.broken()
    }

    fn look_ahead(&mut self) -> io::Result<Option<u8>> {
        let mut byte = [0];
        loop {
            match self.stream.read(&mut byte) {
                Ok(read) => return Ok((read == 1).then_some(byte[0])),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl<R: Read, F: Fn() -> bool> Read for Settled<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.stop)() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut filled = 0;
        let carried = self.ahead.is_some() && !buffer.is_empty();
        if let (Some(byte), Some(first)) = (self.ahead, buffer.first_mut()) {
            *first = byte;
            self.ahead = None;
            filled = 1;
        }
        filled += self.stream.read(&mut buffer[filled..])?;
        let bytes = &mut buffer[..filled];
        if bytes.is_empty() {
            self.watch.end();
            return Ok(filled);
        }
        if *self.left.get_or_insert_with(|| is_utf16(bytes)) {
            return Ok(filled);
        }
        self.watch.see(&bytes[usize::from(carried)..]);
        if bytes.ends_with(b"\r") {
            self.ahead = self.look_ahead()?;
            self.watch.see(self.ahead.as_slice());
        }
        settle(bytes);
        if self.ahead == Some(b'\n') {
            bytes[filled - 1] = b'\r';
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives at most so many bytes at once.
    struct Slow<'b>(&'b [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(buffer.len());
            self.0.read(&mut buffer[..most])
        }
    }

    fn check(bytes: &[u8], expect: &[u8]) {
        let mut whole = bytes.to_vec();
        settle(&mut whole);
        assert_eq!(whole, expect);
        for step in 1..=bytes.len().max(1) {
            let mut streamed = Vec::new();
            Settled::new(Slow(bytes, step), || false).read_to_end(&mut streamed).expect("read");
            assert_eq!(streamed, expect, "{step} bytes at once");
        }
    }

    #[test]
    fn only_lone_ones_change() {
        check(b"a\r\nb\rc\n\r\rd\r\n", b"a\r\nb\nc\n\n\nd\r\n");
        check(b"end\r", b"end\n");
        check(b"", b"");
    }

    #[test]
    fn utf16_is_left_alone() {
        let bytes = b"\xff\xfea\0\r\0\n\0";
        let mut streamed = Vec::new();
        Settled::new(&bytes[..], || false).read_to_end(&mut streamed).expect("read");
        assert_eq!(streamed, bytes);
    }

    #[test]
    fn a_stream_nobody_waits_for_ends() {
        assert!(Settled::new(&b"words"[..], || true).read(&mut [0; 8]).is_err());
    }
}
