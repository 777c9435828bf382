//! Python's tokens, with the code inside the fields of f-strings and t-strings. Knows no grammar,
//! and goes on after anything.

use super::bytes::{
    Prefix, begins_statement, byte, find_line_end, is_line_end, is_word, line_end_len, literal_end,
    quotes_len, skip_blanks, word_end,
};
pub(super) use super::token::{PythonToken, Sort};

/// The position of the lexer inside a literal with fields.
#[derive(Clone, Copy, Debug)]
struct Inside {
    mode: Mode,
    quote: u8,
    triple: bool,
    raw: bool,
    /// Brackets open inside a field.
    brackets: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// In the text.
    Text,
    /// In a field, as code.
    Field,
    /// In a field after its `:`.
    Format,
}

/// Reads tokens from a place on.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    bytes: &'t [u8],
    at: usize,
    inside: Vec<Inside>,
    /// A literal was not closed, or a byte began no token.
    pub(super) broken: bool,
    unclosed: bool,
    /// A triple-quoted literal of this quote is tried to the end once only.
    unclosed_triple: [bool; 2],
}

impl<'t> Lexer<'t> {
    /// From a place in code on, to the end of the bytes.
    pub(super) fn new(bytes: &'t [u8], at: usize) -> Self {
        Self {
            bytes,
            at: at.min(bytes.len()),
            inside: Vec::new(),
            broken: false,
            unclosed: false,
            unclosed_triple: [false; 2],
        }
    }

    /// The end of a literal with fields whose opening quote stands at a place, or the place where
    /// reading must go on after one that is never closed.
    pub(super) fn fields_end(bytes: &'t [u8], quote: usize, raw: bool) -> Result<usize, usize> {
        let mut lexer = Self::new(bytes, quote);
        lexer.enter(quote, quote, raw);
        while !lexer.inside.is_empty() && lexer.next().is_some() {}
        if lexer.unclosed || !lexer.inside.is_empty() { Err(lexer.at) } else { Ok(lexer.at) }
    }

    /// The number of open literals with fields, and of open fields in them.
    pub(super) fn open_fields(&self) -> usize {
        self.inside.len()
    }

    fn token(&self, sort: Sort, start: usize) -> PythonToken {
        PythonToken { sort, first: byte(self.bytes, start), start: start as u32, end: self.at as u32 }
    }

    fn enter(&mut self, start: usize, quote: usize, raw: bool) -> PythonToken {
        let len = quotes_len(self.bytes, quote);
        // Two quotes that are not three are an empty literal.
        let state = Inside { mode: Mode::Text, quote: self.bytes[quote], triple: len == 3, raw, brackets: 0 };
        self.inside.push(state);
        self.at = quote + len;
        self.token(Sort::Enter, start)
    }

    fn string(&mut self, start: usize, quote: usize, prefix: Prefix) -> PythonToken {
        if prefix.fields {
            return self.enter(start, quote, prefix.raw);
        }
        let kind = usize::from(self.bytes[quote] == b'"');
        let triple = quotes_len(self.bytes, quote) == 3;
        self.at = if triple && self.unclosed_triple[kind] {
            find_line_end(self.bytes, quote)
        } else {
            literal_end(self.bytes, quote).unwrap_or_else(|resume| {
                self.broken = true;
                self.unclosed_triple[kind] |= triple;
                resume
            })
        };
        self.token(Sort::Literal, start)
    }

    fn code(&mut self) -> Option<PythonToken> {
        self.at = skip_blanks(self.bytes, self.at);
        let start = self.at;
        let first = *self.bytes.get(start)?;
        if is_word(first) && !first.is_ascii_digit() {
            self.at = word_end(self.bytes, start);
            if matches!(byte(self.bytes, self.at), b'"' | b'\'')
                && let Some(prefix) = Prefix::of(&self.bytes[start..self.at])
            {
                return Some(self.string(start, self.at, prefix));
            }
            return Some(self.token(Sort::Name, start));
        }
        Some(match first {
            b'"' | b'\'' => self.string(start, start, Prefix::default()),
            b'#' => {
                self.at = find_line_end(self.bytes, start);
                self.token(Sort::Comment, start)
            }
            b'\n' | b'\r' => self.line_end(start),
            b'(' | b'[' | b'{' => {
                self.at += 1;
                if let Some(state) = self.inside.last_mut() {
                    state.brackets += 1;
                }
                self.token(Sort::Open, start)
            }
            b')' | b']' | b'}' => {
                self.at += 1;
                match self.inside.last_mut() {
                    Some(state) if state.brackets > 0 => state.brackets -= 1,
                    Some(_) if first == b'}' => {
                        self.inside.pop();
                    }
                    _ => {}
                }
                self.token(Sort::Close, start)
            }
            b'0'..=b'9' => self.number(start),
            b'.' if byte(self.bytes, start + 1).is_ascii_digit() => self.number(start),
            _ => self.operator(start, first),
        })
    }

