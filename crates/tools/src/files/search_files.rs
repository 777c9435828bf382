//! `search_files`: names by glob, below a directory.

use std::{
    collections::BinaryHeap,
    ffi::{OsStr, OsString},
    fmt::Write,
    os::unix::ffi::OsStringExt,
    sync::atomic::{AtomicUsize, Ordering},
};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Fault, Reply, Wants,
    security::{Access, Flow, Folder, Kind, RawPath},
};
use tectum_native::NativeTool;

use super::{
    depth::not_entered,
    glob::Globs,
    ground::{Ground, Here, Standing},
    ignores::Ignores,
    list_directory::{here, word},
    more::{framed, room},
    spelling::{count, from_token, quoted, spell, token},
};
use crate::{Threads, cards::SEARCHES};

/// Hits in one reply unless asked otherwise.
const PAGE: usize = 1_000;
/// The most that can be asked for at once.
const MOST_PER_PAGE: usize = 20_000;
/// Entries looked at inside ignored folders, only to count the hits they hide.
const MOST_IGNORED: usize = 200_000;

/// Find files by name (glob): `*.rs`, `src/**/*.rs`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "here")]
    path: RawPath,
    pattern: String,
    #[serde(default)]
    include_ignored: bool,
    limit: Option<usize>,
    from: Option<String>,
}

/// A page of hits.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The directory searched.
    path: String,
    /// The hits of this page, sorted by path.
    matches: Vec<FileHit>,
    /// How many hits there are on all pages.
    total: usize,
    /// Hits that ignore rules hide; include_ignored=true shows them.
    ignored: usize,
    /// True when not every ignored directory was looked into, so `ignored` may be more.
    ignored_incomplete: bool,
    /// Names left out because a deny rule protects them.
    denied: usize,
    /// Directories that could not be read, or lie too deep.
    unreadable: usize,
    /// True when there are more hits than this page shows.
    truncated: bool,
    /// What to pass as `from` for the next page.
    next: Option<String>,
}

/// One hit.
#[derive(Debug, Serialize, JsonSchema)]
struct FileHit {
    /// Its path, as other calls take it.
    path: String,
    /// `file`, `dir`, `link`, `fifo`, `socket` or `device`.
    kind: &'static str,
}

/// Finds files and directories by name.
pub fn search_files(threads: Threads) -> NativeTool {
    let card = Card { name: "search_files", title: "Search files", ..SEARCHES };
    let wants = |args: &Args| Wants::path(&args.path, Access::Read);
    NativeTool::row(card, "", wants, move |ctx, args| search(ctx, &args, threads.count()))
}

fn search(ctx: &Ctx, args: &Args, threads: usize) -> Result<Reply<Output>, Fault> {
    let globs = Globs::compile(&[&args.pattern])?;
    let limit = args.limit.unwrap_or(PAGE);
    if limit == 0 || limit > MOST_PER_PAGE {
        return Err(Fault::invalid(format!("`limit` must be 1 to {MOST_PER_PAGE}, got {limit}")));
    }
    let start = ctx.path(0)?;
    let search = NameSearch {
        ground: Ground::look(start, !args.include_ignored),
        globs: &globs,
        all: args.include_ignored,
        from: args.from.as_deref().map(from_token).unwrap_or_default(),
        // One more than the page tells where the next begins.
        room: limit + 1,
        found: Mutex::default(),
        looked_at: AtomicUsize::new(0),
    };
    let state = FolderNames { ignores: search.ground.start.clone(), ignored: false };
    let report = start.walk(threads, state, |folder| {
        if ctx.cancel.is_cancelled() {
            return Flow::Stop;
        }
        search.visit(folder);
        Flow::Continue
    })?;
    ctx.check()?;
    let found = std::mem::take(&mut *search.found.lock());
    let output = Output {
        path: start.name(),
        matches: Vec::new(),
        total: found.total,
        ignored: found.ignored,
        ignored_incomplete: search.looked_at.load(Ordering::Relaxed) > MOST_IGNORED,
        denied: report.denied,
        unreadable: report.unreadable,
        truncated: false,
        next: None,
    };
    let too_deep = not_entered(&report, &search.ground);
    let closed = report.unreadable - report.too_deep;
    let why = left_out(&output, closed, too_deep);
    Ok(render(ctx, args, limit, found.hits.into_sorted_vec(), why, output))
}

