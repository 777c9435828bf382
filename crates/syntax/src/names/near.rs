//! Suggestions for a name that was not found: the defined names most like it.

use super::full::full_name;
use crate::{Outline, Pack};

/// The defined names most like one that was not found.
pub(super) fn near(pack: &Pack, text: &str, outline: &Outline, wanted: &str) -> Vec<String> {
    const MOST: usize = 5;
    let wanted = wanted.to_lowercase();
    let mut near: Vec<(usize, String)> = Vec::new();
    for (index, symbol) in (0u32..).zip(&outline.symbols) {
        let name = symbol.name.slice(text).to_lowercase();
        let distance = distance(&name, &wanted);
        let close = distance <= 1 + wanted.chars().count() / 4;
        if !name.is_empty() && (close || (wanted.len() > 2 && name.contains(&wanted))) {
            near.push((distance, full_name(pack, text, outline, index)));
        }
    }
    near.sort();
    near.dedup();
    near.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// A few of the names that a text defines, the outermost and first.
pub fn some(pack: &Pack, text: &str, outline: &Outline) -> Vec<String> {
    const MOST: usize = 8;
    let (top, inner): (Vec<_>, Vec<_>) =
        (0u32..).zip(&outline.symbols).partition(|(_, symbol)| symbol.parent.is_none());
    let named = top.into_iter().chain(inner).filter(|(_, symbol)| !symbol.name.is_empty());
    let mut names: Vec<String> = Vec::new();
    for (index, _) in named {
        let name = full_name(pack, text, outline, index);
        if names.len() < MOST && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The number of letters that differ, counted up to a small number.
fn distance(a: &str, b: &str) -> usize {
    const FAR: usize = 100;
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > 8 || a.len() > FAR || b.len() > FAR {
        return FAR;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let changed = corner + usize::from(from != to);
            corner = row[j + 1];
            row[j + 1] = changed.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}
