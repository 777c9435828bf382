//! Long runs of base64: their decoded text, and tokens that consist of nothing but such runs.

use std::ops::Range;

use base64::{
    Engine as _,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use crate::unfold::is_base64;

/// The least length of a run; shorter ones hold no secret of a known kind.
const LEAST: usize = 20;
/// The least length of a long word; every token has one.
const LONG: usize = 14;
/// Two blocks in a row are in every word of `LONG` bytes.
const BLOCK: usize = 4;
/// The number of characters of a run that tell if it is text.
const TELLING: usize = 16;

const FORGIVING: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const PLAIN: GeneralPurpose = GeneralPurpose::new(&STANDARD, FORGIVING);
const SAFE: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, FORGIVING);

/// Calls `give` with each run of base64 that decodes to text, and with that text.
pub(crate) fn texts(text: &str, words: &[Range<usize>], mut give: impl FnMut(Range<usize>, &str)) {
    for run in words.iter().filter(|word| word.len() >= LEAST) {
        if let Some(decoded) = decode(&text[run.clone()]) {
            let padding = text.as_bytes()[run.end..].iter().take(2).take_while(|byte| **byte == b'=').count();
            give(run.start..run.end + padding, &decoded);
        }
    }
}

/// Calls `give` with each Discord bot token: three words joined by dots, the first a number in base64.
pub(crate) fn discord(text: &str, words: &[Range<usize>], mut give: impl FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let part =
        |from: usize| bytes[from.min(bytes.len())..].iter().take_while(|byte| is_base64(**byte)).count();
    for first in words.iter().filter(|word| (LEAST..=28).contains(&word.len())) {
        if !matches!(bytes[first.start], b'M' | b'N' | b'O') || bytes.get(first.end) != Some(&b'.') {
            continue;
        }
        let middle = part(first.end + 1);
        let last = first.end + 1 + middle;
        if (5..=7).contains(&middle) && bytes.get(last) == Some(&b'.') {
            let length = part(last + 1);
            if length >= 25 {
                give(first.start..last + 1 + length);
            }
        }
    }
}

/// The long words of a text, in both alphabets of base64: every token has one.
pub(crate) fn long_words(bytes: &[u8]) -> Vec<Range<usize>> {
    // Told for all bytes at once, which is several times faster than one after the other.
    let is_in: Vec<u8> = bytes.iter().map(|byte| u8::from(is_base64(*byte))).collect();
    let mut words = Vec::new();
    let mut done = 0;
    // A long word fills two blocks in a row, wherever it begins.
    let blocks = is_in.chunks_exact(BLOCK).map(|block| block == [1; BLOCK]);
    let mut is_full = false;
    for (number, now) in blocks.enumerate() {
        let (end, both) = ((number + 1) * BLOCK, is_full && now);
        is_full = now;
        if !both || end <= done {
            continue;
        }
        let start = end - is_in[done..end].iter().rev().take_while(|is_in| **is_in == 1).count();
        let end = end + is_in[end..].iter().take_while(|is_in| **is_in == 1).count();
        if end - start >= LONG {
            words.push(start..end);
        }
        done = end;
    }
    words
}

/// The text that a run of base64 decodes to.
fn decode(run: &str) -> Option<String> {
    let is_safe = run.bytes().any(|byte| matches!(byte, b'-' | b'_'));
    let engine = if is_safe { SAFE } else { PLAIN };
    let mut start = [0; TELLING];
    let length = engine.decode_slice(&run[..TELLING], &mut start).ok()?;
    if !start[..length].iter().all(|byte| is_text(*byte)) {
        return None;
    }
    // One letter too many is the start of a group that was cut.
    let whole = if run.len() % 4 == 1 { &run[..run.len() - 1] } else { run };
    let mut decoded = engine.decode(whole).ok()?;
    if let Err(error) = std::str::from_utf8(&decoded) {
        decoded.truncate(error.valid_up_to());
    }
    String::from_utf8(decoded).ok()
}

fn is_text(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte) || matches!(byte, b'\n' | b'\r' | b'\t' | 0x1b)
}
