//! Where a word stands in a Python file, and as what. Only lines that hold the word are looked at
//! closely; a file without it costs one search.

use super::{
    imports::is_import,
    lex::{Lexer, Sort, Token},
    lines::{lines_with, whole_words},
    roles::Roles,
    statements::statements,
};
use crate::{Mention, Role, Span};

/// Every place where a word stands as a whole word, in order.
///
/// A name is a definition after `def`, `class`, `as` and `for`, as a parameter, as a target of an
/// assignment or of `:=`, and where a pattern binds it. The name of a keyword argument,
/// `f(word=1)`, names a parameter of something else: it is an attribute that is no member. Code
/// in the fields of f-strings is code.
pub fn mentions(text: &str, word: &str) -> Vec<Mention> {
    let places = whole_words(text, word);
    let mut found = Vec::with_capacity(places.len());
    let mut done = 0;
    let comment = |start: usize| Mention {
        span: Span::new(start, start + word.len()),
        role: Role::Comment,
        member: false,
    };
    lines_with(text, &places, |line, inside| {
        let before = places.partition_point(|place| *place < line.start as usize);
        found.extend(places[done..before].iter().map(|start| comment(*start)));
        done = before + inside.len();
        in_line(text, line, word, inside, &mut found);
    });
    found.extend(places[done..].iter().map(|start| comment(*start)));
    found
}

fn in_line(text: &str, line: Span, word: &str, places: &[usize], found: &mut Vec<Mention>) {
    let begin = found.len();
    let mut rest = places.iter().copied().peekable();
    let mut code = Vec::new();
    let mut names = Vec::new();
    for token in Lexer::new(&text.as_bytes()[..line.end as usize], line.start as usize) {
        while let Some(start) = rest.next_if(|start| *start < token.end as usize) {
            let span = Span::new(start, start + word.len());
            match token.sort {
                // The letters before a quote are no mention of anything.
                Sort::Literal | Sort::Enter if start == token.start as usize => {}
                Sort::Literal | Sort::Enter | Sort::Piece | Sort::Leave => {
                    found.push(Mention { span, role: Role::String, member: false });
                }
                Sort::Comment => found.push(Mention { span, role: Role::Comment, member: false }),
                Sort::Name if token.span() == span => names.push(code.len()),
                // Words that are no names, such as `a.b` or `->`.
                _ => found.push(Mention { span, role: Role::Reference, member: false }),
            }
        }
        if token.is_code() {
            code.push(token);
        }
    }
    in_code(text, &code, &names, found);
    found[begin..].sort_by_key(|mention| mention.span);
}

/// The roles of the names at these places among the code tokens of a line.
fn in_code(text: &str, code: &[Token], names: &[usize], found: &mut Vec<Mention>) {
    let mut names = names.iter().copied().peekable();
    for statement in statements(text, code) {
        let Some(next) = names.peek() else { return };
        let start = statement.tokens[0].start;
        let end = statement.tokens[statement.tokens.len() - 1].end;
        if code[*next].start >= end {
            continue;
        }
        let first = code.partition_point(|token| token.start < start);
        let mut wanted = Vec::new();
        while let Some(name) = names.next_if(|name| code[*name].start < end) {
            wanted.push(name.saturating_sub(first));
        }
        if is_import(text, &statement) {
            found.extend(wanted.iter().map(|name| Mention {
                span: statement.tokens[*name].span(),
                role: Role::Import,
                member: false,
            }));
            continue;
        }
        Roles::of(text, statement).judge(&wanted, found);
    }
}