    fn line_end(&mut self, start: usize) -> PythonToken {
        self.at += line_end_len(self.bytes, start);
        if !self.inside.is_empty() && begins_statement(self.bytes, self.at) {
            self.abandon();
        }
        self.token(Sort::LineEnd, start)
    }

    fn operator(&mut self, start: usize, first: u8) -> PythonToken {
        self.at += 1;
        if first == b':'
            && let Some(state) = self.inside.last_mut()
            && state.brackets == 0
        {
            state.mode = Mode::Format;
            return self.token(Sort::Operator, start);
        }
        let joins = matches!(
            first,
            b'=' | b'!' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b':'
        );
        if joins && byte(self.bytes, self.at) == b'=' {
            self.at += 1;
        } else if !joins && !matches!(first, b',' | b'.' | b';' | b'~') {
            self.broken = true;
        }
        self.token(Sort::Operator, start)
    }

    fn number(&mut self, start: usize) -> PythonToken {
        let digits = |mut at: usize, bytes: &[u8]| {
            while byte(bytes, at).is_ascii_digit() || byte(bytes, at) == b'_' {
                at += 1;
            }
            at
        };
        let radix = byte(self.bytes, start) == b'0'
            && matches!(byte(self.bytes, start + 1) | 0x20, b'x' | b'o' | b'b')
            && byte(self.bytes, start + 2).is_ascii_hexdigit();
        if radix {
            self.at = start + 2;
            while byte(self.bytes, self.at).is_ascii_hexdigit() || byte(self.bytes, self.at) == b'_' {
                self.at += 1;
            }
            return self.token(Sort::Number, start);
        }
        self.at = digits(start, self.bytes);
        if byte(self.bytes, self.at) == b'.' {
            self.at = digits(self.at + 1, self.bytes);
        }
        if byte(self.bytes, self.at) | 0x20 == b'e' {
            let sign = usize::from(matches!(byte(self.bytes, self.at + 1), b'+' | b'-'));
            if byte(self.bytes, self.at + 1 + sign).is_ascii_digit() {
                self.at = digits(self.at + 1 + sign, self.bytes);
            }
        }
        if byte(self.bytes, self.at) | 0x20 == b'j' {
            self.at += 1;
        }
        self.token(Sort::Number, start)
    }

    /// The next token inside the text of a literal with fields.
    fn piece(&mut self, state: Inside) -> Option<PythonToken> {
        let start = self.at;
        loop {
            let Some(&next) = self.bytes.get(self.at) else {
                self.abandon();
                return (self.at > start).then(|| self.token(Sort::Piece, start));
            };
            let doubled = state.mode == Mode::Text && byte(self.bytes, self.at + 1) == next;
            match next {
                b'\\' => self.escape(state),
                b'{' | b'}' if doubled => self.at += 2,
                b'{' if self.at > start => return Some(self.token(Sort::Piece, start)),
                b'{' => {
                    self.at += 1;
                    self.inside.push(Inside { mode: Mode::Field, brackets: 0, ..state });
                    return Some(self.token(Sort::Open, start));
                }
                b'}' if state.mode == Mode::Text => {
                    self.broken = true;
                    self.at += 1;
                }
                b'}' if self.at > start => return Some(self.token(Sort::Piece, start)),
                b'}' => {
                    self.at += 1;
                    self.inside.pop();
                    return Some(self.token(Sort::Close, start));
                }
                b'\n' | b'\r' if !state.triple => {
                    self.abandon();
                    if self.at == start {
                        return self.code();
                    }
                    return Some(self.token(Sort::Piece, start));
                }
                quote if quote == state.quote && (!state.triple || quotes_len(self.bytes, self.at) == 3) => {
                    self.at += if state.triple { 3 } else { 1 };
                    self.leave();
                    return Some(self.token(Sort::Leave, start));
                }
                _ => self.at += 1,
            }
        }
    }

