//! The template of a text: its words without ids, numbers and times, so that a text that only counts on
//! is the same text.

use super::leaves::{Leaf, is_id};

/// Bytes of a text that decide its template.
const LOOKED_AT: usize = 4096;
/// Characters of a text that are kept to be told.
pub(crate) const SHOWN: usize = 80;

/// A fixed hash of a value, by template if it is a text. Never 0, which means absent.
pub(crate) fn hash(leaf: Leaf<'_>) -> u64 {
    let hash = match leaf {
        Leaf::Null => fnv(b"n", SEED),
        Leaf::Bool(flag) => fnv(if flag { b"t" } else { b"f" }, SEED),
        Leaf::Number(value) => fnv(&value.to_bits().to_le_bytes(), fnv(b"#", SEED)),
        Leaf::Text(text) => of_text(text),
    };
    hash.max(1)
}

fn of_text(text: &str) -> u64 {
    let mut end = text.len().min(LOOKED_AT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut hash = fnv(b"\"", SEED);
    let mut masked = false;
    for word in text[..end].split(|c: char| !c.is_alphanumeric()) {
        let id = word.bytes().any(|b| b.is_ascii_digit()) || is_id(word);
        // Several ids in a row are one, so that `1.5` and `12` are the same.
        if word.is_empty() || (id && masked) {
            continue;
        }
        masked = id;
        hash = fnv(if id { b"*" } else { word.as_bytes() }, fnv(b" ", hash));
    }
    hash
}

/// Quotes stay in place as a mark of a text; what is inside is made safe where it is told.
pub(crate) fn quoted(text: &str) -> Box<str> {
    let kept: String = text.chars().take(SHOWN).collect();
    format!("\"{kept}\"").into()
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// 64-bit FNV-1a, which is the same in every process.
pub(crate) fn fnv(bytes: &[u8], seed: u64) -> u64 {
    bytes.iter().fold(seed, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The hash of a word from the start.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    fnv(bytes, SEED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_counts_on_is_the_same_text() {
        let same = |a: &str, b: &str| hash(Leaf::Text(a)) == hash(Leaf::Text(b));
        assert!(same("2024-10-29T23:09:25.120Z", "2025-01-02T03:04:05Z"));
        assert!(same("Build 17 of main passed in 3.5 s", "Build 18 of main passed in 12 s"));
        assert!(same("a94a8fe5ccb19ba61c4c0873d391e987982fbbd3", "0b9c2625dc21ef05f6ad4ddf47c5f203837aa32c"));
        assert!(!same("success", "failure"));
        assert!(!same("Build 17 of main passed", "Build 17 of main failed"));
        assert!(!same("ゴー", "ストップ"));
    }

    #[test]
    fn a_long_text_costs_no_more_than_its_beginning() {
        let long = format!("{}ü", "é".repeat(1 << 20));
        assert_eq!(hash(Leaf::Text(&long)), hash(Leaf::Text(&"é".repeat(3_000))));
    }
}
