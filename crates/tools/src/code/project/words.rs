//! The words of a text: runs of letters, digits and `_`, whatever the language.

/// Bytes of a word that can be a name; longer runs are data.
const LONGEST: usize = 256;

/// Shows every word that can be a name, in order.
pub(crate) fn each<'t>(text: &'t str, mut show: impl FnMut(&'t str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !joins(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        let mut beyond = 0;
        while at < bytes.len() && joins(bytes[at]) {
            beyond |= bytes[at] & 0x80;
            at += 1;
        }
        if beyond == 0 {
            if !bytes[start].is_ascii_digit() && at - start <= LONGEST {
                show(&text[start..at]);
            }
            continue;
        }
        // Some of what lies beyond ASCII are letters, the rest separates. Both ends lie beside
        // ASCII bytes, so the slice splits no character.
        for word in text[start..at].split(|c: char| c != '_' && !c.is_alphanumeric()) {
            if word.starts_with(|c: char| c == '_' || c.is_alphabetic()) && word.len() <= LONGEST {
                show(word);
            }
        }
    }
}

fn joins(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// Whether this is one word that can be a name.
pub(crate) fn is_name(word: &str) -> bool {
    let joins = |c: char| c == '_' || c == '$' || c.is_alphanumeric();
    word.len() <= LONGEST
        && word.starts_with(|c: char| joins(c) && !c.is_ascii_digit())
        && word.chars().all(joins)
}

/// A number for a word. It need not resist anybody: a collision only counts a name once more.
pub(crate) fn hash(word: &str) -> u64 {
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut hash = word.len() as u64;
    for chunk in word.as_bytes().chunks(8) {
        let mut eight = [0; 8];
        eight[..chunk.len()].copy_from_slice(chunk);
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(eight)).wrapping_mul(MIX);
    }
    hash ^ (hash >> 32) ^ (hash << 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let mut words = Vec::new();
        each(text, |word| words.push(word));
        assert_eq!(words, expect);
    }

    #[test]
    fn words_are_runs_of_letters() {
        check("a.b_c(d1, 2, 0x3f)", &["a", "b_c", "d1"]);
        check("größe—naïve «x»", &["größe", "naïve", "x"]);
        check("日本 = \"…\"", &["日本"]);
        check("", &[]);
        check(&"x".repeat(LONGEST + 1), &[]);
    }

    #[test]
    fn a_name_is_one_word() {
        let names = [("a", true), ("_a1", true), ("$x", true), ("größe", true)];
        let others = [("1a", false), ("a b", false), ("", false), ("a.b", false)];
        for (word, expect) in names.into_iter().chain(others) {
            assert_eq!(is_name(word), expect, "{word}");
        }
    }

    #[test]
    fn different_words_have_different_numbers() {
        let words = ["", "a", "b", "aa", "a\0", "abcdefgh", "abcdefghi", "ihgfedcba"];
        let numbers: std::collections::HashSet<u64> = words.iter().map(|word| hash(word)).collect();
        assert_eq!(numbers.len(), words.len());
    }
}
