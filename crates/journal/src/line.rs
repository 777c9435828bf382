//! A record on the disk: one line of text, with its length and a hash that covers the line before.
//!
//! ```text
//! 000001c4 9f86d081884c7d659a2feaa0c55ad015 {"call":{…}}
//! ```
//!
//! The head has a fixed width, so that a damaged one still tells the hash beside the damage.

use std::fmt::Write as _;

/// The hash of a record and of all records before it in its chain.
pub(crate) type Chain = [u8; 16];

/// The chain before its first record.
pub(crate) const NOTHING: Chain = [0; 16];

/// The bytes before the JSON: eight digits, a space, 32 digits, a space.
pub(crate) const HEAD: usize = 42;

/// Where the hash stands in the head.
const HASH: std::ops::Range<usize> = 9..41;

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
pub(crate) fn line(before: &Chain, json: &str) -> (String, Chain) {
    let mut line = String::with_capacity(HEAD + json.len() + 1);
    line.extend(std::iter::repeat_n(' ', HEAD));
    match memchr::memchr(b'\n', json.as_bytes()) {
        None => line.push_str(json),
        Some(_) => line.push_str(&json.replace('\n', " ")),
    }
    let hash = chain(before, &line.as_bytes()[HEAD..]);
    let mut head = format!("{:08x} ", line.len() - HEAD);
    for byte in hash {
        // Writing to a string does not fail.
        let _ = write!(head, "{byte:02x}");
    }
    line.replace_range(..HEAD - 1, &head);
    line.push('\n');
    (line, hash)
}

/// The length and the hash that a head states; each `None` if it is not readable.
pub(crate) fn head(bytes: &[u8]) -> (Option<usize>, Option<Chain>) {
    let text = |range: std::ops::Range<usize>| std::str::from_utf8(bytes.get(range)?).ok();
    let digits = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let length = text(0..8).filter(|text| digits(text)).and_then(|text| usize::from_str_radix(text, 16).ok());
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
        assert!(first.ends_with("{\"a\": 1}\n") && first.len() == HEAD + 9, "{first}");
        assert_eq!(head(first.as_bytes()), (Some(8), Some(hash)));
        let (second, other) = line(&hash, "{\"a\": 1}");
        assert_ne!(hash, other);
        assert_eq!(head(second.as_bytes()).1, Some(chain(&hash, b"{\"a\": 1}")));
        assert_eq!(head(b"0000000g 00"), (None, None));
        assert_eq!(head(b""), (None, None));
    }
}
