//! The meaning of single bytes in Python's text, and the ends of plain literals. Knows no token and no
//! line.

/// In [`STEP`]: the byte ends a run of ordinary code and must be looked at.
pub(super) const STOP: i8 = i8::MAX;

/// The change of the bracket depth by each byte of code, or [`STOP`].
pub(super) const STEP: [i8; 256] = {
    let mut table = [0i8; 256];
    table[b'(' as usize] = 1;
    table[b'[' as usize] = 1;
    table[b'{' as usize] = 1;
    table[b')' as usize] = -1;
    table[b']' as usize] = -1;
    table[b'}' as usize] = -1;
    table[b'\n' as usize] = STOP;
    table[b'\r' as usize] = STOP;
    table[b'#' as usize] = STOP;
    table[b'\\' as usize] = STOP;
    table[b'"' as usize] = STOP;
    table[b'\'' as usize] = STOP;
    table
};

/// From this on a sum of [`COUNT`] holds a byte that must be looked at.
pub(super) const COUNT_STOP: u32 = 1 << 16;

/// [`STEP`] in a form that a few bytes can be added up in: opening brackets in the lowest byte,
/// closing ones in the next, [`STOP`] above them.
pub(super) const COUNT: [u32; 256] = {
    let mut table = [0u32; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match STEP[byte] {
            STOP => COUNT_STOP,
            1 => 1,
            -1 => 1 << 8,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// Bytes that may stand in a name. All bytes of letters outside ASCII count, so that no name is
/// ever cut inside a character.
const WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = byte >= 0x80 || (byte as u8).is_ascii_alphanumeric() || byte == b'_' as usize;
        byte += 1;
    }
    table
};

/// Bytes at which a plain literal within one line may end or hold an escape.
const LITERAL: [bool; 256] = {
    let mut table = [false; 256];
    table[b'"' as usize] = true;
    table[b'\'' as usize] = true;
    table[b'\\' as usize] = true;
    table[b'\n' as usize] = true;
    table[b'\r' as usize] = true;
    table
};

/// True if a byte may stand in a name.
pub(super) fn is_word(byte: u8) -> bool {
    WORD[byte as usize]
}

/// True if a byte is a blank between tokens.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0c)
}

/// True if a byte ends a line.
pub(super) fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The byte at a place, or NUL after the end. A real NUL is no legal Python, so nothing is lost.
pub(super) fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

/// The length of the line end at a place: 2 for CRLF.
pub(super) fn line_end_len(bytes: &[u8], at: usize) -> usize {
    match byte(bytes, at) {
        b'\r' if byte(bytes, at + 1) == b'\n' => 2,
        _ => 1,
    }
}

/// The next line end from a place on, or the end of the text.
pub(super) fn find_line_end(bytes: &[u8], at: usize) -> usize {
    let at = at.min(bytes.len());
    memchr::memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |found| at + found)
}

/// The end of the name that begins at a place.
pub(super) fn word_end(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|byte| !is_word(*byte)).map_or(bytes.len(), |len| at + len)
}

/// The first place from `at` on that is neither a blank nor a backslash before a line end.
pub(super) fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match byte(bytes, at) {
            b' ' | b'\t' | 0x0c => at += 1,
            b'\\' if is_line_end(byte(bytes, at + 1)) => at += 1 + line_end_len(bytes, at + 1),
            _ => return at,
        }
    }
}

/// True if a keyword stands at a place, as a whole word.
pub(super) fn has_word(bytes: &[u8], at: usize, word: &[u8]) -> bool {
    bytes.get(at..).is_some_and(|rest| rest.starts_with(word)) && !is_word(byte(bytes, at + word.len()))
}

/// True if a definition begins at a place.
pub(super) fn begins_definition(bytes: &[u8], at: usize) -> bool {
    match byte(bytes, at) {
        b'd' => has_word(bytes, at, b"def"),
        b'c' => has_word(bytes, at, b"class"),
        b'a' => has_word(bytes, at, b"async") && has_word(bytes, skip_blanks(bytes, at + 5), b"def"),
        _ => false,
    }
}

