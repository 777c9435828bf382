//! Names in literals and patterns: keys, the type they belong to, and shorthand properties.

use tectum_syntax::{Role, Span};

use super::{
    around::{encloser, last_word},
    target::{Home, NamePlace, Target},
};

/// The form of a shorthand property when only its key or its value is renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Short {
    /// `new: old`.
    Key,
    /// `old: new`.
    Value,
}

impl Target {
    /// The form of a place that means the target, if it is a key and its value in one.
    pub(super) fn short(&self, seen: &NamePlace<'_>) -> Option<Short> {
        let NamePlace { file, own, mention, short, .. } = *seen;
        let defines = own && mention.span == self.name;
        // What is taken out of a module under its name has it there too.
        let taken = mention.role == Role::Import && !defines;
        match self.home {
            _ if !short || taken => None,
            Home::Type(..) => (!defines).then_some(Short::Key),
            _ if is_exported(file.text, mention.span) => None,
            _ => Some(Short::Value),
        }
    }
}

/// True if a name is a key: what it means is another type's business.
pub(super) fn is_key(text: &str, span: Span) -> bool {
    let after = text[span.end as usize..].trim_start();
    let before = text[..span.start as usize].trim_end();
    // `a ? name : b`, `case name:` and what is computed are values.
    let value =
        before.ends_with(['?', '+', '-', '%', '&', '|', '<', '=', '!']) || last_word(before) == "case";
    after.starts_with(':') && !after.starts_with("::") && !value
}

/// True if a name stands in the list of what a file exports: `module.exports = { name }`, or with
/// a key of its own name.
pub(super) fn is_exported(text: &str, span: Span) -> bool {
    let before = &text[..span.start as usize];
    let opened = encloser(before).map(|at| before[..at].trim_end());
    let assigned = opened.and_then(|opened| opened.strip_suffix('=')).map(str::trim_end);
    assigned.is_some_and(|to| to.ends_with("module.exports") || last_line(to).trim() == "exports")
}

fn last_line(text: &str) -> &str {
    text.rsplit(['\n', ';']).next().unwrap_or(text)
}

/// True if what follows a key, or is given to a member, is the plain name itself.
pub(super) fn is_given(text: &str, span: Span, sign: char) -> bool {
    let after = text[span.end as usize..].trim_start();
    let Some(value) = after.strip_prefix(sign).map(str::trim_start) else { return false };
    let Some(rest) = value.strip_prefix(span.slice(text)) else { return false };
    rest.trim_start_matches([' ', '\t']).is_empty()
        || rest.trim_start_matches([' ', '\t']).starts_with([',', ';', '}', '\n', '\r'])
}

/// The type whose literal or pattern a name stands in, if one is written before the brace.
pub(super) fn type_around(text: &str, span: Span) -> Option<&str> {
    let before = &text[..span.start as usize];
    let at = encloser(before).filter(|_| is_braced(before))?;
    Some(last_word(before[..at].trim_end())).filter(|name| !name.is_empty())
}

/// True if the bracket that is open at the end of a text is a brace.
pub(super) fn is_braced(before: &str) -> bool {
    encloser(before).is_some_and(|at| before[at..].starts_with('{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_from_names() {
        for (text, expect) in [
            ("{ run: 1 }", true),
            ("{ a, run: b }", true),
            ("f(a, run, b)", false),
            ("a::run()", false),
            ("x ? run : 1", false),
            ("x ? 1 + run : 1", false),
            ("case run: return", false),
            ("{ run }", false),
        ] {
            let at = text.find("run").expect("there");
            assert_eq!(is_key(text, Span::new(at, at + 3)), expect, "{text}");
        }
    }

    #[test]
    fn what_is_exported_and_given_is_seen() {
        for (text, exported, given) in [
            ("module.exports = { a, run: run };", true, true),
            ("exports = { run };", true, false),
            ("const o = { run: run };", false, true),
            ("module.exports = { run: runner };", true, false),
            ("my.exports = { run: 1 };", false, false),
        ] {
            let at = text.find("run").expect("there");
            let span = Span::new(at, at + 3);
            assert_eq!((is_exported(text, span), is_given(text, span, ':')), (exported, given), "{text}");
        }
    }

    #[test]
    fn the_type_of_a_literal_is_found() {
        for (text, expect) in [
            ("a::Foo { b: 1, run }", Some("Foo")),
            ("Foo { a: { 1 }, run: 2 }", Some("Foo")),
            ("({ run: 2 })", None),
            ("Foo(run)", None),
        ] {
            let at = text.find("run").expect("there");
            assert_eq!(type_around(text, Span::new(at, at + 3)), expect, "{text}");
        }
    }
}
