//! The content of a file as it was read: bytes first, text only where it is asked for.

use std::{borrow::Cow, cell::OnceCell, fs::File, io::Read};

use memchr::memmem;

use super::entry::What;
use crate::text::TextFile;

/// A buffer that grew beyond this for one giant is given back after it.
const USUAL: usize = 4 * 1024 * 1024;

/// The bytes of one file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileContent<'b> {
    bytes: &'b [u8],
    /// True if zeros are among them: asked more than once, and each time all bytes are looked at.
    zeros: &'b OnceCell<bool>,
}

impl<'b> FileContent<'b> {
    /// The text without a byte order mark; `None` for what is no text. Plain UTF-8 is not
    /// copied.
    pub(crate) fn text(self) -> Option<Cow<'b, str>> {
        if !self.is_doubtful()
            && let Ok(text) = std::str::from_utf8(self.bytes)
        {
            return Some(Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)));
        }
        let file = TextFile::decode(self.bytes.to_vec()).ok()?;
        Some(Cow::Owned(file.text().to_owned()))
    }

    /// True if the content may be no text after all.
    pub(super) fn is_doubtful(self) -> bool {
        *self.zeros.get_or_init(|| memchr::memchr(0, self.bytes).is_some())
    }
}

/// A word that files are searched for before anything else is done with them.
#[derive(Debug)]
pub(crate) struct Needle {
    finder: memmem::Finder<'static>,
    ascii: bool,
}

impl Needle {
    pub(crate) fn new(word: &str) -> Self {
        Self { finder: memmem::Finder::new(word.as_bytes()).into_owned(), ascii: word.is_ascii() }
    }

    /// True if the word can stand in the text of these bytes. Bytes with zeros or a mark may be
    /// UTF-16, and letters beyond ASCII have other bytes in other encodings: those must be
    /// decoded to know.
    pub(crate) fn may_be_in(&self, content: FileContent<'_>) -> bool {
        let bytes = content.bytes;
        self.finder.find(bytes).is_some()
            || bytes.starts_with(&[0xff, 0xfe])
            || bytes.starts_with(&[0xfe, 0xff])
            || content.is_doubtful()
            || (!self.ascii && std::str::from_utf8(bytes).is_err())
    }
}

/// Reads files one after another into the same memory.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    zeros: OnceCell<bool>,
}

impl Buffer {
    /// The whole content of a file, read once.
    pub(super) fn read(&mut self, mut file: &File, size: u64, most: u64) -> Result<FileContent<'_>, What> {
        if size > most {
            return Err(What::TooLarge);
        }
        if self.bytes.len() > USUAL && size < USUAL as u64 {
            self.bytes = Vec::new();
        }
        // One byte more than stated shows a file that grew. A size is a claim, so that beyond
        // this the room grows as it fills.
        let wanted = usize::try_from(size).unwrap_or(0).min(USUAL * 16) + 1;
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0);
        }
        self.zeros = OnceCell::new();
        let mut filled = 0;
        loop {
            if filled == self.bytes.len() {
                if filled as u64 > most {
                    return Err(What::TooLarge);
                }
                self.bytes.resize(filled * 2, 0);
            }
            match file.read(&mut self.bytes[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => return Err(What::Unreadable),
            }
            // A short read at exactly the stated size is the end of an unchanged file; the
            // system need not be asked again to say so.
            if filled as u64 == size && filled < self.bytes.len() {
                break;
            }
        }
        if filled as u64 > most {
            return Err(What::TooLarge);
        }
        Ok(FileContent { bytes: &self.bytes[..filled], zeros: &self.zeros })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expect: Option<&str>) {
        let content = FileContent { bytes, zeros: &OnceCell::new() };
        assert_eq!(content.text().as_deref(), expect);
        assert_eq!(content.text().as_deref(), expect, "the second answer is the first");
    }

    #[test]
    fn text_is_what_the_bytes_stand_for() {
        check(b"plain", Some("plain"));
        check(b"\xef\xbb\xbfmarked", Some("marked"));
        check(b"\xff\xfea\0b\0", Some("ab"));
        check(b"caf\xe9 au lait", Some("café au lait"));
        check(b"\x7fELF\0\0\0\x01", None);
        check(b"", Some(""));
    }

    #[test]
    fn a_word_is_looked_for_in_every_encoding() {
        let found = |word: &str, bytes: &[u8]| {
            Needle::new(word).may_be_in(FileContent { bytes, zeros: &OnceCell::new() })
        };
        assert!(found("word", b"a word"));
        assert!(!found("word", b"another"));
        assert!(found("word", b"w\0o\0r\0d\0"));
        assert!(found("caf\u{e9}", b"caf\xe9"));
        assert!(!found("caf\u{e9}", b"cafe"));
    }

    #[test]
    fn files_are_read_whole_whatever_size_they_state() {
        use std::io::{Seek, Write};
        let mut file = tempfile::tempfile().expect("a scratch file");
        file.write_all(&[b'x'; 5_000]).expect("written");
        let mut buffer = Buffer::default();
        for stated in [0, 1, 4_999, 5_000, 5_001, 9_000] {
            file.rewind().expect("rewound");
            assert_eq!(
                buffer.read(&file, stated, 10_000).map(|content| content.bytes.len()),
                Ok(5_000),
                "{stated}"
            );
        }
        file.rewind().expect("rewound");
        assert_eq!(buffer.read(&file, 10, 4_000).map(|_| ()), Err(What::TooLarge));
    }
}
