//! The outline of a Python file in one pass over its bytes: every `def`, `async def` and `class`,
//! and on demand the variables of modules and classes. Builds no tree; what is broken in one place
//! hides nothing in another.

use super::{
    bytes::{Prefix, byte, has_word, is_line_end, is_word, literal_end, skip_blanks, word_end},
    lex::{Lexer, Sort},
    lines::Lines,
    variables,
};
use crate::{Detail, Kind, Outline, Span, Symbol};

/// The definitions of a Python file. Bodies of `if`, `try`, `with`, `match` and loops do not nest: what
/// they define belongs to the class or function around them.
pub fn outline(text: &str, detail: Detail) -> Outline {
    let mut skimmer = Skimmer {
        text,
        full: detail == Detail::Full,
        lines: Lines::new(text.as_bytes(), 0),
        symbols: Vec::new(),
        open: Vec::new(),
        code_end: 0,
        decorator: None,
        fresh: false,
    };
    skimmer.run();
    Outline { symbols: skimmer.symbols, gaps: skimmer.lines.gaps }
}

struct Skimmer<'t> {
    text: &'t str,
    full: bool,
    lines: Lines<'t>,
    symbols: Vec<Symbol>,
    open: Vec<OpenBlock>,
    /// The end of the last line's code.
    code_end: usize,
    /// The beginning of the first decorator that waits for its definition.
    decorator: Option<usize>,
    /// The innermost open symbol has no statement yet.
    fresh: bool,
}

/// A definition whose body may go on.
struct OpenBlock {
    index: u32,
    column: u32,
    class: bool,
}

impl Skimmer<'_> {
    fn run(&mut self) {
        while let Some((start, column)) = self.lines.begin() {
            self.close(column);
            let mut from = start;
            if self.fresh {
                self.fresh = false;
                from = self.first_statement(start);
            }
            match byte(self.text.as_bytes(), start) {
                b'@' => {
                    self.decorator.get_or_insert(start);
                    self.code_end = self.lines.finish(start);
                    continue;
                }
                b'd' | b'c' | b'a' if self.definition(start, column) => {}
                _ => self.statement(start, from),
            }
            self.decorator = None;
        }
        while let Some(open) = self.open.pop() {
            self.end(open.index);
        }
    }

    /// Ends the definitions that a line in this column does not belong to.
    fn close(&mut self, column: u32) {
        while let Some(open) = self.open.pop_if(|open| column <= open.column) {
            self.end(open.index);
            self.fresh = false;
        }
    }

    fn end(&mut self, index: u32) {
        let symbol = &mut self.symbols[index as usize];
        let end = self.code_end as u32;
        symbol.whole.end = end.max(symbol.head.end);
        if symbol.body.start > 0 {
            symbol.body.end = symbol.whole.end;
        }
    }

    /// Notes that the innermost definition's first statement begins here, and returns where
    /// reading must go on: behind its docstring if it is one.
    fn first_statement(&mut self, start: usize) -> usize {
        let Some(open) = self.open.last() else { return start };
        let symbol = &mut self.symbols[open.index as usize];
        symbol.body = Span::at(start);
        let Some(doc) = docstring_at(self.text.as_bytes(), start) else { return start };
        symbol.doc = doc;
        if byte(self.text.as_bytes(), start) == b'(' { start } else { doc.end as usize }
    }

    /// Reads the rest of a line that begins no definition.
    fn statement(&mut self, start: usize, from: usize) {
        self.code_end = self.lines.finish(from);
        if self.full && from == start {
            self.variables(start);
        }
    }

    /// The variables of a stretch that ends with the code just read.
    fn variables(&mut self, start: usize) {
        let parent = match self.open.last() {
            Some(open) if !open.class => return,
            open => open.map(|open| open.index),
        };
        variables::collect(self.text, Span::new(start, self.code_end), parent, &mut self.symbols);
    }

    /// Reads the line as a definition; false where it is none.
    fn definition(&mut self, start: usize, column: u32) -> bool {
        let bytes = self.text.as_bytes();
        let is_async = byte(bytes, start) == b'a';
        if is_async && !has_word(bytes, start, b"async") {
            return false;
        }
        let keyword = if is_async { skip_blanks(bytes, start + 5) } else { start };
        let class = !is_async && byte(bytes, keyword) == b'c';
        if !has_word(bytes, keyword, if class { b"class" } else { b"def" }) {
            return false;
        }
        let name = skip_blanks(bytes, keyword + if class { 5 } else { 3 });
        if !is_word(byte(bytes, name)) || byte(bytes, name).is_ascii_digit() {
            return false;
        }
        let kind = match self.open.last() {
            _ if class => Kind::Class,
            Some(open) if open.class => Kind::Method,
            _ => Kind::Function,
        };
        let whole = Span::new(self.decorator.unwrap_or(start), start);
        let name = Span::new(name, word_end(bytes, name));
        let mut symbol = Symbol::new(kind, whole, name);
        symbol.is_async = is_async;
        symbol.parent = self.open.last().map(|open| open.index);
        let (params, end, colon) = self.header(name.end as usize);
        symbol.params = params;
        symbol.head = Span::new(start, end);
        let index = self.symbols.len() as u32;
        self.symbols.push(symbol);
        self.open.push(OpenBlock { index, column, class });
        self.body(end, colon);
        true
    }

    /// Reads on after a definition's head: a body on the same line, or none.
    fn body(&mut self, end: usize, colon: bool) {
        let bytes = self.text.as_bytes();
        let first = skip_blanks(bytes, end);
        let nothing = matches!(byte(bytes, first), b'\n' | b'\r' | b'#') || first >= bytes.len();
        if !colon || nothing {
            self.fresh = true;
            self.code_end = self.lines.finish(end);
            return;
        }
        let from = self.first_statement(first);
        self.code_end = self.lines.finish(from);
        if self.full {
            self.variables(from);
        }
    }

    /// Reads a head from behind its name: its parameters, where it ends, and whether it ends with
    /// its colon.
    fn header(&mut self, name_end: usize) -> (Span, usize, bool) {
        let bytes = self.text.as_bytes();
        let mut params = Span::at(name_end);
        // Each lambda in a return annotation outside brackets brings a colon of its own.
        let mut lambdas = 0usize;
        let mut last = name_end;
        let mut at = name_end;
        loop {
            at = skip_blanks(bytes, at);
            match byte(bytes, at) {
                b':' if lambdas == 0 => return (params, at + 1, true),
                b':' => {
                    lambdas -= 1;
                    at += 1;
                }
                open @ (b'(' | b'[' | b'{') => {
                    // An unclosed bracket: the line is left as it would be anywhere else.
                    let Some(close) = self.lines.matching(at) else { return (params, last, false) };
                    if open == b'(' && params.is_empty() && params.start as usize == name_end {
                        params = Span::new(at + 1, close - 1);
                    }
                    at = close;
                }
                b'"' | b'\'' => at = self.lines.string(name_end, at),
                next if is_word(next) => {
                    let end = word_end(bytes, at);
                    lambdas += usize::from(&bytes[at..end] == b"lambda");
                    at = end;
                }
                b'\n' | b'\r' | b'#' | b'\\' => return (params, last, false),
                _ if at >= bytes.len() => return (params, last, false),
                _ => at += 1,
            }
            last = at;
        }
    }
}