/// True if the line that begins at a place begins with a word that can stand in no bracket, which
/// proves that a bracket before it was never closed.
pub(super) fn begins_statement(bytes: &[u8], at: usize) -> bool {
    let mut at = at;
    while is_blank(byte(bytes, at)) {
        at += 1;
    }
    if !byte(bytes, at).is_ascii_lowercase() {
        return false;
    }
    match &bytes[at..word_end(bytes, at)] {
        b"assert" | b"break" | b"class" | b"continue" | b"def" | b"del" | b"elif" | b"except"
        | b"finally" | b"global" | b"import" | b"nonlocal" | b"pass" | b"raise" | b"return" | b"try"
        | b"while" | b"with" => true,
        b"async" => has_word(bytes, skip_blanks(bytes, at + 5), b"def"),
        _ => false,
    }
}

/// The meaning of the letters before a quote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Prefix {
    /// `r`: backslashes stand for themselves.
    pub(super) raw: bool,
    /// `b`: bytes.
    pub(super) bytes: bool,
    /// `f` or `t`: with replacement fields.
    pub(super) fields: bool,
}

impl Prefix {
    /// The prefix that the letters make; `None` where they make none.
    pub(super) fn of(letters: &[u8]) -> Option<Self> {
        let one = |letter: u8| match letter | 0x20 {
            b'r' => Some(Self { raw: true, ..Self::default() }),
            b'b' => Some(Self { bytes: true, ..Self::default() }),
            b'f' | b't' => Some(Self { fields: true, ..Self::default() }),
            _ => None,
        };
        match *letters {
            [] | [b'u' | b'U'] => Some(Self::default()),
            [letter] => one(letter),
            [first, second] => {
                let (first, second) = (one(first)?, one(second)?);
                let joined = Self {
                    raw: true,
                    bytes: first.bytes | second.bytes,
                    fields: first.fields | second.fields,
                };
                (first.raw != second.raw).then_some(joined)
            }
            _ => None,
        }
    }

    /// The prefix of the quote at a place, read backwards but not before `from`.
    pub(super) fn before(bytes: &[u8], from: usize, quote: usize) -> (Self, usize) {
        let mut start = quote;
        while start > from && quote - start < 3 && is_word(bytes[start - 1]) {
            start -= 1;
        }
        match Self::of(&bytes[start..quote]) {
            Some(prefix) => (prefix, start),
            None => (Self::default(), quote),
        }
    }
}

/// The length of the quotes that open a literal at a place: 3 or 1.
pub(super) fn quotes_len(bytes: &[u8], at: usize) -> usize {
    let quote = byte(bytes, at);
    if byte(bytes, at + 1) == quote && byte(bytes, at + 2) == quote { 3 } else { 1 }
}

/// The end of a plain literal whose opening quote stands at a place. The error is where reading must go
/// on after a literal that is never closed: at the end of its first line.
pub(super) fn literal_end(bytes: &[u8], open: usize) -> Result<usize, usize> {
    let quote = bytes[open];
    match quotes_len(bytes, open) {
        3 => triple_end(bytes, open + 3, quote).ok_or_else(|| find_line_end(bytes, open)),
        _ => line_literal_end(bytes, open + 1, quote),
    }
}

fn triple_end(bytes: &[u8], from: usize, quote: u8) -> Option<usize> {
    let mut at = from;
    while at < bytes.len() {
        at += memchr::memchr2(quote, b'\\', &bytes[at..])?;
        if bytes[at] == b'\\' {
            at += 2;
        } else if byte(bytes, at + 1) == quote && byte(bytes, at + 2) == quote {
            return Some(at + 3);
        } else {
            at += 1;
        }
    }
    None
}

fn line_literal_end(bytes: &[u8], from: usize, quote: u8) -> Result<usize, usize> {
    let mut at = from;
    loop {
        let Some(rest) = bytes.get(at..) else { return Err(bytes.len()) };
        let Some(found) = rest.iter().position(|byte| LITERAL[*byte as usize]) else {
            return Err(bytes.len());
        };
        at += found;
        match bytes[at] {
            b'\\' if is_line_end(byte(bytes, at + 1)) => at += 1 + line_end_len(bytes, at + 1),
            b'\\' => at += 2,
            b'\n' | b'\r' => return Err(at),
            other if other == quote => return Ok(at + 1),
            _ => at += 1,
        }
    }
}
