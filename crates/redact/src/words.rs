//! One pass over a text for all words that may indicate a secret: names and the openings of rules.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::{
    assigned::{Assigned, parameter_value},
    names::{self, PARAMETERS, Stands, TELLING},
    rules::{self, Rules},
};

/// The most bytes of a name that are read, to either side.
const MOST_NAME: usize = 128;

/// The meaning of a word.
#[derive(Debug, Clone, Copy)]
enum Tells {
    /// The index of a rule.
    Rule(usize),
    Name(Stands),
    /// The least length of the parameter's value.
    Parameter(usize),
}

/// Finds values that a name or a rule marks as secret.
#[derive(Debug)]
pub(crate) struct Words {
    automaton: AhoCorasick,
    /// The meanings of each word, the surest first.
    tells: Vec<Vec<Tells>>,
    assigned: Assigned,
    rules: Rules,
}

impl Words {
    pub(crate) fn new() -> Result<Self, String> {
        let rules = Rules::default();
        let openings = rules::openings().enumerate();
        let openings = openings.map(|(number, word)| (word.to_owned(), Tells::Rule(number)));
        let names = TELLING.iter().map(|(word, stands)| ((*word).to_owned(), Tells::Name(*stands)));
        let parameters = PARAMETERS.iter().flat_map(|(name, least)| {
            ['?', '&'].map(|sign| (format!("{sign}{name}="), Tells::Parameter(*least)))
        });
        let mut words: Vec<String> = Vec::new();
        let mut tells: Vec<Vec<Tells>> = Vec::new();
        for (word, tell) in openings.chain(names).chain(parameters) {
            match words.iter().position(|known| *known == word) {
                Some(number) => tells[number].push(tell),
                None => {
                    words.push(word);
                    tells.push(vec![tell]);
                }
            }
        }
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words)
            .map_err(|error| error.to_string())?;
        Ok(Self { automaton, tells, assigned: Assigned::new()?, rules })
    }

    /// True if a name is secret.
    pub(crate) fn is_secret_name(&self, name: &str) -> bool {
        self.automaton.find_iter(name).any(|found| {
            self.tells[found.pattern().as_usize()].iter().any(|tell| match tell {
                Tells::Name(stands) => names::tells(name, found.start(), found.end(), *stands),
                Tells::Rule(_) | Tells::Parameter(_) => false,
            })
        })
    }

    /// Calls `give` with the range of every secret value.
    pub(crate) fn find(&self, text: &str, give: &mut dyn FnMut(Range<usize>)) {
        let mut hidden = 0;
        for found in self.automaton.find_iter(text) {
            if found.start() < hidden {
                continue;
            }
            for tell in &self.tells[found.pattern().as_usize()] {
                if let Some(value) = self.secret(text, found.range(), *tell, give) {
                    hidden = value.end;
                    give(value);
                    break;
                }
            }
        }
    }

    fn secret(
        &self,
        text: &str,
        word: Range<usize>,
        tell: Tells,
        give: &mut dyn FnMut(Range<usize>),
    ) -> Option<Range<usize>> {
        match tell {
            Tells::Rule(number) => self.rules.value(number, text, word),
            Tells::Parameter(least) => parameter_value(text, word.end, least),
            Tells::Name(stands) => {
                let name = name_around(text, word.clone());
                if !tells_in(text, &name, word, stands) {
                    return None;
                }
                let mut inside = |tag: Range<usize>| {
                    let mut shifted =
                        |range: Range<usize>| give(tag.start + range.start..tag.start + range.end);
                    self.find(&text[tag.clone()], &mut shifted);
                };
                self.assigned.value(text, name, &mut inside)
            }
        }
    }
}

/// The words without which nothing is found, but for parameters of addresses.
pub(crate) fn keys() -> impl Iterator<Item = String> {
    let names = TELLING.iter().map(|(word, stands)| match stands {
        Stands::AsVariable => format!("_{word}"),
        Stands::Anywhere | Stands::AtEnd | Stands::Alone => (*word).to_owned(),
    });
    rules::keys().map(ToOwned::to_owned).chain(names)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || byte >= 0x80
}

/// The whole name around a telling word.
fn name_around(text: &str, word: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let before = bytes[..word.start].iter().rev().take(MOST_NAME).take_while(|byte| is_name(**byte)).count();
    let is_right = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let after = bytes[word.end..].iter().take(MOST_NAME).take_while(|byte| is_right(**byte)).count();
    text.ceil_char_boundary(word.start - before)..word.end + after
}

/// True if the word makes the name secret, with or without the dashes before a flag's name.
fn tells_in(text: &str, name: &Range<usize>, word: Range<usize>, stands: Stands) -> bool {
    let whole = &text[name.clone()];
    let dashes = whole.len() - whole.trim_start_matches('-').len();
    let start = (name.start + dashes).min(word.start);
    names::tells(&text[start..name.end], word.start - start, word.end - start, stands)
}
