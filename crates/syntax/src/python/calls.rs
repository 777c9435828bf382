//! The calls in a stretch of Python, and what the head of a class derives from.

use super::{
    bytes::{begins_definition, byte, is_blank, is_line_end},
    lex::{PythonToken, Sort},
    lines::Lines,
    statements::{Statement, code_tokens, statements},
    variables::is_keyword,
};
use crate::{CallSite, Span};

/// The calls of names and of members in a stretch, usually a body, in the order of the text. The
/// bodies of functions and classes defined in it are left out; their decorators, defaults and
/// bases are not, because they run where they stand.
pub fn calls(text: &str, within: Span) -> Vec<CallSite> {
    let end = (within.end as usize).min(text.len());
    let bytes = &text.as_bytes()[..end];
    let mut lines = Lines::new(bytes, line_begin(bytes, within.start as usize));
    let mut found = Vec::new();
    // The column of the definition whose body is being passed over.
    let mut passing: Option<u32> = None;
    while let Some((start, column)) = lines.begin() {
        let line = Span::new(start, lines.finish(start));
        if passing.is_some_and(|outer| column > outer) {
            continue;
        }
        let defines = begins_definition(bytes, start);
        passing = defines.then_some(column);
        let tokens = code_tokens(text, line);
        for statement in statements(text, &tokens) {
            in_statement(text, statement, &mut found);
            if defines {
                break;
            }
        }
    }
    found
}

/// The begin of the line where only blanks stand before a place, so that its column is known;
/// otherwise the place itself.
fn line_begin(bytes: &[u8], at: usize) -> usize {
    let at = at.min(bytes.len());
    let mut begin = at;
    while begin > 0 && is_blank(bytes[begin - 1]) {
        begin -= 1;
    }
    if begin == 0 || is_line_end(byte(bytes, begin - 1)) { begin } else { at }
}

fn in_statement(text: &str, statement: Statement<'_>, found: &mut Vec<CallSite>) {
    let tokens = statement.tokens;
    // Patterns look like calls and are none; what guards them may call.
    let first = tokens.first().map_or("", |token| token.text(text));
    let mut silent = statement.head && first == "case";
    let soft = statement.head && matches!(first, "match" | "case");
    // Where the value that ends with the token before this one began; where open brackets did.
    let mut value = 0u32;
    let mut open: Vec<u32> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| tokens[before]);
        let after_dot = before.is_some_and(|before| before.is(b'.'));
        match token.sort {
            Sort::Name => {
                silent &= !(open.is_empty() && token.text(text) == "if");
                if !after_dot {
                    value = token.start;
                }
            }
            // Literals side by side are one value.
            Sort::Literal | Sort::Enter if !before.is_some_and(is_literal_end) => value = token.start,
            Sort::Number => value = token.start,
            _ => {}
        }
        match token.sort {
            Sort::Open => {
                let follows = before.is_some_and(|before| is_callee(text, before));
                let called = token.is(b'(') && follows && !silent && !(soft && index == 1);
                if called
                    && let Some(name) = before.filter(|before| before.sort == Sort::Name)
                    && !is_defined(text, tokens, index)
                {
                    found.push(site(tokens, index, name, value));
                }
                open.push(if follows { value } else { token.start });
            }
            Sort::Enter => open.push(value),
            Sort::Close | Sort::Leave => value = open.pop().unwrap_or(token.start),
            _ => {}
        }
    }
}

fn is_literal_end(token: PythonToken) -> bool {
    matches!(token.sort, Sort::Literal | Sort::Leave)
}

fn is_callee(text: &str, token: PythonToken) -> bool {
    token.ends_value() && !(token.sort == Sort::Name && is_keyword(token.text(text)))
}

/// True if the name before the bracket at a place is being defined.
fn is_defined(text: &str, tokens: &[PythonToken], open: usize) -> bool {
    open >= 2 && matches!(tokens[open - 2].text(text), "def" | "class")
}

fn site(tokens: &[PythonToken], open: usize, name: PythonToken, value: u32) -> CallSite {
    let receiver = match tokens[..open] {
        [.., last, dot, _] if dot.is(b'.') && value < last.end => Span { start: value, end: last.end },
        _ => Span::at(name.start as usize),
    };
    CallSite { name: name.span(), receiver }
}

/// The bases of a class, given its head: `Generic` of `Generic[T]`, dotted names whole, other
/// expressions as they are. Keywords and starred arguments are no bases.
pub fn bases(text: &str, head: Span) -> Vec<Span> {
    let tokens = code_tokens(text, head);
    let mut depth = 0usize;
    let Some(open) = tokens.iter().position(|token| {
        let first = depth == 0 && token.is(b'(');
        match token.sort {
            Sort::Open => depth += 1,
            Sort::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        first
    }) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut begin = open + 1;
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(begin) {
        match token.sort {
            Sort::Open => depth += 1,
            Sort::Close if depth > 0 => depth -= 1,
            Sort::Close => {
                found.extend(base(text, &tokens[begin..index]));
                return found;
            }
            Sort::Operator if depth == 0 && token.is(b',') => {
                found.extend(base(text, &tokens[begin..index]));
                begin = index + 1;
            }
            _ => {}
        }
    }
    // The head is broken off: what is there counts.
    found.extend(base(text, tokens.get(begin..).unwrap_or_default()));
    found
}

fn base(text: &str, argument: &[PythonToken]) -> Option<Span> {
    let (first, last) = (argument.first()?, argument.last()?);
    if first.is(b'*') || argument.get(1).is_some_and(|next| next.is(b'=')) {
        return None;
    }
    let mut chain = 0;
    while argument.get(chain).is_some_and(|token| token.sort == Sort::Name && !is_keyword(token.text(text))) {
        chain += 1;
        if !argument.get(chain).is_some_and(|token| token.is(b'.')) {
            break;
        }
        chain += 1;
    }
    let subscripted = || {
        let mut depth = 0usize;
        let closes = |token: &PythonToken| {
            match token.sort {
                Sort::Open => depth += 1,
                Sort::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        };
        argument[chain].is(b'[')
            && argument[chain..].iter().position(closes) == Some(argument.len() - chain - 1)
    };
    let named = chain > 0 && argument[chain - 1].sort == Sort::Name;
    let end =
        if named && (chain == argument.len() || subscripted()) { argument[chain - 1].end } else { last.end };
    Some(Span { start: first.start, end })
}
