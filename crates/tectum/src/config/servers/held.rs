//! A server that is named and does not start, and why.

use super::super::place::Origin;

/// A server that is named and does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its name; for a file that cannot be read, the file's.
    pub name: String,
    /// Its place.
    pub origin: Origin,
    /// In one word.
    pub why: Why,
    /// In a sentence.
    pub message: String,
    /// The next step for the user.
    pub hint: Option<String>,
}

/// The reasons why a server does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Nobody agreed to it yet.
    Untrusted,
    /// It is switched off.
    Disabled,
    /// Something is wrong.
    Problem,
}