/// The docstring that a statement at a place is: plain literals, one after the other, and nothing
/// else, perhaps in parentheses.
pub(super) fn docstring_at(bytes: &[u8], start: usize) -> Option<Span> {
    if byte(bytes, start) == b'(' {
        return docstring_in_parentheses(bytes, start);
    }
    let mut at = start;
    let mut end = None;
    loop {
        let quote = match byte(bytes, at) {
            b'"' | b'\'' => at,
            next if is_word(next) => word_end(bytes, at),
            b'\n' | b'\r' | b'#' | b';' => return end.map(|end| Span::new(start, end)),
            _ if at >= bytes.len() => return end.map(|end| Span::new(start, end)),
            _ => return None,
        };
        if !matches!(byte(bytes, quote), b'"' | b'\'') || !is_text_prefix(&bytes[at..quote]) {
            return None;
        }
        let close = literal_end(bytes, quote).ok()?;
        end = Some(close);
        at = skip_blanks(bytes, close);
    }
}

fn is_text_prefix(letters: &[u8]) -> bool {
    Prefix::of(letters).is_some_and(|prefix| !prefix.bytes && !prefix.fields)
}

fn docstring_in_parentheses(bytes: &[u8], start: usize) -> Option<Span> {
    let mut depth = 0usize;
    let mut doc: Option<Span> = None;
    for token in Lexer::new(bytes, start) {
        match token.sort {
            Sort::Open if token.first == b'(' && doc.is_none() => depth += 1,
            Sort::Close if depth > 0 && doc.is_some() => depth -= 1,
            Sort::Literal if depth > 0 => {
                let quote = (token.start as usize..token.end as usize).find(|at| !is_word(bytes[*at]))?;
                if !is_text_prefix(&bytes[token.start as usize..quote]) {
                    return None;
                }
                let first = doc.map_or(token.start, |doc| doc.start);
                doc = Some(Span { start: first, end: token.end });
            }
            Sort::LineEnd | Sort::Comment if depth > 0 => {}
            Sort::LineEnd | Sort::Comment => return doc,
            Sort::Operator if token.is(b';') && depth == 0 => return doc,
            _ => return None,
        }
    }
    doc.filter(|_| depth == 0 && !is_line_end(byte(bytes, start)))
}
