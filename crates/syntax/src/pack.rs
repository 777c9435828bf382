//! A language as data: how its files are known, how its names are joined, its grammar and its
//! queries, and the faster front ends it may bring.

use tree_sitter::Language;

use crate::{CallSite, Entry, Import, Mention, Outline, Problem, Shadow, Span, Unparsed};

/// A language.
#[derive(Debug)]
pub struct Pack {
    /// Its short name: `python`.
    pub id: &'static str,
    /// Its name for people: `Python`.
    pub title: &'static str,
    /// Languages of one family use each other's names: C and C++, TypeScript and JavaScript.
    pub family: &'static str,
    /// Endings of its files, without the dot, in lower case.
    pub extensions: &'static [&'static str],
    /// Whole names of its files: `Rakefile`.
    pub filenames: &'static [&'static str],
    /// Interpreters in a first line `#!`: `python3`.
    pub interpreters: &'static [&'static str],
    /// Its style of writing.
    pub style: Style,
    /// Its tree-sitter grammar. What has none is no code: its front end tells what stands in it, and
    /// that is all that is known of it.
    pub grammar: Option<fn() -> Language>,
    /// Its queries over that grammar.
    pub queries: Queries,
    /// Its abilities without the grammar.
    pub front: Front,
}

/// The style in which a language is written.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// The sign between the parts of a name: `.` or `::`.
    pub separator: &'static str,
    /// The marks of a body.
    pub bodies: Bodies,
    /// The text in place of a body in a skeleton: `...`, `{ ... }`.
    pub placeholder: &'static str,
    /// The beginning of a comment that ends with its line.
    pub comment: &'static str,
    /// The place of a symbol's documentation.
    pub docs: Docs,
    /// Names for the object a method belongs to: `self`, `this`.
    pub receivers: &'static [&'static str],
    /// True if several functions of one scope may differ by their parameters alone.
    pub overloads: bool,
    /// The other files in which a name at the top of a file can be used as it is.
    pub reach: Reach,
    /// Modules whose import changes how the whole file is read.
    pub pragmas: &'static [&'static str],
    /// True if the members of a type are known by their plain names inside it.
    pub implicit_receiver: bool,
    /// True if what is called and what is not have names of their own: a variable does not hide
    /// a function there.
    pub calls_apart: bool,
    /// True if `->` takes a member from what stands before it.
    pub arrow: bool,
    /// Names that the language itself gives a meaning, so that what has one keeps it.
    pub fixed: fn(&str) -> bool,
    /// Names of members that objects of the language have by themselves, with space between them.
    /// Such a name says nothing about whose member it is, however few others in a project have it.
    pub members: &'static str,
    /// True if an assignment is a value. Where it is none, `name = …` among arguments names one.
    pub valued_assignments: bool,
    /// The word that begins the clause a file must start with, before any import; empty where
    /// there is none.
    pub package: &'static str,
    /// Words that stand right before the name of what they define, in macros as well.
    pub defining: &'static [&'static str],
    /// The word that stands before the name of a module; empty where there is none.
    pub module: &'static str,
    /// The name of the list in which a file names what it exports, as strings; empty where there
    /// is none. Where there is one, types may be named in strings too.
    pub exports: &'static str,
    /// True if a public type at the top of a file must be in a file of its own name.
    pub public_named: bool,
}

/// The files in which a name at the top of one file can be used without an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only where it is imported by name.
    Imported,
    /// In the files of the same folder.
    Folder,
    /// In any file that includes, loads or is linked with its own.
    Everywhere,
}

/// The marks of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bodies {
    /// By indentation.
    Indented,
    /// By braces.
    Braced,
    /// By words such as `do` and `end`.
    Worded,
}

/// The place of a symbol's documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Docs {
    /// The first statement of its body is a string.
    FirstString,
    /// The comments directly before it.
    CommentBefore,
}

