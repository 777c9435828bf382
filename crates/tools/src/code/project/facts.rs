//! The part of a file that an index keeps: its symbols without the text they were found in.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
    sync::Arc,
};

use tectum_syntax::{Detail, Kind, Language, Outline, Pack, Source, Span, Unparsed, names};

use super::{
    counted::CountedLines,
    ledger::{Charge, Ledger},
    words,
};

/// Bytes kept of what stands before a body; a map of the project shows no more.
const MOST_HEAD: usize = 160;
/// Bytes of a usual head; room for as many is made at once.
const USUAL_HEAD: usize = 48;
/// Types of one file that are asked what they derive from. Each costs a look at the whole
/// outline, and a file with more of them was written by a program.
const MOST_TYPES: usize = 5_000;

/// The symbols of one version of a file.
#[derive(Debug)]
pub(crate) struct SourceFacts {
    /// The language they were found in.
    pub(crate) language: Arc<Language>,
    /// In the order of the text; a parent stands before what it holds.
    pub(crate) symbols: Box<[Fact]>,
    /// The number of times each word stands in the file, by the word's number; counted when it is asked
    /// for.
    pub(crate) words: Option<Box<[(u64, u32)]>>,
    /// The file was not parsed: too large for its grammar.
    pub(crate) unparsed: bool,
    pool: Box<str>,
    bases: Box<[Piece]>,
    charge: Charge,
}

/// One symbol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fact {
    pub(crate) kind: Kind,
    /// Only announced here.
    pub(crate) declaration: bool,
    /// One of several definitions that make one symbol, by its decorators.
    pub(crate) is_part: bool,
    /// The symbol it stands in.
    pub(crate) parent: Option<u32>,
    /// The line of its keyword, from 1.
    pub(crate) line: u32,
    /// The line its name is in.
    pub(crate) name_line: u32,
    /// Its last line.
    pub(crate) last_line: u32,
    /// The number of its name: equal names have equal ones.
    pub(crate) number: u32,
    name: Piece,
    scope: Piece,
    head: Piece,
    bases: Piece,
}

/// A stretch of the pool, or of the bases.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    start: u32,
    end: u32,
}

impl SourceFacts {
    /// Finds them out. `count` also counts the words.
    pub(super) fn find(
        language: &Arc<Language>,
        text: &str,
        count: bool,
        ledger: &Arc<Ledger>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, Unparsed> {
        let found = if language.skims() {
            language.outline(text, Detail::Outline, stop).map(|outline| (outline, None))
        } else {
            let source = Source::new(language.clone(), text.into());
            let outline = source.outline(Detail::Outline, stop);
            outline.map(|outline| (Outline::clone(&outline), Some(source)))
        };
        let (outline, source, unparsed) = match found {
            Ok((outline, source)) => (outline, source, false),
            Err(Unparsed::Stopped) => return Err(Unparsed::Stopped),
            Err(_) => (Outline::default(), None, true),
        };
        let mut pool = Pool { text: String::with_capacity(outline.symbols.len() * USUAL_HEAD) };
        let mut bases: Vec<Piece> = Vec::new();
        let mut symbols = Vec::with_capacity(outline.symbols.len());
        let lines = CountedLines::count(text);
        let short = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        let mut types = 0;
        for (index, symbol) in (0u32..).zip(&outline.symbols) {
            let from = bases.len();
            if symbol.kind.is_type() && types < MOST_TYPES {
                types += 1;
                let written = match (&language.pack().front.bases, &source) {
                    (Some(bases), _) => bases(text, symbol.head),
                    (None, Some(source)) => source.bases(Detail::Outline, index, stop)?,
                    (None, None) => Vec::new(),
                };
                bases.extend(written.iter().map(|base| pool.push(base.slice(text))));
            }
            let line = lines.at(symbol.head.start as usize);
            let name_line = lines.at_near(line, symbol.head.start as usize, symbol.name.start as usize);
            let last = symbol.whole.end.saturating_sub(1).max(symbol.whole.start);
            let (head, name) = pool.push_head(text, symbol.head, symbol.name);
            symbols.push(Fact {
                kind: symbol.kind,
                declaration: symbol.declaration,
                is_part: names::is_part(
                    Span { start: symbol.whole.start, end: symbol.head.start }.slice(text),
                    symbol.name.slice(text),
                ),
                parent: symbol.parent,
                line: short(line),
                name_line: short(name_line),
                last_line: short(lines.at(last as usize)),
                number: Fact::number(symbol.name.slice(text)),
                name,
                scope: pool.push(symbol.scope.slice(text)),
                head,
                bases: Piece::new(from, bases.len()),
            });
        }
        let words = count.then(|| count_words(language.pack(), text));
        let weight = pool.text.len()
            + bases.len() * size_of::<Piece>()
            + symbols.len() * size_of::<Fact>()
            + words.as_ref().map_or(0, |words| size_of_val(&**words))
            + size_of::<Self>();
        Ok(Self {
            language: language.clone(),
            symbols: symbols.into(),
            words,
            unparsed,
            pool: pool.text.into(),
            bases: bases.into(),
            charge: ledger.charge(weight),
        })
    }

    /// Their size in memory.
    pub(super) fn weight(&self) -> usize {
        self.charge.weight()
    }

    /// A symbol's own name.
    pub(crate) fn name(&self, fact: &Fact) -> &str {
        self.piece(fact.name)
    }

    /// The text before its body, in one line and cut.
    pub(crate) fn head(&self, fact: &Fact) -> &str {
        self.piece(fact.head)
    }

    /// Its bases, as written.
    pub(crate) fn bases(&self, fact: &Fact) -> impl Iterator<Item = &str> {
        self.bases[fact.bases.start as usize..fact.bases.end as usize].iter().map(|base| self.piece(*base))
    }

    /// The parts of its full name, outermost first.
    pub(crate) fn path(&self, index: u32) -> Vec<&str> {
        let mut parts = Vec::new();
        let mut at = Some(index);
        while let Some(fact) = at.and_then(|index| self.symbols.get(index as usize)) {
            parts.push(self.name(fact));
            let mut scope = names::Asked::parse(self.piece(fact.scope)).parts;
            scope.reverse();
            parts.extend(scope);
            at = fact.parent;
        }
        parts.retain(|part| !part.is_empty());
        parts.reverse();
        parts
    }

    /// Its full name.
    pub(crate) fn full_name(&self, index: u32) -> String {
        self.path(index).join(self.language.pack().style.separator)
    }

    /// The innermost symbol around a line.
    pub(crate) fn around(&self, line: u32) -> Option<u32> {
        let holds = |(_, fact): &(u32, &Fact)| fact.line <= line && line <= fact.last_line;
        (0u32..).zip(&self.symbols).filter(holds).last().map(|(index, _)| index)
    }

    fn piece(&self, piece: Piece) -> &str {
        self.pool.get(piece.start as usize..piece.end as usize).unwrap_or_default()
    }
}

impl Fact {
    /// The number of a name.
    pub(crate) fn number(name: &str) -> u32 {
        words::hash(name) as u32
    }
}

impl Piece {
    fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }
}

