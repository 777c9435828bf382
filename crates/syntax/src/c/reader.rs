//! Reads a text once from front to back: tokens where declarations stand, brackets alone where
//! they do not, directives everywhere. What the declarations mean is decided elsewhere.

use super::{
    branches::Branches,
    bytes::{self, CLASS, Class},
    recovery, skim,
    state::{CScope, Group, Holder, NONE, Pending, Skipping, State},
    token::{CToken, Part, Tokens},
    words::{self, Key},
};
use crate::{Detail, Gap, Span, Symbol};

/// A declaration of more tokens than this is a table of macros: it is cut, and read on from there.
const LONGEST: usize = 600;

/// Reads one text.
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) cpp: bool,
    pub(super) full: bool,
    pub(super) at: usize,
    pub(super) tokens: Vec<CToken>,
    pub(super) state: State,
    pub(super) scopes: Vec<CScope>,
    pub(super) branches: Branches<State>,
    pub(super) symbols: Vec<Symbol>,
    pub(super) gaps: Vec<Gap>,
    /// The last comment, with those on the lines before it.
    pub(super) comment: Span,
    /// Symbols that end where another ends.
    pub(super) twins: Vec<(u32, u32)>,
    /// The last function that is one `try`, which handlers follow.
    pub(super) tried: u32,
    pub(super) restarts: u32,
}

impl<'a> Reader<'a> {
    /// A reader at the beginning of a text.
    pub(super) fn new(text: &'a str, cpp: bool, detail: Detail) -> Self {
        let outer = Pending { begin: 0, end: 0, doc: Span::default(), defined: NONE };
        let file = CScope { holder: Holder::File, parent: NONE, own: NONE, symbol: NONE, open: 0, outer };
        Self {
            bytes: text.as_bytes(),
            cpp,
            full: detail == Detail::Full,
            at: 0,
            tokens: Vec::with_capacity(64),
            state: State { scope: 0, group: Group::OFF, pending: outer },
            scopes: vec![file],
            branches: Branches::new(),
            symbols: Vec::with_capacity(text.len() / 600),
            gaps: Vec::new(),
            comment: Span::default(),
            twins: Vec::new(),
            tried: NONE,
            restarts: 0,
        }
    }

    /// Reads to the end.
    pub(super) fn run(&mut self) {
        loop {
            while self.at < self.bytes.len() {
                match self.state.group.skipping {
                    Skipping::Nothing => self.read(),
                    Skipping::Paren | Skipping::Bracket => self.skip_brackets(),
                    _ => self.skip_braces(),
                }
            }
            if !self.restart() {
                break;
            }
        }
        self.close_all();
    }

