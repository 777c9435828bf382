//! `set_file_slice`: replaces lines of a file by number.

use std::{fmt::Write, ops::Range, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Fault, Reply, ToolRole, Wants,
    security::{Access, RawPath},
};
use tectum_native::NativeTool;

use super::pen::{Pen, Terms, Written, closing};
use crate::{
    cards::CHANGES,
    text::{TextFile, body},
};

/// Lines shown before and after the new ones, so that an off-by-one is seen at once.
const AROUND: usize = 2;
/// New lines shown at both ends when there are many.
const ENDS: usize = 5;
/// Characters shown of one line.
const LINE: usize = 160;

/// Replace lines of a file by number; empty new_content deletes them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    path: RawPath,
    start_line: i64,
    end_line: i64,
    new_content: String,
    revision: Option<String>,
    #[serde(default)]
    dry_run: bool,
}

/// What was replaced.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// First line of the new content.
    start_line: usize,
    /// Last line of the new content; one less than start_line when lines were deleted.
    end_line: usize,
    /// How many lines the file has now.
    lines_total: usize,
    /// The file now.
    #[serde(flatten)]
    written: Written,
}

/// Replaces lines.
pub fn set_file_slice(pen: Arc<Pen>) -> NativeTool {
    let card = Card { name: "set_file_slice", title: "Replace lines", role: ToolRole::Alias, ..CHANGES };
    let wants = |args: &Args| Wants::path(&args.path, Access::Write);
    NativeTool::row(card, "", wants, move |ctx, args| set(&pen, ctx, args))
}

fn set(pen: &Pen, ctx: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
    let terms = Terms { revision: args.revision, dry_run: args.dry_run };
    let (first, last) = (args.start_line, args.end_line);
    let (written, told) = pen.revise(ctx, &terms, |name, file| {
        let lines = asked(name, file, first, last)?;
        let after = file.edited(&[splice(file, &lines, &args.new_content)])?;
        let total = after.lines().count();
        let now = lines.start..lines.start + (total + lines.len()).saturating_sub(file.lines().count());
        let shown = echo(&after, &now) + &gone(file, &lines);
        let told = (shown, now, lines.is_empty(), total);
        Ok((after, told))
    })?;
    let (shown, now, appended, lines_total) = told;
    let path = &written.path;
    let done = match (appended, written.dry_run) {
        (true, false) => format!("Appended to {path}"),
        (true, true) => format!("Would append to {path}"),
        (false, false) => format!("Updated lines {first}-{last} in {path}"),
        (false, true) => format!("Would update lines {first}-{last} in {path}"),
    };
    // The excerpt has the new lines with their numbers; a diff would say them again.
    let closing = closing(&written.revision, &written.undo, written.dry_run);
    let text = format!("{done}{}\n{shown}{closing}", outcome(&now, lines_total));
    Ok(Reply::new(text, Output { start_line: now.start, end_line: now.end - 1, lines_total, written }))
}

/// The lines that are meant, as a range of numbers; empty for appending.
fn asked(name: &str, file: &TextFile, first: i64, last: i64) -> Result<Range<usize>, Fault> {
    let count = file.lines().count();
    let has = format!("{name} has {count} line{}", if count == 1 { "" } else { "s" });
    let next = count + 1;
    let hint = format!("lines count from 1; start_line {next} appends");
    let refuse = |why: String| Err(Fault::invalid(format!("{why}; {has}")).hint(hint));
    let (Ok(start), Ok(end)) = (usize::try_from(first), usize::try_from(last)) else {
        return refuse(format!("start_line {first} and end_line {last} must not be negative"));
    };
    if start < 1 {
        return refuse("start_line must be at least 1".into());
    }
    if start > end {
        return refuse(format!("start_line {start} is after end_line {end}"));
    }
    if start == next && end == next {
        return Ok(next..next);
    }
    if end > count {
        return refuse(format!("lines {start}-{end} are not all there"));
    }
    Ok(start..end + 1)
}

/// The edit that puts new lines in the place of these.
fn splice(file: &TextFile, lines: &Range<usize>, content: &str) -> (Range<usize>, String) {
    let text = file.text();
    let start = |number: usize| file.lines().range(number).map_or(text.len(), |range| range.start);
    let span = start(lines.start)..start(lines.end);
    let unended = span.end == text.len() && !text.is_empty() && !file.facts().final_newline;
    if !unended {
        let ended = content.is_empty() || content.ends_with(['\n', '\r']);
        return (span, if ended { content.to_owned() } else { format!("{content}\n") });
    }
    // The file does not end its last line, and shall not do so afterwards.
    if content.is_empty() {
        let before = unended_text(&text[..span.start]).len();
        return (before..span.end, String::new());
    }
    let separator = if lines.is_empty() { "\n" } else { "" };
    (span, format!("{separator}{}", unended_text(content)))
}

