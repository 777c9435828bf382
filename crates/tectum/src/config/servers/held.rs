//! A server that is named and does not start, and why.

use super::super::place::Origin;

/// A server that is named and does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its name; for a file that cannot be read, the file's.
    pub name: String,
    /// Where it stands.
    pub origin: Origin,
    /// In one word.
    pub why: Why,
    /// In a sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Why a server does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Nobody agreed to it yet.
    Untrusted,
    /// It is switched off.
    Disabled,
    /// Something is wrong.
    Problem,
}
