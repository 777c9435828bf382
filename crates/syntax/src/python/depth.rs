//! The depth to which a text could nest a parser, found without recursion: what must not be parsed is
//! refused here, and the rest says how much stack it may need.

use super::{
    bytes::{byte, is_blank, word_end},
    lex::{Lexer, PythonToken, Sort},
    lines::Lines,
    variables::is_keyword,
};
use crate::{Problem, Span};

/// Brackets open at once; Python itself refuses more.
const MOST_BRACKETS: usize = 200;

/// Levels of indentation; Python itself refuses more.
const MOST_INDENTS: usize = 100;

/// Operators that may hang on one another, as in `a + b + c` or `not not x`. Python's own
/// compiler gives up earlier.
const MOST_LEVELS: usize = 10_000;

/// The facts about a text that may be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Depth {
    /// The number of levels its trees can have, if it is read as it is meant.
    pub(super) levels: usize,
    /// True if any reader of the text must see the same tokens: everything is closed, and no
    /// literal has fields, whose ends are a matter of what is around them.
    pub(super) plain: bool,
}

/// Measures a text, or says why it must not be parsed.
pub(super) fn measure(text: &str) -> Result<Depth, Problem> {
    let bytes = text.as_bytes();
    let mut lines = Lines::new(bytes, 0);
    let mut indents: Vec<u32> = Vec::new();
    let mut depth = Depth { levels: 0, plain: true };
    while let Some((start, column)) = lines.begin() {
        while indents.pop_if(|indent| *indent >= column).is_some() {}
        if column > 0 {
            indents.push(column);
        }
        if indents.len() > MOST_INDENTS {
            return Err(problem(start, "too many levels of indentation"));
        }
        let end = lines.finish(start);
        let mut chains = Chains::new();
        let mut lexer = Lexer::new(&bytes[..end], start);
        for token in lexer.by_ref() {
            let levels = chains.add(text, token)? + indents.len();
            depth.levels = depth.levels.max(levels);
        }
        depth.plain &= !lexer.broken && chains.plain && chains.open.len() == 1;
    }
    if !lines.gaps.is_empty() {
        refuse_nested_literals(bytes)?;
    }
    depth.plain &= lines.gaps.is_empty() && deepest_column(bytes) <= MOST_BRACKETS;
    Ok(depth)
}

/// Refuses literals opened inside the fields of others without end. Lines give up on a literal that
/// is never closed; a parser goes on inside it.
fn refuse_nested_literals(bytes: &[u8]) -> Result<(), Problem> {
    let mut lexer = Lexer::new(bytes, 0);
    while let Some(token) = lexer.next() {
        if lexer.open_fields() > MOST_BRACKETS {
            return Err(problem(token.start as usize, "too many nested f-strings"));
        }
    }
    Ok(())
}

/// A bound on the levels of any tree that any reader could make of a text, whatever it takes for
/// strings: everything that can open a level counts, wherever it stands.
pub(super) fn bound(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut levels = 0;
    let mut at = 0;
    while at < bytes.len() {
        let next = bytes[at];
        if next.is_ascii_lowercase() {
            let end = word_end(bytes, at);
            levels += usize::from(text.get(at..end).is_some_and(is_keyword));
            at = end;
        } else {
            let counts = next.is_ascii_punctuation() && !matches!(next, b',' | b'_' | b'"' | b'\'' | b'#');
            levels += usize::from(counts);
            at += 1;
        }
    }
    levels + deepest_column(bytes)
}

/// The most blanks that any line begins with: no reader can see more levels of indentation.
fn deepest_column(bytes: &[u8]) -> usize {
    let mut deepest = 0;
    let mut at = 0;
    while at < bytes.len() {
        let begin = at;
        while is_blank(byte(bytes, at)) {
            at += 1;
        }
        deepest = deepest.max(at - begin);
        let rest = &bytes[at..];
        at += memchr::memchr2(b'\n', b'\r', rest).map_or(rest.len(), |found| found + 1);
    }
    deepest
}

fn problem(at: usize, message: &str) -> Problem {
    Problem { span: Span::at(at), message: message.to_owned() }
}

/// The chains of one logical line: parts that depend on one another.
struct Chains {
    open: Vec<Chain>,
    /// All of the open chains together.
    total: usize,
    plain: bool,
}

