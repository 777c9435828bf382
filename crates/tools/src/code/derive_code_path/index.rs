//! The functions and classes a tree of calls can lead to, by name.

use std::sync::{Arc, OnceLock};

use tectum_core::{Fault, FaultKind};
use tectum_syntax::{Kind, names::Asked};

use crate::code::project::{Defining, Entry, Fact, SourceFacts, Sources};

/// Sources looked at.
const MOST_FILES: usize = 2_000;
/// Larger files are written by programs.
const MOST_BYTES: u64 = 1024 * 1024;
/// Names a constructor has.
const CONSTRUCTORS: [&str; 4] = ["__init__", "constructor", "initialize", "new"];
/// Numbers that names are told apart by. With very many symbols, more of them share one.
const MOST_NUMBERS: usize = 1 << 20;
/// Names that share a number, about: to look at so few costs less than to keep more numbers.
const SHARE: usize = 4;
/// Candidates an error names.
const MOST_NAMED: usize = 20;
/// Names an error proposes.
const MOST_NEAR: usize = 5;

/// The question of the index to files while they are listed.
pub(super) fn ahead() -> Defining {
    Defining::new(MOST_FILES, MOST_BYTES)
}

/// A symbol by its file and its place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SymbolId {
    pub(super) file: usize,
    pub(super) symbol: u32,
}

/// A source with what it defines.
pub(super) struct Indexed {
    pub(super) entry: Arc<Entry>,
    pub(super) facts: Arc<SourceFacts>,
    /// As other calls take it.
    pub(super) path: String,
    module: OnceLock<Vec<String>>,
}

impl Indexed {
    /// Its path below the start as the parts of a module's name.
    pub(super) fn module(&self) -> &[String] {
        self.module.get_or_init(|| module(&self.entry))
    }
}

/// All of them.
pub(super) struct Index {
    pub(super) files: Vec<Indexed>,
    pub(super) left_out: usize,
    by_name: NameIndex,
}

impl Index {
    /// Looks at the sources.
    pub(super) fn build(sources: &Sources<'_>) -> Result<Self, Fault> {
        // A file that was asked for by its name is looked at whatever its size.
        let most = if sources.is_file() { u64::MAX } else { MOST_BYTES };
        let own = sources.entries.iter().filter(|entry| sources.is_file() || !entry.is_vendored());
        let (found, looked_at) = sources.facts_of_first(own, MOST_FILES, most)?;
        let left_out = sources.entries.len() - looked_at;
        let file = |(entry, facts): (Arc<Entry>, Arc<SourceFacts>)| Indexed {
            path: sources.spell(&entry),
            module: OnceLock::new(),
            entry,
            facts,
        };
        let files: Vec<Indexed> = found.into_iter().map(file).collect();
        let by_name = NameIndex::build(&files);
        Ok(Self { files, left_out, by_name })
    }

    pub(super) fn facts(&self, id: SymbolId) -> &SourceFacts {
        &self.files[id.file].facts
    }

    pub(super) fn fact(&self, id: SymbolId) -> &Fact {
        &self.facts(id).symbols[id.symbol as usize]
    }

    pub(super) fn name(&self, id: SymbolId) -> &str {
        self.facts(id).name(self.fact(id))
    }

    pub(super) fn full_name(&self, id: SymbolId) -> String {
        self.facts(id).full_name(id.symbol)
    }

    /// Everything of this name that can be called, definitions before what is only announced.
    pub(super) fn named(&self, name: &str) -> Vec<SymbolId> {
        let near = self.by_name.near(Fact::number(name));
        let all: Vec<SymbolId> = near.filter(|id| self.name(*id) == name).collect();
        let defined: Vec<SymbolId> = all.iter().copied().filter(|id| !self.fact(*id).declaration).collect();
        if defined.is_empty() { all } else { defined }
    }

    /// The symbols directly in a symbol.
    pub(super) fn children(&self, id: SymbolId) -> impl Iterator<Item = SymbolId> {
        let symbols = (0u32..).zip(&self.facts(id).symbols);
        let inside = symbols.filter(move |(_, fact)| fact.parent == Some(id.symbol));
        inside.map(move |(symbol, _)| SymbolId { file: id.file, symbol })
    }

    /// The class a symbol belongs to: around it, or by the name before its own.
    pub(super) fn class_of(&self, id: SymbolId) -> Option<SymbolId> {
        let mut at = self.fact(id).parent;
        while let Some(symbol) = at {
            let around = SymbolId { file: id.file, symbol };
            if self.fact(around).kind.is_type() {
                // Methods added elsewhere belong to the type they are added to.
                let added = self.fact(around).kind == Kind::Impl;
                return if added { self.type_named(self.name(around), id.file) } else { Some(around) };
            }
            at = self.fact(around).parent;
        }
        let path = self.facts(id).path(id.symbol);
        let class = path.len().checked_sub(2).map(|at| path[at])?;
        self.type_named(class, id.file)
    }

