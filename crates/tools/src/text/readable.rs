//! What is written must be readable: no edit may leave a file that the text tools take for
//! something else afterwards.

use tectum_core::Fault;

use super::{Encoding, TextFile};

impl TextFile {
    /// True if these bytes, read again, are this text.
    pub fn reads_again(&self) -> bool {
        match self.facts().encoding {
            // Strict UTF-8 is known at once; only a NUL would make something else of it.
            Encoding::Utf8 => !has_nul(self.text()),
            // The encoding may have another name then, as when the last accent of a file went.
            _ => Self::decode(self.bytes().to_vec()).is_ok_and(|again| again.text() == self.text()),
        }
    }

    /// Refuses what would not be this text when it is read again.
    pub fn check_reads_again(&self) -> Result<(), Fault> {
        check_nul(self.text())?;
        if self.reads_again() {
            return Ok(());
        }
        let encoding = self.facts().encoding;
        Err(Fault::conflict(format!(
            "after this edit the file would not be read as {encoding} again: too little in it would give the encoding away; nothing was changed"
        ))
        .hint("write_file can replace the file as a whole, and makes it UTF-8"))
    }
}

/// Refuses text that no text tool would read again.
pub fn check_nul(text: &str) -> Result<(), Fault> {
    if !has_nul(text) {
        return Ok(());
    }
    Err(Fault::invalid("text with a NUL character would be taken for binary; nothing was changed")
        .hint("leave U+0000 out, or write it as an escape of the file's language"))
}

fn has_nul(text: &str) -> bool {
    memchr::memchr(0, text.as_bytes()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(before: &[u8], new: &str) -> TextFile {
        let file = TextFile::decode(before.to_vec()).expect("text");
        let all = 0..file.text().len();
        file.edited(&[(all, new.to_owned())]).expect("edited")
    }

    #[test]
    fn text_that_reads_again_is_told_from_text_that_does_not() {
        let check = |before: &[u8], new: &str, expect: bool| {
            assert_eq!(edited(before, new).reads_again(), expect, "{before:?} to {new:?}");
        };
        check(b"plain", "日本語", true);
        check(b"plain", "a\0", false);
        check(b"h\0i\0", "hello", true);
        check(b"h\0i\0", "日本語", false);
        check(b"\xff\xfeh\0i\0", "日本語", true);
        check(b"\xff\xfeh\0i\0", "a\0", false);
        check(b"caf\xe9 na\xefve text", "plain", true);
        check(b"caf\xe9 na\xefve text", "caf\u{e9}", true);
    }
}
