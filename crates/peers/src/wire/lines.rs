//! Bytes into lines, with a bound: an endless line costs its beginning and a count, not memory. And
//! messages onto one line, whoever wrote them over several.

/// Bytes that were read and not yet handled.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Reads append here.
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
    /// Bytes of an over-long line that are kept, to find its id in.
    const KEPT: usize = 64 * 1024;

    /// Nothing read yet; lines over `most` bytes are let go.
    pub(crate) fn new(most: usize) -> Self {
        Self { buffer: Vec::new(), most, skipped: 0, searched: 0, start: Vec::new() }
    }

    /// Changes the bound for the line that is being read, as long as it is within the bound it has.
    pub(crate) fn limit(&mut self, most: usize) {
        if self.skipped == 0 {
            self.most = most;
        }
    }

    /// True while a line is read that is over its bound.
    pub(crate) fn is_skipping(&self) -> bool {
        self.skipped > 0
    }

    /// Hands over every line that is complete.
    pub(crate) fn drain(&mut self, mut each: impl FnMut(Line<'_>)) {
        self.drain_while(|line| {
            each(line);
            true
        });
    }

    /// Hands over complete lines until `each` says that it takes no more. False when it did: there
    /// may be further ones.
    pub(crate) fn drain_while(&mut self, mut each: impl FnMut(Line<'_>) -> bool) -> bool {
        let (mut from, mut more) = (0, true);
        while more && let Some(at) = memchr::memchr(b'\n', &self.buffer[from.max(self.searched)..]) {
            let end = from.max(self.searched) + at;
            let line = &self.buffer[from..end];
            let size = self.skipped + line.len();
            if size > self.most {
                let start = if self.start.is_empty() { line } else { &self.start };
                more = each(Line::TooLong { start, size });
            } else {
                more = each(Line::Whole(line));
            }
            self.skipped = 0;
            self.start.clear();
            self.searched = 0;
            from = end + 1;
        }
        self.buffer.drain(..from);
        if !more {
            return false;
        }
        self.searched = self.buffer.len();
        if self.skipped + self.buffer.len() > self.most {
            if self.start.is_empty() {
                self.start.extend_from_slice(&self.buffer[..self.buffer.len().min(Self::KEPT)]);
            }
            self.skipped += self.buffer.len();
            self.buffer = Vec::new();
            self.searched = 0;
        } else if self.buffer.len() <= Self::KEPT && self.buffer.capacity() > 1024 * 1024 {
            self.buffer.shrink_to(Self::KEPT);
        }
        true
    }
}
