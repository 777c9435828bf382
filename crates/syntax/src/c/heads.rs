//! Decides what a brace opens, from the tokens of the declaration before it.

use super::{
    bytes::is_loud,
    function::{self, FoundFunction, Function},
    token::{Part, Tokens},
    words::Key,
};
use crate::{Kind, Span};

/// The constructs that a brace opens.
#[derive(Clone, Copy, Debug)]
pub(super) enum Opens {
    /// A namespace, by its qualifier and its name.
    Namespace { name: Span, scope: Span },
    /// `extern "C"`, which holds declarations but is no symbol.
    Linkage,
    /// The body of a type.
    Type { kind: Kind, name: Span, scope: Span },
    /// The body of a function; `colon` is where its initialisers begin.
    Function { function: Function, colon: Option<usize> },
    /// The handler of a function that is one `try`.
    Handler,
    /// A value.
    Value,
    /// Statements, or something unknown.
    Block,
}

/// Decides what the brace after these tokens opens.
pub(super) fn opens(tokens: &Tokens<'_>) -> Opens {
    let from = tokens.after_templates();
    let first = (from..from + 2).find(|at| tokens.part(*at) != Some(Part::Key(Key::Storage))).unwrap_or(from);
    match tokens.part(first) {
        Some(Part::Key(Key::Namespace)) => return namespace(tokens, first),
        Some(Part::Key(Key::Extern))
            if tokens.part(first + 1) == Some(Part::Literal) && tokens.list.len() == first + 2 =>
        {
            return Opens::Linkage;
        }
        Some(Part::Key(Key::Catch)) => return Opens::Handler,
        Some(Part::Key(Key::Control | Key::Try)) | None => return Opens::Block,
        _ => {}
    }
    if let Some(opens) = type_head(tokens, from) {
        return opens;
    }
    let last = tokens.list.len() - 1;
    if ends_in_requires(tokens, last) {
        return Opens::Value;
    }
    match function::find(tokens, from) {
        FoundFunction::Value => Opens::Value,
        FoundFunction::Nothing if last == 0 || tokens.part(first) == Some(Part::Key(Key::Extern)) => {
            Opens::Block
        }
        FoundFunction::Nothing => Opens::Value,
        FoundFunction::Function(function) if is_annotation(tokens, &function) => Opens::Value,
        FoundFunction::Function(function) => {
            let colon = (function.after..tokens.list.len())
                .find(|at| tokens.part(*at) == Some(Part::Mark(b':')))
                .filter(|colon| !(function.after..*colon).any(|at| tokens.part(at) == Some(Part::Arrow)));
            let member = colon.is_some_and(|colon| colon < last)
                && matches!(tokens.part(last), Some(Part::Name | Part::Mark(b'>')));
            if member { Opens::Value } else { Opens::Function { function, colon } }
        }
    }
}

/// True if the brace holds the demands of a `requires` expression, not the body of a function
/// after a `requires` clause.
fn ends_in_requires(tokens: &Tokens<'_>, last: usize) -> bool {
    let requires = |at: usize| tokens.part(at) == Some(Part::Key(Key::Requires));
    if requires(last) || last < 2 {
        return requires(last);
    }
    let inner = matches!(
        tokens.part(last - 2),
        Some(Part::Key(Key::Requires) | Part::Mark(b'=' | b'&' | b'|' | b'!'))
    );
    tokens.part(last) == Some(Part::Paren) && requires(last - 1) && inner
}

/// True if what looks like a function is a macro after the name of a variable:
/// `int x GUARDED_BY(mu)`.
pub(super) fn is_annotation(tokens: &Tokens<'_>, function: &Function) -> bool {
    if function.certain || function.gap < 2 || !tokens.is_loud(function.at) {
        return false;
    }
    let named = function.at > 0 && matches!(tokens.list[function.at - 1].part, Part::Name | Part::Bracket);
    named && !function::has_parameters(tokens, function.after - 1)
}

