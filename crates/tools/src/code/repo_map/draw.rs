//! Drawing the map: the best symbols that fit, grouped by file, with what holds them.

use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write,
};

use schemars::JsonSchema;
use serde::Serialize;

use super::rank::{Mapped, Ranked};

/// A file on the map.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MapFile {
    /// The file, as other calls take it.
    pub path: String,
    /// Its symbols on the map, in the order of the text.
    pub symbols: Vec<MapSymbol>,
}

/// A symbol on the map.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MapSymbol {
    /// Its full name.
    pub name: String,
    /// Its line, from 1.
    pub line: u32,
    /// What is written before its body, shortened.
    pub head: String,
}

/// Stands for symbols that are not shown.
const GAP: &str = "⋮\n";
/// Symbols that did not fit, one after another, before the rest is not tried any more.
const TRIES: usize = 50;

/// The map as text of at most so many bytes, and as data.
pub(super) fn draw(mapped: &[Mapped], ranked: &Ranked, budget: usize) -> (String, Vec<MapFile>) {
    // The files in the order in which their best symbols came.
    let mut order: Vec<usize> = Vec::new();
    let mut chosen: HashMap<usize, BTreeSet<u32>> = HashMap::new();
    let mut used = 0;
    let mut misses = 0;
    for candidate in &ranked.symbols {
        let file = &mapped[candidate.file];
        let there = chosen.get(&candidate.file);
        let new: Vec<u32> = holders(file, candidate.symbol)
            .filter(|symbol| there.is_none_or(|there| !there.contains(symbol)))
            .collect();
        let head = if there.is_none() { file.path.len() + ":\n".len() + GAP.len() } else { 0 };
        let cost = head + new.iter().map(|symbol| line(file, *symbol).len() + GAP.len()).sum::<usize>();
        if used + cost > budget {
            misses += 1;
            if misses == TRIES {
                break;
            }
            continue;
        }
        misses = 0;
        used += cost;
        if there.is_none() {
            order.push(candidate.file);
        }
        chosen.entry(candidate.file).or_default().extend(new);
    }
    let mut text = String::new();
    let mut files = Vec::new();
    for at in order {
        let (file, symbols) = (&mapped[at], &chosen[&at]);
        let _ = writeln!(text, "{}:", file.path);
        let mut next = 0;
        for symbol in symbols {
            if *symbol > next {
                text.push_str(GAP);
            }
            text.push_str(&line(file, *symbol));
            next = symbol + 1;
        }
        if (next as usize) < file.facts.symbols.len() {
            text.push_str(GAP);
        }
        let shown = symbols.iter().map(|symbol| {
            let fact = &file.facts.symbols[*symbol as usize];
            let name = file.facts.full_name(*symbol);
            MapSymbol { name, line: fact.line, head: file.facts.head(fact).to_owned() }
        });
        files.push(MapFile { path: file.path.clone(), symbols: shown.collect() });
    }
    (text, files)
}

/// A symbol and everything around it.
fn holders(file: &Mapped, symbol: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(symbol), |symbol| file.facts.symbols[*symbol as usize].parent)
}

/// `12: def run(self):`, indented by how deep it stands.
fn line(file: &Mapped, symbol: u32) -> String {
    let fact = &file.facts.symbols[symbol as usize];
    let depth = holders(file, symbol).count() - 1;
    format!("{}{}: {}\n", "  ".repeat(depth), fact.line, file.facts.head(fact))
}