/// The chain between two commas of one pair of brackets.
struct Chain {
    bracket: u8,
    length: usize,
    /// Lambdas whose colon has not come: the commas between belong to their parameters.
    lambdas: usize,
}

impl Chains {
    fn new() -> Self {
        Self { open: vec![Chain { bracket: 0, length: 0, lambdas: 0 }], total: 0, plain: true }
    }

    /// Takes a token in, and tells the levels around it.
    fn add(&mut self, text: &str, token: PythonToken) -> Result<usize, Problem> {
        let depth = self.open.len();
        let Some(chain) = self.open.last_mut() else { return Ok(0) };
        match token.sort {
            Sort::Open => {
                self.open.push(Chain { bracket: token.first, length: 0, lambdas: 0 });
                if depth > MOST_BRACKETS {
                    return Err(problem(token.start as usize, "too many nested parentheses"));
                }
            }
            Sort::Close if depth > 1 => {
                self.plain &=
                    matches!((chain.bracket, token.first), (b'(', b')') | (b'[', b']') | (b'{', b'}'));
                self.total -= chain.length;
                self.open.pop();
                // What follows hangs on the brackets as one value.
                self.grow(1);
            }
            Sort::Close => self.plain = false,
            Sort::Operator if token.is(b';') || (token.is(b',') && chain.lambdas == 0) => {
                self.total -= chain.length;
                chain.length = 0;
            }
            Sort::Operator => {
                if token.is(b':') {
                    chain.lambdas = chain.lambdas.saturating_sub(1);
                }
                self.grow(1);
            }
            Sort::Name => {
                let name = token.text(text);
                chain.lambdas += usize::from(name == "lambda");
                let foreign =
                    !name.is_ascii() && !name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
                self.plain &= !foreign;
                self.grow(usize::from(is_keyword(name)));
            }
            Sort::Enter => self.plain = false,
            _ => {}
        }
        let levels = self.total + self.open.len();
        if levels > MOST_LEVELS {
            return Err(problem(token.start as usize, "too deeply nested to be checked"));
        }
        Ok(levels)
    }

    fn grow(&mut self, by: usize) {
        self.total += by;
        if let Some(chain) = self.open.last_mut() {
            chain.length += by;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(text: &str) -> usize {
        measure(text).unwrap().levels
    }

    fn refused(text: &str) -> String {
        measure(text).unwrap_err().message
    }

    #[test]
    fn follows_what_hangs_on_one_another() {
        assert_eq!(levels("[1, -2, -3, -4, f(5), g(6)]"), 3);
        assert!(levels(&"a+".repeat(500)) >= 500);
        assert!(levels(&"not ".repeat(500)) >= 500);
        assert!(levels(&"lambda a, b: ".repeat(500)) >= 500);
        assert!(levels(&format!("f{}", "()".repeat(500))) >= 500);
        assert!(levels(&format!("f{}", ".a".repeat(500))) >= 500);
        assert!(levels("x = 1\n".repeat(500).as_str()) < 5);
        assert!(levels("x = 1;".repeat(500).as_str()) < 5);
    }

    #[test]
    fn refuses_what_nobody_should_parse() {
        assert_eq!(refused(&"(".repeat(300)), "too many nested parentheses");
        assert_eq!(refused(&"f'{".repeat(300)), "too many nested parentheses");
        assert_eq!(refused(&"-".repeat(20_000)), "too deeply nested to be checked");
        let blocks: String = (0..150).map(|level| format!("{}if x:\n", " ".repeat(level))).collect();
        assert_eq!(refused(&blocks), "too many levels of indentation");
    }

    #[test]
    fn knows_what_is_plain() {
        assert!(measure("def f(a, b):\n  return {1: [a]}\n").unwrap().plain);
        for text in ["f'{x}'", "(", ")", "(]", "'open", "?", "x = '''\n"] {
            assert!(!measure(text).unwrap().plain, "{text:?}");
        }
    }

    #[test]
    fn bounds_whatever_is_written() {
        assert!(bound("'- - -' not lambda: (x)") >= 7);
        assert_eq!(bound("words, only"), 0);
        assert_eq!(bound("      x"), 6);
        assert!(bound("é-ü") >= 1);
    }
}
