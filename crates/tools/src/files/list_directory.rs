//! `list_directory`: what is in one directory.

use std::{fmt::Write, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{
    Card, Ctx, Effect, Fault, Reply, Tool, Wants, World,
    security::{Access, Entry, Kind, Listing, RawPath, SafePath},
};

use super::spelling::{count, spell};

/// Entries in one reply; the rest is on further pages.
const PAGE: usize = 10_000;
/// A directory up to this size is read on the calling thread.
const SMALL: usize = 1_000;
/// Entries read of a directory before the listing is called incomplete.
const MOST: usize = 1_000_000;

/// Lists one directory.
#[derive(Clone, Copy, Debug)]
pub struct ListDirectory;

/// List the entries of one directory with kind and size in bytes, directories first. Links
/// are shown and not followed; protected names are counted and not shown.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    /// Directory inside the project; the project itself when absent.
    #[serde(default = "here")]
    pub path: RawPath,
    /// False leaves out names that start with a dot. Default true.
    #[serde(default = "yes")]
    pub all: bool,
    /// Where to go on: the `next` of the page before.
    #[serde(default)]
    pub from: Option<String>,
}

/// A page of a directory.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The directory.
    pub path: String,
    /// Its entries: directories first, then by name without regard to case.
    pub entries: Vec<Row>,
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
pub struct Row {
    /// Its name.
    pub name: String,
    /// `file`, `dir`, `link`, `fifo`, `socket` or `device`.
    pub kind: &'static str,
    /// Size in bytes, of files.
    pub size: Option<u64>,
}

impl Tool for ListDirectory {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card {
        name: "list_directory",
        title: "List directory",
        effect: Effect::Read,
        world: World::Project,
        idempotent: true,
        primary: "path",
        deadline: Duration::from_secs(30),
        max_output: 1024 * 1024,
    };

    fn wants(&self, args: &Args) -> Wants {
        Wants::path(&args.path, Access::Read)
    }

    async fn call(&self, ctx: &Ctx, args: Args) -> Result<Reply<Output>, Fault> {
        let directory = ctx.path(0)?;
        let listing = directory.list(SMALL)?;
        if !listing.cut {
            return Ok(reply(ctx, directory, &args, listing));
        }
        ctx.blocking(move |ctx| {
            let directory = ctx.path(0)?;
            Ok(reply(ctx, directory, &args, directory.list(MOST)?))
        })
        .await
    }
}

fn reply(ctx: &Ctx, directory: &SafePath, args: &Args, listing: Listing) -> Reply<Output> {
    let Listing { mut entries, denied, cut } = listing;
    let before = entries.len();
    if !args.all {
        entries.retain(|entry| !entry.name.starts_with('.'));
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
        if rows.len() == PAGE || text.len() + entry.name.len() + 64 > ctx.max_output && !rows.is_empty() {
            next = Some(token(&entry));
            break;
        }
        rows.push(row(entry, &mut text));
    }
    text.push_str(&summary(total, hidden, denied, cut));
    if let Some(next) = &next {
        let _ = write!(
            text,
            "\n[truncated: {} of {total} entries shown; continue with from=\"{next}\"]",
            rows.len()
        );
    }
    let truncated = next.is_some() || cut;
    Reply::new(text, Output { path, entries: rows, total, hidden, denied, truncated, next })
}

fn row(entry: Entry, text: &mut String) -> Row {
    let kind = word(entry.kind);
    let size = (entry.kind == Kind::File).then_some(entry.size);
    let name = spell(entry.name.as_ref());
    let _ = match size {
        Some(size) => writeln!(text, "[{kind}] {name}  {size}"),
        None => writeln!(text, "[{kind}] {name}  -"),
    };
    Row { name: entry.name, kind, size }
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

/// Where an entry stands in the order: directories first, then by name without regard to case.
type Place = (bool, String, String);

fn place(entry: &Entry) -> Place {
    (entry.kind != Kind::Directory, entry.name.to_lowercase(), entry.name.clone())
}

/// A place as a word to go on from, which stays good when entries come and go.
fn token(entry: &Entry) -> String {
    if entry.kind == Kind::Directory { format!("{}/", entry.name) } else { entry.name.clone() }
}

fn place_of_token(token: &str) -> Place {
    match token.strip_suffix('/') {
        Some(name) => (false, name.to_lowercase(), name.to_owned()),
        None => (true, token.to_lowercase(), token.to_owned()),
    }
}

fn here() -> RawPath {
    RawPath::new(".")
}

fn yes() -> bool {
    true
}
