//! `get_git_diff`: what changed since a commit, or between two.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Fault, Reply, Wants,
    security::{Access, RawPath},
};
use tectum_native::NativeTool;

use super::git::{self, Comparison, DiffRequest, Differing, Git, Why};
use crate::{
    cards::READS,
    files::more::{framed, room},
    settings::GitSettings,
};

/// The time git may take. It is counted here too, because a process that runs one call alone has nobody
/// else to count.
const DEADLINE: Duration = Duration::from_secs(30);
/// Lines around each change, unless the call says otherwise.
const CONTEXT: usize = 3;
/// The most lines around each change.
const MOST_CONTEXT: usize = 1000;
/// Rows of the table of files in a reply.
const ROWS: usize = 500;
/// Names told of each kind of change that is not shown.
const NAMED: usize = 5;

/// Git diff: working tree against HEAD or base_rev, or two revisions.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "crate::files::here")]
    path: RawPath,
    base_rev: Option<String>,
    head_rev: Option<String>,
    #[serde(default)]
    staged: bool,
    #[serde(default)]
    stat: bool,
    context: Option<usize>,
}

/// What changed.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// Compared from.
    base: String,
    /// Compared to.
    head: String,
    /// Files that changed, at most 500 of them.
    files: Vec<ChangedFile>,
    /// How many changed.
    files_total: usize,
    /// Lines added in all of them.
    added: u64,
    /// Lines removed in all of them.
    removed: u64,
    /// Changed names that may not be shown.
    hidden: usize,
    /// Changed names that could not be shown.
    left_out: usize,
    /// The patch.
    diff: String,
    /// True when there is more of it.
    truncated: bool,
}

/// One changed file.
#[derive(Debug, Serialize, JsonSchema)]
struct ChangedFile {
    /// The file, as other calls take it.
    path: String,
    /// What it was called before, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    /// `added`, `deleted`, `modified`, `renamed`, `type changed` or `in conflict`.
    status: &'static str,
    /// Lines added; absent when it is not text.
    added: Option<u64>,
    /// Lines removed; absent when it is not text.
    removed: Option<u64>,
}

/// Shows changes.
pub fn get_git_diff(settings: GitSettings) -> NativeTool {
    // Its world is the project: git shows the project's own history, and starts nothing of the
    // repository's choosing.
    let card = Card { name: "get_git_diff", title: "Git diff", deadline: DEADLINE, ..READS };
    let wants = |args: &Args| Wants::path(&args.path, Access::Read);
    let git = Git::new(settings);
    NativeTool::row(card, "", wants, move |ctx, args| diff(ctx, &git, args))
}

fn diff(ctx: &Ctx, git: &Git, args: Args) -> Result<Reply<Output>, Fault> {
    let context = args.context.unwrap_or(CONTEXT);
    if context > MOST_CONTEXT {
        return Err(Fault::invalid(format!("context is at most {MOST_CONTEXT} lines")));
    }
    let asked = DiffRequest {
        base: args.base_rev,
        head: args.head_rev,
        staged: args.staged,
        stat: args.stat,
        context,
    };
    let plain = asked.base.is_none() && asked.head.is_none() && !asked.staged;
    let stop = || ctx.cancel.is_cancelled();
    let until = Instant::now() + DEADLINE;
    let path = ctx.path(0)?;
    let mut found = git::compare(git, path, &asked, &stop, until, ctx.max_output)?;
    if found.files.is_empty() && path.kind().is_none() && plain {
        let name = path.name();
        return Err(Fault::not_found(format!("{name} does not exist, and did not in the last commit"))
            .hint("check the path; base_rev can name a revision that had it"));
    }
    let untracked = found.untracked.then(|| path.name());
    Ok(reply(&mut found, untracked.as_deref(), args.stat, ctx.max_output))
}

