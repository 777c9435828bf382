//! The files that a search left out, counted: nothing is dropped without being named.

use schemars::JsonSchema;
use serde::Serialize;

/// Entries a search did not look at, or not as text, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Skipped {
    /// Files and folders left out by ignore rules; include_ignored=true searches them.
    pub ignored: u64,
    /// Files and folders whose name starts with a dot; include_hidden=true searches them.
    pub hidden: u64,
    /// Files that are no text.
    pub binary: u64,
    /// Names a deny rule protects.
    pub denied: u64,
    /// Files and folders that could not be opened.
    pub unreadable: u64,
    /// Files over the size limit.
    pub too_large: u64,
    /// Files searched as bytes, because they are not UTF-8 and were not decoded: a match of
    /// letters beyond ASCII may be missed in them.
    pub undecoded: u64,
}

impl Skipped {
    /// `12 ignored, 3 binary`; empty when nothing was left out.
    pub(crate) fn describe(&self) -> String {
        let counts = [
            (self.ignored, "ignored"),
            (self.hidden, "hidden"),
            (self.binary, "binary"),
            (self.denied, "denied"),
            (self.unreadable, "unreadable"),
            (self.too_large, "too large"),
            (self.undecoded, "undecoded (not UTF-8, searched as bytes)"),
        ];
        let named = counts.iter().filter(|(count, _)| *count > 0);
        named.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
    }

    /// Adds another part's counts.
    pub(crate) fn add(&mut self, other: &Self) {
        self.ignored += other.ignored;
        self.hidden += other.hidden;
        self.binary += other.binary;
        self.denied += other.denied;
        self.unreadable += other.unreadable;
        self.too_large += other.too_large;
        self.undecoded += other.undecoded;
    }
}
