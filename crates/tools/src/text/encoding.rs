//! The encoding of a file: found out once for each file, and used again for what is put in.

use std::{borrow::Cow, fmt};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};

/// The encoding of a text. All of these are stateless: the bytes of two pieces of text, one
/// after the other, are the bytes of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
    /// The first 256 characters of Unicode, a byte each. Only files that declare it have it:
    /// everywhere else the name means windows-1252.
    Latin1,
    /// An older one: windows-1252, Shift_JIS, GBK, EUC-KR, …
    Legacy(&'static encoding_rs::Encoding),
}

/// Text and whether its bytes can be made from it again.
pub(super) struct Decoded {
    pub(super) text: String,
    pub(super) encoding: Encoding,
    pub(super) faithful: bool,
}

/// The bytes that are given to the detector, from the first one that is not ASCII.
const DETECTED: usize = 1024 * 1024;
/// The bytes that are looked at for the pattern of UTF-16.
const SAMPLE: usize = 4 * 1024;

impl Encoding {
    /// Its usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf16Le => "UTF-16LE",
            Self::Utf16Be => "UTF-16BE",
            Self::Latin1 => "ISO-8859-1",
            Self::Legacy(encoding) => encoding.name(),
        }
    }

    /// The byte order mark in this encoding; nothing where there is none.
    pub fn mark(self) -> &'static [u8] {
        match self {
            Self::Utf8 => b"\xef\xbb\xbf",
            Self::Utf16Le => b"\xff\xfe",
            Self::Utf16Be => b"\xfe\xff",
            Self::Latin1 | Self::Legacy(_) => b"",
        }
    }

    /// The bytes of a text, or the first character that has none here.
    pub fn encode(self, text: &str) -> Result<Cow<'_, [u8]>, char> {
        match self {
            Self::Utf8 => Ok(Cow::Borrowed(text.as_bytes())),
            Self::Utf16Le => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            Self::Utf16Be => Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
            Self::Latin1 => text.chars().map(|c| u8::try_from(c).map_err(|_| c)).collect(),
            Self::Legacy(encoding) => match encoding.encode(text) {
                (bytes, _, false) => Ok(bytes),
                _ => {
                    let lacks = |c: &char| encoding.encode(c.encode_utf8(&mut [0; 4])).2;
                    Err(text.chars().find(lacks).unwrap_or(char::REPLACEMENT_CHARACTER))
                }
            },
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The UTF-16 that a mark at the start, or zeros at every second place, give away.
pub(super) fn utf16(bytes: &[u8]) -> Option<(Encoding, bool)> {
    for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
        if bytes.starts_with(encoding.mark()) {
            return Some((encoding, true));
        }
    }
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    if bytes.len() < 2 || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let zeros = |parity: usize| sample.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let most = sample.len() / 2;
    // Text in Latin letters has a zero in nearly every unit, and never a whole zero unit.
    let (high, low, encoding) =
        if odd > even { (odd, even, Encoding::Utf16Le) } else { (even, odd, Encoding::Utf16Be) };
    (low == 0 && high * 3 >= most && high > 0).then_some((encoding, false))
}

