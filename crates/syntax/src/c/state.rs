//! The state of a reader of declarations from one byte to the next, small enough to be copied wherever
//! the preprocessor splits the text into branches.

use super::branches::BranchPlace;
use crate::Span;

/// Stands for no symbol.
pub(super) const NONE: u32 = u32::MAX;

/// The construct that is being skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skipping {
    /// Nothing: declarations are read.
    Nothing,
    /// Parentheses of a declaration.
    Paren,
    /// Square brackets of a declaration.
    Bracket,
    /// A value in braces.
    Value,
    /// The body of a function.
    Body,
    /// The members of an enumeration nobody asked for.
    Members,
    /// Statements outside functions, or something unknown.
    Block,
}

/// Brackets that are open and whose content is skipped.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) skipping: Skipping,
    /// The place where it was opened.
    pub(super) open: u32,
    /// The number of its own brackets that are open.
    pub(super) depth: u32,
    /// The number of braces that are open in parentheses.
    pub(super) braces: u32,
    /// Whose body it is.
    pub(super) symbol: u32,
}

impl Group {
    /// No group.
    pub(super) const OFF: Self =
        Self { skipping: Skipping::Nothing, open: 0, depth: 0, braces: 0, symbol: NONE };
}

/// The declaration that is being read: its tokens are a stretch of the reader's list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) begin: u32,
    pub(super) end: u32,
    pub(super) doc: Span,
    /// The type that was defined in it.
    pub(super) defined: u32,
}

/// All that a reader knows at a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) scope: u32,
    pub(super) group: Group,
    pub(super) pending: Pending,
}

impl BranchPlace for State {
    fn same_place(&self, other: &Self) -> bool {
        self.scope == other.scope
            && self.group.skipping == other.group.skipping
            && self.group.depth == other.group.depth
            && self.group.braces == other.group.braces
    }
}

/// The constructs that hold declarations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// The file.
    File,
    /// A namespace.
    Namespace,
    /// `extern "C"`.
    Linkage,
    /// A class, struct or union.
    Class,
    /// An enumeration whose members are wanted.
    Enum,
}

/// A scope that is open, or was.
#[derive(Clone, Copy, Debug)]
pub(super) struct CScope {
    pub(super) holder: Holder,
    pub(super) parent: u32,
    /// The symbol of its own; none for the file and for linkage.
    pub(super) own: u32,
    /// The symbol that what it holds belongs to.
    pub(super) symbol: u32,
    pub(super) open: u32,
    /// The declaration that goes on after it.
    pub(super) outer: Pending,
}
