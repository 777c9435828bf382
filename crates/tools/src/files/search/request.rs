//! The request of a search, compiled once and shared by its threads.

use grep_regex::RegexMatcher;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::glob::Globs;

/// A search, ready to run.
#[derive(Debug)]
pub(in super::super) struct Request {
    pub(in super::super) matcher: RegexMatcher,
    pub(in super::super) include: Option<Globs>,
    pub(in super::super) exclude: Option<Globs>,
    pub(in super::super) multiline: bool,
    pub(in super::super) context: usize,
    pub(in super::super) mode: Mode,
    pub(in super::super) from: usize,
    pub(in super::super) limit: usize,
    /// The end of paging: `from` stays below it.
    pub(in super::super) most: usize,
    pub(in super::super) max_per_file: Option<u64>,
    pub(in super::super) ignored: bool,
    pub(in super::super) hidden: bool,
    pub(in super::super) threads: usize,
    pub(in super::super) max_file: u64,
}

impl Request {
    /// The number of matches, from the first in order, that must be held for this page.
    pub(in super::super) fn room(&self) -> usize {
        self.from + self.limit
    }
}

/// What is shown of the matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
pub(in super::super) enum Mode {
    /// Each matching line.
    #[default]
    Lines,
    /// Each file with a match.
    Files,
    /// Each file with its number of matching lines.
    Count,
}
