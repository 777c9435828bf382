//! Finds the name and the parameters of a function in the tokens of a declaration, past macros
//! that look like calls, pointers to functions that are returned, operators and destructors.

use super::{
    nested::innermost,
    token::{self, Part, Path, Tokens},
    words::Key,
};
use crate::Span;

/// A function as it was declared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    pub(super) name: Span,
    pub(super) scope: Span,
    pub(super) params: Span,
    /// The token after its parameters.
    pub(super) after: usize,
    /// The place where the tokens of its name begin.
    pub(super) at: usize,
    /// Words of a type stand before it.
    pub(super) typed: bool,
    /// Only words that may be macros stand before it.
    pub(super) loudly_typed: bool,
    /// An operator, a destructor, a constructor or a qualified name: never a macro.
    pub(super) certain: bool,
    /// Words of a type between it and the parentheses before it.
    pub(super) gap: usize,
}

/// The end of a search.
#[derive(Clone, Copy, Debug)]
pub(super) enum FoundFunction {
    /// With a function.
    Function(Function),
    /// At `=`, so that what follows is a value.
    Value,
    /// With nothing of the kind.
    Nothing,
}

/// Finds the function that a declaration declares. `from` is after the template heads.
pub(super) fn find(tokens: &Tokens<'_>, from: usize) -> FoundFunction {
    let mut search = Search { tokens, best: None, typed: false, loudly: true, gap: 0 };
    search.run(from)
}

struct Search<'a, 'b> {
    tokens: &'a Tokens<'b>,
    best: Option<Function>,
    typed: bool,
    loudly: bool,
    gap: usize,
}

impl Search<'_, '_> {
    fn run(&mut self, from: usize) -> FoundFunction {
        let mut at = from;
        while let Some(part) = self.tokens.part(at) {
            at = match part {
                Part::Name => {
                    let path = self.tokens.path(at);
                    if self.tokens.list[path.last].part == Part::Key(Key::Operator) {
                        match self.operator(path) {
                            Some(function) => return self.settle(function),
                            None => return FoundFunction::Nothing,
                        }
                    }
                    match self.named(path) {
                        Step::On(next) => next,
                        Step::Done => return self.finish(),
                    }
                }
                Part::Mark(b'~') if self.tokens.part(at + 1) == Some(Part::Name) => {
                    match self.named(Path { start: at, last: at, end: at + 2 }) {
                        Step::On(next) => next,
                        Step::Done => return self.finish(),
                    }
                }
                Part::Key(Key::Operator) => match self.operator(Path { start: at, last: at, end: at + 1 }) {
                    Some(function) => return self.settle(function),
                    None => return FoundFunction::Nothing,
                },
                Part::Key(Key::Attribute) => {
                    at + 1 + usize::from(self.tokens.part(at + 1) == Some(Part::Paren))
                }
                Part::Key(Key::TypeOf) => {
                    self.word(false);
                    at + 1 + usize::from(self.tokens.part(at + 1) == Some(Part::Paren))
                }
                Part::Key(Key::Primitive) | Part::TypeBody => {
                    self.word(false);
                    at + 1
                }
                Part::Key(
                    Key::Class
                    | Key::Struct
                    | Key::Union
                    | Key::Enum
                    | Key::Qualifier
                    | Key::Storage
                    | Key::Extern
                    | Key::Friend
                    | Key::Typename
                    | Key::Template
                    | Key::Typedef,
                ) => at + 1,
                Part::Key(Key::Trailing | Key::Requires | Key::Try) if self.best.is_some() => {
                    return self.finish();
                }
                Part::Key(Key::Trailing) => at + 1,
                Part::Key(_) => return FoundFunction::Nothing,
                Part::Paren => match self.nested(at) {
                    Some(function) => return self.settle(function),
                    None => at + 1,
                },
                Part::Mark(b'=') => return self.value(at),
                Part::Mark(b':' | b',' | b';') | Part::Arrow => return self.finish(),
                Part::Mark(b'<') => return self.finish(),
                // A member of something: this is an expression.
                Part::Mark(b'.') if self.tokens.part(at + 1) != Some(Part::Mark(b'.')) => {
                    return FoundFunction::Nothing;
                }
                Part::Mark(b'.') => at + 3,
                _ => at + 1,
            };
        }
        self.finish()
    }

    fn word(&mut self, loud: bool) {
        self.typed = true;
        self.loudly &= loud;
        self.gap += 1;
    }

    /// A qualified name: a candidate where parentheses follow, otherwise a word of a type.
    fn named(&mut self, path: Path) -> Step {
        let tokens = self.tokens;
        let called = tokens.part(path.end) == Some(Part::Paren);
        let destructor = tokens.list[path.last].part == Part::Mark(b'~');
        if !called || (!destructor && self.is_pointer_group(path.end)) {
            let loud = !destructor && tokens.is_loud(path.last);
            self.word(loud);
            return Step::On(path.end);
        }
        // `PREFIX(name)(int a)`: the second parentheses hold the parameters.
        let mut params = path.end;
        while tokens.part(params + 1) == Some(Part::Paren) {
            params += 1;
        }
        let name = if destructor {
            Span { start: tokens.list[path.last].start, end: tokens.list[path.last + 1].end }
        } else {
            tokens.list[path.last].span()
        };
        let scope = tokens.scope(path);
        let constructor = !tokens.class.is_empty() && tokens.text(path.last) == tokens.class;
        let function = Function {
            name,
            scope,
            params: tokens.inside(params),
            after: params + 1,
            at: path.start,
            typed: self.typed,
            loudly_typed: self.loudly,
            certain: destructor || constructor || !scope.is_empty(),
            gap: self.gap,
        };
        if let Some(best) = self.best
            && !self.gives_way(best, function)
        {
            return Step::Done;
        }
        self.best = Some(function);
        self.typed = true;
        self.gap = 0;
        Step::On(params + 1)
    }

