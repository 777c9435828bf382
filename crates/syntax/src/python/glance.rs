//! The role of a name in its line, found from the bytes beside it where these are enough. What it does
//! not tell at once is left to the lexer.

use super::bytes::{byte, is_blank, is_line_end, is_word, skip_blanks, word_end};
use crate::{Role, Span};

/// Bytes after which a line may hold text, or another statement.
const UNCLEAR: [bool; 256] = {
    let mut table = [false; 256];
    table[b'"' as usize] = true;
    table[b'\'' as usize] = true;
    table[b'#' as usize] = true;
    table[b'\\' as usize] = true;
    table[b':' as usize] = true;
    table[b';' as usize] = true;
    table
};

/// A look at one logical line.
pub(super) struct Glance<'t> {
    bytes: &'t [u8],
    line: Span,
    /// Up to here everything is code of the first statement.
    clear: usize,
    statement: GlancedStatement,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum GlancedStatement {
    /// Names in it are imported, or stand for patterns: it takes a closer look.
    Close,
    /// A function.
    Function,
    /// Any other.
    Plain,
}

impl<'t> Glance<'t> {
    /// For names of the line that begin at `last` or before.
    pub(super) fn at(bytes: &'t [u8], line: Span, last: usize) -> Self {
        let start = line.start as usize;
        let unclear = bytes[start..last].iter().position(|byte| UNCLEAR[*byte as usize]);
        let statement = match &bytes[start..word_end(bytes, start)] {
            b"import" | b"from" | b"lazy" | b"case" | b"class" | b"async" | b"type" => {
                GlancedStatement::Close
            }
            b"def" => GlancedStatement::Function,
            _ => GlancedStatement::Plain,
        };
        Self { bytes, line, clear: unclear.map_or(last, |length| start + length), statement }
    }

    /// The role of a name that is no keyword, and whether it is a member.
    pub(super) fn role(&self, name: Span) -> Option<(Role, bool)> {
        let (start, end) = (name.start as usize, name.end as usize);
        if start > self.clear {
            return None;
        }
        match self.statement {
            GlancedStatement::Close => return None,
            GlancedStatement::Function => {
                return self.is_first_parameter(start).then_some((Role::Definition, false));
            }
            GlancedStatement::Plain => {}
        }
        let before = self.before(start);
        if before.last() == Some(&b'.') {
            // After a digit, the dot may belong to a number.
            let number = before.len() > 1 && before[before.len() - 2].is_ascii_digit();
            return self.member_role(end).filter(|_| !number).map(|role| (role, true));
        }
        let word = before.iter().rposition(|byte| !is_word(*byte)).map_or(before, |at| &before[at + 1..]);
        if matches!(word, b"def" | b"class" | b"as") {
            return None;
        }
        // Nothing that is called, or has members, is bound where it stands.
        match byte(self.bytes, end) {
            b'(' => Some((Role::Call, false)),
            b'.' if !byte(self.bytes, end + 1).is_ascii_digit() => Some((Role::Reference, false)),
            _ => None,
        }
    }

    /// The line up to a place, without the blanks and line ends before it.
    fn before(&self, place: usize) -> &'t [u8] {
        let before = &self.bytes[self.line.start as usize..place];
        let length = before.iter().rposition(|byte| !is_blank(*byte) && !is_line_end(*byte));
        &before[..length.map_or(0, |last| last + 1)]
    }

    /// The role of a member whose name ends here, if that can be told.
    fn member_role(&self, end: usize) -> Option<Role> {
        let after = skip_blanks(self.bytes, end);
        if after >= self.line.end as usize {
            return Some(Role::Attribute);
        }
        match self.bytes[after] {
            b'(' => Some(Role::Call),
            b'"' | b'\'' | b'#' | b'\n' | b'\r' => None,
            _ => Some(Role::Attribute),
        }
    }

    /// True if a place follows `def name(`.
    fn is_first_parameter(&self, place: usize) -> bool {
        let name = skip_blanks(self.bytes, self.line.start as usize + "def".len());
        let open = skip_blanks(self.bytes, word_end(self.bytes, name));
        open > name && byte(self.bytes, open) == b'(' && skip_blanks(self.bytes, open + 1) == place
    }
}