/// One search, shared by its threads.
struct NameSearch<'s> {
    ground: Ground,
    globs: &'s Globs,
    all: bool,
    from: OsString,
    room: usize,
    found: Mutex<FoundPaths>,
    looked_at: AtomicUsize,
}

/// The rules that a folder inherits.
#[derive(Clone)]
struct FolderNames {
    ignores: Ignores,
    /// Inside an ignored folder: hits are counted, not shown.
    ignored: bool,
}

/// The hits so far: the first of them in order, and how many there are.
#[derive(Default)]
struct FoundPaths {
    hits: BinaryHeap<FoundPath>,
    total: usize,
    ignored: usize,
}

/// A hit before it is spelled. Ordered by the bytes of its path: two names that are no
/// Unicode may look the same.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct FoundPath {
    path: OsString,
    kind: &'static str,
}

impl NameSearch<'_> {
    fn visit(&self, folder: &mut Folder<'_, FolderNames>) {
        let FolderNames { ignores, ignored } = folder.state.clone();
        let mut here = self.ground.enter(folder, &ignores);
        let entries = std::mem::take(&mut folder.entries);
        if ignored && self.looked_at.fetch_add(entries.len(), Ordering::Relaxed) > MOST_IGNORED {
            return;
        }
        for entry in entries {
            if entry.name == ".git" && !self.all {
                continue;
            }
            let ignored = ignored || here.judge(&entry.name, entry.kind) == Standing::Ignored;
            if self.globs.mean(here.below(&entry.name), &entry.name) {
                self.hit(&mut here, &entry.name, entry.kind, ignored);
            }
            if entry.kind == Kind::Directory {
                folder.descend(&entry.name, FolderNames { ignores: here.ignores.clone(), ignored });
            }
        }
    }

    fn hit(&self, here: &mut Here, name: &OsStr, kind: Kind, ignored: bool) {
        let path = OsString::from_vec(self.ground.raw(here.below(name)));
        let mut found = self.found.lock();
        if ignored {
            found.ignored += 1;
            return;
        }
        found.total += 1;
        if path < self.from {
            return;
        }
        found.hits.push(FoundPath { path, kind: word(kind) });
        if found.hits.len() > self.room {
            found.hits.pop();
        }
    }
}

fn render(
    ctx: &Ctx,
    args: &Args,
    limit: usize,
    hits: Vec<FoundPath>,
    why: Option<String>,
    mut output: Output,
) -> Reply<Output> {
    let mut text = String::new();
    for hit in hits.iter().take(limit) {
        let path = spell(&hit.path).into_owned();
        if text.len() + path.len() + 16 > room(ctx.max_output) && !output.matches.is_empty() {
            break;
        }
        let _ = writeln!(text, "[{}] {path}", hit.kind);
        output.matches.push(FileHit { path, kind: hit.kind });
    }
    let shown = output.matches.len();
    if let Some(rest) = hits.get(shown) {
        output.next = Some(token(&rest.path));
        output.truncated = true;
    }
    if output.total == 0 {
        let _ = write!(text, "No files matched '{}' in {}", args.pattern, output.path);
    } else {
        text.push_str(&count(output.total as u64, "match", "matches"));
    }
    if let Some(why) = why {
        let _ = write!(text, " ({why})");
    }
    if let Some(from) = args.from.as_deref().filter(|_| shown == 0 && output.total > 0) {
        let _ = write!(text, "; nothing at from={}", quoted(from));
    }
    if let Some(next) = &output.next {
        let (total, next) = (output.total, quoted(next));
        text = framed(&format!("{shown} of {total} matches; continue with from={next}"), &text);
    }
    Reply::new(text, output)
}

fn left_out(output: &Output, closed: usize, too_deep: Option<String>) -> Option<String> {
    let mut why = Vec::new();
    if output.ignored > 0 || output.ignored_incomplete {
        let least = if output.ignored_incomplete { "at least " } else { "" };
        why.push(format!(
            "{least}{} more hidden by ignore rules, include_ignored=true shows them",
            output.ignored
        ));
    }
    if output.denied > 0 {
        why.push(format!("{} hidden by deny rules", count(output.denied as u64, "name", "names")));
    }
    if closed > 0 {
        why.push(count(closed as u64, "unreadable directory", "unreadable directories"));
    }
    why.extend(too_deep);
    (!why.is_empty()).then(|| why.join("; "))
}
