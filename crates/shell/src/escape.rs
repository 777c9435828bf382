//! Bytes of a command as text that can be read and cannot act on anything: bytes that are no UTF-8
//! are written as `\xNN`, characters that hide or command as their number.

use std::fmt::Write as _;

use tectum_child::visible::visible;

/// Makes text of bytes, however they are split.
#[derive(Debug, Default)]
pub(crate) struct Escaper {
    /// The beginning of a character whose rest has not come yet.
    begun: Vec<u8>,
    /// A carriage return that may belong to a line feed.
    returned: bool,
}

impl Escaper {
    /// The text of these bytes.
    pub(crate) fn text(&mut self, bytes: &[u8]) -> String {
        let joined;
        let bytes = if self.begun.is_empty() {
            bytes
        } else {
            self.begun.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.begun);
            &joined
        };
        let mut text = String::with_capacity(bytes.len());
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.add(chunk.valid(), &mut text);
            let is_last = chunks.peek().is_none();
            if is_last && is_begun(chunk.invalid()) {
                self.begun = chunk.invalid().to_vec();
            } else {
                self.add_bytes(chunk.invalid(), &mut text);
            }
        }
        text
    }

    /// What is left when nothing more comes.
    pub(crate) fn rest(&mut self) -> String {
        let mut text = String::new();
        let begun = std::mem::take(&mut self.begun);
        self.add_bytes(&begun, &mut text);
        if std::mem::take(&mut self.returned) {
            text.push('\r');
        }
        text
    }

    fn add(&mut self, valid: &str, text: &mut String) {
        if valid.is_empty() {
            return;
        }
        if std::mem::take(&mut self.returned) && !valid.starts_with('\n') {
            text.push('\r');
        }
        // Terminals and some programs end lines with both.
        let valid = match valid.strip_suffix('\r') {
            Some(before) => {
                self.returned = true;
                before
            }
            None => valid,
        };
        let shown = visible(valid);
        if shown.contains("\r\n") {
            text.push_str(&shown.replace("\r\n", "\n"))
        } else {
            text.push_str(&shown)
        }
    }

    fn add_bytes(&mut self, bytes: &[u8], text: &mut String) {
        if !bytes.is_empty() && std::mem::take(&mut self.returned) {
            text.push('\r');
        }
        for byte in bytes {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
}

/// Whether bytes are the beginning of a character.
fn is_begun(bytes: &[u8]) -> bool {
    !bytes.is_empty() && std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(pieces: &[&[u8]]) -> String {
        let mut escaper = Escaper::default();
        let mut text: String = pieces.iter().map(|piece| escaper.text(piece)).collect();
        text.push_str(&escaper.rest());
        text
    }

    #[test]
    fn what_cannot_be_read_is_shown_by_its_number() {
        for (bytes, expect) in [
            (&b"plain\n"[..], "plain\n"),
            ("über 日本\r\n".as_bytes(), "über 日本\n"),
            (b"\x1b[31mred\x07", "\\u{1b}[31mred\\u{7}"),
            (b"caf\xe9 \x00\xff", "caf\\xe9 \\u{0}\\xff"),
            (b"50%\r60%\r", "50%\r60%\r"),
            (b"end \xe6\x97", "end \\xe6\\x97"),
            (b"", ""),
        ] {
            assert_eq!(whole(&[bytes]), expect);
        }
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_bytes_are_split(bytes: Vec<u8>, cuts in proptest::collection::vec(0_usize..64, 0..8)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(whole(&pieces), whole(&[&bytes]));
        }
    }
}
