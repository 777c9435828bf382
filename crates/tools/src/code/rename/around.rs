//! What stands around a name in its text: what it is taken from, and whether it is a key.

use tectum_syntax::{Mention, Span};

/// Parts of a name that are looked at; nobody writes longer ones.
const MOST_PARTS: usize = 32;

/// The words before the dots, arrows or colons that stand before a place, outermost first: none
/// for a plain name. The first is empty where it is no plain word.
pub(super) fn chain<'t>(text: &'t str, mention: &Mention) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let mut before = text.get(..mention.span.start as usize).unwrap_or_default();
    // Before a type, an arrow takes nothing from anything: `fn f() -> name`.
    if !mention.member && before.trim_end().ends_with("->") {
        return parts;
    }
    while parts.len() < MOST_PARTS
        && let Some(rest) = cut(before)
    {
        let word = last_word(rest);
        parts.push(word);
        if word.is_empty() {
            break;
        }
        before = &rest[..rest.len() - word.len()];
    }
    parts.reverse();
    parts
}

/// A text without the separator at its end.
fn cut(before: &str) -> Option<&str> {
    let before = before.trim_end();
    // A range or what is spread takes nothing from anything.
    if before.ends_with("..") {
        return None;
    }
    let before = before
        .strip_suffix('.')
        .or_else(|| before.strip_suffix("::"))
        .or_else(|| before.strip_suffix("->"))?;
    Some(before.trim_end().trim_end_matches('?'))
}

fn last_word(before: &str) -> &str {
    let start = before
        .rfind(|c: char| c != '_' && !c.is_alphanumeric())
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    &before[start..]
}

/// Whether a name is taken from a literal text.
pub(super) fn is_quoted(text: &str, span: Span) -> bool {
    let before = text.get(..span.start as usize).unwrap_or_default();
    cut(before).is_some_and(|before| before.ends_with(['"', '\'', '`']))
}

/// Whether a name is none of a value: a symbol, `:name`, or a macro, `name!`.
pub(super) fn is_other_name(text: &str, span: Span) -> bool {
    let (before, after) = (&text[..span.start as usize], &text[span.end as usize..]);
    let symbol = before.ends_with(':') && !before.ends_with("::");
    symbol || (after.starts_with('!') && !after.starts_with("!="))
}

/// Whether a name in a literal or a pattern is a key: what it means is another type's business.
pub(super) fn is_key(text: &str, span: Span) -> bool {
    let after = text[span.end as usize..].trim_start();
    if after.starts_with(':') && !after.starts_with("::") {
        return true;
    }
    let before = text[..span.start as usize].trim_end();
    before.ends_with(['{', ',']) && after.starts_with([',', '}']) && encloser(before) == Some('{')
}

/// The bracket that is open at the end of a text, as far back as a literal is likely to reach.
fn encloser(before: &str) -> Option<char> {
    const FAR: usize = 2_000;
    let mut depth = 0usize;
    for c in before.chars().rev().take(FAR) {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth == 0 => return Some(c),
            '(' | '[' | '{' => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use tectum_syntax::Role;

    use super::*;

    fn place(text: &str, member: bool) -> Mention {
        let at = text.rfind('x').expect("there");
        Mention { span: Span::new(at, at + 1), role: Role::Reference, member }
    }

    #[test]
    fn the_words_before_a_name_are_found() {
        for (text, expect) in [
            ("a.x", &["a"][..]),
            ("self . x", &["self"]),
            ("p->x", &["p"]),
            ("A::b::x", &["A", "b"]),
            ("f(pkg.core.x", &["pkg", "core"]),
            ("f().x", &[""]),
            ("f().a.x", &["", "a"]),
            ("x", &[]),
            ("0..x", &[]),
            ("[...x", &[]),
            ("a x", &[]),
            ("o?.x", &["o"]),
        ] {
            assert_eq!(chain(text, &place(text, true)), expect, "{text}");
        }
        assert_eq!(chain("fn f() -> x", &place("fn f() -> x", false)), [""; 0]);
    }

    #[test]
    fn keys_are_told_from_names() {
        for (text, expect) in [
            ("{ run }", true),
            ("{ a, run, b }", true),
            ("f(a, run, b)", false),
            ("{ run: 1 }", true),
            ("a::run()", false),
            ("[run, a]", false),
        ] {
            let at = text.find("run").expect("there");
            assert_eq!(is_key(text, Span::new(at, at + 3)), expect, "{text}");
        }
    }
}
