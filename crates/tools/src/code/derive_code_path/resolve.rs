//! The meaning of a call, by names: the nearest first, and nothing where names do not tell.

use tectum_core::Fault;
use tectum_syntax::{Bodies, Import, Kind};

use super::{
    index::{Index, SymbolId},
    loaded::{Call, Loader},
};
use crate::code::modules::is_test;

/// Bases followed upwards; a longer line is a circle.
const MOST_BASES: usize = 32;

/// The target of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// This function or class.
    One(SymbolId),
    /// One of these; the names do not tell which.
    Several(Vec<SymbolId>),
    /// Nothing in these sources.
    External,
}

impl Meaning {
    fn of(mut ids: Vec<SymbolId>) -> Self {
        ids.sort_unstable();
        ids.dedup();
        match ids.as_slice() {
            [] => Self::External,
            [one] => Self::One(*one),
            _ => Self::Several(ids),
        }
    }
}

/// Finds out what calls mean.
pub(super) struct Resolver<'r> {
    index: &'r Index,
    loader: &'r Loader<'r>,
}

impl<'r> Resolver<'r> {
    pub(super) fn new(index: &'r Index, loader: &'r Loader<'r>) -> Self {
        Self { index, loader }
    }

    /// Where one name is defined several times in a file and a later definition takes the place of
    /// an earlier, the last is meant if those before it only announce it: they call nothing.
    fn latest(&self, ids: Vec<SymbolId>) -> Result<Meaning, Fault> {
        let meaning = Meaning::of(ids);
        let Meaning::Several(ids) = &meaning else { return Ok(meaning) };
        let Some((last, before)) = ids.split_last() else { return Ok(meaning) };
        let replaces = self.index.facts(*last).language.pack().style.bodies != Bodies::Braced;
        let name = self.index.full_name(*last);
        let same = |id: &SymbolId| id.file == last.file && self.index.full_name(*id) == name;
        if !replaces || !before.iter().all(same) {
            return Ok(meaning);
        }
        for id in before {
            if !self.index.fact(*id).kind.is_callable() || !self.loader.calls(*id)?.is_empty() {
                return Ok(meaning);
            }
        }
        Ok(Meaning::One(*last))
    }

    /// The meaning of a call in a function. Nothing of a language of another family is called.
    pub(super) fn resolve(&self, from: SymbolId, call: &Call) -> Result<Meaning, Fault> {
        let family = |id: SymbolId| self.index.facts(id).language.pack().family;
        let tests = |id: SymbolId| is_test(&self.index.files[id.file].path);
        // No source calls its tests.
        let near = |id: &SymbolId| family(*id) == family(from) && (tests(from) || !tests(*id));
        Ok(match self.meaning(from, call)? {
            Meaning::One(id) if !near(&id) => Meaning::External,
            Meaning::Several(ids) => self.latest(ids.into_iter().filter(near).collect())?,
            other => other,
        })
    }

    fn meaning(&self, from: SymbolId, call: &Call) -> Result<Meaning, Fault> {
        let style = &self.index.files[from.file].facts.language.pack().style;
        if call.receiver.is_empty() {
            return self.plain(from, call);
        }
        let above =
            call.receiver == "super" || call.receiver.starts_with("super(") || call.receiver == "base";
        if above || style.receivers.contains(&call.receiver.as_str()) {
            let class = self.index.class_of(from);
            return Ok(class.map_or(Meaning::External, |class| self.inherited(class, &call.name, above)));
        }
        self.of_receiver(from, call)
    }

    /// A call without anything before its name.
    fn plain(&self, from: SymbolId, call: &Call) -> Result<Meaning, Fault> {
        let name = call.name.as_str();
        let mut scope = Some(from.symbol);
        while let Some(symbol) = scope {
            let around = SymbolId { file: from.file, symbol };
            let fact = self.index.fact(around);
            if fact.kind.is_callable()
                && let Some(nested) = self.index.children(around).find(|id| self.index.name(*id) == name)
            {
                return Ok(Meaning::One(nested));
            }
            scope = fact.parent;
        }
        let all = self.index.named(name);
        let loaded = self.loader.file(from.file)?;
        let mut imported = loaded.imports.iter().filter(|import| import.local.as_deref() == Some(name));
        let import = imported.next_back();
        if import.is_none() && !all.is_empty() && self.loader.is_local(from.file, call)? {
            return Ok(Meaning::External);
        }
        let here: Vec<SymbolId> =
            all.iter().copied().filter(|id| id.file == from.file && self.is_free(*id)).collect();
        if !here.is_empty() {
            return Ok(Meaning::of(here));
        }
        if let Some(import) = import {
            return Ok(self.imported(from.file, import));
        }
        let style = &self.index.files[from.file].facts.language.pack().style;
        // Where a method is called without the object before it.
        let implied = (style.overloads && !style.receivers.is_empty()) || style.bodies == Bodies::Worded;
        if implied
            && let Some(class) = self.index.class_of(from)
            && let member @ (Meaning::One(_) | Meaning::Several(_)) = self.inherited(class, name, false)
        {
            return Ok(member);
        }
        let free: Vec<SymbolId> = all.iter().copied().filter(|id| self.is_free(*id)).collect();
        if free.is_empty() && implied {
            return Ok(Meaning::of(all));
        }
        Ok(Meaning::of(free))
    }

