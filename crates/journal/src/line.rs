//! A record on the disk: one line of text, with its length and a hash that covers the line before.
//!
//! ```text
//! 000001c4 9f86d081884c7d659a2feaa0c55ad015 {"call":{…}}
//! ```
//!
//! The head has a fixed width, so that a damaged one still tells the hash beside the damage.

use std::{borrow::Cow, ops::Range};

/// The hash of a record and of all records before it in its chain.
pub(crate) type Chain = [u8; 16];

/// The chain before its first record.
pub(crate) const NOTHING: Chain = [0; 16];

/// The bytes before the JSON: eight digits, a space, 32 digits, a space.
pub(crate) const HEAD: usize = 42;

/// The places of the length and of the hash in the head.
const LENGTH: Range<usize> = 0..8;
const HASH: Range<usize> = 9..41;

/// The hash of a record that comes after this one.
pub(crate) fn chain(before: &Chain, json: &[u8]) -> Chain {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before).update(json);
    let mut chain = NOTHING;
    chain.copy_from_slice(&hasher.finalize().as_bytes()[..NOTHING.len()]);
    chain
}

/// The line of a record, and its hash. The JSON has no line break outside of a string, where none can
/// stand, but as white space.
pub(crate) fn line(before: &Chain, json: &str) -> (Vec<u8>, Chain) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |number: usize| DIGITS[number % DIGITS.len()];
    let json = match memchr::memchr(b'\n', json.as_bytes()) {
        None => Cow::Borrowed(json),
        Some(_) => Cow::Owned(json.replace('\n', " ")),
    };
    let hash = chain(before, json.as_bytes());
    let mut head = [b' '; HEAD];
    for (place, byte) in head[LENGTH].iter_mut().rev().enumerate() {
        *byte = digit(json.len() >> (4 * place));
    }
    for (two, byte) in head[HASH].chunks_exact_mut(2).zip(hash) {
        two.copy_from_slice(&[digit(usize::from(byte >> 4)), digit(usize::from(byte))]);
    }
    ([&head, json.as_bytes(), b"\n"].concat(), hash)
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
