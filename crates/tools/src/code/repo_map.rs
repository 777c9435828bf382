//! A map of a project that fits a number of tokens: the symbols other files lean on most.

mod draw;
mod rank;

use std::{fmt::Write, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{Ctx, Fault, Reply, security::RawPath};

pub use self::draw::{MapFile, MapSymbol};
use self::rank::{Focus, Mapped, Ranked};
use super::{Code, Only, project::Entry};
use crate::files::{skipped::Skipped, spelling::count};

/// Tokens unless asked otherwise.
const BUDGET: usize = 1_024;
/// The fewest tokens a map can be drawn in, and the most that can be asked for.
const BUDGETS: std::ops::RangeInclusive<usize> = 64..=32_768;
/// Bytes counted as one token. Source code comes near to this number with the usual
/// vocabularies, and a map need not be exact.
const TOKEN: usize = 4;
/// Sources looked at; a larger project is mapped part by part.
const MOST_FILES: usize = 20_000;
/// Names a focus can have.
const MOST_FOCUS: usize = 50;

/// What to map.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepoMapArgs {
    /// Where to look.
    #[serde(default = "here")]
    #[schemars(description = "")]
    pub path: RawPath,
    /// 64 to 32768, default 1024.
    #[serde(default)]
    #[schemars(with = "i64")]
    pub budget_tokens: Option<usize>,
    /// Files or symbols.
    #[serde(default)]
    pub focus: Vec<String>,
}

fn here() -> RawPath {
    RawPath::new(".")
}

/// A map.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RepoMapOutput {
    /// The files on the map, the most important first.
    pub files: Vec<MapFile>,
    /// Source files in the directory.
    pub total_files: usize,
    /// Symbols in them.
    pub total_symbols: usize,
    /// Source files that were not looked at: vendored, or beyond the first 20000.
    pub left_out: usize,
    /// Focus words that nothing answers to.
    pub unknown_focus: Vec<String>,
    /// What was left out of the listing.
    pub skipped: Skipped,
    /// How long the map is, in tokens of four bytes.
    pub tokens: usize,
}

/// Draws a map of the call's first path.
pub fn repo_map(code: &Code, ctx: &Ctx, args: RepoMapArgs) -> Result<Reply<RepoMapOutput>, Fault> {
    let budget = args.budget_tokens.unwrap_or(BUDGET);
    if !BUDGETS.contains(&budget) {
        let (least, most) = (BUDGETS.start(), BUDGETS.end());
        return Err(Fault::invalid(format!("`budget_tokens` must be {least} to {most}, got {budget}")));
    }
    if args.focus.len() > MOST_FOCUS {
        return Err(Fault::invalid(format!("`focus` takes at most {MOST_FOCUS} words")));
    }
    let sources = code.project.sources(&code.languages, ctx, 0)?;
    if sources.is_file() {
        code.open(ctx, 0, Only::Any)?;
    }
    let own: Vec<Arc<Entry>> =
        sources.entries.iter().filter(|entry| !entry.is_vendored()).take(MOST_FILES).cloned().collect();
    let mut focus: Vec<Focus> = args.focus.iter().map(|word| Focus::parse(word)).collect();
    let found = sources.facts(&own, Only::Any, true)?;
    let mapped = found.into_iter().map(|(at, facts)| {
        let path = sources.spell(&own[at]);
        let focused =
            focus.iter_mut().filter(|focus| focus.is_path(&path)).map(|focus| focus.known = true).count();
        Mapped { path, facts, focused: focused > 0 }
    });
    let mapped: Vec<Mapped> = mapped.collect();
    ctx.check()?;
    let ranked = Ranked::rank(&mapped, &mut focus);
    let mut output = RepoMapOutput {
        total_files: mapped.len(),
        total_symbols: ranked.symbols.len(),
        left_out: sources.entries.len() - own.len(),
        unknown_focus: focus.iter().filter(|focus| !focus.known).map(|focus| focus.word.clone()).collect(),
        skipped: sources.skipped(&own),
        tokens: budget,
        files: Vec::new(),
    };
    // The last line is part of the budget; with all the digits it can have it is longest.
    let last = output.summary(output.total_files, output.total_symbols, budget).len();
    let budget_bytes = (budget * TOKEN).min(ctx.max_output).saturating_sub(last);
    let (mut text, files) = draw::draw(&mapped, &ranked, budget_bytes);
    let shown: usize = files.iter().map(|file| file.symbols.len()).sum();
    output.tokens = (text.len() + last).div_ceil(TOKEN);
    text.push_str(&output.summary(files.len(), shown, budget));
    output.files = files;
    Ok(Reply::new(text, output))
}

impl RepoMapOutput {
    /// `2 of 9 files and 12 of 80 symbols shown, about 300 of 1024 tokens; …`.
    fn summary(&self, files: usize, symbols: usize, budget: usize) -> String {
        let mut text = format!(
            "{files} of {} and {symbols} of {} shown, about {} of {budget} tokens",
            count(self.total_files as u64, "file", "files"),
            count(self.total_symbols as u64, "symbol", "symbols"),
            self.tokens
        );
        if self.left_out > 0 {
            let _ = write!(
                text,
                "; {} not looked at (vendored, or beyond the first 20000)",
                count(self.left_out as u64, "file", "files")
            );
        }
        if !self.unknown_focus.is_empty() {
            let _ = write!(text, "; nothing answers to focus {}", self.unknown_focus.join(", "));
        }
        let skipped = self.skipped.describe();
        if !skipped.is_empty() {
            let _ = write!(text, "; skipped: {skipped}");
        }
        text
    }
}
