//! The definitions of a source file: symbols with their places, in the order of the text.

use std::ops::Range;

/// A stretch of the text, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Its first byte.
    pub start: u32,
    /// The byte after its last.
    pub end: u32,
}

impl Span {
    /// From one offset to another. Sources of 4 GiB and more are refused long before.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    /// An empty stretch.
    pub fn at(offset: usize) -> Self {
        Self::new(offset, offset)
    }

    /// As a range of the text.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The text it covers; nothing where it does not fit the text.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or_default()
    }

    /// True if there is nothing in it.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// True if the other lies in it.
    pub fn holds(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// True if the two have a byte in common.
    pub fn meets(self, other: Span) -> bool {
        self.start < other.end && other.start < self.end
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self::new(range.start, range.end)
    }
}

/// The kind of a symbol. The names are those of the languages; a pack says which of its constructs is
/// which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A namespace, package or module.
    Namespace,
    /// A class or record.
    Class,
    /// A struct.
    Struct,
    /// A union.
    Union,
    /// An enumeration.
    Enum,
    /// An interface.
    Interface,
    /// A trait or protocol.
    Trait,
    /// Methods added to a type elsewhere.
    Impl,
    /// A name for another type.
    Typedef,
    /// A function of its own.
    Function,
    /// A function that belongs to a type.
    Method,
    /// A macro.
    Macro,
    /// A constant.
    Constant,
    /// A variable.
    Variable,
    /// A field or property of a type.
    Field,
    /// A key of a data file.
    Key,
    /// A heading of a text.
    Heading,
}

/// The words for the kinds in query files.
const CAPTURES: [(&str, Kind); 15] = [
    ("namespace", Kind::Namespace),
    ("class", Kind::Class),
    ("struct", Kind::Struct),
    ("union", Kind::Union),
    ("enum", Kind::Enum),
    ("interface", Kind::Interface),
    ("trait", Kind::Trait),
    ("impl", Kind::Impl),
    ("typedef", Kind::Typedef),
    ("function", Kind::Function),
    ("method", Kind::Method),
    ("macro", Kind::Macro),
    ("constant", Kind::Constant),
    ("variable", Kind::Variable),
    ("field", Kind::Field),
];

impl Kind {
    /// The word between the brackets of an outline.
    pub fn label(self) -> &'static str {
        match self {
            Self::Namespace => "Namespace",
            Self::Class => "Class",
            Self::Struct => "Struct",
            Self::Union => "Union",
            Self::Enum => "Enum",
            Self::Interface => "Interface",
            Self::Trait => "Trait",
            Self::Impl => "Impl",
            Self::Typedef => "Typedef",
            Self::Function => "Func",
            Self::Method => "Method",
            Self::Macro => "Macro",
            Self::Constant => "Const",
            Self::Variable => "Var",
            Self::Field => "Field",
            Self::Key => "Key",
            Self::Heading => "Heading",
        }
    }

    /// The kind with this name in the captures of query files: `@definition.<word>`.
    pub fn of_capture(word: &str) -> Option<Self> {
        CAPTURES.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
    }

    /// True if it can hold methods and fields.
    pub fn is_type(self) -> bool {
        matches!(
            self,
            Self::Class
                | Self::Struct
                | Self::Union
                | Self::Enum
                | Self::Interface
                | Self::Trait
                | Self::Impl
        )
    }

    /// True if it can be called.
    pub fn is_callable(self) -> bool {
        matches!(self, Self::Function | Self::Method | Self::Macro)
    }
}

/// One definition or declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its kind.
    pub kind: Kind,
    /// `async`, where the language says so before a function.
    pub is_async: bool,
    /// Only announced here: no body, defined elsewhere.
    pub declaration: bool,
    /// The symbol it stands in, by its place in the outline.
    pub parent: Option<u32>,
    /// All of it: from its first decorator, attribute or template head to its last byte,
    /// without the line end. Doc comments before it are not part of it.
    pub whole: Span,
    /// The text before the body: from the keyword (decorators and attributes lie before it) to the
    /// colon in Python, to before the `{` or `;` elsewhere, without trailing blanks.
    pub head: Span,
    /// Its own name, without qualifiers: `m` of `A::B::m`, `operator==`, `~T`.
    pub name: Span,
    /// The qualifier written with the name: `A::B`, or the receiver's type in Go.
    pub scope: Span,
    /// The text between the parentheses of its parameters; empty where there are none.
    pub params: Span,
    /// The part that a skeleton leaves out, with its braces in brace languages. Empty where there is
    /// none, as in a declaration.
    pub body: Span,
    /// Its documentation: a docstring with its quotes, or the comment before it.
    pub doc: Span,
}

impl Symbol {
    /// A symbol of which only the name and the place are known.
    pub fn new(kind: Kind, whole: Span, name: Span) -> Self {
        Self {
            kind,
            is_async: false,
            declaration: false,
            parent: None,
            whole,
            head: whole,
            name,
            scope: Span::default(),
            params: Span::default(),
            body: Span::default(),
            doc: Span::default(),
        }
    }
}

/// The definitions of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// In the order of the text; a parent stands before what it holds.
    pub symbols: Vec<Symbol>,
    /// Stretches that could not be understood, so that symbols may be missing there.
    pub gaps: Vec<Gap>,
}

/// A stretch of source that could not be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Its place.
    pub span: Span,
    /// The reason, for people.
    pub why: &'static str,
}

impl Outline {
    /// The symbols that stand directly in another, or at the top.
    pub fn children(&self, parent: Option<u32>) -> impl Iterator<Item = (u32, &Symbol)> {
        (0u32..).zip(&self.symbols).filter(move |(_, symbol)| symbol.parent == parent)
    }

    /// The depth of a symbol; 0 at the top.
    pub fn depth(&self, index: u32) -> usize {
        std::iter::successors(self.symbols[index as usize].parent, |at| self.symbols[*at as usize].parent)
            .count()
    }

    /// The innermost symbol around an offset.
    pub fn around(&self, offset: usize) -> Option<u32> {
        let offset = offset as u32;
        (0u32..)
            .zip(&self.symbols)
            .filter(|(_, symbol)| symbol.whole.start <= offset && offset < symbol.whole.end)
            .map(|(index, _)| index)
            .last()
    }
}
