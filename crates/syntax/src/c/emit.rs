//! Makes symbols of declarations: at the brace that opens a body, at the semicolon that ends a
//! declaration, at a comma between members, at `#define`.

use super::{
    bytes,
    declarators::names,
    function::{self, FoundFunction, Function},
    heads::{self, Opens},
    prototypes::is_prototype,
    reader::Reader,
    state::{CScope, Holder, NONE, Pending, Skipping},
    token::{self, Part, Tokens},
    words::Key,
};
use crate::{Kind, Span, Symbol};

impl Reader<'_> {
    /// `{` where declarations stand.
    pub(super) fn open_brace(&mut self, at: usize) {
        if self.scopes[self.state.scope as usize].holder == Holder::Enum {
            return self.enter(Skipping::Value, at, NONE);
        }
        match heads::opens(&self.declaration()) {
            Opens::Namespace { name, scope } => {
                let symbol = self.open_symbol(Kind::Namespace, name, scope, Span::default(), at, None);
                self.enter_scope(Holder::Namespace, symbol, at);
            }
            Opens::Linkage => self.enter_scope(Holder::Linkage, NONE, at),
            Opens::Type { kind, name, scope } => {
                let symbol = self.open_symbol(kind, name, scope, Span::default(), at, None);
                match kind {
                    Kind::Enum if !self.full => self.enter(Skipping::Members, at, symbol),
                    Kind::Enum => self.enter_scope(Holder::Enum, symbol, at),
                    _ => self.enter_scope(Holder::Class, symbol, at),
                }
            }
            Opens::Function { function, colon } => {
                let declaration = self.declaration();
                let tried =
                    declaration.list[function.after..].iter().any(|token| token.part == Part::Key(Key::Try));
                let head_end = declaration.list[function.after..]
                    .iter()
                    .position(|token| token.part == Part::Key(Key::Try))
                    .map(|place| function.after + place)
                    .into_iter()
                    .chain(colon)
                    .min();
                let kind = self.function_kind(&function);
                let symbol =
                    self.open_symbol(kind, function.name, function.scope, function.params, at, head_end);
                self.tried = if tried { symbol } else { NONE };
                self.enter(Skipping::Body, at, symbol);
            }
            Opens::Handler if self.tried != NONE => self.enter(Skipping::Body, at, self.tried),
            Opens::Value => self.enter(Skipping::Value, at, NONE),
            Opens::Handler | Opens::Block => self.enter(Skipping::Block, at, NONE),
        }
    }

    fn function_kind(&self, function: &Function) -> Kind {
        let in_class = self.scopes[self.state.scope as usize].holder == Holder::Class;
        let friend = self.declaration().list.iter().any(|token| token.part == Part::Key(Key::Friend));
        if (in_class && !friend) || !function.scope.is_empty() { Kind::Method } else { Kind::Function }
    }

    /// Adds a symbol whose body begins here.
    fn open_symbol(
        &mut self,
        kind: Kind,
        name: Span,
        scope: Span,
        params: Span,
        open: usize,
        head_end: Option<usize>,
    ) -> u32 {
        let declaration = self.declaration();
        let from = declaration.after_templates().min(declaration.list.len() - 1);
        let last = head_end.unwrap_or(declaration.list.len()).max(from + 1) - 1;
        let head = Span { start: declaration.list[from].start, end: declaration.list[last].end };
        let whole = Span { start: declaration.list[0].start, end: open as u32 };
        let body = Span::at(open);
        let symbol = Symbol { head, scope, params, body, ..Symbol::new(kind, whole, name) };
        self.add(symbol)
    }

    fn add(&mut self, symbol: Symbol) -> u32 {
        let parent = self.scopes[self.state.scope as usize].symbol;
        let doc = if symbol.doc.is_empty() { self.state.pending.doc } else { symbol.doc };
        self.symbols.push(Symbol { parent: (parent != NONE).then_some(parent), doc, ..symbol });
        self.symbols.len() as u32 - 1
    }

    fn enter_scope(&mut self, holder: Holder, own: u32, open: usize) {
        let outer = Pending { end: self.tokens.len() as u32, ..self.state.pending };
        let parent = self.state.scope;
        let symbol = if own == NONE { self.scopes[parent as usize].symbol } else { own };
        self.state.scope = self.scopes.len() as u32;
        self.scopes.push(CScope { holder, parent, own, symbol, open: open as u32, outer });
        let begin = self.tokens.len() as u32;
        self.state.pending = Pending { begin, end: begin, doc: Span::default(), defined: NONE };
    }

    /// `}` where declarations stand.
    pub(super) fn close_brace(&mut self, at: usize) {
        let scope = self.scopes[self.state.scope as usize];
        if scope.holder == Holder::File {
            self.gaps.push(crate::Gap { span: Span::new(at, at + 1), why: "a brace closes nothing" });
            return self.drop_pending();
        }
        if scope.holder == Holder::Enum {
            self.member(at);
        }
        self.drop_pending();
        self.end_symbol(scope.own, scope.open as usize, at + 1);
        self.state.scope = scope.parent;
        self.resume(scope.outer);
        match scope.holder {
            Holder::Class | Holder::Enum => {
                self.tokens.push(token::CToken::new(Part::TypeBody, scope.open as usize, at + 1));
                self.state.pending.defined = scope.own;
            }
            _ => self.drop_pending(),
        }
    }

    /// A member of an enumeration, which ends before an offset.
    pub(super) fn member(&mut self, end: usize) {
        let declaration = self.declaration();
        if let Some(first) = declaration.list.iter().find(|token| token.part == Part::Name) {
            let last = declaration.list[declaration.list.len() - 1].end.min(end as u32);
            let whole = Span { start: first.start, end: last.max(first.end) };
            let symbol = Symbol::new(Kind::Constant, whole, first.span());
            self.add(symbol);
        }
        self.drop_pending();
    }

    /// `;` where declarations stand, or what stands for it.
    pub(super) fn finish(&mut self, end: usize) {
        let declaration = self.declaration();
        if declaration.list.is_empty() || self.scopes[self.state.scope as usize].holder == Holder::Enum {
            return self.drop_pending();
        }
        let whole = Span { start: declaration.list[0].start, end: end as u32 };
        let from = declaration.after_templates().min(declaration.list.len() - 1);
        let last = declaration.list[declaration.list.len() - 1].end;
        let head = Span { start: declaration.list[from].start, end: last.min(end as u32) };
        let draft = Symbol { head, ..Symbol::new(Kind::Typedef, whole, Span::default()) };
        if self.state.pending.defined != NONE {
            self.finish_type(draft);
            return self.drop_pending();
        }
        // Macros may stand before `typedef`.
        let early =
            declaration.list[from..].iter().take(4).position(|token| token.part == Part::Key(Key::Typedef));
        let from = from + early.unwrap_or(0);
        match declaration.list[from].part {
            Part::Key(Key::Using) => self.alias(draft, from),
            Part::Key(Key::Typedef) => self.typedefs(draft, from + 1, false),
            Part::Key(Key::Concept) if declaration.part(from + 1) == Some(Part::Name) => {
                let name = declaration.list[from + 1].span();
                self.add(Symbol { name, ..draft });
            }
            Part::Key(
                Key::Namespace
                | Key::Assert
                | Key::Access
                | Key::Control
                | Key::Catch
                | Key::Try
                | Key::Template
                | Key::Concept
                | Key::Defaulted,
            )
            | Part::Literal => {}
            Part::Key(Key::Extern) if declaration.part(from + 1) == Some(Part::Key(Key::Template)) => {}
            _ if self.is_old_style() => {
                // The parameters of an old definition are declared before its body.
                self.tokens.push(token::CToken::new(Part::Mark(b';'), end - 1, end));
                return;
            }
            _ => self.declared(draft, from),
        }
        self.drop_pending();
    }

    /// A function without a body, or variables.
    fn declared(&mut self, draft: Symbol, from: usize) {
        let declaration = self.declaration();
        let found = if declaration.list.iter().any(|token| token.part == Part::Paren) {
            function::find(&declaration, from)
        } else {
            FoundFunction::Nothing
        };
        if let FoundFunction::Function(function) = found
            && is_prototype(&declaration, &function)
        {
            let kept = declaration.list[function.after..]
                .windows(2)
                .any(|pair| pair[0].part == Part::Mark(b'=') && pair[1].part == Part::Key(Key::Defaulted));
            let Function { name, scope, params, .. } = function;
            let kind = self.function_kind(&function);
            self.add(Symbol { kind, declaration: !kept, name, scope, params, ..draft });
        } else if self.full {
            self.variables(draft, from, false);
        }
    }

    fn variables(&mut self, draft: Symbol, from: usize, typed: bool) {
        let declaration = self.declaration();
        if !typed && self.cpp && matches!(declaration.text(from), b"import" | b"module" | b"export") {
            return;
        }
        let in_class = self.scopes[self.state.scope as usize].holder == Holder::Class;
        let kind = if in_class { Kind::Field } else { Kind::Variable };
        let has = |part: Part| declaration.list.iter().any(|token| token.part == part);
        let announced = has(Part::Key(Key::Extern)) && !has(Part::Mark(b'='));
        for (name, _) in names(&declaration, from, typed) {
            self.add(Symbol { kind, declaration: announced, name, ..draft });
        }
    }

    fn typedefs(&mut self, draft: Symbol, from: usize, typed: bool) {
        for (name, params) in names(&self.declaration(), from, typed) {
            self.add(Symbol { name, params, ..draft });
        }
    }

    fn alias(&mut self, draft: Symbol, using: usize) {
        let declaration = self.declaration();
        let mut at = using + 1;
        if declaration.part(at) != Some(Part::Name) {
            return;
        }
        let name = declaration.list[at].span();
        at += 1;
        while matches!(
            declaration.part(at),
            Some(Part::Bracket | Part::Paren | Part::Key(Key::Attribute) | Part::Name)
        ) {
            at += 1;
        }
        if declaration.part(at) == Some(Part::Mark(b'=')) {
            self.add(Symbol { name, ..draft });
        }
    }

    /// The end of a declaration that defined a type: the type reaches to here, and what follows
    /// its body are names of it or variables.
    fn finish_type(&mut self, draft: Symbol) {
        let declaration = self.declaration();
        let body = declaration.list.iter().rposition(|token| token.part == Part::TypeBody).unwrap_or(0);
        let is_typedef = declaration.list[..body].iter().any(|token| token.part == Part::Key(Key::Typedef));
        let defined = self.state.pending.defined as usize;
        let Some(symbol) = self.symbols.get(defined) else { return };
        let unnamed = symbol.name.is_empty();
        let mut given =
            if is_typedef || self.full { names(&declaration, body + 1, true) } else { Vec::new() };
        if is_typedef && unnamed && !given.is_empty() {
            let first = given.iter().position(|(name, _)| !self.is_pointer_name(*name)).unwrap_or(0);
            self.symbols[defined].name = given.remove(first).0;
        }
        self.symbols[defined].whole.end = draft.whole.end;
        if is_typedef {
            for (name, params) in given {
                self.add(Symbol { name, params, ..draft });
            }
        } else if self.full {
            self.variables(draft, body + 1, true);
        }
    }

    /// True if a star stands before a name: `typedef struct { … } *Name;`.
    fn is_pointer_name(&self, name: Span) -> bool {
        self.bytes[..name.start as usize].trim_ascii_end().ends_with(b"*")
    }

    /// True if the tokens so far are an old definition, `int f(a, b) int a;`, whose last name is
    /// one of its parameters.
    fn is_old_style(&self) -> bool {
        let declaration = self.declaration();
        if self.cpp || declaration.list.last().is_none_or(|last| matches!(last.part, Part::Paren)) {
            return false;
        }
        let Some(paren) = declaration.list.iter().position(|token| token.part == Part::Paren) else {
            return false;
        };
        if paren == 0 || declaration.list[paren - 1].part != Part::Name {
            return false;
        }
        let params = declaration.lex_inside(paren);
        let plain = params.iter().enumerate().all(|(at, token)| match at % 2 {
            0 => token.part == Part::Name,
            _ => token.part == Part::Mark(b','),
        });
        let rest = &declaration.list[paren + 1..];
        let start = rest.iter().rposition(|token| token.part == Part::Mark(b';')).map_or(0, |at| at + 1);
        let list = &rest[start..];
        let declared = names(&Tokens { list, ..declaration }, 0, false);
        plain
            && !params.is_empty()
            && declared.iter().any(|(name, _)| {
                params.iter().any(|param| self.bytes[param.span().range()] == self.bytes[name.range()])
            })
    }

    /// `#define`, given what follows the word.
    pub(super) fn define(&mut self, hash: usize, end: usize, rest: &[u8]) {
        let start = end - rest.len();
        let start = start.min(end);
        let name_end = bytes::word_end(&self.bytes[..end], start);
        if name_end == start {
            return;
        }
        let call = self.bytes.get(name_end) == Some(&b'(');
        if !call && !self.full {
            return;
        }
        let params = if call {
            let close = memchr::memchr(b')', &self.bytes[name_end..end]).map_or(end, |at| name_end + at);
            Span::new((name_end + 1).min(close), close)
        } else {
            Span::default()
        };
        let whole = Span::new(hash, hash + self.bytes[hash..end].trim_ascii_end().len());
        let head_end = if call { (params.end + 1).min(whole.end) } else { name_end as u32 };
        let head = Span { start: whole.start, end: head_end };
        let kind = if call { Kind::Macro } else { Kind::Constant };
        let doc = self.doc_before(hash);
        let symbol = Symbol { head, params, ..Symbol::new(kind, whole, Span::new(start, name_end)) };
        let parent = self.scopes[self.state.scope as usize].symbol;
        self.symbols.push(Symbol { parent: (parent != NONE).then_some(parent), doc, ..symbol });
    }
}
