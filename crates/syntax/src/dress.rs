//! The parts of a symbol that stand beside it in a tree: decorators, attributes, doc comments and the
//! semicolon after it. Each is found by its place, wherever a grammar hangs it.

use crate::{Span, Symbol, layers::outermost};

/// The nodes that stand alone in a tree and may belong to a symbol.
#[derive(Debug, Default)]
pub(crate) struct Around {
    /// Decorators, attributes, annotations.
    pub(crate) decorators: Vec<Span>,
    /// Comments that may document something.
    pub(crate) comments: Vec<Span>,
    /// The ends that a symbol may have outside of its node: the `;` after a field.
    pub(crate) tails: Vec<Span>,
}

impl Around {
    /// Brings everything into the order of the text. Must be called before [`dress`].
    pub(crate) fn sort(&mut self) {
        outermost(&mut self.decorators);
        outermost(&mut self.comments);
        outermost(&mut self.tails);
    }
}

/// Gives a symbol its decorators, comments and tail.
pub(crate) fn dress(symbol: &mut Symbol, text: &str, around: &Around) {
    // Decorators inside, before the keyword.
    let first = around.decorators.partition_point(|decorator| decorator.start < symbol.whole.start);
    for decorator in &around.decorators[first..] {
        let after_name = decorator.end > symbol.name.start;
        if after_name || !is_blank(text, around, symbol.head.start, decorator.start) {
            break;
        }
        symbol.head.start = symbol.head.start.max(decorator.end);
    }
    // Decorators that stand before it on their own, and comments between them.
    while let Some(before) = last_before(text, around, symbol.whole.start) {
        symbol.whole.start = before.start;
    }
    let next = around.tails.partition_point(|tail| tail.start < symbol.whole.end);
    if let Some(tail) = around.tails.get(next)
        && is_blank(text, around, symbol.whole.end, tail.start)
    {
        symbol.whole.end = tail.end;
    }
    symbol.whole.end -= trailing_blanks(symbol.whole.slice(text));
    trim_head(symbol, text, around);
    symbol.body.end -= trailing_blanks(symbol.body.slice(text));
    let before_name = Span { start: symbol.head.start, end: symbol.name.start }.slice(text);
    symbol.is_async |= before_name.split_whitespace().any(|word| word == "async");
    symbol.doc = doc(symbol, text, &around.comments);
}

/// A head begins with a word of its own and ends without blanks, comments and semicolons.
fn trim_head(symbol: &mut Symbol, text: &str, around: &Around) {
    let mut head = symbol.head;
    loop {
        let written = head.slice(text);
        head.start += (written.len() - written.trim_start().len()) as u32;
        let next = around.comments.partition_point(|comment| comment.start < head.start);
        match around.comments.get(next) {
            Some(comment) if comment.start == head.start && comment.end <= symbol.name.start => {
                head.start = comment.end;
            }
            _ => break,
        }
    }
    loop {
        head.end -= trailing_blanks(head.slice(text));
        let index = around.comments.partition_point(|comment| comment.end < head.end);
        match around.comments.get(index) {
            Some(comment) if comment.end == head.end && comment.start >= symbol.name.end => {
                head.end = comment.start;
            }
            _ => break,
        }
    }
    let written = head.slice(text);
    let bare = written.strip_suffix(';').unwrap_or(written).trim_end();
    head.end = head.start + bare.len() as u32;
    symbol.head = head;
}

fn trailing_blanks(written: &str) -> u32 {
    (written.len() - written.trim_end().len()) as u32
}

/// The decorator directly before an offset: nothing but blanks and comments lie between.
fn last_before(text: &str, around: &Around, offset: u32) -> Option<Span> {
    let index = around.decorators.partition_point(|decorator| decorator.end <= offset);
    let decorator = *around.decorators[..index].last()?;
    is_blank(text, around, decorator.end, offset).then_some(decorator)
}

/// True if there is nothing but blanks and comments between two offsets.
fn is_blank(text: &str, around: &Around, from: u32, to: u32) -> bool {
    let mut at = from;
    let first = around.comments.partition_point(|comment| comment.start < from);
    for comment in around.comments[first..].iter().take_while(|comment| comment.end <= to) {
        if !(Span { start: at, end: comment.start }.slice(text).trim().is_empty()) {
            return false;
        }
        at = comment.end;
    }
    Span { start: at, end: to }.slice(text).trim().is_empty()
}

/// The comments that end on the line before the symbol, or among its decorators.
fn doc(symbol: &Symbol, text: &str, comments: &[Span]) -> Span {
    for start in [symbol.head.start, symbol.whole.start] {
        let mut doc: Option<Span> = None;
        let index = comments.partition_point(|comment| comment.end <= start);
        for comment in comments[..index].iter().rev() {
            let next = doc.map_or(start, |doc| doc.start);
            let between = Span { start: comment.end, end: next }.slice(text);
            // A line comment of some grammars holds its line end.
            let ends = usize::from(comment.slice(text).ends_with('\n'));
            let apart =
                between.bytes().take_while(u8::is_ascii_whitespace).filter(|byte| *byte == b'\n').count();
            // The first line of a script names its interpreter.
            let shebang = comment.start == 0 && text.starts_with("#!");
            if shebang || !between.trim().is_empty() || apart + ends > 1 || !begins_line(text, comment.start)
            {
                break;
            }
            doc = Some(Span { start: comment.start, end: doc.map_or(comment.end, |doc| doc.end) });
        }
        if let Some(mut doc) = doc {
            doc.end -= trailing_blanks(doc.slice(text));
            return doc;
        }
    }
    Span::default()
}

fn begins_line(text: &str, offset: u32) -> bool {
    let before = text.get(..offset as usize).unwrap_or_default();
    let before = before.trim_end_matches(|c: char| c.is_whitespace() && c != '\n' && c != '\r');
    before.is_empty() || before.ends_with(['\n', '\r'])
}