/// Reads UTF-16; half a pair becomes U+FFFD and makes the text unfaithful.
pub(super) fn decode_utf16(bytes: &[u8], encoding: Encoding) -> Decoded {
    let unit = |pair: &[u8]| match encoding {
        Encoding::Utf16Be => u16::from_be_bytes([pair[0], pair[1]]),
        _ => u16::from_le_bytes([pair[0], pair[1]]),
    };
    let units = bytes.chunks_exact(2).map(unit);
    let mut faithful = bytes.len().is_multiple_of(2);
    let mut text = String::with_capacity(bytes.len() / 2);
    for c in char::decode_utf16(units) {
        faithful &= c.is_ok();
        text.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    if !bytes.len().is_multiple_of(2) {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    Decoded { text, encoding, faithful }
}

/// Reads bytes as the first two lines say they are to be read: `# -*- coding: latin-1 -*-`. That
/// is what an interpreter of the file does, so nothing else may be written into it. Nothing
/// where nothing is declared, or UTF-8 is, or the bytes are not what they are declared to be.
pub(super) fn decode_declared(bytes: &[u8]) -> Option<Decoded> {
    let encoding = declared(bytes)?;
    let text: Cow<'_, str> = match encoding {
        Encoding::Legacy(legacy) => legacy.decode_without_bom_handling_and_without_replacement(bytes)?,
        _ => bytes.iter().map(|byte| char::from(*byte)).collect::<String>().into(),
    };
    let faithful = encoding.encode(&text).is_ok_and(|again| *again == *bytes);
    faithful.then(|| Decoded { text: text.into_owned(), encoding, faithful })
}

fn declared(bytes: &[u8]) -> Option<Encoding> {
    /// A declaration stands at the start of one of the first two lines.
    const LOOKED_AT: usize = 256;
    let head = &bytes[..bytes.len().min(LOOKED_AT)];
    memchr::memmem::find(head, b"coding")?;
    let lines = head.split(|byte| *byte == b'\n').take(2);
    let label = lines.filter(|line| line.trim_ascii_start().starts_with(b"#")).find_map(|line| {
        let after = &line[memchr::memmem::find(line, b"coding")? + b"coding".len()..];
        let after = after.strip_prefix(b":").or(after.strip_prefix(b"="))?.trim_ascii_start();
        let end = after.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"-_.".contains(byte));
        Some(&after[..end.unwrap_or(after.len())])
    })?;
    let label = String::from_utf8_lossy(label).to_ascii_lowercase().replace('_', "-");
    if matches!(label.as_str(), "latin-1" | "latin1" | "iso-8859-1" | "iso8859-1" | "l1" | "8859" | "cp819") {
        return Some(Encoding::Latin1);
    }
    let label = match label.as_str() {
        "cp932" | "ms932" | "mskanji" => "shift-jis",
        "cp936" => "gbk",
        "cp949" => "euc-kr",
        other => other,
    };
    let known = encoding_rs::Encoding::for_label(label.as_bytes())
        .or_else(|| encoding_rs::Encoding::for_label(label.replace('-', "_").as_bytes()))?;
    let stateless = known != encoding_rs::UTF_8
        && known != encoding_rs::ISO_2022_JP
        && known != encoding_rs::REPLACEMENT
        && known.is_ascii_compatible();
    stateless.then_some(Encoding::Legacy(known))
}

/// Reads bytes that are neither UTF-8 nor UTF-16.
pub(super) fn decode_legacy(bytes: &[u8]) -> Decoded {
    if mostly_utf8(bytes) {
        let text = String::from_utf8_lossy(bytes).into_owned();
        return Decoded { text, encoding: Encoding::Utf8, faithful: false };
    }
    let guess = guess(bytes);
    // GBK's own encoder knows less than its decoder; the larger set knows the rest.
    let tries = [guess, if guess == encoding_rs::GBK { encoding_rs::GB18030 } else { guess }];
    let mut best = None;
    for encoding in tries {
        let (text, damaged) = encoding.decode_without_bom_handling(bytes);
        let faithful =
            !damaged && Encoding::Legacy(encoding).encode(&text).is_ok_and(|again| *again == *bytes);
        let decoded = Decoded { text: text.into_owned(), encoding: Encoding::Legacy(encoding), faithful };
        if faithful {
            return decoded;
        }
        best.get_or_insert(decoded);
    }
    best.unwrap_or(Decoded { text: String::new(), encoding: Encoding::Legacy(guess), faithful: false })
}

fn guess(bytes: &[u8]) -> &'static encoding_rs::Encoding {
    let first = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(0);
    // Some words before it help the detector as well.
    let from = first.saturating_sub(64);
    let sample = &bytes[from..bytes.len().min(from + DETECTED)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    if guess.is_single_byte() && few_accents(bytes) { encoding_rs::WINDOWS_1252 } else { guess }
}

/// Bytes of windows-1252 that stand for no character.
const UNDEFINED: [u8; 5] = [0x81, 0x8d, 0x8f, 0x90, 0x9d];
/// With fewer bytes that are not ASCII, a detector has too little to tell one-byte encodings apart.
const FEW: usize = 8;

/// True when the little that is not ASCII stands alone between plain letters and signs, as it
/// does in `naïve` or `£5`. Three in a row are rather a word of another alphabet.
fn few_accents(bytes: &[u8]) -> bool {
    let special = || bytes.iter().filter(|byte| !byte.is_ascii());
    special().take(FEW).count() < FEW
        && !special().any(|byte| UNDEFINED.contains(byte))
        && !bytes.windows(3).any(|three| three.iter().all(|byte| !byte.is_ascii()))
}

/// A damaged UTF-8 file is still UTF-8: most of what is not ASCII in it is well formed.
fn mostly_utf8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    good > bad * 2
}
