//! The bases of a class, and the comparison of a list of parameters with the one that was meant.

use super::{
    token::{self, CToken, Part, Tokens},
    words::Key,
};
use crate::Span;

/// Parameters within parameters are compared this deep.
const DEEPEST: usize = 6;

/// The bases in the head of a class, as written but without template arguments at their end.
pub(super) fn bases(text: &str, head: Span) -> Vec<Span> {
    let end = (head.end as usize).min(text.len());
    let start = (head.start as usize).min(end);
    let list = token::lex(text.as_bytes(), Span::new(start, end), true);
    let tokens = Tokens { bytes: text.as_bytes(), list: &list, cpp: true, class: &[] };
    let is_class = |token: &CToken| matches!(token.part, Part::Key(Key::Class | Key::Struct | Key::Union));
    let from = tokens.after_templates();
    let Some(key) = list.iter().skip(from).position(is_class) else { return Vec::new() };
    if list[from..from + key].iter().any(|token| token.part == Part::Key(Key::Enum)) {
        return Vec::new();
    }
    let mut at = from + key;
    while tokens.part(at).is_some_and(|part| part != Part::Mark(b':')) {
        at = if tokens.part(at) == Some(Part::Name) { tokens.path(at).end } else { at + 1 };
    }
    let mut bases = Vec::new();
    let mut wanted = true;
    at += 1;
    while let Some(part) = tokens.part(at) {
        at = match part {
            Part::Mark(b',') => {
                wanted = true;
                at + 1
            }
            Part::Name => {
                let path = tokens.path(at);
                if wanted {
                    bases.push(Span { start: list[path.start].start, end: list[path.last].end });
                }
                wanted = false;
                path.end
            }
            _ => at + 1,
        };
    }
    bases
}

/// True if a list of parameters that somebody typed means the written one: types are compared,
/// without names, defaults and blanks. Nothing and `void` are the same.
pub(super) fn params_match(given: &str, written: &str) -> bool {
    types(given.as_bytes(), 0) == types(written.as_bytes(), 0)
}

fn types(list: &[u8], depth: usize) -> Vec<String> {
    let tokens = token::lex(list, Span::new(0, list.len()), true);
    let tokens = Tokens { bytes: list, list: &tokens, cpp: true, class: &[] };
    let mut types = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at <= tokens.list.len() {
        if tokens.part(at).is_none_or(|part| part == Part::Mark(b',')) {
            let one = Tokens { list: &tokens.list[start..at], ..tokens };
            types.push(one_type(&one, depth));
            start = at + 1;
        }
        at = match tokens.part(at) {
            Some(Part::Name) => tokens.path(at).end,
            _ => at + 1,
        };
    }
    if types.len() == 1 && (types[0].is_empty() || types[0] == "void") {
        types.clear();
    }
    types
}

fn one_type(tokens: &Tokens<'_>, depth: usize) -> String {
    let end =
        tokens.list.iter().position(|token| token.part == Part::Mark(b'=')).unwrap_or(tokens.list.len());
    let tokens = Tokens { list: &tokens.list[..end], ..*tokens };
    let mut words = String::new();
    let mut typed = false;
    let mut at = 0;
    while let Some(part) = tokens.part(at) {
        match part {
            Part::Name if typed => at += 1,
            Part::Name => {
                typed = true;
                let path = tokens.path(at);
                for place in at..path.end {
                    push(&mut words, tokens.text(place));
                }
                at = path.end;
            }
            Part::Key(Key::Class | Key::Struct | Key::Union | Key::Enum | Key::Typename) => at += 1,
            Part::Bracket if tokens.inner(at).starts_with(b"[") => at += 1,
            Part::Paren if depth < DEEPEST => {
                words.push('(');
                words.push_str(&inside(&tokens, at, depth));
                words.push(')');
                at += 1;
            }
            _ => {
                typed |= matches!(part, Part::Key(Key::Primitive | Key::TypeOf));
                push(&mut words, tokens.text(at));
                at += 1;
            }
        }
    }
    words
}

/// The text in parentheses: a declarator loses its name, parameters lose theirs.
fn inside(tokens: &Tokens<'_>, at: usize, depth: usize) -> String {
    let list = tokens.lex_inside(at);
    let inner = Tokens { list: &list, ..*tokens };
    if !matches!(inner.part(0), Some(Part::Mark(b'*' | b'&' | b'^'))) {
        return types(tokens.inner(at), depth + 1).join(",");
    }
    let kept = (0..list.len()).filter(|place| list[*place].part != Part::Name);
    kept.map(|place| String::from_utf8_lossy(inner.text(place)).into_owned()).collect()
}

/// Adds a word, apart from the word before it.
fn push(words: &mut String, word: &[u8]) {
    let word = String::from_utf8_lossy(word);
    let letter = |c: char| c.is_alphanumeric() || c == '_';
    if words.ends_with(letter) && word.starts_with(letter) {
        words.push(' ');
    }
    words.push_str(&word);
}

#[cfg(test)]
mod tests {
    use super::{bases, params_match};
    use crate::Span;

    fn check(head: &str, expect: &[&str]) {
        let found: Vec<&str> =
            bases(head, Span::new(0, head.len())).iter().map(|span| span.slice(head)).collect();
        assert_eq!(found, expect, "{head}");
    }

    #[test]
    fn bases_of_classes() {
        check("class A", &[]);
        check("class A : public B, virtual private C", &["B", "C"]);
        check("struct A<int> : B<T, U>, ns::C, d::E<F>", &["B", "ns::C", "d::E"]);
        check("class EXPORT A final : public B<(a > b)>", &["B"]);
        check("class X : Bases...", &["Bases"]);
        check("enum class E : int", &[]);
        check("class A : ::b::C", &["b::C"]);
    }

    #[test]
    fn parameters() {
        let same = |given: &str, written: &str| assert!(params_match(given, written), "{given} | {written}");
        let other =
            |given: &str, written: &str| assert!(!params_match(given, written), "{given} | {written}");
        same("int, const char*", "int a, const char *b = 0");
        same("", "void");
        same("void", "");
        same("std::map<int, long> const &", "std::map<int,long> const& m");
        same("unsigned int", "unsigned int x");
        same("struct foo *", "foo *p");
        same("int (*)(char)", "int (*callback)(char c)");
        same("T&&...", "T&&... args");
        same("int[]", "int a[]");
        same("...", "...");
        same("const Foo", "const Foo foo = Foo(1, 2)");
        other("int", "int a, int b");
        other("int", "long a");
        other("int*", "int a");
        other("", "int");
    }
}
