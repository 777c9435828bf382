//! The uses that a definition leaves behind when it moves: the places that still use it where it was,
//! in its own file and in others.

use tectum_core::{Ctx, Fault};
use tectum_syntax::{Outline, Reach};

use super::{
    Code, Opened,
    carried::{Carried, neighbours},
    change::Edits,
    rename,
};
use crate::text::TextFile;

/// Lines a note names.
const NAMED: usize = 10;
/// Files with a note of their own; the rest are counted.
const MOST_FILES: usize = 20;

/// A definition that went from one file to another.
pub(super) struct Gone<'g> {
    pub(super) source: &'g Opened,
    pub(super) outline: &'g Outline,
    pub(super) index: u32,
    pub(super) target: &'g str,
    pub(super) moved: &'g Carried,
    /// The edits that took it out of the source, and the source without it.
    pub(super) removal: &'g Edits,
    pub(super) after: &'g TextFile,
}

impl Gone<'_> {
    /// A note for every file that uses it still, below the call's third path.
    pub(super) fn notes(&self, code: &Code, ctx: &Ctx) -> Result<Vec<String>, Fault> {
        let Self { source, outline, index, target, moved, .. } = *self;
        let everywhere = source.source.language().pack().style.reach == Reach::Everywhere;
        let known = everywhere || neighbours(source, target);
        let top = outline.symbols[index as usize].parent.is_none();
        if known && top && moved.old == moved.name {
            return Ok(Vec::new());
        }
        let found = rename::uses(code, ctx, 2, source, outline, index)?;
        let advice =
            if top { format!("import it there from {target}") } else { format!("it is in {target} now") };
        let mut notes = Vec::new();
        let own = self.own(&found.own);
        if !own.is_empty() {
            let (name, lines) = (&source.name, numbers(&own));
            notes.push(format!("Not fixed: {name} still uses {} at {lines}; {advice}", moved.old));
        }
        for other in found.others.iter().take(MOST_FILES) {
            let (name, old) = (&other.name, &moved.old);
            if *name == target {
                notes.push(format!("Not fixed: {name} knew {old} from elsewhere; look at its imports"));
                continue;
            }
            if !other.certain.is_empty() {
                let lines = numbers(&other.certain);
                notes.push(format!("Not fixed: {name} still uses {old} at {lines}; {advice}"));
            }
            if !other.uncertain.is_empty() {
                notes.push(format!("Uncertain: {name} may use {old} at {}", numbers(&other.uncertain)));
            }
        }
        if found.others.len() > MOST_FILES {
            let more = found.others.len() - MOST_FILES;
            notes.push(format!("… and {more} more files use it or may; code_usages lists them"));
        }
        Ok(notes)
    }

    /// The lines of the source that use it, as they are without it.
    fn own(&self, places: &[tectum_syntax::Span]) -> Vec<usize> {
        let gone = self.source.with_doc(&self.outline.symbols[self.index as usize]);
        let mut lines = Vec::new();
        for place in places.iter().filter(|place| !gone.holds(**place)) {
            let mut at = place.start as isize;
            for (range, put) in self.removal.iter().filter(|(range, _)| range.end <= place.start as usize) {
                at += put.len() as isize - range.len() as isize;
            }
            lines.push(self.after.lines().at(at.max(0) as usize));
        }
        lines.dedup();
        lines
    }
}

/// Lines in words, cut.
fn numbers(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().take(NAMED).map(usize::to_string).collect();
    let more = if lines.len() > NAMED { format!(" and {} more", lines.len() - NAMED) } else { String::new() };
    let word = if lines.len() == 1 { "line" } else { "lines" };
    format!("{word} {}{more}", shown.join(", "))
}
