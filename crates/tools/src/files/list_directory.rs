//! `list_directory`: what is in one directory.

use std::{ffi::OsString, fmt::Write, os::unix::ffi::OsStrExt};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Fault, Reply, Tool, ToolRole, Wants,
    security::{Access, Flow, Kind, Listing, RawPath, SafePath},
};

use super::{
    more::{framed, room},
    spelling::{count, from_token, quoted, spell, token},
};
use crate::cards::READS;

/// Entries in one reply; the rest is on further pages.
const PAGE: usize = 10_000;
/// A directory up to this size is read on the calling thread.
const SMALL: usize = 1_000;
/// Entries read of a directory before the listing is called incomplete.
const MOST: usize = 1_000_000;

/// Lists one directory.
#[derive(Clone, Copy, Debug)]
pub struct ListDirectory;

/// List a directory (ls).
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    #[serde(default = "here")]
    path: RawPath,
    #[serde(default = "yes")]
    all: bool,
    from: Option<String>,
}

/// A page of a directory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The directory.
    pub path: String,
    /// Its entries: directories first, then by name without regard to case.
    pub entries: Vec<ListedRow>,
    /// How many entries there are, on all pages.
    pub total: usize,
    /// Names left out because they start with a dot.
    pub hidden: usize,
    /// Names left out because a deny rule protects them.
    pub denied: usize,
    /// True when there are more entries than this page shows.
    pub truncated: bool,
    /// What to pass as `from` for the next page.
    pub next: Option<String>,
}

/// One entry.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListedRow {
    /// Its name.
    pub name: String,
    /// `file`, `dir`, `link`, `fifo`, `socket` or `device`.
    pub kind: &'static str,
    /// Size in bytes, of files.
    pub size: Option<u64>,
    /// Where a link leads, if that lies in the project and may be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

impl Tool for ListDirectory {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card {
        name: "list_directory",
        title: "List directory",
        max_output: 1024 * 1024,
        role: ToolRole::Basic,
        ..READS
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants::path(&args.path, Access::Read)
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        let directory = ctx.path(0)?;
        let listing = directory.list(SMALL)?;
        if !listing.cut && !lossy(&listing) {
            return Ok(reply(ctx, directory, &args, ListedContent::of(listing)));
        }
        ctx.blocking(move |ctx| {
            let directory = ctx.path(0)?;
            let listing = directory.list(MOST)?;
            let exact = if lossy(&listing) && !listing.cut { ListedContent::exact(directory)? } else { None };
            Ok(reply(ctx, directory, &args, exact.unwrap_or_else(|| ListedContent::of(listing))))
        })
        .await
    }
}

/// True if some names may have lost what is no Unicode in them.
fn lossy(listing: &Listing) -> bool {
    listing.entries.iter().any(|entry| entry.name.contains(char::REPLACEMENT_CHARACTER))
}

/// The content of a directory.
struct ListedContent {
    entries: Vec<ListedEntry>,
    denied: usize,
    cut: bool,
}

struct ListedEntry {
    name: OsString,
    kind: Kind,
    size: u64,
}

impl ListedContent {
    fn of(listing: Listing) -> Self {
        let entries = listing.entries.into_iter();
        let entries =
            entries.map(|entry| ListedEntry { name: entry.name.into(), kind: entry.kind, size: entry.size });
        Self { entries: entries.collect(), denied: listing.denied, cut: listing.cut }
    }

    /// The same with every byte of the names, since two that are no Unicode may look the
    /// same. `None` where the directory can be listed but not entered.
    fn exact(directory: &SafePath) -> Result<Option<Self>, Fault> {
        let entries = Mutex::new(Vec::new());
        let report = directory.walk(1, (), |folder| {
            let found = std::mem::take(&mut folder.entries).into_iter().map(|entry| {
                let size = if entry.kind == Kind::File { folder.size(&entry.name) } else { None };
                ListedEntry { name: entry.name, kind: entry.kind, size: size.unwrap_or(0) }
            });
            entries.lock().extend(found);
            Flow::Continue
        })?;
        let entries = entries.into_inner();
        Ok((report.unreadable == 0).then_some(Self { entries, denied: report.denied, cut: false }))
    }
}

