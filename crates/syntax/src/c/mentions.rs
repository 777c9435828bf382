//! Every place where a word stands, and what it is there.

use memchr::memmem;

use super::{
    bytes::in_word,
    outline,
    pieces::{Piece, Pieces},
};
use crate::{Detail, Mention, Role, Span};

/// Template arguments between a name and its call are looked at this far.
const TEMPLATE_ARGUMENTS: usize = 200;

/// A word is looked back at this far to tell whether it is a keyword; `return` is none of a
/// declaration's.
const LONGEST_KEYWORD: usize = 6;

/// Every whole word, in order. What a file declares is only found out where one of the words may
/// be the name of it.
pub(super) fn mentions(text: &str, word: &str, cpp: bool) -> Vec<Mention> {
    let bytes = text.as_bytes();
    let hits = whole_words(bytes, word.as_bytes());
    let mut pieces = Pieces::new(bytes, cpp);
    let mut piece = None;
    // The places in the list that may be definitions.
    let mut open: Vec<usize> = Vec::new();
    let mut found = Vec::with_capacity(hits.len());
    for start in hits {
        while piece.is_none_or(|(_, _, end)| end <= start) {
            piece = Some(pieces.next().unwrap_or((Piece::Code, bytes.len(), usize::MAX)));
        }
        let span = Span::new(start, start + word.len());
        let (role, member) = match piece {
            Some((Piece::Comment, from, _)) if from <= start => (Role::Comment, false),
            Some((Piece::Quoted, from, _)) if from <= start => (Role::String, false),
            Some((Piece::Inclusion, from, _)) if from <= start => (Role::Import, false),
            _ => {
                if may_define(bytes, span) {
                    open.push(found.len());
                }
                in_code(bytes, span)
            }
        };
        found.push(Mention { span, role, member });
    }
    if !open.is_empty() {
        let outline = outline::outline(text, cpp, Detail::Full);
        let names = outline.symbols.iter().map(|symbol| symbol.name);
        let mut defined: Vec<Span> = names.filter(|name| name.slice(text) == word).collect();
        defined.sort_unstable();
        for at in open {
            if defined.binary_search(&found[at].span).is_ok() {
                found[at].role = Role::Definition;
                found[at].member = false;
            }
        }
    }
    found
}

/// True if a declaration can name what stands here. What is a member, qualifies something or
/// stands in an expression is no new name, except behind `#define`.
fn may_define(bytes: &[u8], span: Span) -> bool {
    let before = bytes[..span.start as usize].trim_ascii_end();
    let word = word_before(before);
    if word == b"define" {
        return true;
    }
    let member = before.ends_with(b"->") || (before.ends_with(b".") && !before.ends_with(b".."));
    if member || word == b"return" || matches!(before.last(), Some(b'=' | b'!' | b'?' | b'+' | b'%' | b'|')) {
        return false;
    }
    if let Some(head) = before.strip_suffix(b"(")
        && matches!(word_before(head.trim_ascii_end()), b"if" | b"while" | b"switch" | b"sizeof")
    {
        return false;
    }
    let after = &bytes[skip_blanks(bytes, span.end as usize)..];
    !(after.starts_with(b"::")
        || after.starts_with(b"==")
        || matches!(after.first(), Some(b'.' | b'+' | b'-' | b'!' | b'?' | b'%' | b'|')))
}

/// The word that ends where these bytes end.
fn word_before(bytes: &[u8]) -> &[u8] {
    let floor = bytes.len().saturating_sub(LONGEST_KEYWORD + 1);
    let start = bytes[floor..].iter().rposition(|byte| !in_word(*byte)).map_or(floor, |at| floor + at + 1);
    &bytes[start..]
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
    if is_called(bytes, span.end as usize) {
        (Role::Call, member)
    } else if member {
        (Role::Attribute, true)
    } else {
        (Role::Reference, false)
    }
}

/// True if parentheses follow a name, maybe after template arguments.
pub(super) fn is_called(bytes: &[u8], end: usize) -> bool {
    called_at(bytes, end).is_some()
}

/// The place of the opening parenthesis after a name.
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
        assert!(found.iter().all(|mention| mention.span.slice(text) == word));
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
    fn definitions_are_told_wherever_they_can_stand() {
        const D: (Role, bool) = (Role::Definition, false);
        const R: (Role, bool) = (Role::Reference, false);
        const C: (Role, bool) = (Role::Call, false);
        check("#define f ::g\n", "f", &[D]);
        check("#  define f(x) x + 1\n", "f", &[D]);
        check("#define f.\n#define g =f\n", "f", &[D, R]);
        check("namespace f::g {}\nnamespace a::f {}", "f", &[R, D]);
        check("int A::f() { return f + 1; }", "f", &[D, R]);
        check("typedef int (*f)(int);", "f", &[D]);
        check("int (f)(int a) { if (f(1)) { while (f (2)) {} } }", "f", &[D, C, C]);
        check("T &f; T &&g; T && h;", "f", &[D]);
        check("T && f;", "f", &[D]);
        check("enum { a, f };", "f", &[D]);
        check("int f = 1, g = f;", "f", &[D, R]);
        check("int f == 1;", "f", &[R]);
        check("using f = int; using f::g;", "f", &[D, R]);
        check("struct f : g<f::h> {};", "f", &[D, R]);
        check("f::f() : a(1) {} f::~f() {}", "f", &[R, D, R, C]);
    }

    #[test]
    fn whole_words_only() {
        check("ff f_ _f f1 \u{e9}f f", "f", &[(Role::Reference, false)]);
        check("struct A { ~A(); }; a.~A();", "~A", &[(Role::Definition, false), (Role::Call, true)]);
        check("", "f", &[]);
        check("f", "", &[]);
    }
}
