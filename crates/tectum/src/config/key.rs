//! A key: its place, its values, the way several layers are merged, and the rights of a project's own
//! file. The keys themselves are in the table, [`keys`](super::keys).

use super::value::Value;

/// One key of `tectum.toml`.
#[derive(Debug)]
pub struct Key {
    /// The table it stands in; empty for the top of the file.
    pub section: &'static str,
    /// Its name there.
    pub name: &'static str,
    /// The values it takes.
    pub shape: Shape,
    /// The way several layers of the operator are merged.
    pub merge: Merge,
    /// The rights of a project's own file.
    pub project: FromProject,
    /// The built-in value, written as in an environment variable; empty when there is none.
    pub default: &'static str,
    /// The behaviour without a value, in words.
    pub unset: &'static str,
    /// Its purpose.
    pub doc: &'static str,
    /// For a name kept from earlier set-ups: the key it means, and the value there.
    pub stands_for: Option<Translation>,
}

/// The key and value of today for an earlier name.
pub type Translation = fn(Value) -> (&'static Key, Value);

/// The values a key takes.
#[derive(Debug)]
pub enum Shape {
    /// `true` or `false`.
    Flag,
    /// A whole number within bounds.
    Count {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// Bytes: a number, or text such as `"50k"`.
    Size {
        /// The smallest.
        least: u64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// An IP address with a port.
    Address,
    /// Text that says something.
    Text,
    /// A file; a relative one starts at the directory of the file of settings.
    Path,
    /// A program alone, or a list of the program and its arguments.
    Command,
    /// Texts by name.
    Table,
    /// A time: seconds, or text such as `"90s"`.
    Span {
        /// The shortest, in seconds.
        least: u64,
        /// The longest, in seconds.
        most: u64,
    },
    /// A list of texts.
    List {
        /// The kind of each text.
        each: Each,
        /// The text to write instead of an empty list; `None` where empty is harmless.
        empty: Option<&'static str>,
    },
}

/// The kind of one text of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// A file or directory; relative ones start at the file's directory.
    Path,
    /// A name pattern of the deny lists.
    Pattern,
    /// A permission rule.
    Rule,
    /// A host name.
    Host,
    /// Any text that is not blank.
    Word,
    /// Any text at all.
    Argument,
}

/// The way several layers are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// The last layer wins.
    Last,
    /// All layers add up.
    Sum,
}

/// The rights of a project's own file over a key. Whoever wrote the repository wrote that file, so it
/// never permits what the operator (built-in values, the user's file, environment, flags) does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromProject {
    /// Nothing. The text completes "a repository must not".
    Refused(&'static str),
    /// Add to a list that only takes away.
    Adds,
    /// Choose among what the operator lets through: what both name counts.
    Within,
    /// Choose a stricter value than the operator's. The words stand in order, the loosest first; that
    /// one could only be meant to loosen and is refused.
    Stricter(&'static [&'static str]),
    /// Switch off what the operator has on.
    Off,
    /// Lower a bound.
    Lower,
    /// Add to a list whose entries permit nothing until a person agreed to them.
    Trusted,
    /// Set it where the operator said nothing. For keys that permit nothing.
    Yields,
}

impl Key {
    /// Its full name: `section.name`.
    pub fn path(&self) -> String {
        if self.section.is_empty() { self.name.into() } else { format!("{}.{}", self.section, self.name) }
    }

    /// The environment variable that sets it.
    pub fn variable(&self) -> String {
        format!("TECTUM_{}", self.path().replace('.', "_").to_uppercase())
    }
}

/// A key that takes the last layer's value and is the operator's alone; the statics in the table change
/// what differs.
pub(super) const PLAIN: Key = Key {
    section: "",
    name: "",
    shape: Shape::Flag,
    merge: Merge::Last,
    project: FromProject::Refused("set it"),
    default: "",
    unset: "",
    doc: "",
    stands_for: None,
};

/// Declares keys, and with them `KEYS`.
macro_rules! key_table {
    ($(pub static $name:ident: Key = $key:expr;)+) => {
        $(pub static $name: Key = $key;)+

        /// Every key, in the order `config show` prints them.
        pub static KEYS: &[&Key] = &[$(&$name),+];
    };
}
pub(super) use key_table;
