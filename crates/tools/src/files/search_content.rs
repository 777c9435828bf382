//! `search_content`: lines by regular expression or plain text, in a file or below a directory.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Effect, Fault, Reply, Tool, ToolRole, Wants, World,
    security::{Access, RawPath},
};

use super::{
    list_directory::here,
    search::{self, Request},
    skipped::Skipped,
};
use crate::{Settings, Threads};

/// Searches the content of files.
#[derive(Clone, Debug)]
pub struct SearchContent {
    threads: Threads,
    max_file: u64,
}

impl SearchContent {
    /// A search with the house's limits.
    pub fn new(settings: &Settings) -> Self {
        Self { threads: settings.threads, max_file: settings.max_file }
    }
}

/// Search text in files (grep): lines that match a regular expression.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    #[serde(default = "here")]
    pub(super) path: RawPath,
    pub(super) pattern: String,
    #[serde(default)]
    pub(super) literal: bool,
    #[serde(default)]
    pub(super) case: Case,
    #[serde(default)]
    pub(super) word: bool,
    #[serde(default)]
    pub(super) multiline: bool,
    /// Globs.
    #[serde(default)]
    pub(super) include: Vec<String>,
    #[serde(default)]
    pub(super) exclude: Vec<String>,
    #[serde(default)]
    pub(super) context: usize,
    #[serde(default)]
    pub(super) mode: Mode,
    #[serde(default)]
    pub(super) limit: Option<usize>,
    #[serde(default)]
    pub(super) from: usize,
    #[serde(default)]
    pub(super) include_ignored: bool,
    #[serde(default)]
    pub(super) include_hidden: bool,
    #[serde(default)]
    pub(super) max_per_file: Option<u64>,
}

/// How letter case counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
pub(super) enum Case {
    /// `a` is not `A`.
    #[default]
    Sensitive,
    /// `a` is `A`.
    Insensitive,
    /// Sensitive only if the pattern has a capital letter.
    Smart,
}

/// What is shown of the matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline, description = "")]
pub(super) enum Mode {
    /// Each matching line.
    #[default]
    Lines,
    /// Each file with a match.
    Files,
    /// Each file with its number of matching lines.
    Count,
}

/// A page of matches.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Output {
    /// The matches of this page, sorted by path and line.
    pub matches: Vec<Match>,
    /// Files with a match.
    pub files_matched: u64,
    /// Matching lines in all files; in mode `files` the search of a file ends at its first.
    pub total_matches: u64,
    /// How many of them `max_per_file` leaves out of every page.
    pub left_out: u64,
    /// How many of them this page shows.
    pub shown: usize,
    /// Files that were looked into.
    pub searched_files: u64,
    /// What was left out.
    pub skipped: Skipped,
    /// Directories that lie too deep to be searched from here.
    pub too_deep: u64,
    /// True when there are more matches than this page shows.
    pub truncated: bool,
    /// What to pass as `from` for the next page; none on the last, and where paging ends.
    pub next: Option<usize>,
}

/// One match: a line, or a file in the modes `files` and `count`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Match {
    /// The file, as other calls take it.
    pub path: String,
    /// The line's number, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The line, cut around the match when it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Lines before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// Lines after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// Matching lines in the file, in mode `count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

impl Tool for SearchContent {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card {
        name: "search_content",
        title: "Search content",
        effect: Effect::Read,
        world: World::Project,
        idempotent: true,
        primary: "path",
        deadline: Duration::from_secs(60),
        max_output: 1024 * 1024,
        role: ToolRole::Basic,
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants::path(&args.path, Access::Read)
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        let request = Request::compile(&args, self.threads.count(), self.max_file)?;
        ctx.blocking(move |ctx| {
            let findings = search::run(ctx, &request)?;
            Ok(search::render(ctx, &request, findings))
        })
        .await
    }
}
