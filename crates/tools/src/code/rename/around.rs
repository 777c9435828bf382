//! What stands around a name in its text: what it is taken from, and whether it is a key.

use tectum_syntax::{Mention, Span, Style};

/// Parts of a name that are looked at; nobody writes longer ones.
const MOST_PARTS: usize = 32;

/// The words before the dots, arrows or colons that stand before a place, outermost first: none
/// for a plain name. The first is empty where it is no plain word.
pub(super) fn chain<'t>(text: &'t str, mention: &Mention, style: &Style) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let mut before = text.get(..mention.span.start as usize).unwrap_or_default();
    // Before a type, an arrow takes nothing from anything: `fn f() -> name`.
    if !mention.member && (before.trim_end().ends_with("->") || after_comment(before, style)) {
        return parts;
    }
    while parts.len() < MOST_PARTS
        && let Some(rest) = cut(before, style.arrow)
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

/// Whether the last line with something in it, above the one a text ends in, has a comment: the
/// full stop of that takes nothing from anything.
fn after_comment(before: &str, style: &Style) -> bool {
    let above = before.trim_end();
    let line = above.rsplit(['\n', '\r']).next().unwrap_or(above);
    above.len() < before.trim_end_matches([' ', '\t']).len() && line.contains(style.comment)
}

/// A text without the separator at its end.
fn cut(before: &str, arrow: bool) -> Option<&str> {
    let before = before.trim_end();
    // A range or what is spread takes nothing from anything.
    if before.ends_with("..") {
        return None;
    }
    let before = before
        .strip_suffix('.')
        .or_else(|| before.strip_suffix("::"))
        .or_else(|| before.strip_suffix("->").filter(|_| arrow))?;
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
    cut(before, false).is_some_and(|before| before.ends_with(['"', '\'', '`']))
}

/// Whether a name is none of a value: a symbol, `:name`, or a macro, `name!`.
pub(super) fn is_other_name(text: &str, span: Span) -> bool {
    let (before, after) = (&text[..span.start as usize], &text[span.end as usize..]);
    let symbol = before.ends_with(':') && !before.ends_with("::");
    symbol || (after.starts_with('!') && !after.starts_with("!="))
}

/// Whether a name in a literal or a pattern is a key: what it means is another type's business.
pub(super) fn is_key(text: &str, span: Span, style: &Style) -> bool {
    let after = text[span.end as usize..].trim_start();
    if after.starts_with(':') && !after.starts_with("::") {
        return true;
    }
    let before = text[..span.start as usize].trim_end();
    let alone = before.strip_suffix('{').filter(|_| after.starts_with('}'));
    if style.valued_blocks && alone.is_some_and(is_block) {
        return false;
    }
    before.ends_with(['{', ',']) && after.starts_with([',', '}']) && encloser(before) == Some('{')
}

/// Whether a brace behind this text opens a block and not a literal: a literal follows the name of
/// a type, which stands behind no word that wants a block.
fn is_block(before: &str) -> bool {
    let before = before.trim_end();
    let path = before.trim_end_matches(|c: char| c == '_' || c == ':' || c.is_alphanumeric());
    let name = last_word(before);
    if !name.starts_with(char::is_uppercase) {
        return true;
    }
    let path = path.trim_end();
    path.ends_with("->") || matches!(last_word(path), "if" | "while" | "match" | "in")
}

/// Whether a name among arguments is that of a parameter: `name = …` where an assignment is no value.
pub(super) fn is_parameter(text: &str, span: Span, style: &Style) -> bool {
    let (before, after) = (text[..span.start as usize].trim_end(), text[span.end as usize..].trim_start());
    let assigned = after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>");
    !style.valued_assignments && assigned && before.ends_with([',', '(']) && encloser(before) == Some('(')
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
    use tectum_syntax::{Packs, Role};

    use super::*;

    fn place(text: &str, member: bool) -> Mention {
        let at = text.rfind('x').expect("there");
        Mention { span: Span::new(at, at + 1), role: Role::Reference, member }
    }

    fn style(path: &str) -> &'static Style {
        &Packs::all().of_file(path, "").expect("a language").pack().style
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
            assert_eq!(chain(text, &place(text, true), style("a.cpp")), expect, "{text}");
        }
        for (text, path, expect) in [
            ("# Say it.\nx", "a.py", &[][..]),
            ("f()  # See os.path.\r\n    x", "a.py", &[]),
            ("// Done.\n\n  x", "a.go", &[]),
            ("a.\n  x", "a.go", &["a"]),
        ] {
            assert_eq!(chain(text, &place(text, false), style(path)), expect, "{text}");
        }
        assert_eq!(chain("fn f() -> x", &place("fn f() -> x", false), style("a.rs")), [""; 0]);
        assert_eq!(chain("def f() -> a.x", &place("def f() -> a.x", true), style("a.py")), ["a"]);
    }

    #[test]
    fn keys_are_told_from_names() {
        for (text, path, expect) in [
            ("{ run }", "a.ts", true),
            ("{ a, run, b }", "a.ts", true),
            ("f(a, run, b)", "a.ts", false),
            ("{ run: 1 }", "a.ts", true),
            ("a::run()", "a.rs", false),
            ("[run, a]", "a.ts", false),
            ("let a = Foo { run }", "a.rs", true),
            ("a::Foo { run }", "a.rs", true),
            ("fn k() -> i32 { run }", "a.rs", false),
            ("fn k() -> a::Foo { run }", "a.rs", false),
            ("if x { run } else { 0 }", "a.rs", false),
            ("_ => { run }", "a.rs", false),
            ("match LIMIT { run }", "a.rs", false),
        ] {
            let at = text.find("run").expect("there");
            assert_eq!(is_key(text, Span::new(at, at + 3), style(path)), expect, "{text}");
        }
    }

    #[test]
    fn parameters_are_told_from_names() {
        for (text, path, expect) in [
            ("println!(\"{run}\", run = run())", "a.rs", true),
            ("f(run == 1)", "a.rs", false),
            ("f(run = 1)", "a.js", false),
            ("run = 1", "a.rs", false),
        ] {
            let at = text.find("run =").expect("there");
            assert_eq!(is_parameter(text, Span::new(at, at + 3), style(path)), expect, "{text}");
        }
    }
}
