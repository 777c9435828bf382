//! The classes that derive from a class, directly and further down. Bases are matched by the last part
//! of their names, and where a name has several meanings the answer says so.

mod classes;

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fmt::Write,
    sync::Arc,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{Ctx, Fault, Reply, security::RawPath};
use tectum_syntax::names::Asked;

use self::classes::{ClassId, Classes, last_part};
use super::{
    Code, Only,
    project::{Entry, Sources, words},
};
use crate::files::{skipped::Skipped, spelling::count};

/// Classes one answer follows. More derive only from the roots of large frameworks, and their
/// list would help nobody.
const MOST_CLASSES: usize = 5_000;
/// Classes one answer lists, the nearest first.
const MOST_SHOWN: usize = 300;
/// Names looked for one by one before everything is learned.
const FEW: usize = 8;
/// Room left for the summary and the notes.
const SUMMARY: usize = 4 * 1024;
/// Places a note names.
const MOST_NAMED: usize = 5;

/// Which class, and where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HierarchyArgs {
    /// File or directory.
    pub path: RawPath,
    pub(super) class_name: String,
}

/// A class and what derives from it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HierarchyOutput {
    /// The class itself: every definition of that name.
    pub classes: Vec<ClassNode>,
    /// What derives from it, the nearest first.
    pub subclasses: Vec<ClassNode>,
    /// How many derive directly.
    pub direct: usize,
    /// How many derive in all.
    pub total: usize,
    /// What the names leave open.
    pub notes: Vec<String>,
    /// What was left out.
    pub skipped: Skipped,
    /// True when not all are listed.
    pub truncated: bool,
}

/// One class.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClassNode {
    /// Its full name.
    pub name: String,
    /// What it derives from, as written.
    pub bases: Vec<String>,
    /// The file, as other calls take it.
    pub path: String,
    /// Its line, from 1.
    pub line: u32,
    /// How far below the class it stands; 1 derives directly, 0 is the class itself.
    pub depth: usize,
    /// How many classes have its name, when several do: what derives from it may mean another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ambiguous: Option<usize>,
}

/// Finds what derives from a class below the call's first path.
pub fn hierarchy(
    code: &Code,
    ctx: &Ctx,
    args: HierarchyArgs,
    only: Only,
) -> Result<Reply<HierarchyOutput>, Fault> {
    let asked = Asked::parse(&args.class_name);
    let name = asked.parts.last().copied().unwrap_or_default();
    if !words::is_name(name) {
        return Err(Fault::invalid(format!("`{}` is no class name", args.class_name)));
    }
    let sources = code.project.sources(&code.languages, ctx, 0)?;
    if sources.is_file() {
        code.open(ctx, 0, only)?;
    }
    let mut classes = Classes::default();
    let mut levels: Vec<Vec<ClassId>> = Vec::new();
    let mut expanded: HashSet<String> = HashSet::from([name.to_owned()]);
    let mut listed: HashSet<ClassId> = HashSet::new();
    let mut frontier = BTreeSet::from([name.to_owned()]);
    let mut left: Option<Vec<Arc<Entry>>> = None;
    while !frontier.is_empty() && listed.len() < MOST_CLASSES {
        let names: Vec<&str> = frontier.iter().map(String::as_str).collect();
        if left.is_none() && names.len() <= FEW {
            let holding = sources.holding(&names, only)?;
            classes.learn(&sources, &holding, only)?;
            classes.learn_aliases(&sources, &holding, &names, only)?;
        } else {
            // Looking for many names costs more than learning once what can be learned fast.
            let rest = match left.take() {
                Some(rest) => rest,
                None => {
                    let skims = |entry: &Arc<Entry>| entry.named.as_ref().is_some_and(|named| named.skims());
                    let (fast, rest) = sources.fitting(only).into_iter().partition(skims);
                    let fast: Vec<Arc<Entry>> = fast;
                    classes.learn(&sources, &fast, only)?;
                    rest
                }
            };
            classes.learn(&sources, &sources.standing(&rest, &names)?, only)?;
            left = Some(rest);
        }
        let derived = frontier.iter().filter_map(|base| classes.derived.get(base)).flatten();
        let level: Vec<ClassId> = derived.copied().filter(|id| listed.insert(*id)).collect();
        frontier = level.iter().map(|id| classes.name(*id).to_owned()).collect();
        frontier.retain(|name| expanded.insert(name.clone()));
        levels.push(level);
    }
    let own = classes.defined.get(name).cloned().unwrap_or_default();
    let fits = |id: &ClassId| classes.facts(*id).path(id.symbol).ends_with(&asked.parts);
    let chosen: Vec<ClassId> = own.iter().copied().filter(fits).collect();
    let own = if chosen.is_empty() { own } else { chosen };
    if own.is_empty() && listed.is_empty() {
        return Err(Fault::not_found(format!(
            "no class `{name}` below {}, and nothing derives from it",
            args.path
        ))
        .hint("look for the name with search_content, or name a larger directory"));
    }
    let answer = Answer { sources: &sources, classes: &classes, name, own, levels };
    let skipped = sources.skipped(&sources.fitting(only));
    Ok(answer.write(ctx, skipped, listed.len() >= MOST_CLASSES))
}

/// The findings, to be written.
struct Answer<'a> {
    sources: &'a Sources<'a>,
    classes: &'a Classes,
    name: &'a str,
    own: Vec<ClassId>,
    levels: Vec<Vec<ClassId>>,
}

