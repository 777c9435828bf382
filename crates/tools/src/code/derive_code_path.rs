//! The calls of a function, and the calls of those: a tree of calls found by names alone. Where a name
//! does not tell, the tree says so instead of guessing.

mod index;
mod loaded;
mod resolve;

use std::{
    collections::{HashMap, HashSet},
    fmt::Write,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{Ctx, Fault, Reply, security::RawPath};

use self::{
    index::{Index, SymbolId},
    loaded::Loader,
    resolve::{Meaning, Resolver},
};
use super::Code;
use crate::files::{skipped::Skipped, spelling::count};

/// Levels followed unless asked otherwise.
const DEPTH: usize = 5;
/// The most levels that can be asked for.
const MOST_DEPTH: usize = 20;
/// Lines of one tree; more are not read by anybody.
const MOST_NODES: usize = 300;
/// Places named beside an ambiguous call.
const MOST_PLACES: usize = 3;
/// Room left for the summary.
const SUMMARY: usize = 2 * 1024;

/// Which function, and where to look.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CodePathArgs {
    /// Or `a.py::f`.
    pub target: String,
    /// Default 5, at most 20.
    #[serde(default)]
    #[schemars(with = "i64")]
    pub max_depth: Option<usize>,
    /// Where to look.
    #[serde(default = "here")]
    #[schemars(description = "")]
    pub path: RawPath,
}

fn here() -> RawPath {
    RawPath::new(".")
}

/// The calls of a function.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CodePathOutput {
    /// How many functions the name means: more than one where it is overloaded.
    pub targets: usize,
    /// The function and its calls, in the order they are written.
    pub nodes: Vec<CallNode>,
    /// Sources that were looked at.
    pub files: usize,
    /// Calls that lead to nothing in these sources.
    pub external: usize,
    /// Calls that can mean several things.
    pub ambiguous: usize,
    /// Sources left out because there were too many.
    pub left_out: usize,
    /// What was left out of the listing.
    pub skipped: Skipped,
    /// True when the tree was cut at its largest size.
    pub truncated: bool,
}

/// One call.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallNode {
    /// How deep it stands; the function itself is 0.
    pub depth: usize,
    /// What is called.
    pub name: String,
    /// The file it is defined in, as other calls take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The line it is defined on, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How often it is called there, when more than once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<usize>,
    /// `external`, `ambiguous: n`, `recursive`, `see above` or `max depth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
}

/// Follows the calls of a function below the call's first path.
pub fn derive_code_path(code: &Code, ctx: &Ctx, args: CodePathArgs) -> Result<Reply<CodePathOutput>, Fault> {
    let depth = args.max_depth.unwrap_or(DEPTH);
    if depth == 0 || depth > MOST_DEPTH {
        return Err(Fault::invalid(format!("`max_depth` must be 1 to {MOST_DEPTH}, got {depth}")));
    }
    let sources = code.project.sources_ahead(&code.languages, ctx, 0, &index::ahead())?;
    if sources.is_file() {
        code.open(ctx, 0, super::Only::Any)?;
    }
    let index = Index::build(&sources)?;
    let targets = index.target(&args.target)?;
    let loader = Loader::new(ctx, &sources, &index);
    let mut tree = CallTree {
        ctx,
        index: &index,
        loader: &loader,
        resolver: Resolver::new(&index, &loader),
        depth,
        budget: ctx.max_output.saturating_sub(SUMMARY),
        text: String::new(),
        nodes: Vec::new(),
        on_the_way: Vec::new(),
        lasts: Vec::new(),
        expanded: HashSet::new(),
        external: 0,
        ambiguous: 0,
        full: false,
    };
    for target in &targets {
        tree.lasts.clear();
        tree.found(*target, 1, 0)?;
        if tree.full {
            break;
        }
    }
    let output = CodePathOutput {
        targets: targets.len(),
        nodes: tree.nodes,
        files: index.files.len(),
        external: tree.external,
        ambiguous: tree.ambiguous,
        left_out: index.left_out,
        skipped: sources.skipped(&sources.entries),
        truncated: tree.full,
    };
    let mut text =
        if output.truncated { "[cut: the last line says how to see more]\n" } else { "" }.to_owned();
    text.push_str(&tree.text);
    text.push_str(&summary(&output));
    Ok(Reply::new(text, output))
}

/// A tree being written.
struct CallTree<'t> {
    ctx: &'t Ctx,
    index: &'t Index,
    loader: &'t Loader<'t>,
    resolver: Resolver<'t>,
    depth: usize,
    budget: usize,
    text: String,
    nodes: Vec<CallNode>,
    on_the_way: Vec<SymbolId>,
    /// For each level on the way, whether what is written is the last of its siblings.
    lasts: Vec<bool>,
    expanded: HashSet<SymbolId>,
    external: usize,
    ambiguous: usize,
    full: bool,
}