/// All strings of a file's facts in one.
struct Pool {
    text: String,
}

impl Pool {
    fn push(&mut self, piece: &str) -> Piece {
        let start = self.text.len();
        self.text.push_str(piece);
        Piece::new(start, self.text.len())
    }

    /// A head in one line, and the name in it.
    fn push_head(&mut self, text: &str, head: Span, name: Span) -> (Piece, Piece) {
        let written = head.slice(text);
        // Most heads are one line already, and hold the name as it stands.
        if written.len() < MOST_HEAD && is_joined(written) {
            let head_piece = self.push(written);
            if !written.is_empty() && head.holds(name) && name.start <= name.end {
                let at = head_piece.start + (name.start - head.start);
                return (head_piece, Piece { start: at, end: at + (name.end - name.start) });
            }
            return (head_piece, self.push(name.slice(text)));
        }
        let start = self.text.len();
        for word in written.split_whitespace() {
            let room = MOST_HEAD.saturating_sub(self.text.len() - start);
            if self.text.len() > start {
                self.text.push(' ');
            }
            if word.len() + 1 > room {
                let cut = word.floor_char_boundary(room.saturating_sub("…".len() + 1));
                self.text.push_str(&word[..cut]);
                self.text.push('…');
                break;
            }
            self.text.push_str(word);
        }
        let head = Piece::new(start, self.text.len());
        (head, self.push(name.slice(text)))
    }
}

/// True if these are words of plain letters and signs with one blank between two of them.
fn is_joined(written: &str) -> bool {
    let bytes = written.as_bytes();
    // Whole heads are looked at without an early end: that is done many bytes at a time.
    let plain = bytes.iter().fold(true, |so_far, byte| so_far & (b' '..=b'~').contains(byte));
    let pairs = bytes.iter().zip(bytes.get(1..).unwrap_or_default());
    let apart = pairs.fold(true, |so_far, (one, next)| so_far & !((*one == b' ') & (*next == b' ')));
    plain && apart && bytes.first() != Some(&b' ') && bytes.last() != Some(&b' ')
}

fn count_words(pack: &Pack, text: &str) -> Box<[(u64, u32)]> {
    let mut counts: HashMap<u64, u32, BuildHasherDefault<Numbered>> = HashMap::default();
    words::each_in_code(pack, text, |word| *counts.entry(words::hash(word)).or_default() += 1);
    let mut counts: Vec<(u64, u32)> = counts.into_iter().collect();
    counts.sort_unstable();
    counts.into()
}

/// The numbers of words are spread well enough as they are.
#[derive(Default)]
struct Numbered(u64);

impl Hasher for Numbered {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, name: &str, expect: &str) {
        let mut pool = Pool { text: "before".to_owned() };
        let at = text.find(name).expect("the name");
        let (head, name_piece) =
            pool.push_head(text, Span::new(0, text.len()), Span::new(at, at + name.len()));
        let of = |piece: Piece| &pool.text[piece.start as usize..piece.end as usize];
        assert_eq!((of(head), of(name_piece)), (expect, name), "{text:?}");
    }

    #[test]
    fn heads_are_one_line_and_hold_the_name() {
        check("def f(a, b):", "f", "def f(a, b):");
        check("def f", "f", "def f");
        check("", "", "");
        check(" def  f(a,\n\tb) :", "f", "def f(a, b) :");
        check("class Größe(\u{a0}A):", "Größe", "class Größe( A):");
        let long = format!("def f({}):", "a, ".repeat(200));
        let mut cut = String::from("def f(a,");
        while cut.len() + 3 < MOST_HEAD {
            cut.push_str(" a,");
        }
        cut.push_str(" …");
        check(&long, "f", &cut);
        let word = "x".repeat(MOST_HEAD);
        check(&word, &word, &format!("{}…", "x".repeat(MOST_HEAD - 4)));
    }

    #[test]
    fn a_head_that_is_not_in_the_text_costs_no_name() {
        let mut pool = Pool { text: String::new() };
        let (head, name) = pool.push_head("name", Span::new(0, 9), Span::new(0, 4));
        assert_eq!((head.start, head.end), (0, 0));
        assert_eq!(&pool.text[name.start as usize..name.end as usize], "name");
    }
}
