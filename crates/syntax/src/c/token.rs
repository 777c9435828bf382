//! The tokens of one declaration, with brackets already closed to one token each, and the steps
//! that every reading of them takes: template arguments, qualified names, what is in parentheses.

use super::{
    bytes::{self, CLASS, Class, is_loud},
    skim,
    words::{self, Key},
};
use crate::Span;

/// The sorts of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A name of the program.
    Name,
    /// A word of the language.
    Key(Key),
    /// A number, string or character.
    Literal,
    /// `(…)`.
    Paren,
    /// `[…]`.
    Bracket,
    /// `{…}` in an expression.
    Brace,
    /// `{…}` of a type that was defined in this declaration.
    TypeBody,
    /// `::`.
    Colons,
    /// `->`.
    Arrow,
    /// Any other mark.
    Mark(u8),
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(super) struct CToken {
    pub(super) part: Part,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl CToken {
    /// A token of the text.
    pub(super) fn new(part: Part, start: usize, end: usize) -> Self {
        Self { part, start: start as u32, end: end as u32 }
    }

    /// Its place.
    pub(super) fn span(self) -> Span {
        Span { start: self.start, end: self.end }
    }
}

/// The tokens of one declaration.
#[derive(Clone, Copy)]
pub(super) struct Tokens<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) list: &'a [CToken],
    pub(super) cpp: bool,
    /// The name of the class that the declaration stands in; empty outside.
    pub(super) class: &'a [u8],
}

/// A name with what qualifies it, by places in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// The first token.
    pub(super) start: usize,
    /// The last component: a name, `~` or `operator`.
    pub(super) last: usize,
    /// The token after all of it.
    pub(super) end: usize,
}

impl<'a> Tokens<'a> {
    /// The sort of a token; `None` past the end.
    pub(super) fn part(&self, at: usize) -> Option<Part> {
        self.list.get(at).map(|token| token.part)
    }

    /// The bytes of a token.
    pub(super) fn text(&self, at: usize) -> &'a [u8] {
        let token = self.list[at];
        &self.bytes[token.start as usize..token.end as usize]
    }

    /// The text between the brackets of a token.
    pub(super) fn inside(&self, at: usize) -> Span {
        let token = self.list[at];
        let closed =
            token.end > token.start + 1 && matches!(self.bytes[token.end as usize - 1], b')' | b']' | b'}');
        Span { start: token.start + 1, end: (token.end - u32::from(closed)).max(token.start + 1) }
    }

    /// The bytes between the brackets of a token.
    pub(super) fn inner(&self, at: usize) -> &'a [u8] {
        &self.bytes[self.inside(at).range()]
    }

    /// True if the name at a place is written like a macro.
    pub(super) fn is_loud(&self, at: usize) -> bool {
        let text = self.text(at);
        is_loud(text) || (text.starts_with(b"__") && text.len() > 3)
    }

    /// The place of the `>` that closes a `<`.
    pub(super) fn angle_end(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for (at, token) in self.list.iter().enumerate().skip(open) {
            match token.part {
                Part::Mark(b'<') => depth += 1,
                Part::Mark(b'>') if depth == 1 => return Some(at),
                Part::Mark(b'>') => depth -= 1,
                Part::Mark(b';') | Part::TypeBody => return None,
                _ => {}
            }
        }
        None
    }

    /// The qualified name that begins at a name, with its template arguments.
    pub(super) fn path(&self, start: usize) -> Path {
        let (mut last, mut at) = (start, start + 1);
        loop {
            if self.cpp
                && self.part(at) == Some(Part::Mark(b'<'))
                && let Some(close) = self.angle_end(at)
            {
                at = close + 1;
            }
            if self.part(at) != Some(Part::Colons) {
                return Path { start, last, end: at };
            }
            let next = at + 1 + usize::from(self.part(at + 1) == Some(Part::Key(Key::Template)));
            match self.part(next) {
                Some(Part::Name) => (last, at) = (next, next + 1),
                Some(Part::Mark(b'~')) if self.part(next + 1) == Some(Part::Name) => {
                    return Path { start, last: next, end: next + 2 };
                }
                Some(Part::Key(Key::Operator)) => return Path { start, last: next, end: next + 1 },
                _ => return Path { start, last, end: at },
            }
        }
    }

    /// The qualifier of a path, without the last `::`.
    pub(super) fn scope(&self, path: Path) -> Span {
        let colons = (path.start..path.last).rev().find(|at| self.list[*at].part == Part::Colons);
        match colons {
            Some(colons) if colons > path.start => {
                Span { start: self.list[path.start].start, end: self.list[colons - 1].end }
            }
            _ => Span::default(),
        }
    }

    /// After the template heads, and the constraints that follow them.
    pub(super) fn after_templates(&self) -> usize {
        let mut at = 0;
        if self.part(0) == Some(Part::Key(Key::Storage))
            && self.part(1) == Some(Part::Key(Key::Template))
            && self.text(0) == b"export"
        {
            at = 1;
        }
        while self.part(at) == Some(Part::Key(Key::Template)) && self.part(at + 1) == Some(Part::Mark(b'<')) {
            let Some(close) = self.angle_end(at + 1) else { return at };
            at = close + 1;
            if self.part(at) == Some(Part::Key(Key::Requires)) {
                at = self.after_constraint(at + 1);
            }
        }
        at
    }

    /// After a constraint: names, parentheses and `requires` expressions joined by `&&` and `||`.
    fn after_constraint(&self, from: usize) -> usize {
        let mut at = from;
        loop {
            while self.part(at) == Some(Part::Mark(b'!')) {
                at += 1;
            }
            match self.part(at) {
                Some(Part::Paren) => at += 1,
                Some(Part::Name) => at = self.path(at).end,
                Some(Part::Key(Key::Requires)) => {
                    at += 1 + usize::from(self.part(at + 1) == Some(Part::Paren));
                    at += usize::from(self.part(at) == Some(Part::Brace));
                }
                _ => return at.min(self.list.len()),
            }
            match (self.part(at), self.part(at + 1)) {
                (Some(Part::Mark(b'&')), Some(Part::Mark(b'&')))
                | (Some(Part::Mark(b'|')), Some(Part::Mark(b'|'))) => at += 2,
                _ => return at,
            }
        }
    }

    /// The tokens between the brackets of a token.
    pub(super) fn lex_inside(&self, at: usize) -> Vec<CToken> {
        lex(self.bytes, self.inside(at), self.cpp)
    }
}