fn namespace(tokens: &Tokens<'_>, key: usize) -> Opens {
    let mut at = key + 1;
    let mut found = None;
    while let Some(part) = tokens.part(at) {
        at = match part {
            Part::Name => {
                let mut path = tokens.path(at);
                // `a::inline b`.
                while tokens.part(path.end) == Some(Part::Colons)
                    && tokens.part(path.end + 1) == Some(Part::Key(Key::Storage))
                    && tokens.part(path.end + 2) == Some(Part::Name)
                {
                    let rest = tokens.path(path.end + 2);
                    path.last = rest.last;
                    path.end = rest.end;
                }
                if tokens.part(path.end) == Some(Part::Paren) {
                    path.end += 1;
                }
                // A macro before the name gives way to it; one after it does not.
                if found.is_none_or(|found: super::token::Path| {
                    tokens.is_loud(found.last) && !tokens.is_loud(path.last)
                }) {
                    found = Some(path);
                }
                path.end
            }
            Part::Bracket => at + 1,
            Part::Key(Key::Attribute) => at + 1 + usize::from(tokens.part(at + 1) == Some(Part::Paren)),
            _ => return Opens::Value,
        };
    }
    match found {
        Some(path) => Opens::Namespace { name: tokens.list[path.last].span(), scope: tokens.scope(path) },
        None => Opens::Namespace { name: Span::at(tokens.list[key].end as usize), scope: Span::default() },
    }
}

/// The head of a class, struct, union or enumeration that reaches to the brace.
fn type_head(tokens: &Tokens<'_>, from: usize) -> Option<Opens> {
    let mut at = from;
    loop {
        at = match tokens.part(at)? {
            Part::Key(Key::Class | Key::Struct | Key::Union | Key::Enum) => {
                if let Some(opens) = type_from(tokens, at) {
                    return Some(opens);
                }
                at + 1
            }
            Part::Mark(b'=') | Part::Key(Key::Operator | Key::Using) => return None,
            Part::Name => tokens.path(at).end,
            _ => at + 1,
        };
    }
}

fn type_from(tokens: &Tokens<'_>, key: usize) -> Option<Opens> {
    let kind = match tokens.part(key) {
        Some(Part::Key(Key::Class)) => Kind::Class,
        Some(Part::Key(Key::Struct)) => Kind::Struct,
        Some(Part::Key(Key::Union)) => Kind::Union,
        _ => Kind::Enum,
    };
    let mut at = key + 1;
    if kind == Kind::Enum && matches!(tokens.part(at), Some(Part::Key(Key::Class | Key::Struct))) {
        at += 1;
    }
    let mut found = None;
    while let Some(part) = tokens.part(at) {
        at = match part {
            Part::Bracket => at + 1,
            Part::Key(Key::Attribute) => at + 1 + usize::from(tokens.part(at + 1) == Some(Part::Paren)),
            Part::Key(Key::Trailing) if found.is_some() => at + 1,
            Part::Name => {
                let path = tokens.path(at);
                if tokens.part(path.end) != Some(Part::Paren) {
                    // A macro may stand before the name and after it.
                    let before = found.is_none_or(|found: super::token::Path| {
                        tokens.is_loud(found.last) || !tokens.is_loud(path.last)
                    });
                    if before {
                        found = Some(path);
                    }
                    path.end
                } else if is_loud(tokens.text(path.last))
                    || found.is_none() && tokens.part(path.end + 1) == Some(Part::Name)
                {
                    path.end + 1
                } else {
                    return None;
                }
            }
            Part::Mark(b':') => break,
            _ => return None,
        };
    }
    let (name, scope) = match found {
        Some(path) => (tokens.list[path.last].span(), tokens.scope(path)),
        None => (Span::at(tokens.list[key].end as usize), Span::default()),
    };
    Some(Opens::Type { kind, name, scope })
}
