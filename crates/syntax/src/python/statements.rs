//! The statements of one logical line, as stretches of its tokens: what stands between semicolons,
//! and the heads of compound statements apart from what follows their colon.

use super::lex::{Lexer, PythonToken, Sort};
use crate::Span;

/// A simple statement, or the head of a compound one without its colon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Statement<'k> {
    /// Its tokens, without comments and line ends.
    pub(super) tokens: &'k [PythonToken],
    /// True if it is the head of a compound statement.
    pub(super) head: bool,
}

/// The tokens of a stretch that the grammar sees.
pub(super) fn code_tokens(text: &str, span: Span) -> Vec<PythonToken> {
    let bytes = text.as_bytes();
    let end = (span.end as usize).min(bytes.len());
    Lexer::new(&bytes[..end], span.start as usize).filter(|token| token.is_code()).collect()
}

/// The statements in the tokens of one logical line.
pub(super) fn statements<'k>(
    text: &'k str,
    tokens: &'k [PythonToken],
) -> impl Iterator<Item = Statement<'k>> {
    let mut rest = tokens;
    std::iter::from_fn(move || {
        while let Some((first, after)) = rest.split_first()
            && first.is(b';')
        {
            rest = after;
        }
        if rest.is_empty() {
            return None;
        }
        let colon = if begins_compound(text, rest) { head_colon(text, rest) } else { None };
        let end = colon.unwrap_or_else(|| top_level(rest, |token| token.is(b';')).unwrap_or(rest.len()));
        let statement = Statement { tokens: &rest[..end], head: colon.is_some() };
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(statement)
    })
}

fn begins_compound(text: &str, tokens: &[PythonToken]) -> bool {
    if tokens[0].sort != Sort::Name {
        return false;
    }
    match tokens[0].text(text) {
        "if" | "elif" | "else" | "for" | "while" | "with" | "try" | "except" | "finally" | "def"
        | "class" | "async" => true,
        // Soft keywords: what follows tells whether they are names here.
        "match" | "case" => tokens.get(1).is_some_and(|next| match next.sort {
            Sort::Operator => matches!(next.first, b'-' | b'*' | b'~') && next.end - next.start == 1,
            Sort::Close => false,
            Sort::Name => !matches!(next.text(text), "in" | "is" | "and" | "or" | "if" | "else"),
            _ => true,
        }),
        _ => false,
    }
}

/// The first token outside brackets that fits.
pub(super) fn top_level(tokens: &[PythonToken], fits: impl Fn(PythonToken) -> bool) -> Option<usize> {
    let mut depth = 0usize;
    tokens.iter().position(|token| {
        match token.sort {
            Sort::Open => depth += 1,
            Sort::Close => depth = depth.saturating_sub(1),
            _ => return depth == 0 && fits(*token),
        }
        false
    })
}

/// The colon that ends a head: outside brackets, not one of a lambda, before any semicolon.
fn head_colon(text: &str, tokens: &[PythonToken]) -> Option<usize> {
    let lambdas = std::cell::Cell::new(0usize);
    top_level(tokens, |token| {
        if token.sort == Sort::Name && token.text(text) == "lambda" {
            lambdas.set(lambdas.get() + 1);
        }
        if !token.is(b':') {
            return token.is(b';');
        }
        let pending = lambdas.get();
        lambdas.set(pending.saturating_sub(1));
        pending == 0
    })
    .filter(|found| tokens[*found].is(b':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let tokens = code_tokens(text, Span::new(0, text.len()));
        let found: Vec<String> = statements(text, &tokens)
            .map(|statement| {
                let words: Vec<&str> = statement.tokens.iter().map(|token| token.text(text)).collect();
                words.join(" ") + if statement.head { " :" } else { "" }
            })
            .collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn splits_lines() {
        check("a; b = {1: 2};", &["a", "b = { 1 : 2 }"]);
        check("if x[1:2]: y; z", &["if x [ 1 : 2 ] :", "y", "z"]);
        check("while lambda: 0: pass", &["while lambda : 0 :", "pass"]);
        check("match x:", &["match x :"]);
        check("match = 1; case: int = 2", &["match = 1", "case : int = 2"]);
        check("case [a, *b] if c: d", &["case [ a , * b ] if c :", "d"]);
        check("else: x", &["else :", "x"]);
        check("async with a as b: c", &["async with a as b :", "c"]);
        check("x: int = 1", &["x : int = 1"]);
        check("if broken", &["if broken"]);
        check(";;", &[]);
    }
}
