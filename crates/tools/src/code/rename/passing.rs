//! The files that re-export the target: those that import it under its name, and those that import its
//! module under a name through which others reach it.

use std::sync::Arc;

use tectum_core::{Ctx, Fault};
use tectum_syntax::{Import, Outline, Pack, Reach, Shadow, Stop, Unparsed};

use super::{
    super::{
        Only,
        lookup::unparsed,
        modules::{Module, stem},
        project::{Entry, Sources},
    },
    target::{Door, File, Target},
};

/// Length of a chain of re-exports that is followed.
const MOST_PASSED: usize = 4;

/// Local names of one module that are followed.
const MOST_WORDS: usize = 16;
/// Finds the re-exporting files, directly and through one another.
pub(super) fn find(
    ctx: &Ctx,
    sources: &Sources<'_>,
    holding: &[Arc<Entry>],
    pack: &Pack,
    target: &mut Target,
) -> Result<(), Fault> {
    let look = PassingSearch { ctx, sources, pack };
    doors(&look, target)?;
    for _ in 0..MOST_PASSED {
        let known = &*target;
        let found = look.each(holding, |file, stop| {
            if file.name == known.file || known.passing.iter().any(|other| other == file.name) {
                return Ok(None);
            }
            Ok(known.is_passed_by(file, stop)?.then(|| file.name.to_owned()))
        })?;
        if found.is_empty() {
            break;
        }
        target.passing.extend(found);
    }
    Ok(())
}

/// Finds the files that know the target's module under a name.
fn doors(look: &PassingSearch<'_>, target: &mut Target) -> Result<(), Fault> {
    let style = &look.pack.style;
    if style.reach != Reach::Imported || style.separator != "." {
        return Ok(());
    }
    let mut words: Vec<String> = vec![stem(&target.file).to_owned()];
    for _ in 0..MOST_PASSED {
        let named: Vec<&str> = words.iter().map(String::as_str).collect();
        let holding = look.sources.holding(&named, Only::Any)?;
        let known = &*target;
        let found: Vec<Door> =
            look.each(&holding, |file, stop| opened_by(known, file, stop))?.into_iter().flatten().collect();
        let fresh: Vec<Door> = found.into_iter().filter(|door| !known.doors.contains(door)).collect();
        if fresh.is_empty() {
            break;
        }
        words = fresh.iter().map(|door| door.name.clone()).collect();
        words.sort();
        words.dedup();
        words.truncate(MOST_WORDS);
        target.doors.extend(fresh);
    }
    Ok(())
}

/// The names under which a file, and not only a function in it, knows the target's module.
fn opened_by(target: &Target, file: &File<'_>, stop: Stop<'_>) -> Result<Option<Vec<Door>>, Unparsed> {
    let mut doors = Vec::new();
    for import in file.language.imports(file.text, stop)? {
        let Some(name) = import.local.clone().filter(|_| is_module(target, file, &import)) else { continue };
        let shadows = file.language.shadows(file.text, &name, stop)?;
        if Shadow::over(&shadows, import.span).is_none() {
            doors.push(Door { file: file.name.to_owned(), name });
        }
    }
    Ok((!doors.is_empty()).then_some(doors))
}

/// True if what an import makes known is the target's module.
fn is_module(target: &Target, file: &File<'_>, import: &Import) -> bool {
    let whole = import.name.as_deref() != Some("*");
    whole && target.is_module(&Module::bound(import, file.name, &[]), file)
}

/// The project to search and the language family of the target.
struct PassingSearch<'l> {
    ctx: &'l Ctx,
    sources: &'l Sources<'l>,
    pack: &'l Pack,
}

impl PassingSearch<'_> {
    /// Asks something of every related file.
    fn each<T: Send>(
        &self,
        holding: &[Arc<Entry>],
        ask: impl Fn(&File<'_>, Stop<'_>) -> Result<Option<T>, Unparsed> + Sync,
    ) -> Result<Vec<T>, Fault> {
        let stop = || self.ctx.cancel.is_cancelled();
        let found = self.sources.each(holding, |entry, content| {
            let name = self.sources.spell(entry);
            let text = content.text()?;
            let language = self.sources.language(entry, &text, Only::Any)?;
            let related = language.pack().family == self.pack.family;
            let file = File { name: &name, text: &text, language: &language, outline: &Outline::default() };
            related.then(|| ask(&file, &stop).transpose()).flatten()
        })?;
        let found = found.into_iter().map(|(_, found)| found);
        found.collect::<Result<_, _>>().map_err(|why| unparsed("a file of the project", why))
    }
}
