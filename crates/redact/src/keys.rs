//! The words without which no name and no rule finds anything. Most texts have none of them, and a
//! quick search tells.

use aho_corasick::{AhoCorasick, packed::Searcher};
use memchr::memmem::{Finder, find};

use crate::{names::PARAMETERS, rules};

/// Parts of which each word has one, few and long enough to be searched at once.
const STEMS: &[&str] = &[
    "pass",
    "secret",
    "token",
    "creden",
    "cookie",
    "bearer",
    "basic",
    "auth",
    "identif",
    "signature=",
    "-----begin",
    "private-",
    "privatek",
    "_key",
    "-key",
    "apikey",
    "sskey",
    "untkey",
    "ionkey",
    "ingkey",
    ":5432:",
];
/// The words that are too short for that.
const SHORT: &[&str] = &["pwd", ":*:"];
/// The beginning of an option on a command line.
const OPTION: &str = " -";

/// Finds keys.
#[derive(Debug)]
pub(crate) struct Keys {
    /// The search for stems; `None` on processors without the instructions.
    stems: Option<Searcher>,
    words: AhoCorasick,
    /// The length of the longest word.
    longest: usize,
    /// Where an option begins, and the rest of each that may have a secret.
    option: Finder<'static>,
    options: Vec<&'static str>,
}

impl Keys {
    /// A text with one of these words, in any letter case, has a key.
    pub(crate) fn new(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let words: Vec<String> = words.into_iter().collect();
        let longest = words.iter().map(String::len).max().unwrap_or_default();
        let words = AhoCorasick::new(words).map_err(|error| error.to_string())?;
        let options = rules::openings().filter_map(|opening| opening.strip_prefix(OPTION)).collect();
        Ok(Self { stems: Searcher::new(STEMS), words, longest, option: Finder::new(OPTION), options })
    }

    /// True if a text may hold a value that a name or a rule marks as secret.
    pub(crate) fn any(&self, text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        let bytes = lower.as_bytes();
        self.has_word(bytes)
            || self.option.find_iter(bytes).any(|at| self.is_option(&bytes[at + OPTION.len()..]))
            || memchr::memchr2_iter(b'?', b'&', bytes).any(|at| is_parameter(&bytes[at + 1..]))
            || SHORT.iter().any(|word| find(bytes, word.as_bytes()).is_some())
            // A login in an address, which has no word of its own.
            || (memchr::memchr(b'@', bytes).is_some() && find(bytes, b":/").is_some())
    }

    /// True if a text has one of the words; only around a stem there can be one.
    fn has_word(&self, bytes: &[u8]) -> bool {
        let Some(stems) = &self.stems else { return self.words.is_match(bytes) };
        stems.find_iter(bytes).any(|stem| {
            let around =
                stem.start().saturating_sub(self.longest)..bytes.len().min(stem.end() + self.longest);
            self.words.is_match(&bytes[around])
        })
    }

    /// True if this text begins with an option that may have a secret, after its first dash.
    fn is_option(&self, rest: &[u8]) -> bool {
        self.options.iter().any(|option| rest.starts_with(option.as_bytes()))
    }
}

/// True if a secret parameter of a URL begins with this text.
fn is_parameter(rest: &[u8]) -> bool {
    let after = |name: &str| rest.strip_prefix(name.as_bytes());
    PARAMETERS.iter().any(|(name, _)| after(name).is_some_and(|rest| rest.first() == Some(&b'=')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{tokens, words};

    #[test]
    fn every_word_is_found_by_a_part_of_it() {
        let keys = Keys::new(words::keys().chain(tokens::keys())).expect("built in");
        for word in words::keys().chain(tokens::keys()) {
            assert!(keys.any(&word.to_ascii_uppercase()), "{word}");
            let is_short = SHORT.iter().any(|short| word.contains(short)) || word.starts_with(OPTION);
            assert!(is_short || STEMS.iter().any(|stem| word.contains(stem)), "{word}");
        }
        for (name, _) in PARAMETERS {
            assert!(keys.any(&format!("a?{name}=x")) && keys.any(&format!("a&{name}=x")), "{name}");
        }
        assert!(!keys.any("let a = monkey - 1; // see https://a.example/?page=2&x=3"));
    }
}
