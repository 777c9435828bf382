//! Every place where a word stands, and what it is there.

use std::collections::HashSet;

use memchr::memmem;

use super::{
    bytes::in_word,
    outline,
    pieces::{self, Piece},
};
use crate::{Detail, Mention, Role, Span};

/// Template arguments between a name and its call are looked at this far.
const TEMPLATE_ARGUMENTS: usize = 200;

/// Every whole word, in order.
pub(super) fn mentions(text: &str, word: &str, cpp: bool) -> Vec<Mention> {
    let hits = whole_words(text.as_bytes(), word.as_bytes());
    if hits.is_empty() {
        return Vec::new();
    }
    let outline = outline::outline(text, cpp, Detail::Full);
    let defined: HashSet<Span> = outline.symbols.iter().map(|symbol| symbol.name).collect();
    let mut pieces = Vec::new();
    pieces::apart(text.as_bytes(), cpp, |piece, start, end| pieces.push((piece, start, end)));
    let mut next = 0;
    hits.into_iter()
        .map(|start| {
            while pieces.get(next).is_some_and(|(_, _, end)| *end <= start) {
                next += 1;
            }
            let piece =
                pieces.get(next).filter(|(_, from, _)| *from <= start).map_or(Piece::Code, |piece| piece.0);
            let span = Span::new(start, start + word.len());
            let (role, member) = match piece {
                Piece::Comment => (Role::Comment, false),
                Piece::Quoted => (Role::String, false),
                Piece::Inclusion => (Role::Import, false),
                Piece::Code if defined.contains(&span) => (Role::Definition, false),
                Piece::Code => in_code(text.as_bytes(), span),
            };
            Mention { span, role, member }
        })
        .collect()
}

fn whole_words(bytes: &[u8], word: &[u8]) -> Vec<usize> {
    let (Some(first), Some(last)) = (word.first(), word.last()) else { return Vec::new() };
    let apart = |inner: u8, outer: Option<&u8>| !in_word(inner) || !outer.is_some_and(|byte| in_word(*byte));
    memmem::find_iter(bytes, word)
        .filter(|at| {
            let before = at.checked_sub(1).and_then(|before| bytes.get(before));
            apart(*first, before) && apart(*last, bytes.get(at + word.len()))
        })
        .collect()
}

fn in_code(bytes: &[u8], span: Span) -> (Role, bool) {
    let before = bytes[..span.start as usize].trim_ascii_end();
    let member = before.ends_with(b"->") || (before.ends_with(b".") && !before.ends_with(b".."));
    match is_called(bytes, span.end as usize) {
        true => (Role::Call, member),
        false if member => (Role::Attribute, true),
        false => (Role::Reference, false),
    }
}

/// Whether parentheses follow a name, maybe after template arguments.
pub(super) fn is_called(bytes: &[u8], end: usize) -> bool {
    called_at(bytes, end).is_some()
}

/// Where the parentheses after a name open.
pub(super) fn called_at(bytes: &[u8], end: usize) -> Option<usize> {
    let at = skip_blanks(bytes, end);
    match bytes.get(at)? {
        b'(' => Some(at),
        b'<' => {
            let open = skip_blanks(bytes, arguments_end(bytes, at)?);
            (bytes.get(open) == Some(&b'(')).then_some(open)
        }
        _ => None,
    }
}

/// After the template arguments that begin at a `<`, where they can be nothing else.
pub(super) fn arguments_end(bytes: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    let stretch = &bytes[open..bytes.len().min(open + TEMPLATE_ARGUMENTS)];
    for (at, byte) in stretch.iter().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if depth == 1 => return Some(open + at + 1),
            b'>' => depth -= 1,
            b':' | b',' | b'*' | b'&' | b' ' | b'\n' | b'\t' | b'\r' | b'.' | b'(' | b')' | b'[' | b']' => {}
            byte if in_word(*byte) => {}
            _ => return None,
        }
    }
    None
}

/// After the blanks at an offset.
pub(super) fn skip_blanks(bytes: &[u8], from: usize) -> usize {
    from + bytes[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use super::mentions;
    use crate::Role;

    fn check(text: &str, word: &str, expect: &[(Role, bool)]) {
        let found = mentions(text, word, true);
        let roles: Vec<(Role, bool)> = found.iter().map(|mention| (mention.role, mention.member)).collect();
        assert_eq!(roles, expect, "{word} in {text}");
        assert!(found.iter().all(|mention| mention.span.of(text) == word));
    }

    #[test]
    fn roles() {
        check("int f(void) { f(); }", "f", &[(Role::Definition, false), (Role::Call, false)]);
        check(
            "x.f(); x->f (1); A::f(); f<int>(2);",
            "f",
            &[(Role::Call, true), (Role::Call, true), (Role::Call, false), (Role::Call, false)],
        );
        check(
            "y = x.f + x->f + f;",
            "f",
            &[(Role::Attribute, true), (Role::Attribute, true), (Role::Reference, false)],
        );
        check("#include <f.h>\n#include \"a/f.h\"\n", "f", &[(Role::Import, false); 2]);
        check(
            "char *s = \"f\"; // f\n/* f */",
            "f",
            &[(Role::String, false), (Role::Comment, false), (Role::Comment, false)],
        );
        check(
            "auto s = R\"(f \" f)\"; f = 1'0;",
            "f",
            &[(Role::String, false), (Role::String, false), (Role::Reference, false)],
        );
        check("#define A f(1)\n#error f\n", "f", &[(Role::Call, false), (Role::String, false)]);
        check("struct s { int f; };", "f", &[(Role::Definition, false)]);
        check("g(a..., f);", "f", &[(Role::Reference, false)]);
    }

    #[test]
    fn whole_words_only() {
        check("ff f_ _f f1 \u{e9}f f", "f", &[(Role::Reference, false)]);
        check("struct A { ~A(); }; a.~A();", "~A", &[(Role::Definition, false), (Role::Call, true)]);
        check("", "f", &[]);
        check("f", "", &[]);
    }
}
