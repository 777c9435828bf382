//! `edit_file`: replaces a text in a file by another.

use std::{fmt::Write, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Fault, Reply, ToolRole, Wants,
    security::{Access, RawPath},
};
use tectum_native::NativeTool;

use super::{
    matching::{self, Tier},
    pen::{Pen, Terms, Written},
    search::{Count, EditSearch},
};
use crate::cards::CHANGES;

/// Lines a reply names.
const NAMED_LINES: usize = 20;

/// Edit a file: replace old_string, which must fit one place, by new_string.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    path: RawPath,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
    expected_count: Option<usize>,
    /// From an earlier reply.
    revision: Option<String>,
    #[serde(default)]
    dry_run: bool,
}

/// What was replaced.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// How many places were replaced.
    replacements: usize,
    /// The lines where the first of them began, before the edit, each once.
    lines: Vec<usize>,
    /// How the text was found.
    matched: Tier,
    /// The file now.
    #[serde(flatten)]
    written: Written,
}

/// Replaces text.
pub fn edit_file(pen: Arc<Pen>) -> NativeTool {
    let card = Card { name: "edit_file", title: "Edit file", role: ToolRole::Basic, ..CHANGES };
    let wants = |args: &Args| Wants::path(&args.path, Access::Write);
    NativeTool::row(card, "", wants, move |ctx, args| edit(&pen, ctx, args))
}

fn edit(pen: &Pen, ctx: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
    if args.expected_count == Some(0) {
        return Err(Fault::invalid("`expected_count` must be at least 1, got 0"));
    }
    let count = Count::new(args.replace_all, args.expected_count);
    let terms = Terms { revision: args.revision, dry_run: args.dry_run };
    let search = EditSearch { old: &args.old_string, new: &args.new_string, count };
    let (written, (found, encoding)) = pen.revise(ctx, &terms, |name, file| {
        let found = matching::find(name, file, &search)?;
        let after = file.edited(&found.edits)?;
        Ok((after, (found, file.facts().encoding)))
    })?;
    let (replacements, mut lines, matched) = (found.edits.len(), found.lines, found.tier);
    let verb = if written.dry_run { "Would edit" } else { "Edited" };
    let mut text = format!("{verb} {}: {}\n", written.path, places(replacements, &lines));
    if let Some(note) = matched.note() {
        let _ = writeln!(text, "Note: {note}.");
    }
    if let Some((tier, lines)) = found.further {
        let _ = writeln!(text, "Note: {}.", left_alone(tier, &lines));
    }
    if encoding != crate::text::Encoding::Utf8 {
        let _ = writeln!(text, "Encoding: {encoding}, kept.");
    }
    text.push_str(&written.closing());
    lines.dedup();
    lines.truncate(NAMED_LINES);
    Ok(Reply::new(text, Output { replacements, lines, matched, written }))
}

/// `2 replacements at lines 3, 9`.
pub(super) fn places(replacements: usize, lines: &[usize]) -> String {
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let mut distinct = lines.to_vec();
    distinct.dedup();
    let (some, lines) = (plural(replacements), plural(distinct.len()));
    format!("{replacements} replacement{some} at line{lines} {}", named(&distinct))
}

/// `1 more place differs in indentation and was left alone: line 9`.
fn left_alone(tier: Tier, lines: &[usize]) -> String {
    let mut distinct = lines.to_vec();
    distinct.dedup();
    let (places, lines) = (lines.len(), named(&distinct));
    let difference = tier.difference();
    match places {
        1 => format!("1 more place differs in {difference} and was left alone: line {lines}"),
        _ => format!("{places} more places differ in {difference} and were left alone: lines {lines}"),
    }
}

fn named(lines: &[usize]) -> String {
    let named: Vec<_> = lines.iter().take(NAMED_LINES).map(usize::to_string).collect();
    let more = match lines.len().saturating_sub(NAMED_LINES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}
