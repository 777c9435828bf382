//! The recognition of files that are no text, and of their kind.

use tectum_core::Fault;

/// Content that is no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotText {
    /// Its likely kind: `PNG image`, `ELF executable`, or just `binary data`.
    pub kind: &'static str,
    /// Its size in bytes.
    pub size: usize,
}

impl NotText {
    /// The refusal of a text tool, for the file of this name.
    pub fn fault(&self, path: &str) -> Fault {
        Fault::invalid(format!("{path} is not text: {}, {} bytes", self.kind, self.size))
            .hint("text tools leave binary files alone; write_file can replace it as a whole")
    }
}

/// The bytes of a file that are looked at to tell text from binary.
const SAMPLE: usize = 8 * 1024;

/// First bytes that give a kind away.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"%PDF-", "PDF document"),
    (b"\x7fELF", "ELF executable"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"PK\x05\x06", "ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"\xca\xfe\xba\xbe", "Java class or Mach-O executable"),
    (b"\xcf\xfa\xed\xfe", "Mach-O executable"),
    (b"\xce\xfa\xed\xfe", "Mach-O executable"),
    (b"\0asm", "WebAssembly module"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"OggS", "Ogg media"),
    (b"fLaC", "FLAC audio"),
    (b"ID3", "MP3 audio"),
    (b"wOFF", "web font"),
    (b"wOF2", "web font"),
    (b"\x00\x01\x00\x00\x00", "TrueType font"),
    (b"\xff\xfe\x00\x00", "UTF-32 text"),
    (b"\x00\x00\xfe\xff", "UTF-32 text"),
];

/// The kind of content that gives itself away by its first bytes.
pub(super) fn by_magic(bytes: &[u8]) -> Option<&'static str> {
    if let Some((_, kind)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        return Some(kind);
    }
    match (bytes.get(..4), bytes.get(8..12)) {
        (Some(b"RIFF"), Some(b"WEBP")) => Some("WebP image"),
        (Some(b"RIFF"), Some(b"WAVE")) => Some("WAV audio"),
        (Some(b"RIFF"), _) => Some("RIFF media"),
        _ if bytes.get(4..8) == Some(b"ftyp") => Some("MP4 media"),
        _ if bytes.starts_with(b"MZ") && bytes.contains(&0) => Some("Windows executable"),
        _ => None,
    }
}

/// True for bytes no text in a one-byte or East Asian encoding holds: NUL anywhere, or many
/// other control characters.
pub(super) fn looks_binary(bytes: &[u8]) -> bool {
    if memchr::memchr(0, bytes).is_some() {
        return true;
    }
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let control = |byte: &&u8| matches!(byte, 0x01..=0x08 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    sample.iter().filter(control).count() * 32 > sample.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expect: Option<&str>) {
        assert_eq!(by_magic(bytes), expect);
    }

    #[test]
    fn first_bytes_name_the_kind() {
        check(b"\x89PNG\r\n\x1a\n....", Some("PNG image"));
        check(b"RIFF\0\0\0\0WEBPVP8 ", Some("WebP image"));
        check(b"\0\0\0\x18ftypmp42", Some("MP4 media"));
        check(b"MZ\x90\0", Some("Windows executable"));
        check(b"plain words", None);
    }

    #[test]
    fn nul_and_many_control_characters_are_binary() {
        assert!(looks_binary(b"a\0b"));
        assert!(looks_binary(b"\x01\x02\x03\x80\x81"));
        assert!(!looks_binary(b"caf\xe9 au lait\x1b[0m and a good deal of other text after the escape"));
    }
}