impl CallTree<'_> {
    /// Writes a function and what it calls.
    fn found(&mut self, id: SymbolId, times: usize, depth: usize) -> Result<(), Fault> {
        let calls = self.loader.calls(self.index.body_of(id))?;
        let mark = if self.on_the_way.contains(&id) {
            Some("recursive")
        } else if calls.is_empty() {
            None
        } else if self.expanded.contains(&id) {
            Some("see above")
        } else if depth >= self.depth {
            Some("max depth")
        } else {
            None
        };
        let fact = self.index.fact(id);
        let node = CallNode {
            depth,
            name: self.index.full_name(id),
            path: Some(self.index.files[id.file].path.clone()),
            line: Some(fact.line),
            times: (times > 1).then_some(times),
            mark: mark.map(str::to_owned),
        };
        if !self.push(node, "") || mark.is_some() {
            return Ok(());
        }
        self.ctx.check()?;
        self.expanded.insert(id);
        self.on_the_way.push(id);
        let meanings = self.meanings(id, &calls)?;
        let last = meanings.len().saturating_sub(1);
        for (at, (meaning, written, times)) in meanings.into_iter().enumerate() {
            self.lasts.truncate(depth);
            self.lasts.push(at == last);
            match meaning {
                Meaning::One(id) => self.found(id, times, depth + 1)?,
                Meaning::External => self.open(written, times, depth + 1, "external".to_owned(), ""),
                Meaning::Several(ids) => {
                    let place = |id: &SymbolId| {
                        format!("{}:{}", self.index.files[id.file].path, self.index.fact(*id).line)
                    };
                    let places = if ids.len() <= MOST_PLACES {
                        format!(" {}", ids.iter().map(place).collect::<Vec<_>>().join(", "))
                    } else {
                        String::new()
                    };
                    self.open(written, times, depth + 1, format!("ambiguous: {}", ids.len()), &places);
                }
            }
            if self.full {
                break;
            }
        }
        self.on_the_way.pop();
        Ok(())
    }

    /// The meanings of a function's calls, in their order, each meaning once with its number.
    fn meanings(&self, id: SymbolId, calls: &[loaded::Call]) -> Result<Vec<(Meaning, String, usize)>, Fault> {
        let mut list: Vec<(Meaning, String, usize)> = Vec::new();
        let mut seen: HashMap<(Option<SymbolId>, String), usize> = HashMap::new();
        for call in calls {
            let meaning = self.resolver.resolve(self.index.body_of(id), call)?;
            let key = match &meaning {
                Meaning::One(id) => (Some(*id), String::new()),
                _ => (None, call.written()),
            };
            match seen.get(&key) {
                Some(at) => list[*at].2 += 1,
                None => {
                    seen.insert(key, list.len());
                    list.push((meaning, call.written(), 1));
                }
            }
        }
        Ok(list)
    }

    /// Writes a call that leads to no single function.
    fn open(&mut self, name: String, times: usize, depth: usize, mark: String, places: &str) {
        let ambiguous = !places.is_empty() || mark != "external";
        let times = (times > 1).then_some(times);
        if self.push(CallNode { depth, name, path: None, line: None, times, mark: Some(mark) }, places) {
            *(if ambiguous { &mut self.ambiguous } else { &mut self.external }) += 1;
        }
    }

    /// Writes one line; false when there is no room for it.
    fn push(&mut self, node: CallNode, after: &str) -> bool {
        let mut line = String::new();
        if let Some((last, above)) = self.lasts[..node.depth.min(self.lasts.len())].split_last() {
            above.iter().for_each(|last| line.push_str(if *last { "  " } else { "│ " }));
            line.push_str(if *last { "└─ " } else { "├─ " });
        }
        line.push_str(&node.name);
        if let (Some(path), Some(number)) = (&node.path, node.line) {
            let _ = write!(line, " ({path}:{number})");
        }
        if let Some(times) = node.times {
            let _ = write!(line, " ×{times}");
        }
        if let Some(mark) = &node.mark {
            let _ = write!(line, " [{mark}]");
        }
        line.push_str(after);
        if self.nodes.len() >= MOST_NODES
            || (self.text.len() + line.len() > self.budget && !self.nodes.is_empty())
        {
            self.full = true;
            return false;
        }
        let _ = writeln!(self.text, "{line}");
        self.nodes.push(node);
        true
    }
}

fn summary(output: &CodePathOutput) -> String {
    let mut text = format!(
        "{}, {} looked at; {} unresolved: {} external, {} ambiguous",
        count(output.nodes.len() as u64, "node", "nodes"),
        count(output.files as u64, "file", "files"),
        output.external + output.ambiguous,
        output.external,
        output.ambiguous
    );
    if output.targets > 1 {
        let name = output.nodes.first().map_or("", |node| &node.name);
        let _ = write!(text, "; {name} has {} overloads, and all are followed", output.targets);
    }
    if output.truncated {
        let _ = write!(
            text,
            "; cut after {} nodes: pass a smaller max_depth, or a target further in",
            output.nodes.len()
        );
    }
    if output.left_out > 0 {
        let files = count(output.left_out as u64, "file", "files");
        let _ = write!(
            text,
            "; {files} not looked at (vendored, over 1 MiB, or beyond the first 2000): pass a smaller path"
        );
    }
    let skipped = output.skipped.describe();
    if !skipped.is_empty() {
        let _ = write!(text, "; skipped: {skipped}");
    }
    text
}
