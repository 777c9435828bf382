//! A stream of server-sent events cut into the data they carry, within a bound. Names, ids and
//! comments mean nothing here.

/// The state of a stream that is being read.
#[derive(Debug)]
pub(super) struct Events {
    most: usize,
    line: Vec<u8>,
    data: Vec<u8>,
    /// All that was read: a stream is one answer, so the bound is for all of it.
    read: usize,
    /// The last byte was a carriage return; a newline after it belongs to it.
    after_return: bool,
}

impl Events {
    /// A stream from its beginning that may have so many bytes.
    pub(super) fn new(most: usize) -> Self {
        Self { most, line: Vec::new(), data: Vec::new(), read: 0, after_return: false }
    }

    /// Takes what came, and gives the data of each event that is complete.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, String> {
        self.read += bytes.len();
        if self.read > self.most {
            return Err(format!("its answer is larger than {} bytes", self.most));
        }
        let mut found = Vec::new();
        for &byte in bytes {
            let follows = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if follows => {}
                b'\n' | b'\r' => found.extend(self.end_line()),
                byte => self.line.push(byte),
            }
        }
        Ok(found)
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            let text = String::from_utf8_lossy(&data).trim_end_matches('\n').to_owned();
            return (!text.is_empty()).then_some(text);
        }
        if let Some(value) = line.strip_prefix(b"data:") {
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
            self.data.push(b'\n');
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same text in one piece and byte by byte must give the same.
    fn check(text: &str, expect: &[&str]) {
        for step in [text.len().max(1), 1, 3] {
            let mut events = Events::new(1000);
            let found: Vec<String> =
                text.as_bytes().chunks(step).flat_map(|part| events.feed(part).expect("short")).collect();
            assert_eq!(found, expect, "{text:?} by {step}");
        }
    }

    #[test]
    fn data_is_found_whatever_the_newlines() {
        check("data: a\n\ndata:b\r\n\r\n: ping\n\nevent: x\ndata: c\ndata: d\n\n", &["a", "b", "c\nd"]);
        check("data: é\r\rdata: open", &["é"]);
        check("\n\n\n", &[]);
    }

    #[test]
    fn an_endless_stream_ends() {
        let mut events = Events::new(10);
        assert!(events.feed(b"data: 1234").is_ok());
        assert!(events.feed(b"5").is_err());
    }
}