    /// The one type of a name, or the one of this file among several.
    pub(super) fn type_named(&self, name: &str, file: usize) -> Option<SymbolId> {
        let name = name.split(['<', '[']).next().unwrap_or(name).trim();
        let types: Vec<SymbolId> =
            self.named(name).into_iter().filter(|id| self.fact(*id).kind.is_type()).collect();
        match types.as_slice() {
            [one] => Some(*one),
            several => several.iter().copied().find(|id| id.file == file),
        }
    }

    /// A member of a type, written inside it or added to it elsewhere.
    pub(super) fn member(&self, class: SymbolId, name: &str) -> Option<SymbolId> {
        if let Some(inside) = self.children(class).find(|id| self.name(*id) == name) {
            return Some(inside);
        }
        let added = |id: &SymbolId| {
            let path = self.facts(*id).path(id.symbol);
            path.len() > 1 && bare(path[path.len() - 2]) == self.name(class)
        };
        let mut members =
            self.named(name).into_iter().filter(|id| self.fact(*id).kind.is_callable()).filter(added);
        let first = members.next()?;
        members.next().is_none().then_some(first)
    }

    /// A function with the others beside it that only parameters tell apart.
    pub(super) fn overloads(&self, id: SymbolId) -> Vec<SymbolId> {
        let parent = self.fact(id).parent;
        let Some(symbol) = parent.filter(|_| self.facts(id).language.pack().style.overloads) else {
            return vec![id];
        };
        let name = self.name(id);
        let beside = self.children(SymbolId { file: id.file, symbol });
        beside.filter(|other| self.fact(*other).kind.is_callable() && self.name(*other) == name).collect()
    }

    /// The code that runs when a symbol is called: a class's constructor, or the symbol itself.
    pub(super) fn body_of(&self, id: SymbolId) -> SymbolId {
        if !self.fact(id).kind.is_type() {
            return id;
        }
        let own = self.name(id);
        let is_one = |child: &SymbolId| CONSTRUCTORS.contains(&self.name(*child)) || self.name(*child) == own;
        self.children(id).filter(|child| self.fact(*child).kind.is_callable()).find(is_one).unwrap_or(id)
    }

    /// The function a caller named: `func`, `Class.method`, `module.func` or `path::symbol`; all of
    /// them where several differ by their parameters alone.
    pub(super) fn target(&self, target: &str) -> Result<Vec<SymbolId>, Fault> {
        let target = target.trim();
        let in_file = target.split_once("::").and_then(|(path, symbol)| {
            let files = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
                (0..self.files.len()).filter(|at| fits(&self.files[*at].path)).collect()
            };
            let mut named = files(&|known| known == path);
            if named.is_empty() {
                named = files(&|known| known.strip_suffix(path).is_some_and(|above| above.ends_with('/')));
            }
            (!named.is_empty()).then_some((named, symbol))
        });
        let (files, symbol) = match &in_file {
            Some((files, symbol)) => (Some(files), *symbol),
            None => (None, target),
        };
        let asked = Asked::parse(symbol);
        let Some(last) = asked.parts.last() else {
            return Err(Fault::invalid("`target` names no function"));
        };
        let mut exact = Vec::new();
        let mut partly = Vec::new();
        for id in self.named(last).into_iter().filter(|id| files.is_none_or(|files| files.contains(&id.file)))
        {
            let path = self.facts(id).path(id.symbol);
            let mut long: Vec<&str> = self.files[id.file].module().iter().map(String::as_str).collect();
            long.extend(&path);
            if path == asked.parts {
                exact.push(id);
            } else if long.ends_with(&asked.parts) {
                partly.push(id);
            }
        }
        let mut found = if exact.is_empty() { partly } else { exact };
        if let Some(ordinal) = asked.ordinal {
            found = found.get(ordinal.wrapping_sub(1)).map(|id| vec![*id]).unwrap_or_default();
        }
        match found.as_slice() {
            [_] => Ok(found),
            [] => Err(self.unknown(target, last)),
            several if self.are_overloads(several) => Ok(found),
            several => Err(self.ambiguous(target, several)),
        }
    }

    /// True if these are one function of one file: told apart by parameters, or all but one made
    /// parts of it by decorators.
    fn are_overloads(&self, found: &[SymbolId]) -> bool {
        let [first, others @ ..] = found else { return false };
        let name = self.full_name(*first);
        let whole = found.iter().filter(|id| !self.fact(**id).is_part).count();
        (whole <= 1 || self.facts(*first).language.pack().style.overloads)
            && found.iter().all(|id| self.fact(*id).kind.is_callable())
            && others.iter().all(|id| id.file == first.file && self.full_name(*id) == name)
    }

    fn unknown(&self, target: &str, name: &str) -> Fault {
        let wanted = name.to_lowercase();
        let mut near: Vec<&str> = self
            .by_name
            .all()
            .map(|id| self.name(id))
            .filter(|name| {
                let name = name.to_lowercase();
                name.contains(&wanted) || (name.len() > 2 && wanted.contains(&name))
            })
            .collect();
        near.sort_by_key(|name| (name.len().abs_diff(wanted.len()), *name));
        near.dedup();
        near.truncate(MOST_NEAR);
        let fault = Fault::not_found(format!("no function `{target}` in {} files", self.files.len()));
        if self.left_out > 0 {
            return fault.hint(format!(
                "{} more files were not looked at: give the directory or file it is in as `path`",
                self.left_out
            ));
        }
        match near.as_slice() {
            [] => fault.hint("look for the name with search_content, or pass a larger path"),
            near => fault.hint(format!("similar names: {}", near.join(", "))),
        }
    }

    fn ambiguous(&self, target: &str, found: &[SymbolId]) -> Fault {
        let choice = |id: &SymbolId| {
            let file = &self.files[id.file];
            // Two of one name in one file are told apart by their order.
            let name = self.full_name(*id);
            let same: Vec<&SymbolId> = found
                .iter()
                .filter(|other| other.file == id.file && self.full_name(**other) == name)
                .collect();
            let ordinal = same.iter().position(|other| *other == id).filter(|_| same.len() > 1);
            let ordinal = ordinal.map_or_else(String::new, |at| format!("#{}", at + 1));
            format!("{}::{name}{ordinal} (line {})", file.path, self.fact(*id).line)
        };
        let mut choices: Vec<String> = found.iter().take(MOST_NAMED).map(choice).collect();
        if found.len() > MOST_NAMED {
            choices.push(format!("… and {} more", found.len() - MOST_NAMED));
        }
        let message = format!("`{target}` can mean {} functions:\n  {}", found.len(), choices.join("\n  "));
        Fault::new(FaultKind::Conflict, message).hint("pass one of them as target, as path::symbol")
    }
}

