//! The variables that statements of modules and classes define: assignments, annotations and
//! `type` aliases.

use super::{
    lex::{PythonToken, Sort},
    statements::{Statement, code_tokens, statements, top_level},
};
use crate::{Kind, Span, Symbol};

/// Adds the variables that a logical line defines.
pub(super) fn collect(text: &str, line: Span, parent: Option<u32>, symbols: &mut Vec<Symbol>) {
    if !may_define(line.slice(text).as_bytes()) {
        return;
    }
    let tokens = code_tokens(text, line);
    for statement in statements(text, &tokens).filter(|statement| !statement.head) {
        define(text, statement, parent, symbols);
    }
}

/// Cheap: without one of these bytes nothing is assigned or annotated.
fn may_define(line: &[u8]) -> bool {
    memchr::memchr2(b'=', b':', line).is_some()
}

fn define(text: &str, statement: Statement<'_>, parent: Option<u32>, symbols: &mut Vec<Symbol>) {
    let tokens = statement.tokens;
    let [first, .., last] = tokens else { return };
    let whole = Span { start: first.start, end: last.end };
    let mut add = |kind: Kind, name: PythonToken| {
        let mut symbol = Symbol::new(kind, whole, name.span());
        symbol.parent = parent;
        symbols.push(symbol);
    };
    if let Some(name) = type_alias(text, tokens) {
        return add(Kind::Typedef, name);
    }
    for name in targets(text, tokens) {
        add(if is_constant(name.text(text)) { Kind::Constant } else { Kind::Variable }, name);
    }
}

/// The name that `type X = …` defines.
pub(super) fn type_alias(text: &str, tokens: &[PythonToken]) -> Option<PythonToken> {
    let [word, name, next, ..] = tokens else { return None };
    let alias = word.sort == Sort::Name
        && word.text(text) == "type"
        && name.sort == Sort::Name
        && !is_keyword(name.text(text))
        && (next.is(b'=') || next.is(b'['));
    alias.then_some(*name)
}

/// The plain names that a statement assigns or annotates, in the order of the text.
pub(super) fn targets(text: &str, tokens: &[PythonToken]) -> Vec<PythonToken> {
    let mut found = Vec::new();
    // A colon behind the `=` belongs to a lambda.
    let first = top_level(tokens, |token| token.is(b':') || token.is(b'='));
    if let Some(colon) = first.filter(|first| tokens[*first].is(b':')) {
        // An annotated target is one name, perhaps in parentheses.
        let target: &[PythonToken] = match &tokens[..colon] {
            [open, name, close] if open.is(b'(') && close.is(b')') => std::slice::from_ref(name),
            other => other,
        };
        if let [name] = target
            && is_plain_name(text, *name)
        {
            found.push(*name);
        }
        return found;
    }
    let mut from = 0;
    while let Some(equals) = top_level(&tokens[from..], |token| token.is(b'=')) {
        if !target_names(text, &tokens[from..from + equals], &mut found) {
            break;
        }
        from += equals + 1;
    }
    found
}

/// Adds the names bound by one target: plain ones, in tuples and lists of any depth, starred or
/// not. False where it is no target: the `=` after it gives a lambda's parameter its default.
fn target_names(text: &str, tokens: &[PythonToken], found: &mut Vec<PythonToken>) -> bool {
    let begin = found.len();
    // Brackets that subscript or call something hold no targets.
    let mut foreign = 0usize;
    for (index, token) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| tokens[before]);
        let after = tokens.get(index + 1);
        match token.sort {
            Sort::Open if foreign > 0 || before.is_some_and(PythonToken::ends_value) => foreign += 1,
            Sort::Close => foreign = foreign.saturating_sub(1),
            _ if foreign > 0 => {}
            Sort::Name if !is_keyword(token.text(text)) => {
                let begins = before.is_none_or(|before| {
                    before.is(b',') || before.is(b'*') || before.is(b'(') || before.is(b'[')
                });
                let ends = after.is_none_or(|after| after.is(b',') || after.is(b')') || after.is(b']'));
                if begins && ends {
                    found.push(*token);
                }
            }
            Sort::Operator if token.is(b',') || token.is(b'*') || token.is(b'.') => {}
            Sort::Open => {}
            // Literals such as `"a".b = c` may hold something.
            Sort::Literal | Sort::Enter | Sort::Piece | Sort::Leave => {}
            _ => {
                found.truncate(begin);
                return false;
            }
        }
    }
    true
}

fn is_plain_name(text: &str, token: PythonToken) -> bool {
    token.sort == Sort::Name && !is_keyword(token.text(text))
}

fn is_constant(name: &str) -> bool {
    name.chars().any(|letter| letter.is_ascii_uppercase())
        && !name.chars().any(|letter| letter.is_lowercase())
}

/// True if a word can be no name.
pub(super) fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "False"
            | "None"
            | "True"
            | "and"
            | "as"
            | "assert"
            | "async"
            | "await"
            | "break"
            | "class"
            | "continue"
            | "def"
            | "del"
            | "elif"
            | "else"
            | "except"
            | "finally"
            | "for"
            | "from"
            | "global"
            | "if"
            | "import"
            | "in"
            | "is"
            | "lambda"
            | "nonlocal"
            | "not"
            | "or"
            | "pass"
            | "raise"
            | "return"
            | "try"
            | "while"
            | "with"
            | "yield"
    )
}
