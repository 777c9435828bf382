//! The classes of the files that were read: what each is called, and what it derives from.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use tectum_core::Fault;
use tectum_syntax::Kind;

use super::super::{
    Only,
    project::{Entry, Fact, SourceFacts, Sources},
};

/// A class by its file and its place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ClassId {
    pub(super) file: usize,
    pub(super) symbol: u32,
}

/// The classes of the files that were parsed.
#[derive(Default)]
pub(super) struct Classes {
    pub(super) files: Vec<(Arc<Entry>, Arc<SourceFacts>)>,
    known: HashSet<u64>,
    /// By the last part of what they derive from.
    pub(super) derived: HashMap<String, Vec<ClassId>>,
    /// By their own names.
    pub(super) defined: HashMap<String, Vec<ClassId>>,
}

impl Classes {
    /// Parses files that are not known yet.
    pub(super) fn learn(
        &mut self,
        sources: &Sources<'_>,
        entries: &[Arc<Entry>],
        only: Only,
    ) -> Result<(), Fault> {
        let new: Vec<Arc<Entry>> =
            entries.iter().filter(|entry| self.known.insert(entry.serial)).cloned().collect();
        for (at, facts) in sources.facts(&new, only, false)? {
            let file = self.files.len();
            for (symbol, fact) in (0u32..).zip(&facts.symbols).filter(|(_, fact)| fact.kind.is_type()) {
                let id = ClassId { file, symbol };
                let bases: BTreeSet<&str> = facts.bases(fact).map(last_part).collect();
                bases.iter().for_each(|base| self.derived.entry((*base).to_owned()).or_default().push(id));
                if fact.kind != Kind::Impl && !fact.declaration {
                    self.defined.entry(facts.name(fact).to_owned()).or_default().push(id);
                }
            }
            self.files.push((new[at].clone(), facts));
        }
        Ok(())
    }

    /// Finds what derives from these names under others that files import them by.
    pub(super) fn learn_aliases(
        &mut self,
        sources: &Sources<'_>,
        entries: &[Arc<Entry>],
        names: &[&str],
        only: Only,
    ) -> Result<(), Fault> {
        let found = sources.each(entries, |entry, content| {
            let text = content.text()?;
            let language = sources.language(entry, &text, only)?;
            memchr::memmem::find(text.as_bytes(), b" as ")?;
            let imports = language.imports(&text, &|| false).ok()?;
            let renamed = imports.into_iter().filter_map(|import| {
                let (name, local) = (import.name?, import.local?);
                (name != local && names.contains(&name.as_str())).then_some((local, name))
            });
            let renamed: Vec<(String, String)> = renamed.collect();
            (!renamed.is_empty()).then_some((entry.serial, renamed))
        })?;
        for (serial, (local, name)) in
            found.into_iter().flat_map(|(_, (serial, list))| list.into_iter().map(move |pair| (serial, pair)))
        {
            let of_file = |id: &&ClassId| self.files[id.file].0.serial == serial;
            let derived: Vec<ClassId> =
                self.derived.get(&local).into_iter().flatten().filter(of_file).copied().collect();
            let list = self.derived.entry(name).or_default();
            derived.into_iter().for_each(|id| {
                if !list.contains(&id) {
                    list.push(id);
                }
            });
        }
        Ok(())
    }

    pub(super) fn facts(&self, id: ClassId) -> &SourceFacts {
        &self.files[id.file].1
    }

    pub(super) fn fact(&self, id: ClassId) -> &Fact {
        &self.facts(id).symbols[id.symbol as usize]
    }

    pub(super) fn name(&self, id: ClassId) -> &str {
        last_part(self.facts(id).name(self.fact(id)))
    }
}

/// The name at the end of a base as written: `Base` of `*pkg.Base[T]`, `a::Base<b::C>`.
pub(super) fn last_part(base: &str) -> &str {
    let base = base.trim().trim_start_matches(['*', '&', ':']);
    let end = base.find(['<', '[', '(', '{']).unwrap_or(base.len());
    let base = base[..end].trim_end();
    let base = base.rsplit(['.', ':', '/', '\\']).next().unwrap_or(base);
    base.split_whitespace().last().unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_known_by_their_last_part() {
        for (base, expect) in [
            ("Base", "Base"),
            ("pkg.mod.Base", "Base"),
            ("Base[T]", "Base"),
            ("a::b::Base<c::D>", "Base"),
            ("*pkg.Base", "Base"),
            ("::Base", "Base"),
            ("public virtual Base", "Base"),
            ("make_base(1)", "make_base"),
            ("", ""),
        ] {
            assert_eq!(last_part(base), expect, "{base}");
        }
    }
}
