//! Files that hold data or text instead of code: what stands in them, entry by entry, without a tree.
//! A tree of 17 MB of JSON takes 1.1 GB, and the YAML grammar (0.7.2) crashes at 300 levels.

pub mod json;
pub mod markdown;
pub mod toml;
pub mod yaml;

use crate::{Detail, Entry, Front, Gap, Kind, Outline, Problem, Span, Symbol, references::plain_mentions};

/// A name in an outline is cut here: a heading may be a whole page.
const NAME_BYTES: usize = 200;

/// A format that is read without a tree.
pub trait DataFormat {
    /// The kind of its entries.
    const KIND: Kind;

    /// Shows every entry in order, or tells what is wrong with the text.
    fn read(text: &str, show: &mut dyn FnMut(Entry)) -> Result<(), Problem>;
}

/// The front end of a format, which tells its entries. It has no names that are used elsewhere.
pub const fn front<F: DataFormat>() -> Front {
    Front {
        entries: Some(F::read),
        outline: Some(outline::<F>),
        check: Some(|text| Ok(F::read(text, &mut |_| {}).err().into_iter().collect())),
        mentions: Some(plain_mentions),
        imports: Some(|_| Vec::new()),
        calls: Some(|_, _| Vec::new()),
        strings: Some(|_| Vec::new()),
        shadows: Some(|_, _| Vec::new()),
        ..Front::NONE
    }
}

fn outline<F: DataFormat>(text: &str, _: Detail) -> Outline {
    let mut outline = Outline::default();
    // Entries that go on until one beside or above them begins.
    let mut open: Vec<(usize, u32)> = Vec::new();
    let end = |symbol: &mut Symbol, at: usize| {
        let start = symbol.whole.start as usize;
        if symbol.whole.is_empty() {
            symbol.whole = Span::new(start, start + text[start..at].trim_end().len());
        }
    };
    let read = F::read(text, &mut |entry| {
        while let Some((_, index)) = open.pop_if(|(level, _)| *level >= entry.level) {
            end(&mut outline.symbols[index as usize], entry.whole.start as usize);
        }
        if entry.name.is_empty() {
            return;
        }
        let Span { start, end } = entry.name;
        let cut = text.floor_char_boundary((end as usize).min(start as usize + NAME_BYTES));
        let name = Span::new(start as usize, cut);
        let parent = open.last().map(|(_, index)| *index);
        open.push((entry.level, outline.symbols.len() as u32));
        outline.symbols.push(Symbol { head: name, parent, ..Symbol::new(F::KIND, entry.whole, name) });
    });
    for (_, index) in open {
        end(&mut outline.symbols[index as usize], text.len());
    }
    if read.is_err() {
        outline.gaps.push(Gap { span: Span::new(0, text.len()), why: "it is not valid" });
    }
    outline
}

/// The lines of a text, without their ends.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('\r'))
}

/// The place of a part of a text in it.
fn span_of(text: &str, part: &str) -> Span {
    let start = part.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    Span::new(start, start + part.len())
}

/// `1 key`, `2 keys`.
fn count(number: usize, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entries of a text as a summary shows them.
    pub(super) fn told<F: DataFormat>(text: &str) -> Result<String, Problem> {
        let mut told = String::new();
        F::read(text, &mut |entry| told.push_str(&format!("{}{}\n", "  ".repeat(entry.level), entry.line)))?;
        Ok(told)
    }

    /// The names of an outline, each with the text it covers.
    pub(super) fn outlined<F: DataFormat>(text: &str) -> Vec<(&str, &str)> {
        let outline = outline::<F>(text, Detail::Full);
        outline.symbols.iter().map(|symbol| (symbol.name.slice(text), symbol.whole.slice(text))).collect()
    }

    /// The line and the column of what is wrong with a text, both from 1.
    pub(super) fn broken<F: DataFormat>(text: &str) -> (usize, usize, String) {
        let Problem { span, message } = told::<F>(text).expect_err("broken");
        let before = &text[..span.start as usize];
        let line = before.rsplit('\n').next().unwrap_or(before);
        (before.matches('\n').count() + 1, line.chars().count() + 1, message)
    }
}
