//! The symbols that matter: those whose names stand in other files, and the more so the more those
//! files matter themselves.
//!
//! Every file passes its importance on to the files that define the names standing in it, in
//! the proportion of how often a name stands there (its square root, since the hundredth
//! mention tells little), of how few files define it and of how much the name itself tells. Importance is passed on a fixed number
//! of times; what a symbol is worth is what came to its file through its name.

use std::{collections::HashMap, sync::Arc};

use tectum_syntax::names::Asked;

use crate::code::{
    modules::is_test,
    project::{SourceFacts, words},
};

/// One source to be mapped.
pub(super) struct Mapped {
    pub(super) path: String,
    pub(super) facts: Arc<SourceFacts>,
    pub(super) focused: bool,
}

/// A word the map should be about: a path, or a name.
pub(super) struct Focus {
    pub(super) word: String,
    /// The last part of it as a name.
    pub(super) name: String,
    pub(super) known: bool,
}

impl Focus {
    pub(super) fn parse(word: &str) -> Self {
        let word = word.trim().trim_start_matches("./").trim_end_matches('/');
        let name = Asked::parse(word).parts.last().copied().unwrap_or_default().to_owned();
        Self { word: word.to_owned(), name, known: false }
    }

    pub(super) fn is_path(&self, path: &str) -> bool {
        let below = path.strip_prefix(self.word.as_str()).is_some_and(|rest| rest.starts_with('/'));
        !self.word.is_empty() && (below || path == self.word || path.ends_with(&format!("/{}", self.word)))
    }
}

/// The number of rounds in which importance is passed on. The differences after it are below what a map
/// shows.
const ROUNDS: usize = 20;
/// The share of it that is passed on; the rest begins anew at every file, or at those in focus.
const PASSED: f64 = 0.85;
/// A name defined in more files tells nothing about any of them: `main`, `__init__`, `new`.
const MOST_DEFINERS: usize = 12;
/// Shorter names are variables of formulas.
const LEAST_NAME: usize = 3;
/// The worth of a name meant for its own file alone, beside another.
const PRIVATE: f64 = 0.1;
/// The worth of a name made of several words beside a plain word, which may mean anything where it
/// stands: `parse_args` and `ArgumentParser` beside `parse`.
const COMPOSED: f64 = 10.0;
/// The worth that a capital letter at the start adds to a plain word.
const CAPITAL: f64 = 4.0;
/// The worth of a plain word as the name of a member.
const MEMBER: f64 = 0.1;
/// The additional importance that begins at a file in focus.
const FOCUSED: f64 = 50.0;
/// The additional worth of a symbol in focus.
const CHOSEN: f64 = 1_000.0;

/// Symbols in the order of their worth.
pub(super) struct Ranked {
    /// Every symbol that can be on a map, the best first.
    pub(super) symbols: Vec<RankedSymbol>,
}

/// A symbol that can be on a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankedSymbol {
    pub(super) file: usize,
    pub(super) symbol: u32,
    score: f64,
}

/// One name and where it is defined.
#[derive(Default)]
struct Name {
    /// Files, in order, each with the number of its symbols of this name.
    files: Vec<(usize, usize)>,
    weight: f64,
}

impl Ranked {
    /// Ranks the symbols of these files.
    pub(super) fn rank(mapped: &[Mapped], focus: &mut [Focus]) -> Self {
        let names = names(mapped);
        let mentions = mentions(mapped, &names);
        let ranks = ranks(mapped, &names, &mentions);
        let worth = worth(&names, &mentions, &ranks);
        let mut symbols = Vec::new();
        for (file, mapped) in mapped.iter().enumerate() {
            for symbol in shown(&mapped.facts) {
                let fact = &mapped.facts.symbols[symbol as usize];
                let name = mapped.facts.name(fact);
                let mut score =
                    worth.get(&(key(words::hash(name), &mapped.facts), file)).copied().unwrap_or(0.0);
                if mapped.focused {
                    score = (score + ranks[file] * 0.1) * FOCUSED;
                }
                for focus in focus.iter_mut().filter(|focus| focus.name == name) {
                    focus.known = true;
                    score = (score + ranks[file]) * CHOSEN;
                }
                symbols.push(RankedSymbol { file, symbol, score });
            }
        }
        let order = |a: &RankedSymbol, b: &RankedSymbol| {
            let by_rank = ranks[b.file].total_cmp(&ranks[a.file]);
            let by_place = (a.file, a.symbol).cmp(&(b.file, b.symbol));
            b.score.total_cmp(&a.score).then(by_rank).then(by_place)
        };
        symbols.sort_by(order);
        Self { symbols }
    }
}

/// The symbols of a file that can be on a map: no declarations, nothing inside functions.
fn shown(facts: &SourceFacts) -> impl Iterator<Item = u32> {
    let inside =
        |parent: Option<u32>| parent.is_some_and(|parent| facts.symbols[parent as usize].kind.is_callable());
    let symbols = (0u32..).zip(&facts.symbols);
    let wanted = symbols.filter(move |(_, fact)| {
        (fact.kind.is_type() || fact.kind.is_callable()) && !fact.declaration && !inside(fact.parent)
    });
    wanted.map(|(index, _)| index)
}

/// The number of a word in a language: the same word of another family is another name.
fn key(word: u64, facts: &SourceFacts) -> u64 {
    word ^ words::hash(facts.language.pack().family)
}

