//! The text in a Python file: its string literals, and the one that documents the module. Also
//! the way back, from an import to a statement.

use super::lex::{Lexer, Sort};
use crate::{Import, Span};

/// The string literals, outermost only, in order.
pub fn strings(text: &str) -> Vec<Span> {
    let mut strings = Vec::new();
    let mut lexer = Lexer::new(text.as_bytes(), 0);
    let (mut depth, mut start) = (0usize, 0);
    for token in std::iter::from_fn(|| lexer.next()) {
        match token.sort {
            Sort::Literal if depth == 0 => strings.push(token.span()),
            Sort::Enter => {
                if depth == 0 {
                    start = token.start;
                }
                depth += 1;
            }
            Sort::Leave => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    strings.push(Span { start, end: token.end });
                }
            }
            _ => {}
        }
    }
    strings
}

/// The string that documents the module: its first statement, if that is nothing else.
pub fn module_doc(text: &str) -> Span {
    let mut lexer = Lexer::new(text.as_bytes(), 0);
    let mut doc: Option<Span> = None;
    for token in std::iter::from_fn(|| lexer.next()) {
        match token.sort {
            Sort::Comment => {}
            Sort::LineEnd if doc.is_none() => {}
            Sort::LineEnd => break,
            Sort::Literal if !is_bytes(token.text(text)) => {
                doc = Some(Span { start: doc.map_or(token.start, |doc| doc.start), end: token.end });
            }
            Sort::Operator if token.is(b';') => break,
            _ => return Span::default(),
        }
    }
    doc.unwrap_or_default()
}

fn is_bytes(literal: &str) -> bool {
    literal.chars().take_while(|c| c.is_ascii_alphabetic()).any(|c| c.eq_ignore_ascii_case(&'b'))
}

/// An import as a statement of its own.
pub fn import_statement(import: &Import) -> Option<String> {
    let Import { module, name, local, .. } = import;
    Some(match (name, local) {
        (Some(name), Some(local)) if name != local => format!("from {module} import {name} as {local}"),
        (Some(name), _) => format!("from {module} import {name}"),
        (None, Some(local)) if module != local && !module.starts_with(&format!("{local}.")) => {
            format!("import {module} as {local}")
        }
        (None, _) => format!("import {module}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let found: Vec<&str> = strings(text).into_iter().map(|span| span.slice(text)).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn strings_are_found_with_their_prefixes_and_quotes() {
        check("a = 'x' + b\"y\" # 'no'\n", &["'x'", "b\"y\""]);
        check("'''a\n'b'\n''' 'c'", &["'''a\n'b'\n'''", "'c'"]);
        check("f'{a['k']} {b!r:>{w}}' + rf\"{'x'}\"", &["f'{a['k']} {b!r:>{w}}'", "rf\"{'x'}\""]);
    }

    #[test]
    fn only_a_first_string_documents_a_module() {
        for (text, expect) in [
            ("#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n\n'''Doc.'''\nx = 1\n", "'''Doc.'''"),
            ("'a' 'b'\n", "'a' 'b'"),
            ("'a'; x = 1\n", "'a'"),
            ("'a' + b\n", ""),
            ("x = 'a'\n", ""),
            ("f'a'\n", ""),
            ("b'a'\n", ""),
            ("", ""),
        ] {
            assert_eq!(module_doc(text).slice(text), expect, "{text:?}");
        }
    }

    #[test]
    fn an_import_can_be_written_again() {
        for statement in
            ["import a", "import a.b", "import a.b as c", "from a import b", "from ..a import b as c"]
        {
            let imports = super::super::imports(statement);
            assert_eq!(import_statement(&imports[0]).as_deref(), Some(statement));
        }
    }
}
