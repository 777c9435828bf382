//! The words of a text: runs of letters, digits and `_`, whatever the language.

use memchr::memmem;
use tectum_syntax::{Bodies, Pack};

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

/// Shows every word of the code: comments and strings are stepped over, as well as that can be
/// told without a parser. Good enough to weigh names by, and nothing else.
pub(crate) fn each_in_code<'t>(pack: &Pack, text: &'t str, mut show: impl FnMut(&'t str)) {
    let bytes = text.as_bytes();
    let braced = pack.style.bodies == Bodies::Braced;
    let (comment, mut at, mut code) = (pack.style.comment.as_bytes(), 0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let skipped = match rest[0] {
            _ if rest.starts_with(comment) => memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            b'/' if braced && rest.starts_with(b"/*") => {
                memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2)
            }
            b'"' if rest.starts_with(b"\"\"\"") => closed(rest, b"\"\"\""),
            b'\'' if rest.starts_with(b"'''") => closed(rest, b"'''"),
            b'"' | b'`' => quoted(rest),
            // In languages with braces an apostrophe may begin a lifetime, and a character in
            // apostrophes is no name.
            b'\'' if !braced => quoted(rest),
            _ => {
                at += 1;
                continue;
            }
        };
        each(&text[code..at], &mut show);
        at = (at + skipped.max(1)).min(bytes.len());
        code = at;
    }
    each(&text[code..], &mut show);
}

/// The length of a literal between two marks of three.
fn closed(rest: &[u8], mark: &[u8]) -> usize {
    memmem::find(&rest[3..], mark).map_or(rest.len(), |end| end + 6)
}

/// The length of a literal in quotes; of the quote alone where it is not closed.
fn quoted(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(found) = rest.get(at..).and_then(|later| memchr::memchr2(rest[0], b'\\', later)) {
        at += found;
        if rest[at] != b'\\' {
            return at + 1;
        }
        at += 2;
    }
    1
}

fn joins(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || byte >= 0x80
}

/// True if this is one word that can be a name.
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
    #[cfg(feature = "languages")]
    fn words_of_code_are_in_no_string_and_no_comment() {
        let packs = tectum_syntax::Packs::all();
        let check = |id: &str, text: &str, expect: &[&str]| {
            let mut words = Vec::new();
            each_in_code(packs.named(id).expect("a pack").pack(), text, |word| words.push(word));
            assert_eq!(words, expect);
        };
        check("rust", "a /* b */ // c\nd(\"e \\\" f\", 'g', &'h i)", &["a", "d", "g", "h", "i"]);
        check("python", "a # b\n'''c\n'd''' 'e' \"f\" g", &["a", "g"]);
        check("python", "'open\na", &["open", "a"]);
        check("rust", "ü \"é\" /*", &["ü"]);
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
