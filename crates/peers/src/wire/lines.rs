//! Bytes into lines, with a bound: an endless line costs its beginning and a count, not memory. And
//! messages onto one line, whoever wrote them over several.

/// What has been read and not yet handled.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Where reads append to.
    pub(crate) buffer: Vec<u8>,
    most: usize,
    /// Bytes of an over-long line that were let go already.
    skipped: usize,
    /// Up to where the buffer is known to hold no newline.
    searched: usize,
    /// The beginning of an over-long line.
    start: Vec<u8>,
}

/// One line.
pub(crate) enum Line<'l> {
    /// As it came, without its newline.
    Whole(&'l [u8]),
    /// Longer than the bound: its beginning and its whole size.
    TooLong { start: &'l [u8], size: usize },
}

/// Puts a message of JSON onto one line. Ends of lines can only stand between its values, where they
/// mean as much as a space; over HTTP many write them, and on a pipe and in a stream of events each
/// would cut the message.
pub(crate) fn on_one_line(message: &mut [u8]) {
    let mut from = 0;
    while let Some(at) = memchr::memchr2(b'\n', b'\r', &message[from..]) {
        message[from + at] = b' ';
        from += at + 1;
    }
}

impl Lines {
    /// What is kept of an over-long line, to find its id in.
    const KEPT: usize = 64 * 1024;

    /// Nothing read yet; lines over `most` bytes are let go.
    pub(crate) fn new(most: usize) -> Self {
        Self { buffer: Vec::new(), most, skipped: 0, searched: 0, start: Vec::new() }
    }

    /// Hands over every line that is complete.
    pub(crate) fn drain(&mut self, mut each: impl FnMut(Line<'_>)) {
        let mut from = 0;
        while let Some(at) = memchr::memchr(b'\n', &self.buffer[from.max(self.searched)..]) {
            let end = from.max(self.searched) + at;
            let line = &self.buffer[from..end];
            let size = self.skipped + line.len();
            if size > self.most {
                let start = if self.start.is_empty() { line } else { &self.start };
                each(Line::TooLong { start, size });
            } else {
                each(Line::Whole(line));
            }
            self.skipped = 0;
            self.start.clear();
            self.searched = 0;
            from = end + 1;
        }
        self.buffer.drain(..from);
        self.searched = self.buffer.len();
        if self.skipped + self.buffer.len() > self.most {
            if self.start.is_empty() {
                self.start.extend_from_slice(&self.buffer[..self.buffer.len().min(Self::KEPT)]);
            }
            self.skipped += self.buffer.len();
            self.buffer = Vec::new();
            self.searched = 0;
        } else if self.buffer.is_empty() && self.buffer.capacity() > 1024 * 1024 {
            self.buffer = Vec::new();
        }
    }
}
