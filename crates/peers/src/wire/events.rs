//! A stream of server-sent events cut into events, with a bound: an endless event costs its
//! beginning and a count, not memory.
//!
//! What the standard says to ignore is ignored: comments, fields nobody knows, events without
//! data. What it says to remember, the last id and the time until a new try, is remembered.

use std::{mem, time::Duration};

/// The longest id of an event that is kept: it goes back as a header.
const MOST_ID: usize = 4096;
/// Bytes of an over-long event that are kept, to find an id of ours in.
const KEPT: usize = 64 * 1024;

/// A stream that is being read.
#[derive(Debug)]
pub(crate) struct Events {
    most: usize,
    line: Vec<u8>,
    /// The lines of data so far, each with a newline behind it.
    data: Vec<u8>,
    name: String,
    id: Option<String>,
    /// Bytes of the event that is being read.
    size: usize,
    /// It went over the bound; what is left of it is let go.
    over: bool,
    /// The last byte was a carriage return; a newline after it belongs to it.
    after_return: bool,
    /// Nothing has been read: a byte order mark may come.
    fresh: bool,
    /// The id of the last event.
    pub(crate) last_id: Option<String>,
    /// The time to wait before connecting again, if the server said so.
    pub(crate) retry: Option<Duration>,
}

/// An item of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StreamItem<'e> {
    /// An event with data. Its name is empty where it has none.
    Event { name: &'e str, data: &'e [u8] },
    /// Longer than the bound: the beginning of its data, and the size it has by now.
    TooLong { start: &'e [u8], size: usize },
}