/// Everything that can be called, in the order of the last bits of its name's number. It is
/// made for each question, so it is dealt out and never compared.
struct NameIndex {
    /// The file and the place in it, as short as they can be kept.
    ids: Vec<(u32, u32)>,
    /// The beginning of those of each number, and the end of the last.
    starts: Vec<u32>,
    mask: u32,
}

impl NameIndex {
    fn build(files: &[Indexed]) -> Self {
        let symbols: usize = files.iter().map(|indexed| indexed.facts.symbols.len()).sum();
        // Facts are spread over all of memory, so that they are visited once.
        let mut callable: Vec<(u32, (u32, u32))> = Vec::with_capacity(symbols);
        for (file, indexed) in (0u32..).zip(files) {
            let named = (0u32..).zip(&indexed.facts.symbols).filter(|(_, fact)| {
                (fact.kind.is_callable() || fact.kind.is_type()) && fact.kind != Kind::Impl
            });
            callable.extend(named.map(|(symbol, fact)| (fact.number, (file, symbol))));
        }
        let numbers = (callable.len() / SHARE).next_power_of_two().min(MOST_NUMBERS);
        let mask = numbers as u32 - 1;
        // Those of a number are counted two places further on. So the sums say one place further
        // on where they begin, and after all are dealt out, where they end and the next begin.
        let mut starts = vec![0u32; numbers + 2];
        callable.iter().for_each(|(number, _)| starts[(number & mask) as usize + 2] += 1);
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let mut ids = vec![(0, 0); callable.len()];
        for (number, id) in callable {
            let place = &mut starts[(number & mask) as usize + 1];
            ids[*place as usize] = id;
            *place += 1;
        }
        Self { ids, starts, mask }
    }

    /// All with this number, and some with others, in the order of their places.
    fn near(&self, number: u32) -> impl Iterator<Item = SymbolId> {
        let bucket = (number & self.mask) as usize;
        whole(&self.ids[self.starts[bucket] as usize..self.starts[bucket + 1] as usize])
    }

    fn all(&self) -> impl Iterator<Item = SymbolId> {
        whole(&self.ids)
    }
}

fn whole(ids: &[(u32, u32)]) -> impl Iterator<Item = SymbolId> {
    ids.iter().map(|(file, symbol)| SymbolId { file: *file as usize, symbol: *symbol })
}

/// A name without its type arguments.
fn bare(name: &str) -> &str {
    name.split(['<', '[']).next().unwrap_or(name)
}

/// A file's path as the parts of a module's name. A file that stands for its folder has the
/// folder's name.
fn module(entry: &Entry) -> Vec<String> {
    let path = entry.path().with_extension("");
    let mut parts: Vec<String> =
        path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    if parts.len() > 1
        && parts.last().is_some_and(|last| matches!(last.as_str(), "__init__" | "index" | "mod"))
    {
        parts.pop();
    }
    parts
}