/// The text without the end of its last line. An empty last line keeps its end: it has nothing
/// else to show that it is there.
fn unended_text(text: &str) -> &str {
    let bare = body(text);
    if bare.is_empty() || bare.ends_with(['\n', '\r']) { text } else { bare }
}

/// A sentence about the lines, where their number changed.
fn outcome(now: &Range<usize>, total: usize) -> String {
    match now.len() {
        0 => format!(" (deleted, {total} left)"),
        1 => format!(" (now line {} of {total})", now.start),
        _ => format!(" (now lines {}-{} of {total})", now.start, now.end - 1),
    }
}

/// The new lines and their neighbours, numbered; the new ones are marked.
fn echo(after: &TextFile, now: &Range<usize>) -> String {
    let first = now.start.saturating_sub(AROUND).max(1);
    let last = (now.end + AROUND).min(after.lines().count() + 1);
    let width = last.to_string().len();
    let mut text = String::new();
    for number in first..last {
        let inner = now.contains(&number);
        if inner && now.len() > 2 * ENDS && number >= now.start + ENDS && number < now.end - ENDS {
            if number == now.start + ENDS {
                let _ = writeln!(text, "  … {} more new lines", now.len() - 2 * ENDS);
            }
            continue;
        }
        let mark = if inner { '>' } else { ' ' };
        let _ = writeln!(text, "{mark} {number:>width$} | {}", cut(after.line(number)));
    }
    text
}

/// The lines that went, with the numbers they had; of many, both ends.
fn gone(before: &TextFile, lines: &Range<usize>) -> String {
    let mut text = String::new();
    let width = lines.end.saturating_sub(1).to_string().len();
    for number in lines.clone() {
        if lines.len() > 2 * ENDS && number >= lines.start + ENDS && number < lines.end - ENDS {
            if number == lines.start + ENDS {
                let _ = writeln!(text, "  … {} more old lines", lines.len() - 2 * ENDS);
            }
            continue;
        }
        let _ = writeln!(text, "- {number:>width$} | {}", cut(before.line(number)));
    }
    text
}

/// A line as replies show it.
fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(before: &str, lines: (i64, i64), content: &str) -> Result<String, Fault> {
        let file = TextFile::decode(before.into()).expect("text");
        let lines = asked("a", &file, lines.0, lines.1)?;
        Ok(String::from_utf8(file.splice(&[splice(&file, &lines, content)])?).expect("UTF-8"))
    }

    #[track_caller]
    fn check(before: &str, lines: (i64, i64), content: &str, after: &str) {
        assert_eq!(run(before, lines, content).unwrap_or_else(|fault| fault.message), after);
    }

    #[test]
    fn lines_are_replaced_whole() {
        check("a\nb\nc\n", (2, 2), "x", "a\nx\nc\n");
        check("a\nb\nc\n", (2, 2), "x\n", "a\nx\nc\n");
        check("a\nb\nc\n", (2, 3), "x\n\n", "a\nx\n\n");
        check("a\nb\nc\n", (1, 3), "x", "x\n");
        check("a\nb\nc\n", (2, 2), "\n", "a\n\nc\n");
        check("a\r\nb\r\n", (1, 1), "x\ny\n", "x\r\ny\r\nb\r\n");
        check("a\nb\r\nc\n", (2, 2), "x\ny", "a\nx\r\ny\r\nc\n");
    }

    #[test]
    fn lines_are_deleted_and_appended() {
        check("a\nb\nc\n", (2, 2), "", "a\nc\n");
        check("a\nb\n", (1, 2), "", "");
        check("a\nb\n", (3, 3), "c", "a\nb\nc\n");
        check("", (1, 1), "a", "a\n");
    }

    #[test]
    fn the_end_of_the_file_stays_as_it_is() {
        check("a\nb", (2, 2), "x\n", "a\nx");
        check("a\nb", (2, 2), "", "a");
        check("a\r\nb", (3, 3), "c\n", "a\r\nb\r\nc");
        check("a", (1, 1), "", "");
    }

    #[test]
    fn an_empty_last_line_is_kept_with_its_end() {
        check("a\nb", (3, 3), "c\n\n", "a\nb\nc\n\n");
        check("a\nb", (2, 2), "\n", "a\n\n");
        check("a\r\nb", (2, 2), "x\n\n", "a\r\nx\r\n\r\n");
        check("a\n\nb", (3, 3), "", "a\n\n");
        check("\nb", (2, 2), "", "\n");
    }

    #[test]
    fn what_is_out_of_range_is_refused_with_the_line_count() {
        let check = |lines, expect| {
            assert_eq!(run("a\nb\n", lines, "x").expect_err("refused").message, expect);
        };
        check((0, 1), "start_line must be at least 1; a has 2 lines");
        check((2, 1), "start_line 2 is after end_line 1; a has 2 lines");
        check((2, 3), "lines 2-3 are not all there; a has 2 lines");
        check((4, 4), "lines 4-4 are not all there; a has 2 lines");
        check((-1, 1), "start_line -1 and end_line 1 must not be negative; a has 2 lines");
    }
}