impl Answer<'_> {
    fn write(mut self, ctx: &Ctx, skipped: Skipped, full: bool) -> Reply<HierarchyOutput> {
        let budget = ctx.max_output.saturating_sub(SUMMARY);
        let paths: Vec<String> =
            self.classes.files.iter().map(|(entry, _)| self.sources.spell(entry)).collect();
        for level in &mut self.levels {
            level.sort_by_key(|id| (&paths[id.file], self.classes.fact(*id).line, id.symbol));
        }
        let mut text = String::new();
        let mut output = HierarchyOutput {
            classes: self.own.iter().map(|id| self.class(*id, &paths, 0)).collect(),
            subclasses: Vec::new(),
            direct: self.levels.first().map_or(0, Vec::len),
            total: self.levels.iter().map(Vec::len).sum(),
            notes: self.notes(&paths),
            skipped,
            truncated: full,
        };
        for class in &output.classes {
            let _ = writeln!(text, "{}", line(class));
        }
        let nearest =
            (1..).zip(&self.levels).flat_map(|(depth, level)| level.iter().map(move |id| (*id, depth)));
        let (mut shown, mut size) = (Vec::new(), text.len());
        for (id, depth) in nearest {
            let class = self.class(id, &paths, depth);
            size += line(&class).len() + 2 * depth + 1;
            if shown.len() >= MOST_SHOWN || (size > budget && !shown.is_empty()) {
                output.truncated = true;
                break;
            }
            shown.push((id, depth));
            output.subclasses.push(class);
        }
        for at in self.drawn(&shown) {
            let class = &output.subclasses[at];
            let _ = writeln!(text, "{}{}", "  ".repeat(class.depth), line(class));
        }
        let _ = write!(
            text,
            "{} of `{}`: {} direct, {} further down",
            count(output.total as u64, "subclass", "subclasses"),
            self.name,
            output.direct,
            output.total - output.direct
        );
        let left = output.total - output.subclasses.len();
        if left > 0 {
            let _ = write!(
                text,
                "; the nearest {} are listed and {left} are not, name a smaller directory to see them",
                output.subclasses.len()
            );
        }
        if full {
            let _ =
                write!(text, "; more may derive: those of {MOST_CLASSES} and more are not followed further");
        }
        let skipped = output.skipped.describe();
        if !skipped.is_empty() {
            let _ = write!(text, "; skipped: {skipped}");
        }
        for note in &output.notes {
            let _ = write!(text, "\nnote: {note}");
        }
        if left > 0 {
            text.insert_str(0, "[cut: the end says how to see more]\n");
        }
        Reply::new(text, output)
    }

    /// The numbers of the listed classes in the order of a tree: each below one that it derives
    /// from. They are given the nearest first.
    fn drawn(&self, shown: &[(ClassId, usize)]) -> Vec<usize> {
        let mut by_name: HashMap<(&str, usize), usize> = HashMap::new();
        for (at, (id, depth)) in shown.iter().enumerate() {
            by_name.entry((self.classes.name(*id), *depth)).or_insert(at);
        }
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); shown.len()];
        let mut top = Vec::new();
        for (at, (id, depth)) in shown.iter().enumerate() {
            let mut bases = self.classes.facts(*id).bases(self.classes.fact(*id)).map(last_part);
            match bases.find_map(|base| by_name.get(&(base, depth - 1))) {
                Some(parent) => below[*parent].push(at),
                None => top.push(at),
            }
        }
        let (mut order, mut next) = (Vec::with_capacity(shown.len()), top);
        next.reverse();
        while let Some(at) = next.pop() {
            order.push(at);
            next.extend(below[at].iter().rev());
        }
        order
    }

    fn class(&self, id: ClassId, paths: &[String], depth: usize) -> ClassNode {
        let (facts, fact) = (self.classes.facts(id), self.classes.fact(id));
        let name = self.classes.name(id);
        let named = self.classes.defined.get(name).map_or(0, Vec::len);
        // Only where something derives from the name does it matter which one is meant.
        let matters = depth > 0 && named > 1 && self.classes.derived.contains_key(name);
        ClassNode {
            name: facts.full_name(id.symbol),
            bases: facts
                .bases(fact)
                .map(|base| base.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect(),
            path: paths[id.file].clone(),
            line: fact.line,
            depth,
            ambiguous: matters.then_some(named),
        }
    }

    fn notes(&self, paths: &[String]) -> Vec<String> {
        let mut notes = Vec::new();
        let all = self.classes.defined.get(self.name).map_or(&[][..], Vec::as_slice);
        if self.own.is_empty() {
            notes.push(format!("`{}` itself is not defined here", self.name));
        } else if all.len() > 1 {
            let place = |id: &ClassId| format!("{}:{}", paths[id.file], self.classes.fact(*id).line);
            let mut places: Vec<String> = all.iter().take(MOST_NAMED).map(place).collect();
            if all.len() > MOST_NAMED {
                places.push(format!("and {} more", all.len() - MOST_NAMED));
            }
            notes.push(format!(
                "{} classes are named `{}` ({}); bases are matched by name, so what derives from any of them is listed",
                all.len(),
                self.name,
                places.join(", ")
            ));
        }
        notes
    }
}

/// `Sub(Base) path:line`.
fn line(class: &ClassNode) -> String {
    let bases = if class.bases.is_empty() { String::new() } else { format!("({})", class.bases.join(", ")) };
    let ambiguous = class.ambiguous.map(|named| format!(" [ambiguous: {named} classes of this name]"));
    format!("{}{bases} {}:{}{}", class.name, class.path, class.line, ambiguous.unwrap_or_default())
}