/// Puts the reply together: a line that sums up, notes, the table if it was asked for or must
/// stand in for what is cut, and the patch.
fn reply(found: &mut Comparison, untracked: Option<&str>, stat: bool, most: usize) -> Reply<Output> {
    let patch = std::mem::take(&mut found.patch);
    let mut notes = notes(found);
    let damaged = std::str::from_utf8(&patch).err().is_some_and(|error| error.error_len().is_some());
    if damaged {
        notes.push_str("Note: bytes that are not UTF-8 are shown as U+FFFD.\n");
    }
    let (added, removed) = totals(found);
    let total = found.files.len();
    let mut text = match total {
        0 => match untracked {
            Some(name) => {
                format!("(no changes: git tracks nothing at {name}, so there is nothing to compare)\n")
            }
            None => "(no changes)\n".to_owned(),
        },
        1 => format!("1 file changed, +{added} -{removed}; {} to {}\n", found.base, found.head),
        _ => format!("{total} files changed, +{added} -{removed}; {} to {}\n", found.base, found.head),
    };
    text.push_str(&notes);
    let mut diff = String::from_utf8_lossy(&patch).into_owned();
    let mut truncated = found.cut;
    let most = room(most);
    if stat || truncated || text.len() + diff.len() > most {
        text.push_str(&table(found, most / 4));
    }
    let room = most.saturating_sub(text.len());
    if diff.len() > room || truncated {
        truncated = true;
        diff.truncate(whole_lines(&diff, room));
    }
    if !diff.is_empty() && total > 0 {
        text.push('\n');
    }
    text.push_str(&diff);
    if truncated {
        let shown = diff.lines().count();
        text = framed(
            &format!("cut: {shown} lines of the diff shown; name one file or directory as path"),
            &text,
        );
    }
    let files = found.files.iter().take(ROWS).map(row).collect();
    let output = Output {
        base: std::mem::take(&mut found.base),
        head: std::mem::take(&mut found.head),
        files,
        files_total: total,
        added,
        removed,
        hidden: found.hidden,
        left_out: found.left.len(),
        diff,
        truncated,
    };
    text.truncate(text.trim_end_matches('\n').len());
    Reply::new(text, output)
}

fn row(file: &Differing) -> ChangedFile {
    let status = match file.status {
        'A' => "added",
        'D' => "deleted",
        'R' => "renamed",
        'T' => "type changed",
        'U' => "in conflict",
        _ => "modified",
    };
    let (added, removed) = file.counts.0.unzip();
    ChangedFile { path: file.path.clone(), from: file.from.clone(), status, added, removed }
}

fn totals(found: &Comparison) -> (u64, u64) {
    let counts = found.files.iter().filter_map(|file| file.counts.0);
    counts.fold((0, 0), |(added, removed), (more, less)| (added + more, removed + less))
}

/// A row for each file, within this many bytes.
fn table(found: &Comparison, most: usize) -> String {
    let mut table = String::new();
    for (shown, file) in found.files.iter().enumerate() {
        let row = row(file);
        let counts = match (row.added, row.removed) {
            (Some(added), Some(removed)) => format!("+{added} -{removed}"),
            _ => "not text".to_owned(),
        };
        let from = row.from.map(|from| format!("{from} => ")).unwrap_or_default();
        let line = format!("{from}{} | {}, {counts}\n", row.path, row.status);
        if shown == ROWS || table.len() + line.len() > most {
            let _ = writeln!(table, "and {} more files", found.files.len() - shown);
            break;
        }
        table.push_str(&line);
    }
    table
}

/// The parts that are not shown, with the reasons.
fn notes(found: &Comparison) -> String {
    let mut notes = String::new();
    match found.hidden {
        0 => {}
        1 => notes.push_str("Note: 1 changed name is protected and was left out.\n"),
        many => {
            let _ = writeln!(notes, "Note: {many} changed names are protected and were left out.");
        }
    }
    for (why, said) in [
        (Why::Link, "symbolic links changed, their targets are not shown"),
        (Why::Submodule, "submodules point to another commit"),
        (Why::Unreadable, "changed, but could not be read"),
        (Why::TooLarge, "changed, but are too large to compare"),
    ] {
        let names: Vec<&str> =
            found.left.iter().filter(|(_, left)| *left == why).map(|(name, _)| name.as_str()).collect();
        if names.is_empty() {
            continue;
        }
        let told: Vec<String> =
            names.iter().take(NAMED).map(|name| name.chars().take(100).collect()).collect();
        let more = match names.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let _ = writeln!(notes, "Note: {said}: {}{more}.", told.join(", "));
    }
    notes
}

/// The length of the part of a text that fits without breaking a line; without breaking a character, if
/// not even one line fits.
fn whole_lines(text: &str, most: usize) -> usize {
    let most = text.floor_char_boundary(most);
    if most == text.len() && text.ends_with('\n') {
        return most;
    }
    text[..most].rfind('\n').map_or(most, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_ends_with_a_line() {
        let check = |text: &str, most, expect: &str| assert_eq!(&text[..whole_lines(text, most)], expect);
        check("a\nb\nc\n", 5, "a\nb\n");
        check("a\nb\n", 4, "a\nb\n");
        check("ab\ncd", 5, "ab\n");
        check("ééé", 3, "é");
        check("", 3, "");
    }
}
