//! A record on the disk: one line of text, with its length and a hash that covers the line before.
//!
//! ```text
//! 000001c4 9f86d081884c7d659a2feaa0c55ad015 {"call":{…}}
//! ```
//!
//! The head has a fixed width, so that a damaged one still tells the hash beside the damage.

use std::ops::Range;

use serde::Serialize;

/// The hash of a record and of all records before it in its chain.
pub(crate) type Chain = [u8; 16];

/// The chain before its first record.
pub(crate) const NOTHING: Chain = [0; 16];

/// The bytes before the JSON: eight digits, a space, 32 digits, a space.
pub(crate) const HEAD: usize = 42;

/// The places of the length and of the hash in the head.
const LENGTH: Range<usize> = 0..8;
const HASH: Range<usize> = 9..41;

/// The hash of a record that comes after this one. The one before is the key: put in front of the record it
/// would shift every block of it, which takes twice as long to hash.
pub(crate) fn chain(before: &Chain, json: &[u8]) -> Chain {
    let mut key = [0; blake3::KEY_LEN];
    key[..NOTHING.len()].copy_from_slice(before);
    let mut chain = NOTHING;
    chain.copy_from_slice(&blake3::keyed_hash(&key, json).as_bytes()[..NOTHING.len()]);
    chain
}

/// The start of a line whose JSON the caller appends.
pub(crate) fn begun(room: usize) -> String {
    let mut line = String::with_capacity(HEAD + room);
    line.extend(std::iter::repeat_n(' ', HEAD));
    line
}

/// The line of a record that is written as JSON.
pub(crate) fn of(record: &impl Serialize) -> serde_json::Result<String> {
    Ok(begun(0) + &serde_json::to_string(record)?)
}

/// Fills in the head of a line and ends it; the hash of the record. The JSON has no line break outside of a
/// string, where none can stand, but as white space.
pub(crate) fn finish(before: &Chain, line: String) -> (Vec<u8>, Chain) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |number: usize| DIGITS[number % DIGITS.len()];
    let mut line = match memchr::memchr(b'\n', line.as_bytes()) {
        None => line.into_bytes(),
        Some(_) => line.replace('\n', " ").into_bytes(),
    };
    let hash = chain(before, &line[HEAD..]);
    let length = line.len() - HEAD;
    for (place, byte) in line[LENGTH].iter_mut().rev().enumerate() {
        *byte = digit(length >> (4 * place));
    }
    for (two, byte) in line[HASH].chunks_exact_mut(2).zip(hash) {
        two.copy_from_slice(&[digit(usize::from(byte >> 4)), digit(usize::from(byte))]);
    }
    line.push(b'\n');
    (line, hash)
}

/// The length and the hash that a head states; each `None` if it is not readable.
pub(crate) fn head(bytes: &[u8]) -> (Option<usize>, Option<Chain>) {
    let text = |range: Range<usize>| std::str::from_utf8(bytes.get(range)?).ok();
    let digits = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let length =
        text(LENGTH).filter(|text| digits(text)).and_then(|text| usize::from_str_radix(text, 16).ok());
    let hash = text(HASH).filter(|text| digits(text)).and_then(|text| {
        let mut hash = NOTHING;
        for (byte, two) in hash.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok()?;
        }
        Some(hash)
    });
    let spaces = bytes.get(8) == Some(&b' ') && bytes.get(HEAD - 1) == Some(&b' ');
    (length.filter(|_| spaces), hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_states_its_length_and_its_hash_and_covers_the_one_before() {
        let line = |before: &Chain, json: &str| finish(before, begun(0) + json);
        let (first, hash) = line(&NOTHING, "{\"a\":\n1}");
        assert!(first.ends_with(b"{\"a\": 1}\n") && first.len() == HEAD + 9, "{first:?}");
        assert_eq!(head(&first), (Some(8), Some(hash)));
        let (second, other) = line(&hash, "{\"a\": 1}");
        assert_ne!(hash, other);
        assert_eq!(head(&second).1, Some(chain(&hash, b"{\"a\": 1}")));
        assert_eq!(head(b"0000000g 00"), (None, None));
        assert_eq!(head(b""), (None, None));
    }
}