    /// A call of a member of something named: a class, a module, or a value nobody knows.
    fn of_receiver(&self, from: SymbolId, call: &Call) -> Result<Meaning, Fault> {
        let parts: Vec<&str> = call.receiver.split(['.', ':']).filter(|part| !part.is_empty()).collect();
        let plain = parts.iter().all(|part| crate::code::project::words::is_name(part));
        if let (true, [first, rest @ ..]) = (plain, parts.as_slice()) {
            let loaded = self.loader.file(from.file)?;
            let mut imported = loaded.imports.iter().filter(|import| {
                import.local.as_deref() == Some(first)
                    // `import a.b` binds `a`, and `a.b.f()` goes through it.
                    || (import.name.is_none() && import.module == call.receiver)
            });
            if let Some(import) = imported.next_back() {
                return Ok(self.through(from.file, import, rest, &call.name));
            }
            let last = parts.last().copied().unwrap_or_default();
            if let Some(class) = self.index.type_named(last, from.file)
                && let member @ (Meaning::One(_) | Meaning::Several(_)) =
                    self.inherited(class, &call.name, false)
            {
                return Ok(member);
            }
            let within = |id: &SymbolId| {
                let path = self.index.facts(*id).path(id.symbol);
                let mut long: Vec<&str> =
                    self.index.files[id.file].module().iter().map(String::as_str).collect();
                long.extend(&path[..path.len().saturating_sub(1)]);
                let parts: &[&str] = match parts.as_slice() {
                    ["crate" | "self" | "super", rest @ ..] => rest,
                    all => all,
                };
                long.ends_with(parts)
            };
            let inside: Vec<SymbolId> = self.index.named(&call.name).into_iter().filter(within).collect();
            if !inside.is_empty() {
                return Ok(Meaning::of(inside));
            }
            // A name that reads like a type, and is none of these sources.
            if last.starts_with(char::is_uppercase) && self.index.named(last).is_empty() {
                return Ok(Meaning::External);
            }
        }
        // What objects of the language have by themselves is no evidence for one of ours.
        let style = &self.index.files[from.file].facts.language.pack().style;
        if style.members.split_ascii_whitespace().any(|name| name == call.name) {
            return Ok(Meaning::External);
        }
        let members = self.index.named(&call.name).into_iter().filter(|id| !self.is_free(*id));
        Ok(Meaning::of(members.collect()))
    }

    /// The meaning of an imported name.
    fn imported(&self, file: usize, import: &Import) -> Meaning {
        let Some(name) = import.name.as_deref().or_else(|| own_name(import)) else {
            return Meaning::External;
        };
        let files = self.module_files(file, &import.module, &[]);
        let named: Vec<SymbolId> =
            self.index.named(name).into_iter().filter(|id| self.is_free(*id)).collect();
        let there: Vec<SymbolId> = named.iter().copied().filter(|id| files.contains(&id.file)).collect();
        // A module of these sources may pass on what another defines.
        if there.is_empty() && !files.is_empty() { Meaning::of(named) } else { Meaning::of(there) }
    }

    /// A member reached through an import: of a module, or of a class taken from one.
    fn through(&self, file: usize, import: &Import, rest: &[&str], name: &str) -> Meaning {
        let mut below: Vec<&str> = import.name.as_deref().into_iter().collect();
        below.extend(rest);
        let files = self.module_files(file, &import.module, &below);
        let free = |id: &SymbolId| files.contains(&id.file) && self.is_free(*id);
        let functions: Vec<SymbolId> = self.index.named(name).into_iter().filter(free).collect();
        if !functions.is_empty() {
            return Meaning::of(functions);
        }
        let files = self.module_files(file, &import.module, &[]);
        let class = below.last().copied().or_else(|| own_name(import)).and_then(|class| {
            let there = self.index.named(class).into_iter().find(|id| files.contains(&id.file));
            there.or_else(|| (!files.is_empty()).then(|| self.index.type_named(class, file)).flatten())
        });
        class.map_or(Meaning::External, |class| self.inherited(class, name, false))
    }