    /// True if what looked like a function is a macro before the declaration of another.
    fn gives_way(&self, first: Function, second: Function) -> bool {
        if first.certain {
            return false;
        }
        let loud = |function: Function| self.tokens.is_loud(function.at);
        if second.gap > 0 {
            return !(first.typed && loud(second) && !loud(first));
        }
        if !first.typed {
            return !loud(second) || loud(first);
        }
        let only_macros = first.loudly_typed || !has_parameters(self.tokens, first.after - 1);
        only_macros && loud(first) && !loud(second)
    }

    /// `operator==(…)`, `operator bool()`, `operator()(…)`, `operator""_x(…)`.
    fn operator(&self, path: Path) -> Option<Function> {
        let tokens = self.tokens;
        let mut at = path.last + 1;
        if tokens.part(at) == Some(Part::Paren)
            && tokens.part(at + 1) == Some(Part::Paren)
            && tokens.inner(at).iter().all(u8::is_ascii_whitespace)
        {
            at += 1;
        } else {
            while let Some(part) = tokens.part(at).filter(|part| *part != Part::Paren) {
                at = match part {
                    Part::Name => tokens.path(at).end,
                    Part::Key(Key::TypeOf) if tokens.part(at + 1) == Some(Part::Paren) => at + 2,
                    Part::Key(Key::Operator) | Part::Mark(b';') => return None,
                    _ => at + 1,
                };
            }
            tokens.part(at)?;
        }
        let mut name_end = at - 1;
        // `operator new<T>` and `operator==<T>` carry template arguments in friend declarations.
        if tokens.part(name_end) == Some(Part::Mark(b'>'))
            && matches!(tokens.part(path.last + 1), Some(Part::Mark(_)))
            && let Some(open) =
                (path.last + 2..name_end).find(|at| tokens.part(*at) == Some(Part::Mark(b'<')))
            && tokens.angle_end(open) == Some(name_end)
        {
            name_end = open - 1;
        }
        Some(Function {
            name: Span { start: tokens.list[path.last].start, end: tokens.list[name_end].end },
            scope: tokens.scope(path),
            params: tokens.inside(at),
            after: at + 1,
            at: path.start,
            typed: true,
            loudly_typed: false,
            certain: true,
            gap: self.gap,
        })
    }

    /// True if parentheses hold a declarator, `(*name…)`, and others follow it.
    fn is_pointer_group(&self, paren: usize) -> bool {
        let follows = matches!(self.tokens.part(paren + 1), Some(Part::Paren | Part::Bracket));
        let inside = self.tokens.inner(paren).trim_ascii_start();
        follows && matches!(inside.first(), Some(b'*' | b'^' | b'&'))
    }

    /// `int (*name(int a))(char)` and `int (name)(int a)`.
    fn nested(&self, paren: usize) -> Option<Function> {
        if self.tokens.part(paren + 1) != Some(Part::Paren)
            && self.tokens.part(paren + 1) != Some(Part::Bracket)
        {
            return None;
        }
        let inner = innermost(self.tokens, paren)?;
        let params = inner.params.or_else(|| {
            let plain = !inner.pointer && self.tokens.part(paren + 1) == Some(Part::Paren);
            plain.then(|| self.tokens.inside(paren + 1))
        })?;
        Some(Function {
            name: inner.name,
            scope: inner.scope,
            params,
            after: paren + 2,
            at: paren,
            typed: self.typed,
            loudly_typed: false,
            certain: true,
            gap: self.gap,
        })
    }

    fn settle(&self, function: Function) -> FoundFunction {
        match self.best {
            Some(best) if best.certain || (best.typed && !best.loudly_typed && function.gap == 0) => {
                FoundFunction::Function(best)
            }
            _ => FoundFunction::Function(function),
        }
    }

    fn finish(&self) -> FoundFunction {
        self.best.map_or(FoundFunction::Nothing, FoundFunction::Function)
    }

    /// At `=`: `= 0`, `= default` and `= delete` still end a function.
    fn value(&self, equal: usize) -> FoundFunction {
        let ended = match self.tokens.part(equal + 1) {
            Some(Part::Key(Key::Defaulted)) => true,
            Some(Part::Literal) => {
                self.tokens.text(equal + 1) == b"0" || self.tokens.text(equal + 1) == b"NULL"
            }
            _ => false,
        };
        if ended && self.best.is_some() { self.finish() } else { FoundFunction::Value }
    }
}

/// True if parentheses hold parameters with types, rather than the arguments of a macro.
pub(super) fn has_parameters(tokens: &Tokens<'_>, paren: usize) -> bool {
    let list = tokens.lex_inside(paren);
    let declares = |pair: &[token::CToken]| {
        matches!(pair[0].part, Part::Name | Part::Key(_) | Part::Mark(b'*' | b'&'))
            && pair[1].part == Part::Name
    };
    list.is_empty()
        || list.windows(2).any(declares)
        || list.iter().any(|token| token.part == Part::Key(Key::Primitive))
}

enum Step {
    On(usize),
    Done,
}