    /// Over a backslash and what it escapes; a brace after it still opens a field.
    fn escape(&mut self, state: Inside) {
        self.at += 1;
        match byte(self.bytes, self.at) {
            b'{' | b'}' => {}
            b'N' if !state.raw && byte(self.bytes, self.at + 1) == b'{' => {
                self.at += 2;
                while is_name_of_character(byte(self.bytes, self.at)) {
                    self.at += 1;
                }
                if byte(self.bytes, self.at) == b'}' {
                    self.at += 1;
                }
            }
            next if is_line_end(next) => self.at += line_end_len(self.bytes, self.at),
            _ => self.at = (self.at + 1).min(self.bytes.len()),
        }
    }

    /// Gives up all open literals: they are never closed.
    fn abandon(&mut self) {
        self.inside.clear();
        self.broken = true;
        self.unclosed = true;
    }

    /// Ends the innermost literal, with the fields that it leaves open.
    fn leave(&mut self) {
        while let Some(state) = self.inside.pop() {
            if state.mode == Mode::Text {
                return;
            }
            self.broken = true;
        }
    }
}

/// Bytes of a character's name in `\N{EM DASH}`.
fn is_name_of_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-')
}

impl Iterator for Lexer<'_> {
    type Item = PythonToken;

    fn next(&mut self) -> Option<PythonToken> {
        match self.inside.last() {
            Some(state) if state.mode != Mode::Field => self.piece(*state),
            _ => self.code(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let tokens: Vec<&str> = Lexer::new(text.as_bytes(), 0).map(|token| token.text(text)).collect();
        assert_eq!(tokens, expected, "{text:?}");
    }

    #[test]
    fn reads_plain_code() {
        check("x = y", &["x", "=", "y"]);
        check("x == y != z", &["x", "==", "y", "!=", "z"]);
        check("a := 1.5e-3j", &["a", ":=", "1.5e-3j"]);
        check("0xffor 1if x", &["0xff", "or", "1", "if", "x"]);
        check("1..real .5", &["1.", ".", "real", ".5"]);
        check("a \\\n b # c\nd", &["a", "b", "# c", "\n", "d"]);
        check("größe\r\nβ\r", &["größe", "\r\n", "β", "\r"]);
        check("'a\\'b' rb\"c\" u'''d\n'e'''", &["'a\\'b'", "rb\"c\"", "u'''d\n'e'''"]);
        check("ur'a'", &["ur", "'a'"]);
        check("'open\nx", &["'open", "\n", "x"]);
        check("''", &["''"]);
    }

    #[test]
    fn reads_fields_as_code() {
        check("f'a{b}c'", &["f'", "a", "{", "b", "}", "c'"]);
        check("f''", &["f'", "'"]);
        check("f'{a!r:>{w}}'", &["f'", "{", "a", "!", "r", ":", ">", "{", "w", "}", "}", "'"]);
        check("f\"{d[\"k\"]}\"", &["f\"", "{", "d", "[", "\"k\"", "]", "}", "\""]);
        check("f'{{a}}'", &["f'", "{{a}}'"]);
        check("f'{f'{x}'}'", &["f'", "{", "f'", "{", "x", "}", "'", "}", "'"]);
        check("rf'\\{x}'", &["rf'", "\\", "{", "x", "}", "'"]);
        check("f'\\N{DASH}{x}'", &["f'", "\\N{DASH}", "{", "x", "}", "'"]);
        check("t'''{\nx # c\n}'''", &["t'''", "{", "\n", "x", "# c", "\n", "}", "'''"]);
        check("f'{x:%H:%M}' y", &["f'", "{", "x", ":", "%H:%M", "}", "'", "y"]);
        check("f'{(lambda: 1)()}'", &["f'", "{", "(", "lambda", ":", "1", ")", "(", ")", "}", "'"]);
    }

    #[test]
    fn goes_on_after_what_is_broken() {
        check("f'{a\ndef g", &["f'", "{", "a", "\n", "def", "g"]);
        check("f'{a:b\nx", &["f'", "{", "a", ":", "b", "\n", "x"]);
        check("f'a\nx", &["f'", "a", "\n", "x"]);
        check("f'{a:b' x", &["f'", "{", "a", ":", "b'", "x"]);
        check("f'\\", &["f'", "\\"]);
        check("$x ?", &["$", "x", "?"]);
    }
}
