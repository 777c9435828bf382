//! Smaller facts about a file: problems, mentions of a word, imports, calls.

use crate::Span;

/// Something a compiler would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its place.
    pub span: Span,
    /// The problem, in words.
    pub message: String,
}

/// The role of a word at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The name of a definition or declaration.
    Definition,
    /// Called: `word(…)`, or a call of a member, `x.word(…)`.
    Call,
    /// A call of a member, where that is told apart from others.
    MemberCall,
    /// In an import.
    Import,
    /// A member of something: `x.word`.
    Attribute,
    /// Any other place in code.
    Reference,
    /// In a string.
    String,
    /// In a comment.
    Comment,
}

impl Role {
    /// Its name in replies.
    pub fn label(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Call => "call",
            Self::MemberCall => "member_call",
            Self::Import => "import",
            Self::Attribute => "attribute",
            Self::Reference => "reference",
            Self::String => "string",
            Self::Comment => "comment",
        }
    }

    /// True if it is code, not text.
    pub fn is_code(self) -> bool {
        !matches!(self, Self::String | Self::Comment)
    }
}

/// A word in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Its place.
    pub span: Span,
    /// As what.
    pub role: Role,
    /// A member of something, called or not: `x.word`, `x.word(…)`, `x->word`.
    pub member: bool,
}

/// A stretch in which a word is bound anew, so that it does not mean what it means around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shadow {
    /// The stretch.
    pub span: Span,
    /// The scope that binds the word: places with one scope mean the same.
    pub scope: Span,
    /// False where it depends on the run whether the word is bound there yet.
    pub sure: bool,
}

impl Shadow {
    /// The shadow over a place, among shadows that are in order and apart from one another.
    pub fn over(shadows: &[Self], place: Span) -> Option<&Self> {
        let after = shadows.partition_point(|shadow| shadow.span.start <= place.start);
        shadows[..after].last().filter(|shadow| shadow.span.holds(place))
    }
}

/// One name that a file takes from elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The statement it stands in.
    pub span: Span,
    /// The module, file or package, as written: relative dots kept, quotes removed.
    pub module: String,
    /// The name taken from it; none where the module itself is meant. `*` for everything.
    pub name: Option<String>,
    /// The name it has in this file; none for `*` and for plain inclusions.
    pub local: Option<String>,
}

/// An entry of a file of data or text: a heading, or a key with what it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Its depth; 0 at the top.
    pub level: usize,
    /// Its line in a summary.
    pub line: String,
    /// Its name; empty where it has none.
    pub name: Span,
    /// All of it. Where only its start is known, it goes on until one beside or above it begins.
    pub whole: Span,
}

/// A call in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The called name itself.
    pub name: Span,
    /// The text before it, up to the separator: `self`, `os.path`, `A::B`; empty for a plain call.
    pub receiver: Span,
}
