//! The tokens of Python. Finding them is the lexer's business.

use crate::Span;

/// The sorts of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// A name or a keyword.
    Name,
    /// A number.
    Number,
    /// A plain literal with its prefix and quotes.
    Literal,
    /// The beginning of a literal with fields: its prefix and quotes.
    Enter,
    /// Text between the fields of a literal.
    Piece,
    /// The end of a literal with fields: the text after its last field, and its quotes.
    Leave,
    /// A comment without its line end.
    Comment,
    /// A line end, logical or not.
    LineEnd,
    /// An opening bracket, or the brace of a field.
    Open,
    /// A closing bracket.
    Close,
    /// An operator: its first byte and, in `+=`, `==` and their like, the `=` after it.
    Operator,
}

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PythonToken {
    /// Its sort.
    pub(super) sort: Sort,
    /// Its first byte.
    pub(super) first: u8,
    /// Its beginning.
    pub(super) start: u32,
    /// Its end.
    pub(super) end: u32,
}

impl PythonToken {
    /// True if it is this operator, bracket or delimiter of one byte.
    pub(super) fn is(self, byte: u8) -> bool {
        self.first == byte && self.end - self.start == 1
    }

    /// True if it is `:=`, `==`, `+=` or another operator that ends in `=`, by its first byte.
    pub(super) fn is_with_equals(self, byte: u8) -> bool {
        self.sort == Sort::Operator && self.first == byte && self.end - self.start == 2
    }

    /// Its text.
    pub(super) fn text(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// True if a value ends with it, so that a bracket after it calls or subscripts. Keywords look
    /// like names here.
    pub(super) fn ends_value(self) -> bool {
        matches!(self.sort, Sort::Name | Sort::Close | Sort::Literal | Sort::Leave | Sort::Number)
    }

    /// Its place.
    pub(super) fn span(self) -> Span {
        Span { start: self.start, end: self.end }
    }

    /// True if grammar sees it: comments and line ends inside brackets are nothing.
    pub(super) fn is_code(self) -> bool {
        !matches!(self.sort, Sort::Comment | Sort::LineEnd)
    }
}