    /// The files a module's name can mean, seen from a file. Its parts are the end of a path;
    /// a name that begins with dots is read from the file's own folder.
    fn module_files(&self, from: usize, module: &str, below: &[&str]) -> Vec<usize> {
        let own = &self.index.files[from].entry;
        let folder: Vec<String> = own.path().parent().map_or_else(Vec::new, |folder| {
            folder.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
        });
        let slashed = module.contains('/');
        let (relative, mut wanted) =
            if slashed { relative_path(&folder, module) } else { relative_dots(&folder, module) };
        wanted.extend(below.iter().map(|part| (*part).to_owned()));
        if wanted.is_empty() {
            return Vec::new();
        }
        let fits = |at: &usize| {
            let module = self.index.files[*at].module();
            if relative { module == wanted } else { module.ends_with(&wanted) }
        };
        (0..self.index.files.len()).filter(fits).collect()
    }

    /// A member of a class or of what it derives from, the nearest first; all of its overloads,
    /// which names do not tell apart.
    fn inherited(&self, class: SymbolId, name: &str, above: bool) -> Meaning {
        let mut queue = vec![class];
        let mut at = 0;
        while let Some(class) = queue.get(at).copied().filter(|_| at < MOST_BASES) {
            if !(above && at == 0)
                && let Some(member) = self.index.member(class, name)
            {
                return Meaning::of(self.index.overloads(member));
            }
            for base in self.index.facts(class).bases(self.index.fact(class)) {
                let last = base.split(['<', '[', '(']).next().unwrap_or(base);
                let last = last.rsplit(['.', ':']).next().unwrap_or(last).trim();
                let base = self.index.type_named(last, class.file).filter(|base| !queue.contains(base));
                queue.extend(base);
            }
            at += 1;
        }
        Meaning::External
    }

    /// True if a symbol is called by its own name, without an object before it.
    fn is_free(&self, id: SymbolId) -> bool {
        let fact = self.index.fact(id);
        if fact.kind == Kind::Method {
            return false;
        }
        let parent = fact.parent.map(|symbol| self.index.fact(SymbolId { file: id.file, symbol }).kind);
        !parent.is_some_and(|kind| (kind.is_type() && !fact.kind.is_type()) || kind.is_callable())
    }
}

/// The type an import takes by naming a module's last part: `Token` of `import a.b.Token`.
fn own_name(import: &Import) -> Option<&str> {
    let last = import.module.rsplit(['.', ':', '\\']).next()?;
    (import.name.is_none() && import.local.as_deref() == Some(last) && last != import.module).then_some(last)
}

/// `./a/b` and `../a` from a folder; anything else is the end of a path.
fn relative_path(folder: &[String], module: &str) -> (bool, Vec<String>) {
    let relative = module.starts_with('.');
    let mut parts: Vec<String> = if relative { folder.to_vec() } else { Vec::new() };
    for part in module.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part.to_owned()),
        }
    }
    if let Some(last) = parts.last_mut()
        && let Some((stem, _)) = last.rsplit_once('.').filter(|(stem, _)| !stem.is_empty())
    {
        *last = stem.to_owned();
    }
    (relative, parts)
}

/// `.a` and `..a.b` from a folder; anything else is the end of a path.
fn relative_dots(folder: &[String], module: &str) -> (bool, Vec<String>) {
    let dots = module.len() - module.trim_start_matches('.').len();
    let mut parts = match dots {
        0 => Vec::new(),
        dots => folder[..folder.len().saturating_sub(dots - 1)].to_vec(),
    };
    let words = module.split(['.', ':', '\\']).filter(|part| !part.is_empty());
    let words = words.filter(|part| !matches!(*part, "crate" | "self" | "super"));
    parts.extend(words.map(str::to_owned));
    (dots > 0, parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: (bool, Vec<String>), relative: bool, expect: &str) {
        assert_eq!((found.0, found.1.join("/").as_str()), (relative, expect));
    }

    #[test]
    fn modules_become_paths() {
        let folder: Vec<String> = ["a", "b"].map(str::to_owned).to_vec();
        check(relative_dots(&folder, ".x"), true, "a/b/x");
        check(relative_dots(&folder, "..x.y"), true, "a/x/y");
        check(relative_dots(&folder, "....."), true, "");
        check(relative_dots(&folder, "x.y"), false, "x/y");
        check(relative_dots(&folder, "crate::x::y"), false, "x/y");
        check(relative_path(&folder, "./x.js"), true, "a/b/x");
        check(relative_path(&folder, "../x/y"), true, "a/x/y");
        check(relative_path(&folder, "example.org/x"), false, "example.org/x");
    }
}