/// The tokens of a stretch of code, each bracket closed to one token.
pub(super) fn lex(bytes: &[u8], span: Span, cpp: bool) -> Vec<CToken> {
    let bytes = &bytes[..span.end as usize];
    let mut list = Vec::new();
    let mut at = span.start as usize;
    while let Some(&byte) = bytes.get(at) {
        let end = match (CLASS[byte as usize], byte) {
            (Class::Blank, _) => {
                at += 1;
                continue;
            }
            (Class::Word, _) => {
                let end = bytes::word_end(bytes, at);
                let part = words::key(&bytes[at..end], cpp).map_or(Part::Name, Part::Key);
                list.push(CToken::new(part, at, end));
                at = end;
                continue;
            }
            (Class::Digit, _) => skim::number_end(bytes, at, cpp),
            (_, b'"') => skim::string(bytes, at, cpp),
            (_, b'\'') => skim::apostrophe(bytes, at, cpp),
            (_, b'#') if skim::begins_line(bytes, at) => {
                at = skim::directive(bytes, at);
                continue;
            }
            (_, b'/') => match skim::comment(bytes, at) {
                Some(end) => {
                    at = end;
                    continue;
                }
                None => at + 1,
            },
            (_, b'(' | b'[' | b'{') => group_end(bytes, at, cpp),
            (_, b':') if bytes.get(at + 1) == Some(&b':') => at + 2,
            (_, b'-') if bytes.get(at + 1) == Some(&b'>') => at + 2,
            _ => at + 1,
        };
        let part = match byte {
            b'(' => Part::Paren,
            b'[' => Part::Bracket,
            b'{' => Part::Brace,
            b':' if end == at + 2 => Part::Colons,
            b'-' if end == at + 2 => Part::Arrow,
            b'"' | b'\'' | b'0'..=b'9' => Part::Literal,
            byte => Part::Mark(byte),
        };
        list.push(CToken::new(part, at, end));
        at = end;
    }
    list
}

/// After the bracket that closes the one at an offset; the end of the text where none does.
pub(super) fn group_end(bytes: &[u8], open: usize, cpp: bool) -> usize {
    static STOPS: [bool; 256] = bytes::set(b"()[]{}\"'/#");
    let mut depth = 0usize;
    let mut at = open;
    while let Some(stop) = bytes::find(bytes, at, &STOPS) {
        at = match bytes[stop] {
            b'(' | b'[' | b'{' => {
                depth += 1;
                stop + 1
            }
            b')' | b']' | b'}' if depth <= 1 => return stop + 1,
            b')' | b']' | b'}' => {
                depth -= 1;
                stop + 1
            }
            b'"' => skim::string(bytes, stop, cpp),
            b'\'' => skim::apostrophe(bytes, stop, cpp),
            b'#' if skim::begins_line(bytes, stop) => skim::directive(bytes, stop),
            _ => skim::comment(bytes, stop).filter(|_| bytes[stop] == b'/').unwrap_or(stop + 1),
        };
    }
    bytes.len()
}