fn reply(ctx: &Ctx, directory: &SafePath, args: &Args, content: ListedContent) -> Reply<Output> {
    let ListedContent { mut entries, denied, cut } = content;
    let before = entries.len();
    if !args.all {
        entries.retain(|entry| !entry.name.as_bytes().starts_with(b"."));
    }
    let (total, hidden) = (entries.len(), before - entries.len());
    entries.sort_by_cached_key(place);
    if let Some(from) = args.from.as_deref() {
        let from = place_of_token(from);
        entries.drain(..entries.partition_point(|entry| place(entry) < from));
    }
    let path = directory.name();
    let mut text = format!("Directory: {path}\n");
    let mut rows = Vec::with_capacity(entries.len().min(PAGE));
    let mut entries = entries.into_iter();
    let mut next = None;
    for entry in entries.by_ref() {
        let target = (entry.kind == Kind::Link).then(|| directory.link_target(&entry.name)).flatten();
        let length = entry.name.len() + target.as_ref().map_or(0, String::len) + 64;
        if rows.len() == PAGE || text.len() + length > room(ctx.max_output) && !rows.is_empty() {
            next = Some(token_of(&entry));
            break;
        }
        rows.push(row(entry, target, &mut text));
    }
    text.push_str(&summary(total, hidden, denied, cut));
    if let Some(from) = args.from.as_deref().filter(|_| rows.is_empty() && total > 0) {
        let _ = write!(text, "; nothing at from={}", quoted(from));
    }
    if let Some(next) = &next {
        let note = format!("{} of {total} entries; continue with from={}", rows.len(), quoted(next));
        text = framed(&note, &text);
    }
    let truncated = next.is_some() || cut;
    Reply::new(text, Output { path, entries: rows, total, hidden, denied, truncated, next })
}

fn row(entry: ListedEntry, target: Option<String>, text: &mut String) -> ListedRow {
    let kind = word(entry.kind);
    let size = (entry.kind == Kind::File).then_some(entry.size);
    let name = spell(&entry.name);
    let _ = match (size, &target) {
        (Some(size), _) => writeln!(text, "[{kind}] {name}  {size}"),
        (None, Some(target)) => writeln!(text, "[{kind}] {name} -> {}  -", spell(target.as_ref())),
        (None, None) => writeln!(text, "[{kind}] {name}  -"),
    };
    ListedRow { name: entry.name.to_string_lossy().into_owned(), kind, size, target }
}

/// `3 entries (1 hidden by deny rules)`.
fn summary(total: usize, hidden: usize, denied: usize, cut: bool) -> String {
    let mut why = Vec::new();
    if hidden > 0 {
        why.push(format!("{hidden} hidden because they start with a dot, all=true shows them"));
    }
    if denied > 0 {
        why.push(format!("{denied} hidden by deny rules"));
    }
    if cut {
        why.push(format!("only the first {MOST} were read"));
    }
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join("; ")) };
    format!("{}{why}", count(total as u64, "entry", "entries"))
}

/// A kind in one short word, as rows show it.
pub(super) fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Directory => "dir",
        Kind::Link => "link",
        Kind::Fifo => "fifo",
        Kind::Socket => "socket",
        Kind::Device => "device",
    }
}

/// The key of an entry in the order: directories first, then by name without regard to case, then by
/// the bytes of the name.
type Place = (bool, String, OsString);

fn place(entry: &ListedEntry) -> Place {
    place_of(entry.kind == Kind::Directory, entry.name.clone())
}

fn place_of(directory: bool, name: OsString) -> Place {
    (!directory, name.to_string_lossy().to_lowercase(), name)
}

/// A place as a word to go on from, which stays good when entries come and go.
fn token_of(entry: &ListedEntry) -> String {
    let slash = if entry.kind == Kind::Directory { "/" } else { "" };
    token(&entry.name) + slash
}

fn place_of_token(token: &str) -> Place {
    match token.strip_suffix('/') {
        Some(name) => place_of(true, from_token(name)),
        None => place_of(false, from_token(token)),
    }
}

/// The project itself, for a call that names no path.
pub(crate) fn here() -> RawPath {
    RawPath::new(".")
}

fn yes() -> bool {
    true
}