    /// The tokens of the declaration that is being read.
    pub(super) fn declaration(&self) -> Tokens<'_> {
        let scope = &self.scopes[self.state.scope as usize];
        let class = match (scope.holder, self.symbols.get(scope.own as usize)) {
            (Holder::Class, Some(symbol)) => &self.bytes[symbol.name.range()],
            _ => &[],
        };
        let list = &self.tokens[self.state.pending.begin as usize..];
        Tokens { bytes: self.bytes, list, cpp: self.cpp, class }
    }

    /// Reads tokens until brackets are entered or left.
    fn read(&mut self) {
        let bytes = self.bytes;
        while let Some(&byte) = bytes.get(self.at) {
            let at = self.at;
            match CLASS[byte as usize] {
                Class::Blank => self.at += 1,
                Class::Word => self.word(at),
                Class::Digit => {
                    self.at = skim::number_end(bytes, at, self.cpp);
                    self.push(Part::Literal, at, self.at);
                }
                Class::Mark => {
                    self.mark(at, byte);
                    if self.state.group.skipping != Skipping::Nothing {
                        return;
                    }
                }
            }
        }
    }

    fn word(&mut self, at: usize) {
        let end = bytes::word_end(self.bytes, at);
        self.at = end;
        let word = &self.bytes[at..end];
        match self.bytes.get(end) {
            Some(b'"')
                if matches!(word, b"R" | b"L" | b"u" | b"U" | b"u8" | b"LR" | b"uR" | b"UR" | b"u8R") =>
            {
                self.at = skim::string(self.bytes, end, self.cpp);
                return self.push(Part::Literal, at, self.at);
            }
            Some(b'\'') if matches!(word, b"L" | b"u" | b"U" | b"u8") => {
                self.at = skim::apostrophe(self.bytes, end, self.cpp);
                return self.push(Part::Literal, at, self.at);
            }
            _ => {}
        }
        let part = words::key(word, self.cpp).map_or(Part::Name, Part::Key);
        self.end_loose_line(at, part, word);
        self.push(part, at, end);
    }

    /// Adds a token to the declaration that is being read.
    pub(super) fn push(&mut self, part: Part, start: usize, end: usize) {
        let begin = self.state.pending.begin as usize;
        if self.tokens.len() == begin {
            self.state.pending.doc = self.doc_before(start);
            self.state.pending.defined = NONE;
        } else if self.tokens.len() - begin >= LONGEST {
            self.drop_pending();
        }
        self.tokens.push(CToken::new(part, start, end));
    }

    /// Forgets the declaration that is being read.
    pub(super) fn drop_pending(&mut self) {
        let begin = self.state.pending.begin as usize;
        self.tokens.truncate(begin.max(self.branches.floor()));
        self.state.pending.begin = self.tokens.len() as u32;
        self.state.pending.defined = NONE;
    }

    fn mark(&mut self, at: usize, byte: u8) {
        let bytes = self.bytes;
        self.at = at + 1;
        match byte {
            b'"' => {
                self.at = skim::string(bytes, at, self.cpp);
                self.push(Part::Literal, at, self.at);
            }
            b'\'' => {
                self.at = skim::apostrophe(bytes, at, self.cpp);
                self.push(Part::Literal, at, self.at);
            }
            b'/' => match skim::comment(bytes, at) {
                Some(end) => self.saw_comment(at, end),
                None => self.push(Part::Mark(b'/'), at, at + 1),
            },
            b'#' if skim::begins_line(bytes, at) => self.directive(at),
            b'(' => self.enter(Skipping::Paren, at, NONE),
            b'[' => self.enter(Skipping::Bracket, at, NONE),
            b'{' => self.open_brace(at),
            b'}' => self.close_brace(at),
            b';' => self.finish(at + 1),
            b':' if bytes.get(at + 1) == Some(&b':') => {
                self.at = at + 2;
                self.push(Part::Colons, at, at + 2);
            }
            b':' if self.is_access() => self.drop_pending(),
            b'-' if bytes.get(at + 1) == Some(&b'>') => {
                self.at = at + 2;
                self.push(Part::Arrow, at, at + 2);
            }
            b',' if self.scopes[self.state.scope as usize].holder == Holder::Enum => self.member(at),
            _ => self.push(Part::Mark(byte), at, at + 1),
        }
    }

    /// True if the tokens are `public`, `signals`, `public slots` and the like, before a colon.
    fn is_access(&self) -> bool {
        if self.scopes[self.state.scope as usize].holder != Holder::Class {
            return false;
        }
        let tokens = self.declaration();
        let Some(first) = tokens.list.first() else { return true };
        let marked = first.part == Part::Key(Key::Access)
            || matches!(tokens.text(0), b"signals" | b"slots" | b"Q_SIGNALS" | b"Q_SLOTS");
        marked && tokens.list.len() <= 2
    }

    /// Sets the end of a symbol, and of those that share its body.
    pub(super) fn end_symbol(&mut self, symbol: u32, open: usize, end: usize) {
        if let Some(symbol) = self.symbols.get_mut(symbol as usize) {
            symbol.whole.end = end as u32;
            let start = if symbol.body.is_empty() { open as u32 } else { symbol.body.start };
            symbol.body = Span { start, end: end as u32 };
        }
        while let Some(at) = self.twins.iter().position(|(kept, _)| *kept == symbol) {
            let (_, twin) = self.twins.swap_remove(at);
            let twin = &mut self.symbols[twin as usize];
            // A body that was given up may end before its twin in a later branch begins.
            if end as u32 > twin.whole.start.max(twin.body.start).max(twin.head.end) {
                twin.whole.end = end as u32;
                twin.body.end = end as u32;
            }
        }
    }

    /// At the end of the text in a body that was never closed: goes back to the next definition.
    fn restart(&mut self) -> bool {
        if self.state.group.skipping != Skipping::Body || self.restarts >= recovery::RESTARTS {
            return false;
        }
        let Some(next) = recovery::next_definition(self.bytes, self.state.group.open as usize) else {
            return false;
        };
        self.restarts += 1;
        self.branches.forget();
        while self.symbols.last().is_some_and(|symbol| symbol.whole.start as usize >= next) {
            self.symbols.pop();
        }
        let kept = self.symbols.len() as u32;
        self.twins.retain(|(symbol, twin)| *symbol < kept && *twin < kept);
        self.abandon_body(next);
        true
    }

    /// Ends a body that was never closed, and goes on with the definition at an offset.
    pub(super) fn abandon_body(&mut self, next: usize) {
        let group = self.state.group;
        let open = group.open as usize;
        let end = bytes_end(self.bytes, open, next);
        self.end_symbol(group.symbol, open, end);
        self.gaps.push(Gap { span: Span::new(open, end), why: "a body is not closed" });
        self.state.group = Group::OFF;
        self.drop_pending();
        self.at = next;
    }

    /// Closes whatever is open at the end of the text.
    fn close_all(&mut self) {
        let end = self.bytes.trim_ascii_end().len();
        let group = self.state.group;
        if group.skipping != Skipping::Nothing {
            let open = group.open as usize;
            self.end_symbol(group.symbol, open, end.max(open + 1));
            self.gaps.push(Gap { span: Span::new(open, end.max(open + 1)), why: "a bracket is not closed" });
        }
        let mut scope = self.state.scope;
        while scope != NONE {
            let open = self.scopes[scope as usize];
            if open.holder != Holder::File {
                let from = open.open as usize;
                self.end_symbol(open.own, from, end.max(from + 1));
                self.gaps
                    .push(Gap { span: Span::new(from, end.max(from + 1)), why: "a brace is not closed" });
            }
            scope = open.parent;
        }
    }
}

/// The end of a stretch without the blanks at its end.
fn bytes_end(bytes: &[u8], from: usize, to: usize) -> usize {
    from + bytes[from..to].trim_ascii_end().len()
}
