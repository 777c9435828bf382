//! Names in the parentheses of a declarator: `(*name)`, `(*name(int a))`, `(name)`.

use super::{
    token::{self, Part, Tokens},
    words::Key,
};
use crate::Span;

/// Brackets within brackets are looked into this deep for the name of a declaration.
const DEEPEST_DECLARATOR: usize = 12;

/// The name in the parentheses of a declarator.
pub(super) struct NestedType {
    pub(super) name: Span,
    pub(super) scope: Span,
    /// Parameters directly after the name.
    pub(super) params: Option<Span>,
    /// True if a pointer or reference stands before it.
    pub(super) pointer: bool,
}

/// Looks into the parentheses of a declarator for the name it declares.
pub(super) fn innermost(tokens: &Tokens<'_>, paren: usize) -> Option<NestedType> {
    let mut list = tokens.lex_inside(paren);
    let mut pointer = false;
    for _ in 0..DEEPEST_DECLARATOR {
        let inner = Tokens { list: &list, ..*tokens };
        let mut at = 0;
        let mut name = None;
        while let Some(part) = inner.part(at) {
            match part {
                Part::Mark(b'*' | b'&' | b'^') => {
                    pointer = true;
                    at += 1;
                }
                Part::Key(Key::Qualifier) => at += 1,
                Part::Key(Key::Attribute) => at += 1 + usize::from(inner.part(at + 1) == Some(Part::Paren)),
                Part::Name => {
                    let path = inner.path(at);
                    // A pointer to a member: `Class::*name`.
                    if inner.part(path.end) == Some(Part::Colons) {
                        at = path.end + 1;
                        continue;
                    }
                    name = Some(path);
                    at = path.end;
                }
                _ => break,
            }
        }
        match (inner.part(at), name) {
            (None | Some(Part::Bracket), Some(path)) => {
                let (name, scope) = (inner.list[path.last].span(), inner.scope(path));
                return Some(NestedType { name, scope, params: None, pointer });
            }
            (Some(Part::Paren), Some(path))
                if inner.part(at + 1).is_none_or(|part| part == Part::Bracket) =>
            {
                let (name, scope) = (inner.list[path.last].span(), inner.scope(path));
                return Some(NestedType { name, scope, params: Some(inner.inside(at)), pointer });
            }
            (Some(Part::Paren), _) => list = token::lex(inner.bytes, inner.inside(at), inner.cpp),
            _ => return None,
        }
    }
    None
}
