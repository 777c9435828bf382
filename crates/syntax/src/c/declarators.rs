//! Names that a declaration gives to types and variables: `typedef`, fields, variables at the
//! top, each with several declarators. Functions are found elsewhere.

use super::{
    nested::innermost,
    token::{Part, Tokens},
    words::Key,
};
use crate::Span;

/// More names in one declaration than this are left out. Generated tables stay below it.
const MOST_NAMES: usize = 256;

/// The names that a declaration declares, from its first token after `typedef`, or after the
/// body of a type. `typed` says that a type stands before.
pub(super) fn names(tokens: &Tokens<'_>, from: usize, typed: bool) -> Vec<(Span, Span)> {
    let mut names = Vec::new();
    let mut segment = Segment { words: usize::from(typed), ..Segment::default() };
    let mut at = from;
    while let Some(part) = tokens.part(at) {
        if segment.closed && part != Part::Mark(b',') {
            at = step_over(tokens, at);
            continue;
        }
        at = match part {
            Part::Mark(b',') => {
                names.extend(segment.name());
                if names.len() >= MOST_NAMES {
                    return names;
                }
                segment = Segment { words: 1, ..Segment::default() };
                at + 1
            }
            Part::Mark(b';') => break,
            Part::Name => {
                let path = tokens.path(at);
                segment.saw(tokens, path.last);
                path.end
            }
            Part::Key(Key::Primitive) => {
                segment.words += 1;
                segment.names.clear();
                at + 1
            }
            Part::Key(Key::TypeOf) => {
                segment.words += 1;
                at + 1 + usize::from(tokens.part(at + 1) == Some(Part::Paren))
            }
            Part::Key(Key::Attribute) => at + 1 + usize::from(tokens.part(at + 1) == Some(Part::Paren)),
            Part::Key(
                Key::Operator | Key::Control | Key::Assert | Key::Using | Key::Namespace | Key::Friend,
            ) => {
                return names;
            }
            Part::Paren => segment.paren(tokens, at),
            // An expression, not a declaration.
            Part::Arrow | Part::Mark(b'.' | b'+' | b'-' | b'/' | b'%' | b'!' | b'?' | b'|') => {
                return Vec::new();
            }
            Part::Mark(b'=' | b':') | Part::Brace | Part::Bracket => {
                segment.closed = part != Part::Bracket || !segment.names.is_empty();
                at + 1
            }
            _ => at + 1,
        };
    }
    names.extend(segment.name());
    names
}

/// Past a value, with its template arguments.
fn step_over(tokens: &Tokens<'_>, at: usize) -> usize {
    match tokens.part(at) {
        Some(Part::Name) => tokens.path(at).end,
        _ => at + 1,
    }
}

/// The parts of one declarator that were read so far.
#[derive(Default)]
struct Segment {
    /// Words of a type, and names.
    words: usize,
    /// Names in a row, the last ones: the type's and the declared one.
    names: Vec<(Span, bool)>,
    /// A name in parentheses, with its parameters.
    inner: Option<(Span, Span)>,
    params: Span,
    closed: bool,
}

impl Segment {
    fn saw(&mut self, tokens: &Tokens<'_>, at: usize) {
        self.words += 1;
        if self.inner.is_none() {
            self.names.push((tokens.list[at].span(), tokens.is_loud(at)));
        }
    }

    fn paren(&mut self, tokens: &Tokens<'_>, at: usize) -> usize {
        if self.inner.is_some() {
            return at + 1;
        }
        let followed = matches!(tokens.part(at + 1), Some(Part::Paren | Part::Bracket));
        let pointer = matches!(tokens.inner(at).trim_ascii_start().first(), Some(b'*' | b'&' | b'^' | b'('));
        let behind_name = at > 0 && matches!(tokens.list[at - 1].part, Part::Name);
        let called = tokens.part(at + 1) == Some(Part::Paren);
        if (followed || pointer || !behind_name)
            && let Some(inner) = innermost(tokens, at)
            && (inner.pointer || !behind_name || called)
        {
            let params = match tokens.part(at + 1) {
                Some(Part::Paren) => tokens.inside(at + 1),
                _ => Span::default(),
            };
            self.inner = Some((inner.name, inner.params.unwrap_or(params)));
            return at + 1 + usize::from(followed);
        }
        // `typedef LIST_OF(item) name`: the macro makes the type.
        let goes_on = matches!(tokens.part(at + 1), Some(Part::Name | Part::Colons | Part::Mark(b'*')));
        if behind_name && goes_on && self.names.len() <= 1 {
            self.names.clear();
            return at + 1;
        }
        if behind_name {
            // `int x GUARDED_BY(mu)`: the macro after the name is not the name.
            if self.names.len() > 1 && self.words > 2 && self.names.last().is_some_and(|(_, loud)| *loud) {
                self.names.pop();
                self.words -= 1;
                return at + 1;
            }
            self.params = tokens.inside(at);
            self.closed = true;
        }
        at + 1
    }

    fn name(mut self) -> Option<(Span, Span)> {
        if self.inner.is_some() {
            return self.inner;
        }
        if self.words < 2 {
            return None;
        }
        // Macros after the name: `int x UNUSED`.
        while self.names.len() > 1 && self.words > 2 {
            let (last, before) = (self.names[self.names.len() - 1].1, self.names[self.names.len() - 2].1);
            if !last || before {
                break;
            }
            self.names.pop();
            self.words -= 1;
        }
        self.names.last().map(|(name, _)| (*name, self.params))
    }
}
