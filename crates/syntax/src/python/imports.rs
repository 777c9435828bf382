//! The imports of a Python file, at its top or anywhere inside.

use super::{
    lex::{PythonToken, Sort},
    lines::{lines_with, whole_words},
    statements::{Statement, code_tokens, statements},
};
use crate::{Import, Span};

/// One import for each name, in the order of the text. `import a.b` makes `a` known here.
pub fn imports(text: &str) -> Vec<Import> {
    let mut found = Vec::new();
    lines_with(text, &whole_words(text, "import"), |line, _| {
        let tokens = code_tokens(text, line);
        for statement in statements(text, &tokens).filter(|statement| is_import(text, statement)) {
            read(text, statement.tokens, &mut found);
        }
    });
    // A statement that was begun and not finished names nothing.
    found.retain(|import| !import.module.is_empty());
    found
}

/// True if a statement is an import.
pub(super) fn is_import(text: &str, statement: &Statement<'_>) -> bool {
    let tokens = without_lazy(text, statement.tokens);
    tokens.len() > 1
        && !statement.head
        && tokens[0].sort == Sort::Name
        && matches!(tokens[0].text(text), "import" | "from")
        && (tokens[1].sort == Sort::Name || tokens[1].is(b'.'))
}

/// A `lazy` before an import changes nothing about its names.
fn without_lazy<'k>(text: &str, tokens: &'k [PythonToken]) -> &'k [PythonToken] {
    match tokens {
        [lazy, next, ..]
            if lazy.sort == Sort::Name
                && lazy.text(text) == "lazy"
                && matches!(next.text(text), "import" | "from") =>
        {
            &tokens[1..]
        }
        _ => tokens,
    }
}

fn read(text: &str, tokens: &[PythonToken], found: &mut Vec<Import>) {
    let [first, .., last] = tokens else { return };
    let span = Span { start: first.start, end: last.end };
    let tokens = without_lazy(text, tokens);
    if tokens[0].text(text) == "import" {
        for part in tokens[1..].split(|token| token.is(b',')) {
            let (name, alias) = alias(text, part);
            let module = dotted(text, name);
            if module.is_empty() {
                continue;
            }
            let local = alias.unwrap_or_else(|| module.split('.').next().unwrap_or_default().to_owned());
            found.push(Import { span, module, name: None, local: Some(local) });
        }
        return;
    }
    let is_import = |token: &PythonToken| token.sort == Sort::Name && token.text(text) == "import";
    let Some(import) = tokens.iter().position(is_import) else { return };
    let module = dotted(text, &tokens[1..import]);
    for part in tokens[import + 1..].split(|token| token.is(b',') || token.is(b'(') || token.is(b')')) {
        let (name, alias) = alias(text, part);
        let name = dotted(text, name);
        if name.is_empty() {
            continue;
        }
        let local = if name == "*" { None } else { alias.or_else(|| Some(name.clone())) };
        found.push(Import { span, module: module.clone(), name: Some(name), local });
    }
}

/// The part before `as`, and the name after it.
fn alias<'k>(text: &str, part: &'k [PythonToken]) -> (&'k [PythonToken], Option<String>) {
    match part {
        [name @ .., word, alias] if word.text(text) == "as" => (name, Some(alias.text(text).to_owned())),
        _ => (part, None),
    }
}

fn dotted(text: &str, tokens: &[PythonToken]) -> String {
    tokens.iter().map(|token| token.text(text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str, &str)]) {
        let found = imports(text);
        let found: Vec<(&str, &str, &str)> = found
            .iter()
            .map(|import| {
                let name = import.name.as_deref().unwrap_or_default();
                (import.module.as_str(), name, import.local.as_deref().unwrap_or_default())
            })
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn reads_every_form() {
        check("import a", &[("a", "", "a")]);
        check("import a.b", &[("a.b", "", "a")]);
        check("import a.b as c, d", &[("a.b", "", "c"), ("d", "", "d")]);
        check("from a.b import c as d, e", &[("a.b", "c", "d"), ("a.b", "e", "e")]);
        check("from . import x", &[(".", "x", "x")]);
        check("from ..pkg.mod import x", &[("..pkg.mod", "x", "x")]);
        check("from ...import x", &[("...", "x", "x")]);
        check("from a import *", &[("a", "*", "")]);
        check("from a import (\n  b, # c\n  d as e,\n)", &[("a", "b", "b"), ("a", "d", "e")]);
        check("from a \\\n  import b", &[("a", "b", "b")]);
        check("lazy import a.b", &[("a.b", "", "a")]);
    }

    #[test]
    fn finds_them_anywhere() {
        check("def f():\n  import a; from b import c", &[("a", "", "a"), ("b", "c", "c")]);
        check("try: import a\nexcept ImportError: import b", &[("a", "", "a"), ("b", "", "b")]);
        check("x = 'import a'\n# import b\n'''\nimport c\n'''", &[]);
        check("important = 1\nyield_from = importer", &[]);
        check("import\nfrom\nfrom a import\nimport ,", &[]);
        check("import a\r\nimport b\rimport c", &[("a", "", "a"), ("b", "", "b"), ("c", "", "c")]);
    }

    #[test]
    fn spans_the_statement() {
        let text = "if x: from a import (b,\n c)  # d\n";
        let span = imports(text)[0].span;
        assert_eq!(span.slice(text), "from a import (b,\n c)");
    }
}
