//! The words of a record: what the index knows of its texts. Texts and questions are cut by the same rule.

use std::{
    collections::HashSet,
    hash::{BuildHasherDefault, Hasher},
};

use crate::{Ending, Entry};

/// The most bytes of a word. What is longer is no word but data, such as a picture.
const MOST_WORD: usize = 64;

/// The words of one record, each once, with a space between them.
#[derive(Debug, Default)]
pub(super) struct Words {
    text: String,
    word: String,
    seen: HashSet<u64, BuildHasherDefault<AsItIs>>,
}

impl Words {
    /// Begins anew.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.seen.clear();
    }

    /// All words so far.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Adds a word as it is. One with a colon stands for a fact, since no text has such a word.
    pub(super) fn push(&mut self, word: &str) {
        let mut hash = Fnv::default();
        hash.write(word.as_bytes());
        if self.seen.insert(hash.finish()) {
            if !self.text.is_empty() {
                self.text.push(' ');
            }
            self.text.push_str(word);
        }
    }

    /// Adds what a call says: its arguments, and its result or fault.
    pub(super) fn call(&mut self, entry: &Entry) {
        self.json(entry.args.get());
        match &entry.ending {
            Ending::Native { text, .. } => self.plain(text),
            Ending::Peer { json, .. } => self.json(json.get()),
            Ending::Fault(fault) => {
                self.plain(&fault.kind);
                self.plain(&fault.message);
            }
            Ending::Omitted { .. } => {}
        }
    }

    /// Adds the words of a text.
    pub(super) fn plain(&mut self, text: &str) {
        for c in text.chars() {
            self.letter(c);
        }
        self.end();
    }

    /// Adds the words of JSON. Escapes are read as what they stand for.
    fn json(&mut self, json: &str) {
        let mut chars = json.chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                self.letter(c);
                continue;
            }
            match chars.next() {
                Some('u') => {
                    let code = chars.as_str().get(..4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                    if code.is_some() {
                        chars = chars.as_str()[4..].chars();
                    }
                    self.letter(code.and_then(char::from_u32).unwrap_or(' '));
                }
                _ => self.end(),
            }
        }
        self.end();
    }

    fn letter(&mut self, c: char) {
        if c.is_ascii_alphanumeric() || c == '_' {
            self.word.push(c.to_ascii_lowercase());
        } else if c.is_ascii() {
            self.end();
        } else if is_word_of_its_own(c) {
            self.end();
            self.word.push(c);
            self.end();
        } else if c.is_alphanumeric() {
            self.word.extend(c.to_lowercase());
        } else {
            self.end();
        }
    }

    fn end(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        if word.len() <= MOST_WORD {
            self.push(&word);
        }
        self.word = word;
        self.word.clear();
    }
}

/// The words of a part of a question.
pub(super) fn words_of(text: &str) -> Vec<String> {
    let mut words = Words::default();
    words.plain(text);
    words.text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A number that stands for a name.
pub(super) fn number_of(name: &str) -> u64 {
    let mut hash = Fnv::default();
    hash.write(name.as_bytes());
    hash.finish()
}

/// Characters of scripts that put no spaces between words.
fn is_word_of_its_own(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

/// FNV-1a: short words, no enemy.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// A number that is a hash already.
#[derive(Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(words_of(text).join(" "), expect, "{text}");
    }

    #[test]
    fn texts_are_cut_into_words() {
        check("Read src/Main.rs, then READ it", "read src main rs then it");
        check("find_user(id=7)", "find_user id 7");
        check("Grüße AUS Köln", "grüße aus köln");
        check("東京 tower", "東 京 tower");
        check(&format!("short {}", "x".repeat(65)), "short");
        check("", "");
    }

    #[test]
    fn escapes_of_json_are_no_letters() {
        let mut words = Words::default();
        words.json(r#"{"text":"one\ntwo\tK\u00f6ln \"quoted\" \u20","n":1.5}"#);
        assert_eq!(words.text(), "text one two köln quoted 20 n 1 5");
    }
}
