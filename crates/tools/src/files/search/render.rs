//! The reply of a search: one page of matches as text and as data, and the summary.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Reply};

use super::{
    super::{more::room, skipped::Skipped, spelling::count},
    found::{InFile, LineHit},
    request::{Mode, Request},
    run::Findings,
};

/// A page of matches.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(in super::super) struct Output {
    /// The matches of this page, sorted by path and line.
    matches: Vec<Match>,
    /// Files with a match.
    files_matched: u64,
    /// Matching lines in all files; in mode `files` the search of a file ends at its first.
    total_matches: u64,
    /// How many of them `max_per_file` leaves out of every page.
    left_out: u64,
    /// How many of them this page shows.
    shown: usize,
    /// Files that were looked into.
    searched_files: u64,
    /// What was left out.
    skipped: Skipped,
    /// Directories that lie too deep to be searched from here.
    too_deep: u64,
    /// True when there are more matches than this page shows.
    truncated: bool,
    /// What to pass as `from` for the next page; none on the last, and where paging ends.
    next: Option<usize>,
}

/// One match: a line, or a file in the modes `files` and `count`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(in super::super) struct Match {
    /// The file, as other calls take it.
    path: String,
    /// The line's number, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    /// The line, cut around the match when it is long.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Lines before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    before: Vec<String>,
    /// Lines after it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    after: Vec<String>,
    /// Matching lines in the file, in mode `count`.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

/// Writes the page.
pub(in super::super) fn render(ctx: &Ctx, request: &Request, findings: Findings) -> Reply<Output> {
    let Findings { found, searched, skipped, too_deep, not_entered } = findings;
    let on_pages = found.on_pages;
    let mut output = Output {
        files_matched: found.files_matched,
        total_matches: found.total,
        left_out: found.total - found.on_pages,
        searched_files: searched,
        skipped,
        too_deep,
        ..Output::default()
    };
    let mut page = MatchesPage {
        text: String::new(),
        budget: room(ctx.max_output),
        skip: request.from,
        left: request.limit,
        separate: request.context > 0,
        last: None,
    };
    for file in found.into_sorted() {
        let full = match request.mode {
            Mode::Lines => page.lines(file, &mut output.matches),
            Mode::Files | Mode::Count => page.file(file, request.mode, &mut output.matches),
        };
        if full {
            break;
        }
    }
    output.shown = output.matches.len();
    let all = if request.mode == Mode::Lines { on_pages } else { output.files_matched };
    let next = request.from + output.shown;
    output.truncated = (next as u64) < all && output.shown > 0;
    output.next = (output.truncated && next < request.most).then_some(next);
    let mut text = if output.truncated { format!("[{}]\n{}", more(&output), page.text) } else { page.text };
    text.push_str(&summary(request, &output));
    if let Some(not_entered) = not_entered {
        let _ = write!(text, "; {not_entered}");
    }
    Reply::new(text, output)
}

/// A page being written.
struct MatchesPage {
    text: String,
    budget: usize,
    /// Matches of earlier pages still to be passed over.
    skip: usize,
    left: usize,
    /// True if `--` stands between places that do not touch.
    separate: bool,
    /// The line written last.
    last: Option<(String, u64)>,
}

impl MatchesPage {
    /// Writes the lines of one file; true when the page is full.
    fn lines(&mut self, file: InFile, matches: &mut Vec<Match>) -> bool {
        let InFile { path, hits, .. } = file;
        for hit in hits {
            if self.skip > 0 {
                self.skip -= 1;
                continue;
            }
            let size = (hit.before.len() + hit.after.len() + 1) * (path.len() + 24)
                + hit.text.len()
                + hit.before.iter().chain(&hit.after).map(String::len).sum::<usize>();
            if self.full(size) {
                return true;
            }
            self.hit(&path, &hit);
            matches.push(Match {
                path: path.clone(),
                line: Some(hit.line),
                text: Some(hit.text),
                before: hit.before,
                after: hit.after,
                count: None,
            });
        }
        false
    }

    fn hit(&mut self, path: &str, hit: &LineHit) {
        let first = hit.line - hit.before.len() as u64;
        if self.separate {
            let touches = self.last.as_ref().is_none_or(|(file, line)| file == path && line + 1 == first);
            if !touches {
                self.text.push_str("--\n");
            }
            self.last = Some((path.to_owned(), hit.line + hit.after.len() as u64));
        }
        for (number, line) in (first..).zip(&hit.before) {
            let _ = writeln!(self.text, "{path}-{number}- {line}");
        }
        let _ = writeln!(self.text, "{path}:{}: {}", hit.line, hit.text);
        for (number, line) in (hit.line + 1..).zip(&hit.after) {
            let _ = writeln!(self.text, "{path}-{number}- {line}");
        }
    }

    /// Writes one file of the modes that show only files; true when the page is full.
    fn file(&mut self, file: InFile, mode: Mode, matches: &mut Vec<Match>) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        if self.full(file.path.len() + 24) {
            return true;
        }
        let count = (mode == Mode::Count).then_some(file.count);
        let _ = match count {
            Some(count) => writeln!(self.text, "{}:{count}", file.path),
            None => writeln!(self.text, "{}", file.path),
        };
        matches.push(Match { path: file.path, count, ..Match::default() });
        false
    }

    /// Takes room for one match, if there is any left. The first always fits.
    fn full(&mut self, size: usize) -> bool {
        let full = self.left == 0 || (!self.text.is_empty() && self.text.len() + size > self.budget);
        self.left = self.left.saturating_sub(1);
        full
    }
}

/// `500 shown, continue with from=500`.
fn more(output: &Output) -> String {
    let shown = format!("{} shown", output.shown);
    match output.next {
        Some(next) => format!("{shown}, continue with from={next}"),
        None => {
            format!("{shown}, paging ends here; narrow the search (path, include, or a longer pattern)")
        }
    }
}

/// `3 matches in 2 files; skipped: 1 ignored; continue with from=500`.
fn summary(request: &Request, output: &Output) -> String {
    let files = count(output.files_matched, "file", "files");
    let mut text = match request.mode {
        Mode::Files => format!("{files} matched"),
        _ => format!("{} in {files}", count(output.total_matches, "match", "matches")),
    };
    if output.left_out > 0
        && let Some(most) = request.max_per_file
    {
        let _ = write!(text, "; {} of them left out by max_per_file={most}", output.left_out);
    }
    let skipped = output.skipped.describe();
    if !skipped.is_empty() {
        let _ = write!(text, "; skipped: {skipped}");
    }
    if output.files_matched == 0 && output.skipped.ignored > 0 {
        text.push_str(" (include_ignored=true searches the ignored)");
    }
    if output.truncated {
        let _ = write!(text, "; {}", more(output));
    } else if request.from > 0 && output.shown == 0 {
        let _ = write!(text, "; nothing at from={}", request.from);
    }
    text
}
