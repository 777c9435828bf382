//! `tectum guard`: started by Tectum itself, one for each process it starts; not for people. It is no
//! command of the table, which takes a while to set up.

use std::{ffi::OsString, process::ExitCode};

/// Runs it, if these words are its.
pub(crate) fn run(words: &[OsString]) -> Option<ExitCode> {
    let (first, rest) = words.get(1..)?.split_first()?;
    (first == "guard").then(|| tectum::peers::child::guard::run(rest))
}