/// Queries over a grammar. Each may be empty where a front end answers instead.
///
/// `symbols` captures `@definition.<kind>` around a symbol and in the same match `@name`, and
/// where the language has them `@scope`, `@params`, `@body`, `@base`, and `@outer` around the
/// node that also holds decorators, attributes or template heads. Several `@name` or `@body` are
/// one, from the first to the last. A symbol without `@body` of a kind that can be called is a
/// declaration, unless something in it is `@defined`. A private function is captured like a
/// public one. Of two patterns that know the same name the first counts; the bases of both do.
/// A match may also capture
/// - `@async`, a word after the name that says so (before the name it is seen without that),
/// - `@head`, where the head ends if not before the body,
/// - `@until`, a node with which the symbol ends if not with its own,
/// - `@top`: it is none in a stretch that is `@closed`, unless that is also `@open`.
///
/// On their own stand `@decorator` and `@comment`, which belong to what follows them, `@tail`,
/// which belongs to what it follows, `@closed` and `@open`, and `@outer` with `@inner`: the
/// symbol defined by the inner node is all of the outer one.
///
/// `references` captures `@reference.call` and `@reference.member` (identifiers that are called
/// or taken from something; one that is both has both), `@receiver` in a match with a call,
/// `@string`, `@comment`, and `@code` for code inside strings, and `@short` for an identifier in a
/// literal or a pattern that is a key and its value in one: `{ name }`.
///
/// `imports` captures `@import` around a statement with `@module`, `@name` and `@alias` in it;
/// each match is one name. `@all` stands for every name, `@default` is the local name of the
/// module's default, and `@bare` marks a module that is bound under the last part of its own
/// name. Everything in a `@group` is taken from below its `@prefix`; names in one need no
/// `@import` of their own if the statement is captured apart.
///
/// `locals` captures `@scope` and in it `@local`, the names bound there, in all of the scope
/// unless
/// - the name stands in a `@late` node inside the scope: it is known from the end of that on,
/// - a part of the scope is `@free`: the scope's own names are not known in it.
///
/// `@local.outer` is bound in the scope around the one it stands in (a function's own name),
/// `@local.hoisted` in the innermost scope that is also a `@function`. Where types have names of
/// their own, `@type` are the places that name one; there only `@local.type` and
/// `@local.type.outer` count, and only there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queries {
    /// The definitions of the file.
    pub symbols: &'static str,
    /// The uses of names.
    pub references: &'static str,
    /// The imports of the file.
    pub imports: &'static str,
    /// The bindings of names and their scopes.
    pub locals: &'static str,
}

/// Finds what cannot be read in the bytes of a file.
pub type Undecodable = fn(&[u8]) -> Option<Problem>;

/// Finds what a compiler would refuse in a text.
pub type Check = fn(&str) -> Result<Vec<Problem>, Unparsed>;

/// Shows what stands in a text, in order, or tells why it cannot be read.
pub type Entries = fn(&str, &mut dyn FnMut(Entry)) -> Result<(), Problem>;

/// The functions with which a pack answers by code of its own, faster or more exactly than its queries
/// could. Each function sees the text without a byte order mark, and must return for any text whatever.
#[derive(Clone, Copy, Debug, Default)]
pub struct Front {
    /// The keys or headings of a file that is no code.
    pub entries: Option<Entries>,
    /// The symbols.
    pub outline: Option<fn(&str, Detail) -> Outline>,
    /// The problem an interpreter would have with a file's bytes before it reads them as text. This one
    /// sees them all, and its span counts them.
    pub undecodable: Option<Undecodable>,
    /// The problems that a compiler would report, or the reason why they are not known.
    pub check: Option<Check>,
    /// Every place where a word stands as a whole word, in order.
    pub mentions: Option<fn(&str, &str) -> Vec<Mention>>,
    /// The imports.
    pub imports: Option<fn(&str) -> Vec<Import>>,
    /// An import as a statement of its own; none where it cannot be said in one.
    pub import_statement: Option<fn(&Import) -> Option<String>>,
    /// The calls in a stretch of the text, in order; not those in functions nested in it.
    pub calls: Option<fn(&str, Span) -> Vec<CallSite>>,
    /// The bases of a class, as written, given its head.
    pub bases: Option<fn(&str, Span) -> Vec<Span>>,
    /// True if the parameters in a caller's query match the written ones.
    pub params_match: Option<fn(&str, &str) -> bool>,
    /// A symbol's documentation as plain text, given its place.
    pub doc_text: Option<fn(&str, Span) -> String>,
    /// The place of the file's own documentation; empty where there is none.
    pub module_doc: Option<fn(&str) -> Span>,
    /// The string literals, in order.
    pub strings: Option<fn(&str) -> Vec<Span>>,
    /// Stretches in which a word is bound anew (a parameter, a local variable), so that it does
    /// not mean the outer one there: in order and apart from one another.
    pub shadows: Option<fn(&str, &str) -> Vec<Shadow>>,
}

impl Pack {
    /// True if it is a language of code, with names that are used elsewhere.
    pub fn is_code(&self) -> bool {
        self.grammar.is_some()
    }
}

impl Front {
    /// Everything from the tree.
    pub const NONE: Self = Self {
        entries: None,
        outline: None,
        undecodable: None,
        check: None,
        mentions: None,
        imports: None,
        import_statement: None,
        calls: None,
        bases: None,
        params_match: None,
        doc_text: None,
        module_doc: None,
        strings: None,
        shadows: None,
    };
}

/// The amount of detail in an outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Types, functions and what holds them: what an outline prints and an index keeps.
    Outline,
    /// Also variables and fields at the top of files and types.
    Full,
}
