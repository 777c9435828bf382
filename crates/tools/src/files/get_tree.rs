//! `get_tree`: the shape of a directory, a few levels deep.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
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
    ground::{Ground, Standing},
    ignores::Ignores,
    list_directory::{here, word},
    more::{framed, room},
    spelling::{count, spell},
};
use crate::{Threads, cards::READS};

/// Entries shown; the upper levels come first.
const MOST_SHOWN: usize = 2_000;
/// Entries looked at before the tree is called incomplete.
const MOST_READ: usize = 1_000_000;
/// Room for the words `… 1000000 more`.
const MORE: usize = 24;

/// Directory tree of the project.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    #[serde(default = "here")]
    path: RawPath,
    #[serde(default = "two")]
    max_depth: usize,
}

/// A tree.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The directory.
    path: String,
    /// What is shown, in the order of the drawing.
    entries: Vec<TreeNode>,
    /// Entries down to max_depth, shown or not.
    total: usize,
    /// Names left out because they start with a dot.
    hidden: usize,
    /// Entries left out by ignore rules.
    ignored: usize,
    /// Names left out because a deny rule protects them.
    denied: usize,
    /// Directories that could not be read, or lie too deep.
    unreadable: usize,
    /// True when some directories lie at max_depth and were not opened.
    deeper: bool,
    /// True when there are more entries down to max_depth than are shown.
    truncated: bool,
}

/// One entry of the tree.
#[derive(Debug, Serialize, JsonSchema)]
struct TreeNode {
    /// Its path, as other calls take it.
    path: String,
    /// `file`, `dir`, `link`, `fifo`, `socket` or `device`.
    kind: &'static str,
}

/// Draws a directory tree.
pub fn get_tree(threads: Threads) -> NativeTool {
    let card = Card { name: "get_tree", title: "Directory tree", max_output: 1024 * 1024, ..READS };
    let wants = |args: &Args| Wants::path(&args.path, Access::Read);
    NativeTool::row(card, "", wants, move |ctx, args: Args| draw(ctx, args.max_depth, threads.count()))
}

fn draw(ctx: &Ctx, max_depth: usize, threads: usize) -> Result<Reply<Output>, Fault> {
    if max_depth == 0 {
        return Err(Fault::invalid("`max_depth` must be at least 1"));
    }
    let start = ctx.path(0)?;
    let ground = Ground::look(start, true);
    let grown = Mutex::new(Grown::default());
    let report = start.walk(threads, ground.start.clone(), |folder| {
        if ctx.cancel.is_cancelled() {
            return Flow::Stop;
        }
        look(folder, &ground, &grown, max_depth)
    })?;
    ctx.check()?;
    let grown = grown.into_inner();
    let shown = grown.shown(room(ctx.max_output));
    let mut text = format!("{}/\n", start.name().trim_end_matches('/'));
    let mut nodes = Vec::new();
    grown.branch(&ground, &shown, Path::new(""), "", &mut text, &mut nodes);
    let output = Output {
        path: start.name(),
        total: grown.total,
        truncated: nodes.len() < grown.total || grown.cut,
        entries: nodes,
        hidden: grown.hidden,
        ignored: grown.ignored,
        denied: report.denied,
        unreadable: report.unreadable,
        deeper: grown.deeper,
    };
    text.push_str(&footer(&output, max_depth, report.unreadable - report.too_deep));
    if let Some(too_deep) = not_entered(&report, &ground) {
        text.push_str(&format!("\n[{too_deep}]"));
    }
    if output.truncated {
        let (shown, total) = (output.entries.len(), output.total);
        text = framed(&format!("{shown} of {total} entries; name a subdirectory to see the rest"), &text);
    }
    Ok(Reply::new(text, output))
}

fn look(folder: &mut Folder<'_, Ignores>, ground: &Ground, grown: &Mutex<Grown>, max_depth: usize) -> Flow {
    let mut here = ground.enter(folder, folder.state);
    let (mut hidden, mut ignored) = (0, 0);
    let mut children = Vec::new();
    for entry in std::mem::take(&mut folder.entries) {
        match here.judge(&entry.name, entry.kind) {
            Standing::Shown => children.push(Child { name: entry.name.clone(), kind: entry.kind }),
            Standing::Hidden => {
                hidden += 1;
                continue;
            }
            Standing::Ignored => {
                ignored += 1;
                continue;
            }
        }
        if entry.kind == Kind::Directory && folder.depth + 1 < max_depth {
            folder.descend(&entry.name, here.ignores.clone());
        }
    }
    children.sort_by_cached_key(|child| {
        (child.kind != Kind::Directory, child.name.to_string_lossy().to_lowercase(), child.name.clone())
    });
    let at_the_end = folder.depth + 1 == max_depth;
    let mut grown = grown.lock();
    grown.hidden += hidden;
    grown.ignored += ignored;
    grown.total += children.len();
    grown.deeper |= at_the_end && children.iter().any(|child| child.kind == Kind::Directory);
    grown.folders.insert((folder.depth, folder.path.to_owned()), children);
    grown.cut = grown.total > MOST_READ;
    if grown.cut { Flow::Stop } else { Flow::Continue }
}

