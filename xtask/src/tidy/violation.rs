//! The report of a rule about a place that breaks it.

use std::fmt;

/// One broken rule: the place, what is wrong, and how to fix it.
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
