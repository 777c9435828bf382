//! What a rule says of a place that breaks it.

use std::fmt;

/// One broken rule: where, what is wrong, and what would put it right.
#[derive(Debug, PartialEq, Eq)]
pub struct Violation {
    pub(super) place: String,
    pub(super) wrong: String,
    pub(super) remedy: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.place, self.wrong, self.remedy)
    }
}