impl Events {
    /// A stream from its beginning; events over `most` bytes are let go.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            line: Vec::new(),
            data: Vec::new(),
            name: String::new(),
            id: None,
            size: 0,
            over: false,
            after_return: false,
            fresh: true,
            last_id: None,
            retry: None,
        }
    }

    /// Changes the bound for the event that is being read, as long as it is within the bound it has.
    pub(crate) fn limit(&mut self, most: usize) {
        if !self.over {
            self.most = most;
        }
    }

    /// The beginning of the data of the event that is being read.
    pub(crate) fn pending(&self) -> &[u8] {
        let line = self.line.strip_prefix(b"data:").unwrap_or_default();
        if self.data.is_empty() { line } else { &self.data }
    }

    /// True while an event is read that is over its bound.
    pub(crate) fn is_skipping(&self) -> bool {
        self.over
    }

    /// Takes what came and hands over every event that is complete.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(StreamItem<'_>)) {
        if mem::take(&mut self.after_return)
            && let Some(rest) = bytes.strip_prefix(b"\n")
        {
            bytes = rest;
        }
        while let Some(at) = memchr::memchr2(b'\n', b'\r', bytes) {
            self.extend(&bytes[..at], &mut each);
            let returned = bytes[at] == b'\r';
            bytes = &bytes[at + 1..];
            if returned {
                match bytes.first() {
                    Some(b'\n') => bytes = &bytes[1..],
                    Some(_) => {}
                    None => self.after_return = true,
                }
            }
            self.end_line(&mut each);
        }
        self.extend(bytes, &mut each);
    }

    /// Adds to the line that is being read, as long as the event stays within its bound. Going
    /// over it is told at once: the rest may take for ever.
    fn extend(&mut self, part: &[u8], each: &mut impl FnMut(StreamItem<'_>)) {
        self.size += part.len();
        if self.size <= self.most {
            self.line.extend_from_slice(part);
            return;
        }
        if !mem::replace(&mut self.over, true) {
            let held = if self.data.is_empty() { &self.line } else { &self.data };
            let mut start = held[..held.len().min(KEPT)].to_vec();
            start.extend_from_slice(&part[..part.len().min(KEPT - start.len())]);
            self.data = Vec::new();
            self.line = Vec::new();
            each(StreamItem::TooLong { start: &start, size: self.size });
        }
        // One byte tells that the line is not the empty one that ends the event.
        if self.line.is_empty() && !part.is_empty() {
            self.line.push(b':');
        }
    }

    fn end_line(&mut self, each: &mut impl FnMut(StreamItem<'_>)) {
        let mut line = mem::take(&mut self.line);
        if mem::take(&mut self.fresh) && line.starts_with(b"\xEF\xBB\xBF") {
            line.drain(..3);
        }
        if line.is_empty() {
            self.end_event(each);
        } else {
            let (field, value) = match memchr::memchr(b':', &line) {
                Some(at) => (&line[..at], &line[at + 1..]),
                None => (&line[..], &b""[..]),
            };
            self.field(field, value.strip_prefix(b" ").unwrap_or(value));
        }
        line.clear();
        // The room of a long line is not kept for short ones.
        if line.capacity() <= KEPT {
            self.line = line;
        }
    }

    fn field(&mut self, field: &[u8], value: &[u8]) {
        match field {
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) && value.len() <= MOST_ID => {
                self.id = Some(String::from_utf8_lossy(value).into_owned());
            }
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                let number = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                self.retry = number.map(Duration::from_millis).or(self.retry);
            }
            _ => {}
        }
    }

    fn end_event(&mut self, each: &mut impl FnMut(StreamItem<'_>)) {
        let mut data = mem::take(&mut self.data);
        self.size = 0;
        let name = mem::take(&mut self.name);
        if let Some(id) = self.id.take() {
            // An empty id takes the last one back.
            self.last_id = Some(id).filter(|id| !id.is_empty());
        }
        if mem::take(&mut self.over) {
            return;
        }
        data.pop();
        if !data.is_empty() {
            each(StreamItem::Event { name: &name, data: &data });
        }
        if data.capacity() <= KEPT {
            data.clear();
            self.data = data;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same text in one piece and byte by byte must give the same.
    fn check(text: &str, expect: &[&str]) -> Events {
        let read = |step: usize| {
            let mut events = Events::new(100);
            let mut found = Vec::new();
            for part in text.as_bytes().chunks(step) {
                events.feed(part, |event| {
                    found.push(match event {
                        StreamItem::Event { name, data } => {
                            format!("{name}|{}", String::from_utf8_lossy(data))
                        }
                        StreamItem::TooLong { start, size } => format!("too long {} {size}", start.len()),
                    });
                });
            }
            (found, events)
        };
        let (found, events) = read(text.len().max(1));
        assert_eq!(found, expect, "{text:?}");
        if !expect.iter().any(|line| line.starts_with("too long")) {
            assert_eq!(read(1).0, expect, "byte by byte: {text:?}");
        }
        events
    }

    #[test]
    fn events_are_cut_as_the_standard_says() {
        check("data: a\n\n", &["|a"]);
        check("data:a\r\n\r\ndata: b\r\rdata: c\n\n", &["|a", "|b", "|c"]);
        check("data: a\ndata:  b\n\n", &["|a\n b"]);
        check("\u{feff}data: a\n\n", &["|a"]);
        check(": a comment\nevent: message\nfuture: x\nnocolon\ndata: a\n\n", &["message|a"]);
        check("event: lost\n\ndata: a\n\n", &["|a"]);
        check("data\n\ndata: \n\n", &[]);
        check("data: unfinished\n", &[]);
    }

    #[test]
    fn ids_and_times_are_remembered() {
        let events = check("id: 1\nretry: 500\ndata:\n\nid: 2\ndata: x\n\nid: 3\ndata: cut", &["|x"]);
        assert_eq!((events.last_id.as_deref(), events.retry), (Some("2"), Some(Duration::from_millis(500))));
        let events = check("id: 1\ndata: x\n\nid\nretry: soon\ndata: y\n\n", &["|x", "|y"]);
        assert_eq!((events.last_id, events.retry), (None, None));
    }

    #[test]
    fn a_long_event_costs_its_beginning_only() {
        let long = "x".repeat(300);
        check(&format!("data: a\n\ndata: {long}\n\ndata: b\n\n"), &["|a", "too long 306 306", "|b"]);
        check(
            &format!("data: {}\ndata: {}\n\ndata: b\n\n", &long[..60], &long[..60]),
            &["too long 127 132", "|b"],
        );
    }
}
