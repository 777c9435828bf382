//! The change of an edit, as a short unified diff.

use std::{
    borrow::Cow,
    fmt::Write,
    ops::Range,
    time::{Duration, Instant},
};

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

use super::window::Window;
use crate::text::{Lines, body, split};

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;
/// The time for which the shortest diff is looked for; after that a longer one will do.
const PATIENCE: Duration = Duration::from_millis(200);
/// Characters shown of one line.
const LINE: usize = 240;

/// The part of a diff that a reply carries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) lines: usize,
    pub(crate) bytes: usize,
}

/// Enough to see what happened; the file itself has the rest.
pub(crate) const REPLY: Limit = Limit { lines: 40, bytes: 4 * 1024 };

/// The difference between two texts of one file, with a note where it was cut.
pub(crate) fn unified(name: &str, before: &str, after: &str, limit: Limit) -> String {
    let window = Window::around_changes(before, after, CONTEXT);
    // What is left out are whole lines that both texts have.
    let skipped = Lines::of(&before[..window.before.start]).count();
    let (before, after) = (split(&before[window.before]), split(&after[window.after]));
    let deadline = Instant::now() + PATIENCE;
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &before, &after, Some(deadline));
    let groups = group_diff_ops(ops, CONTEXT);
    let mut diff = Diff { text: format!("--- {name}\n+++ {name}\n"), limit, lines: 0, left: 0 };
    for group in groups.iter().filter(|group| !group.is_empty()) {
        let (old, new) = (extent(group, DiffOp::old_range), extent(group, DiffOp::new_range));
        diff.push("", &format!("@@ -{} +{} @@", place(&old, skipped), place(&new, skipped)));
        for op in group {
            let (old, new) = (&before[op.old_range()], &after[op.new_range()]);
            if op.tag() == DiffTag::Equal {
                old.iter().for_each(|line| diff.line(" ", line, 0));
                continue;
            }
            let same = |index: usize| match (old.get(index), new.get(index)) {
                (Some(old), Some(new)) => old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count(),
                _ => 0,
            };
            // Both sides are seen: the old lines leave half of the room to the new ones.
            let shown = diff.half(old, new);
            old[..shown].iter().enumerate().for_each(|(index, line)| diff.line("-", line, same(index)));
            if shown < old.len() {
                diff.push("", &format!("… {} more old lines", old.len() - shown));
            }
            new.iter().enumerate().for_each(|(index, line)| diff.line("+", line, same(index)));
        }
    }
    diff.finish()
}

fn extent(group: &[DiffOp], side: impl Fn(&DiffOp) -> Range<usize>) -> Range<usize> {
    let start = group.first().map_or(0, |op| side(op).start);
    start..group.last().map_or(start, |op| side(op).end)
}

/// `first,count` as a hunk's header writes it: an empty range stands after a line.
fn place(range: &Range<usize>, skipped: usize) -> String {
    let start = range.start + skipped;
    match range.len() {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    }
}

/// A line, or what is around its first difference if it is very long.
fn cut(line: &str, same: usize) -> Cow<'_, str> {
    let mut places = line.char_indices().map(|(at, _)| at);
    if places.clone().nth(LINE).is_none() {
        return line.into();
    }
    let skipped = same.saturating_sub(LINE / 3);
    let start = places.nth(skipped).unwrap_or(0);
    let end = line[start..].char_indices().nth(LINE).map_or(line.len(), |(at, _)| start + at);
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < line.len() { "…" } else { "" });
    format!("{before}{}{after} ({} bytes)", &line[start..end], line.len()).into()
}

struct Diff {
    text: String,
    limit: Limit,
    lines: usize,
    left: usize,
}

impl Diff {
    /// The number of old lines to show, where not all of both sides may fit.
    fn half(&self, old: &[&str], new: &[&str]) -> usize {
        let room = self.limit.lines.saturating_sub(self.lines);
        let bytes = self.limit.bytes.saturating_sub(self.text.len());
        let size = |line: &&str| line.len().min(4 * LINE) + 2;
        let total = |lines: &[&str]| lines.iter().take(room + 1).map(size).sum::<usize>();
        let fits = old.len() + new.len() <= room && total(old) + total(new) <= bytes;
        if new.is_empty() || fits {
            return old.len();
        }
        // One line of room is for the note about the rest.
        let most = (room / 2).max(room.saturating_sub(new.len())).saturating_sub(1).max(1);
        let mut left = bytes / 2;
        let fit = old.iter().take(most).take_while(|line| {
            let after = left.checked_sub(size(line));
            left = after.unwrap_or(0);
            after.is_some()
        });
        fit.count().max(1).min(old.len())
    }

    fn line(&mut self, sign: &str, line: &str, same: usize) {
        self.push(sign, &cut(body(line), same));
        if body(line).len() == line.len() {
            self.push("", "\\ No newline at end of file");
        }
    }

    fn push(&mut self, sign: &str, line: &str) {
        if self.left > 0 || self.lines == self.limit.lines || self.text.len() + line.len() > self.limit.bytes
        {
            self.left += 1;
            return;
        }
        self.lines += 1;
        let _ = writeln!(self.text, "{sign}{line}");
    }

    fn finish(mut self) -> String {
        if self.left > 0 {
            let _ = writeln!(self.text, "… diff cut here: {} more lines", self.left);
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_surroundings() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9";
        let after = "1\n2\n3\n4\nfive\n6\n7\n8\n9";
        let expect = "--- a\n+++ a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(unified("a", before, after, REPLY), expect);
        let expect = "--- a\n+++ a\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n";
        assert_eq!(unified("a", "a\n", "a", REPLY), expect);
        assert_eq!(unified("a", "", "x\n", REPLY), "--- a\n+++ a\n@@ -0,0 +1 @@\n+x\n");
    }

    #[test]
    fn a_long_diff_shows_both_sides() {
        let lines = |word: &str| (0..100).map(|number| format!("{word} {number}\n")).collect::<String>();
        for (old, new) in [(lines("a"), lines("b")), (lines(&"a".repeat(200)), lines(&"b".repeat(200)))] {
            let diff = unified("a", &old, &new, REPLY);
            let count = |sign: &str| diff.lines().skip(2).filter(|line| line.starts_with(sign)).count();
            assert!(count("-") > 5 && count("+") > 5, "{diff}");
            assert!(diff.contains(" more old lines\n+") && diff.contains("… diff cut here"), "{diff}");
            assert!(diff.len() <= REPLY.bytes + 100 && diff.lines().count() <= REPLY.lines + 3, "{diff}");
        }
        // A few new lines are all shown.
        let diff = unified("a", &lines("a"), "b\nc\n", REPLY);
        assert!(diff.ends_with(" more old lines\n+b\n+c\n"), "{diff}");
    }

    #[test]
    fn a_long_diff_says_that_it_was_cut() {
        let after: String = (0..100).map(|number| format!("{number}\n")).collect();
        let diff = unified("a", "", &after, REPLY);
        assert!(diff.ends_with("+38\n… diff cut here: 61 more lines\n"), "{diff}");
        let diff = unified("a", "", &"x".repeat(100_000), REPLY);
        assert!(diff.len() < 5_000 && diff.contains("… (100000 bytes)"), "{diff}");
        // The change in a very long line is shown, wherever it is.
        let long = "x".repeat(50_000);
        let diff = unified("a", &format!("{long}old{long}"), &format!("{long}new{long}"), REPLY);
        assert!(diff.contains("xoldx") && diff.contains("xnewx"), "{diff}");
    }
}