fn names(mapped: &[Mapped]) -> HashMap<u64, Name> {
    let mut names: HashMap<u64, Name> = HashMap::new();
    // No source leans on its tests.
    for (file, mapped) in mapped.iter().enumerate().filter(|(_, mapped)| !is_test(&mapped.path)) {
        for symbol in shown(&mapped.facts) {
            let fact = &mapped.facts.symbols[symbol as usize];
            let word = mapped.facts.name(fact);
            let member = fact.parent.is_some_and(|at| mapped.facts.symbols[at as usize].kind.is_type());
            // What objects have by themselves tells nothing of one that is defined here.
            let members = mapped.facts.language.pack().style.members;
            let common = member && members.split_ascii_whitespace().any(|name| name == word);
            if common || word.chars().nth(LEAST_NAME - 1).is_none() {
                continue;
            }
            let name = names.entry(key(words::hash(word), &mapped.facts)).or_default();
            name.weight = name.weight.max(telling(word, member));
            match name.files.last_mut() {
                Some((last, number)) if *last == file => *number += 1,
                _ => name.files.push((file, 1)),
            }
        }
    }
    names.retain(|_, name| name.files.len() <= MOST_DEFINERS);
    for name in names.values_mut() {
        // A name of two files tells of each of them less than half.
        name.weight /= (name.files.len() * name.files.len()) as f64;
    }
    names
}

/// The certainty with which a name by itself tells what is meant.
fn telling(word: &str, member: bool) -> f64 {
    let inner = word.trim_matches('_');
    let capital = inner.starts_with(char::is_uppercase);
    let humps = inner.chars().skip(1).any(char::is_uppercase) && inner.chars().any(char::is_lowercase);
    let kind = if inner.contains('_') || humps {
        COMPOSED
    } else if capital {
        CAPITAL
    } else if member {
        MEMBER
    } else {
        1.0
    };
    if word.starts_with('_') { kind * PRIVATE } else { kind }
}

/// For each file: the names of other files that stand in it, with the weight of each.
fn mentions(mapped: &[Mapped], names: &HashMap<u64, Name>) -> Vec<Vec<(u64, f64)>> {
    let of_file = |(file, mapped): (usize, &Mapped)| {
        let words = mapped.facts.words.as_deref().unwrap_or_default();
        let weigh = |(word, count): &(u64, u32)| {
            let word = key(*word, &mapped.facts);
            let name = names.get(&word)?;
            // A file that defines the name itself means its own.
            let own = name.files.iter().any(|(definer, _)| *definer == file);
            (!own).then(|| (word, f64::from(*count).sqrt() * name.weight))
        };
        words.iter().filter_map(weigh).collect()
    };
    mapped.iter().enumerate().map(of_file).collect()
}

/// The worth of each file, in a sum of one.
fn ranks(mapped: &[Mapped], names: &HashMap<u64, Name>, mentions: &[Vec<(u64, f64)>]) -> Vec<f64> {
    let begin: Vec<f64> = mapped.iter().map(|file| if file.focused { FOCUSED } else { 1.0 }).collect();
    let all: f64 = begin.iter().sum::<f64>().max(1.0);
    let begin: Vec<f64> = begin.iter().map(|share| share / all).collect();
    let edges: Vec<Vec<(usize, f64)>> = mentions.iter().map(|mentions| edges(names, mentions)).collect();
    let mut ranks = begin.clone();
    for _ in 0..ROUNDS {
        let mut next = vec![0.0; ranks.len()];
        let mut kept = 1.0 - PASSED;
        for (rank, edges) in ranks.iter().zip(&edges) {
            if edges.is_empty() {
                kept += rank * PASSED;
            }
            for (to, share) in edges {
                next[*to] += rank * PASSED * share;
            }
        }
        for (next, begin) in next.iter_mut().zip(&begin) {
            *next += kept * begin;
        }
        ranks = next;
    }
    ranks
}

/// The files that a file's importance goes to, in shares of one.
fn edges(names: &HashMap<u64, Name>, mentions: &[(u64, f64)]) -> Vec<(usize, f64)> {
    let mut edges: Vec<(usize, f64)> = Vec::new();
    for (word, weight) in mentions {
        edges.extend(names[word].files.iter().map(|(file, _)| (*file, *weight)));
    }
    edges.sort_by_key(|(file, _)| *file);
    edges.dedup_by(|next, first| {
        let same = next.0 == first.0;
        first.1 += if same { next.1 } else { 0.0 };
        same
    });
    let all: f64 = edges.iter().map(|(_, weight)| weight).sum();
    edges.iter_mut().for_each(|(_, weight)| *weight /= all);
    edges
}

/// The worth that came to each name in each file that defines it.
fn worth(
    names: &HashMap<u64, Name>,
    mentions: &[Vec<(u64, f64)>],
    ranks: &[f64],
) -> HashMap<(u64, usize), f64> {
    let mut worth: HashMap<(u64, usize), f64> = HashMap::new();
    for (rank, mentions) in ranks.iter().zip(mentions) {
        let all: f64 = mentions.iter().map(|(word, weight)| weight * names[word].files.len() as f64).sum();
        for (word, weight) in mentions {
            for (file, symbols) in &names[word].files {
                *worth.entry((*word, *file)).or_default() += rank * weight / all / *symbols as f64;
            }
        }
    }
    worth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_names_tell_more_than_words() {
        let falling = ["parse_args", "Parser", "parse", "_parse"].map(|word| telling(word, false));
        assert!(falling.is_sorted_by(|a, b| a > b), "{falling:?}");
        assert!(telling("text", true) < telling("text", false));
        assert_eq!(telling("ArgumentParser", true), telling("parse_args", false));
    }
}
