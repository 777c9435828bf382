//! Puts the symbols that a reader found into the order of the text, each parent before and
//! around what it holds.

use super::reader::Reader;
use crate::{Detail, Gap, Outline, Span, Symbol};

/// Longer sources are not read: offsets must fit, and nobody writes such a file.
const LONGEST_TEXT: usize = 1 << 30;

/// The outline of a text.
pub(super) fn outline(text: &str, cpp: bool, detail: Detail) -> Outline {
    if text.len() > LONGEST_TEXT {
        let gaps = vec![Gap { span: Span::default(), why: "the file is too long" }];
        return Outline { symbols: Vec::new(), gaps };
    }
    let mut reader = Reader::new(text, cpp, detail);
    reader.run();
    let Reader { mut symbols, mut gaps, .. } = reader;
    surround(&mut symbols);
    gaps.sort_by_key(|gap| gap.span.start);
    Outline { symbols: sorted(symbols), gaps }
}

/// Lets each parent reach around what it holds; a parent stands before its children here.
fn surround(symbols: &mut [Symbol]) {
    for at in (0..symbols.len()).rev() {
        let whole = symbols[at].whole;
        if let Some(parent) = symbols[at].parent {
            let parent = &mut symbols[parent as usize].whole;
            parent.end = parent.end.max(whole.end);
            parent.start = parent.start.min(whole.start);
        }
    }
}

/// By their beginnings, longer ones first, with the parents' places set anew.
fn sorted(symbols: Vec<Symbol>) -> Vec<Symbol> {
    if symbols.is_sorted_by_key(|symbol| symbol.whole.start) {
        return symbols;
    }
    let mut order: Vec<u32> = (0..symbols.len() as u32).collect();
    order.sort_by_key(|at| {
        let whole = symbols[*at as usize].whole;
        (whole.start, std::cmp::Reverse(whole.end), *at)
    });
    let mut place = vec![0u32; symbols.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old as usize] = new as u32;
    }
    order
        .into_iter()
        .map(|old| {
            let symbol = symbols[old as usize];
            Symbol { parent: symbol.parent.map(|parent| place[parent as usize]), ..symbol }
        })
        .collect()
}