/// The tree as it was read: each folder's children, the upper levels first.
#[derive(Default)]
struct Grown {
    folders: BTreeMap<(usize, PathBuf), Vec<Child>>,
    total: usize,
    hidden: usize,
    ignored: usize,
    deeper: bool,
    cut: bool,
}

struct Child {
    name: OsString,
    kind: Kind,
}

impl Grown {
    /// The number of children of each folder that fit, level by level, into so many bytes.
    fn shown(&self, budget: usize) -> BTreeMap<&Path, usize> {
        let mut left = MOST_SHOWN;
        let mut bytes = budget;
        let mut shown = BTreeMap::new();
        for ((depth, folder), children) in &self.folders {
            let fits = |child: &&Child| {
                // Under a folder there may be a line that says how much of it is not shown.
                let more = if child.kind == Kind::Directory { row(depth + 1) + MORE } else { 0 };
                let after = bytes.checked_sub(row(*depth) + spell(&child.name).len() + more);
                bytes = after.unwrap_or(0);
                after.is_some()
            };
            let fit = children.iter().take(left).take_while(fits).count();
            // What does not fit ends the drawing, or smaller names further down would go on.
            left = if fit < children.len() { 0 } else { left - fit };
            shown.insert(folder.as_path(), fit);
        }
        shown
    }

    /// Draws what lies in one folder and below.
    fn branch(
        &self,
        ground: &Ground,
        shown: &BTreeMap<&Path, usize>,
        folder: &Path,
        indent: &str,
        text: &mut String,
        nodes: &mut Vec<TreeNode>,
    ) {
        let depth = folder.components().count();
        let Some(children) = self.folders.get(&(depth, folder.to_owned())) else { return };
        let fit = shown.get(folder).copied().unwrap_or(0);
        for (i, child) in children.iter().take(fit).enumerate() {
            let last = i + 1 == children.len();
            let path = folder.join(&child.name);
            let mark = mark(child.kind);
            let elbow = if last { "└── " } else { "├── " };
            text.push_str(&format!("{indent}{elbow}{}{mark}\n", spell(&child.name)));
            nodes.push(TreeNode { path: ground.spell(&path), kind: word(child.kind) });
            if child.kind == Kind::Directory {
                let deeper = format!("{indent}{}", if last { "    " } else { "│   " });
                self.branch(ground, shown, &path, &deeper, text, nodes);
            }
        }
        if fit < children.len() {
            text.push_str(&format!("{indent}└── … {} more\n", children.len() - fit));
        }
    }
}

/// The bytes of a row at this depth beside its name.
fn row(depth: usize) -> usize {
    "│   ".len() * depth + "├── \n".len() + mark(Kind::Socket).len()
}

/// The mark behind a name that is no plain file. None is longer than a socket's.
fn mark(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "",
        Kind::Directory => "/",
        Kind::Link => " [link]",
        Kind::Fifo => " [fifo]",
        Kind::Socket => " [socket]",
        Kind::Device => " [device]",
    }
}

/// The counts, what was left out, and how to see it.
fn footer(output: &Output, max_depth: usize, closed: usize) -> String {
    let of = |kind: &str| output.entries.iter().filter(|node| node.kind == kind).count() as u64;
    let (directories, files, links) = (of("dir"), of("file"), of("link"));
    let others = output.entries.len() as u64 - directories - files - links;
    let directories = count(directories, "directory", "directories");
    let mut text = format!("\n{directories}, {}", count(files, "file", "files"));
    if links > 0 {
        text.push_str(&format!(", {}", count(links, "link", "links")));
    }
    if others > 0 {
        text.push_str(&format!(", {}", count(others, "other entry", "other entries")));
    }
    let counts = [
        (output.hidden, "hidden"),
        (output.ignored, "ignored"),
        (output.denied, "denied"),
        (closed, "unreadable"),
    ];
    let named: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if !named.is_empty() {
        text.push_str(&format!(" (left out: {})", named.join(", ")));
    }
    if output.deeper {
        text.push_str(&format!("\n[depth {max_depth} reached; raise max_depth or name a subdirectory]"));
    }
    text
}

fn two() -> usize {
    2
}
