//! Tells the declaration of a function from the call of a macro and from a variable that is made
//! with arguments.

use super::{
    function::Function,
    heads,
    token::{self, Part, Tokens},
    words::Key,
};

/// True if a function without a body was declared, rather than a macro called or a variable made.
pub(super) fn is_prototype(tokens: &Tokens<'_>, function: &Function) -> bool {
    if !function.typed && !function.certain {
        return false;
    }
    if heads::is_annotation(tokens, function) {
        return false;
    }
    if !function.typed && !function.scope.is_empty() && tokens.class.is_empty() {
        // Without a type, only constructors and destructors are defined so: `A::A() = default;`.
        let name = &tokens.bytes[function.name.range()];
        let scope = &tokens.bytes[function.scope.range()];
        let class = scope.rsplit(|byte| *byte == b':').next().unwrap_or_default();
        let class = class.split(|byte| *byte == b'<').next().unwrap_or_default();
        return name.starts_with(b"~") || name.starts_with(b"operator") || name == class;
    }
    if !tokens.cpp || function.at == 0 && function.certain {
        return true;
    }
    let params = token::lex(tokens.bytes, function.params, true);
    let Some(first) = params.first() else { return true };
    let value = |token: &token::CToken| {
        let text = &tokens.bytes[token.span().range()];
        matches!(token.part, Part::Literal | Part::Arrow | Part::Brace | Part::Key(Key::Control))
            || matches!(text, b"true" | b"false" | b"nullptr" | b"NULL" | b"this")
    };
    let starts =
        matches!(first.part, Part::Mark(b'&' | b'*' | b'-' | b'!' | b'+' | b'~' | b'{') | Part::Paren);
    let default = params.iter().position(|token| token.part == Part::Mark(b'=')).unwrap_or(params.len());
    !(starts || value(first) || params[..default].iter().any(value))
}
