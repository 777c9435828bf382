//! The surroundings of a name in its text: what it is taken from, and whether it names a module or a
//! parameter.

use tectum_syntax::{Bodies, Mention, Span, Style};

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

/// True if the last line with something in it, above the one a text ends in, has a comment: the
/// full stop of that takes nothing from anything.
fn after_comment(before: &str, style: &Style) -> bool {
    let above = before.trim_end();
    let line = above.rsplit(['\n', '\r']).next().unwrap_or(above);
    above.len() < before.trim_end_matches([' ', '\t']).len() && line.contains(style.comment)
}

/// A text without the blanks and the comments of lines at its end.
pub(super) fn before_comments<'t>(before: &'t str, style: &Style) -> &'t str {
    let mut rest = before.trim_end();
    // The line that a text ends in is not over.
    while rest.len() < before.len() {
        let start = rest.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let Some(sign) = rest[start..].find(style.comment) else { break };
        let cut = rest[..start + sign].trim_end();
        if cut.len() == rest.len() {
            break;
        }
        rest = cut;
    }
    rest
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

pub(super) fn last_word(before: &str) -> &str {
    let start = before
        .rfind(|c: char| c != '_' && !c.is_alphanumeric())
        .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
    &before[start..]
}

/// True if a name is taken from a literal text.
pub(super) fn is_quoted(text: &str, span: Span) -> bool {
    let before = text.get(..span.start as usize).unwrap_or_default();
    cut(before, false).is_some_and(|before| before.ends_with(['"', '\'', '`']))
}

/// True if a name is none of a value: a symbol, `:name`, or a macro, `name!`.
pub(super) fn is_other_name(text: &str, span: Span) -> bool {
    let (before, after) = (&text[..span.start as usize], &text[span.end as usize..]);
    let symbol = before.ends_with(':') && !before.ends_with("::");
    symbol || (after.starts_with('!') && !after.starts_with("!="))
}

/// True if a word of an import is part of the name of a module, and so of a file: what is quoted,
/// `#include <word>`, and in Python all but what follows `import` in `from … import …`.
pub(super) fn is_of_module(text: &str, statement: Span, span: Span, style: &Style) -> bool {
    let written = statement.slice(text);
    let before = text.get(statement.start as usize..span.start as usize).unwrap_or_default();
    let quotes = before.chars().filter(|c| matches!(c, '"' | '\'' | '`')).count();
    if quotes % 2 == 1 || written.starts_with('#') {
        return true;
    }
    let mut words = before.split(|c: char| c != '_' && !c.is_alphanumeric());
    style.bodies == Bodies::Indented
        && !(words.any(|word| word == "from") && words.any(|word| word == "import"))
}

/// True if a word stands for a module where a path is written: `mod word`, `word::name`.
pub(super) fn is_of_path(text: &str, span: Span, style: &Style) -> bool {
    let (before, after) = (text[..span.start as usize].trim_end(), text[span.end as usize..].trim_start());
    let further = after.starts_with("::") && !after.starts_with("::<");
    let declared = !style.module.is_empty() && last_word(before) == style.module;
    declared || (style.separator == "::" && further)
}

/// True if a name among arguments is that of a parameter: `name = …` where an assignment is no value.
pub(super) fn is_parameter(text: &str, span: Span, style: &Style) -> bool {
    let (before, after) = (text[..span.start as usize].trim_end(), text[span.end as usize..].trim_start());
    let assigned = after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>");
    !style.valued_assignments
        && assigned
        && before.ends_with([',', '('])
        && encloser(before).is_some_and(|at| before[at..].starts_with('('))
}

/// The place of the bracket that is open at the end of a text, as far back as a literal is likely to
/// reach.
pub(super) fn encloser(before: &str) -> Option<usize> {
    const FAR: usize = 2_000;
    let mut depth = 0usize;
    for (at, c) in before.char_indices().rev().take(FAR) {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth == 0 => return Some(at),
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
    fn comments_before_a_name_are_passed_over() {
        for (text, expect) in [
            ("A { // One.\n  // Two.\n\n  ", "A {"),
            ("A { a,", "A { a,"),
            ("f() // x\n  b", "f() // x\n  b"),
            ("// x\n", ""),
            ("", ""),
        ] {
            assert_eq!(before_comments(text, style("a.rs")), expect, "{text}");
        }
    }

    #[test]
    fn words_of_modules_are_told_from_names() {
        for (text, path, expect) in [
            ("from x import y", "a.py", true),
            ("from .x.z import (y,", "a.py", true),
            ("from . import x", "a.py", false),
            ("from y import (z as w, x)", "a.py", false),
            ("lazy from y import x", "a.py", false),
            ("import x", "a.py", true),
            ("import a.x as y", "a.py", true),
            ("import { x } from './y'", "a.ts", false),
            ("import { y } from './x'", "a.ts", true),
            ("const y = require(\"../x/z\")", "a.js", true),
            ("import \"host/x\"", "a.go", true),
            ("#include <x.h>", "a.c", true),
            ("use a::x;", "a.rs", false),
        ] {
            let at = text.find('x').expect("there");
            let whole = Span::new(0, text.len());
            assert_eq!(is_of_module(text, whole, Span::new(at, at + 1), style(path)), expect, "{text}");
        }
        for (text, path, expect) in [
            ("mod x;", "a.rs", true),
            ("x::y()", "a.rs", true),
            ("x::<u8>()", "a.rs", false),
            ("a::x", "a.rs", false),
            ("x::y()", "a.py", false),
            ("x::y()", "a.cpp", true),
            ("a mod x", "a.cpp", false),
        ] {
            let at = text.find('x').expect("there");
            assert_eq!(is_of_path(text, Span::new(at, at + 1), style(path)), expect, "{text}");
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
