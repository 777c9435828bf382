//! The value of a docstring, as Python's `inspect.cleandoc` gives it.

use ruff_python_parser::parse_parenthesized_expression_range;
use ruff_text_size::{TextRange, TextSize};

use super::lex::{Lexer, Sort};
use crate::Span;

/// The columns of a tab stop when tabs become blanks.
const TAB: usize = 8;

/// A docstring's value: escapes evaluated, the common indentation and empty lines around it
/// removed. What is no literal is given as it is written.
pub fn docstring(text: &str, doc: Span) -> String {
    clean(&value(text, doc).unwrap_or_else(|| doc.slice(text).to_owned()))
}

fn value(text: &str, doc: Span) -> Option<String> {
    if doc.is_empty() || text.get(doc.range()).is_none() {
        return None;
    }
    // Only literals reach the parser: they nest nothing, whatever the caller's stretch is.
    let bytes = &text.as_bytes()[..doc.end as usize];
    let literals = Lexer::new(bytes, doc.start as usize)
        .all(|token| matches!(token.sort, Sort::Literal | Sort::Comment | Sort::LineEnd));
    if !literals {
        return None;
    }
    // Line ends inside a literal are line feeds to Python, however the file writes them.
    let source = doc.slice(text).replace("\r\n", "\n").replace('\r', "\n");
    let range = TextRange::new(TextSize::new(0), TextSize::of(source.as_str()));
    let parsed = parse_parenthesized_expression_range(&source, range).ok()?;
    let literal = parsed.expr().as_string_literal_expr()?;
    Some(literal.value.to_str().to_owned())
}

fn clean(value: &str) -> String {
    let lines: Vec<String> = value.split('\n').map(expand).collect();
    let indent = |line: &String| line.len() - line.trim_start_matches(' ').len();
    let margin = lines.iter().skip(1).filter(|line| indent(line) < line.len()).map(indent).min().unwrap_or(0);
    let mut cleaned: Vec<&str> = lines.iter().map(|line| line.get(margin..).unwrap_or_default()).collect();
    cleaned[0] = lines[0].trim_start_matches(' ');
    let Some(first) = cleaned.iter().position(|line| !line.is_empty()) else { return String::new() };
    let last = cleaned.iter().rposition(|line| !line.is_empty()).unwrap_or(first);
    cleaned[first..=last].join("\n")
}

/// A line with its tabs as blanks.
fn expand(line: &str) -> String {
    let mut expanded = String::with_capacity(line.len());
    let mut column = 0;
    for letter in line.chars() {
        let width = if letter == '\t' { TAB - column % TAB } else { 1 };
        column = if letter == '\r' { 0 } else { column + width };
        match letter {
            '\t' => expanded.extend(std::iter::repeat_n(' ', width)),
            _ => expanded.push(letter),
        }
    }
    expanded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(docstring(text, Span::new(0, text.len())), expected, "{text:?}");
    }

    #[test]
    fn evaluates_and_cleans() {
        check("'''a'''", "a");
        check("'''  a\n    b\n      c\n    '''", "a\nb\n  c");
        check("\"\"\"\n\n  a\n\n  b\n\n\"\"\"", "a\n\nb");
        check("'a\\tb\\x41\\u00e9\\n  c'", "a       bAé\nc");
        check("r'a\\n'", "a\\n");
        check("'a' 'b'", "ab");
        check("'a' # c\n  'b'", "ab");
        check("'''a\r\n  b\r  c'''", "a\nb\nc");
        check("'a\\\nb'", "ab");
        check("'\\N{EM DASH}'", "—");
        check("''", "");
        check("'''\n\ta\n\t  b'''", "a\n  b");
    }

    #[test]
    fn gives_what_is_no_literal_as_it_is() {
        check("f'{a}'", "f'{a}'");
        check("b'a'", "b'a'");
        check("x + y", "x + y");
        check("'open", "'open");
        assert_eq!(docstring("x", Span::new(5, 9)), "");
    }
}
