//! The use that a call wants to make of a path.

/// The use a path is judged for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Read a file or a directory.
    Read,
    /// Create a file or replace its content; a link is written through.
    Write,
    /// Give a new name to something: what stands there is never followed or read.
    Place,
    /// Take the name away (delete, or move elsewhere).
    Remove,
}

impl Access {
    /// True for everything but reading.
    pub fn changes(self) -> bool {
        self != Self::Read
    }
}
