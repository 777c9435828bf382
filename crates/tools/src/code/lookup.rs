//! From a name in a call to the symbols of a file, or to an error that says what there is.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, FaultKind};
use tectum_syntax::{
    Detail, Gap, Outline, Source, Span, Symbol, Unparsed,
    names::{self, Asked, Meaning},
};

use crate::text::TextFile;

/// A file of the project and the language it is in.
pub(crate) struct Opened {
    pub(crate) name: String,
    pub(crate) file: TextFile,
    pub(crate) source: Arc<Source>,
}

/// Gaps a reply names.
const NAMED_GAPS: usize = 5;

impl Opened {
    /// The definitions of the file.
    pub(crate) fn outline(&self, ctx: &Ctx, detail: Detail) -> Result<Arc<Outline>, Fault> {
        self.source.outline(detail, &|| ctx.cancel.is_cancelled()).map_err(|why| unparsed(&self.name, why))
    }

    /// Every symbol a name can mean, at least one.
    pub(crate) fn all(
        &self,
        outline: &Outline,
        name: &str,
        fits: impl Fn(&Symbol) -> bool,
    ) -> Result<Vec<u32>, Fault> {
        let (pack, text, file) = (self.source.language().pack(), self.text(), &self.name);
        let asked = Asked::parse(name);
        let near = match names::find(pack, text, outline, &asked, fits) {
            Meaning::Some(found) => return Ok(found),
            Meaning::Nothing(near) => near,
        };
        if asked.parts.is_empty() {
            return Err(Fault::invalid("name is empty").hint("code_outline shows what the file defines"));
        }
        match names::find(pack, text, outline, &asked, |_| true) {
            Meaning::Some(other) if asked.ordinal.is_none() => {
                let kind = outline.symbols[other[0] as usize].kind.label();
                Err(Fault::not_found(format!("{name} in {file} is a {kind}, which this tool is not about"))
                    .hint("code_definition takes a symbol of any kind"))
            }
            _ => {
                let unnumbered = Asked { ordinal: None, ..asked.clone() };
                let there = match names::find(pack, text, outline, &unnumbered, |_| true) {
                    Meaning::Some(found) => found.len(),
                    Meaning::Nothing(_) => 0,
                };
                let known = names::some(pack, text, outline);
                Err(nothing(file, name, &asked, &near, &known, there))
            }
        }
    }

    /// The one symbol a name means; several are an error that tells how to choose. A type is
    /// meant before what is added to it.
    pub(crate) fn one(
        &self,
        outline: &Outline,
        name: &str,
        fits: impl Fn(&Symbol) -> bool,
    ) -> Result<u32, Fault> {
        match names::defining(outline, &self.all(outline, name, fits)?) {
            [only] => Ok(*only),
            several => Err(self.ambiguous(outline, name, several)),
        }
    }

    /// The error for a name that means several symbols.
    pub(crate) fn ambiguous(&self, outline: &Outline, name: &str, found: &[u32]) -> Fault {
        let choices = names::choices(self.source.language().pack(), self.text(), outline, found, name);
        let message = format!("{name} means {} symbols in {}", found.len(), self.name);
        Fault::conflict(format!("{message}:\n{}", choices.trim_end()))
            .hint("repeat the call with one of these names; nothing was changed")
    }

    pub(crate) fn text(&self) -> &str {
        self.file.text()
    }

    /// The first and last line of a stretch.
    pub(crate) fn lines(&self, span: Span) -> LineRange {
        let last = (span.end as usize).saturating_sub(1).max(span.start as usize);
        LineRange { first: self.file.lines().at(span.start as usize), last: self.file.lines().at(last) }
    }

    /// A stretch with the indentation of its first line, as a person would quote it.
    pub(crate) fn quoted(&self, span: Span) -> &str {
        let text = self.text();
        let start = self.file.lines().range(self.lines(span).first).map_or(0, |line| line.start);
        let blank = text[start..span.start as usize].trim().is_empty();
        &text[if blank { start } else { span.start as usize }..span.end as usize]
    }

    /// The stretches that could not be parsed, for the end of a reply.
    pub(crate) fn gaps(&self, gaps: &[Gap]) -> Vec<String> {
        let told = gaps.iter().take(NAMED_GAPS).map(|gap| {
            let lines = self.lines(gap.span);
            format!("{lines}: {}, so symbols may be missing there", gap.why)
        });
        let mut notes: Vec<String> = told.collect();
        if gaps.len() > NAMED_GAPS {
            notes.push(format!("and {} more such places", gaps.len() - NAMED_GAPS));
        }
        notes
    }
}

/// Lines of a file, from 1, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LineRange {
    /// The first line.
    pub first: usize,
    /// The last line.
    pub last: usize,
}

impl std::fmt::Display for LineRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Lines {}-{}", self.first, self.last)
    }
}

fn nothing(
    file: &str,
    name: &str,
    asked: &Asked<'_>,
    near: &[String],
    known: &[String],
    there: usize,
) -> Fault {
    let bare = name.rsplit_once('#').map_or(name, |(bare, _)| bare);
    let fault = match asked.ordinal {
        Some(ordinal) => {
            let fault = |there: &str| {
                Fault::not_found(format!("there is no number {ordinal} of {bare} in {file}: {there}"))
            };
            match there {
                0 => fault("it defines nothing of that name"),
                1 => return fault("it defines one of that name").hint(format!("name it {bare}")),
                many => {
                    return fault(&format!("it defines {many} of that name"))
                        .hint(format!("choose from {bare}#1 to {bare}#{many}"));
                }
            }
        }
        None => Fault::not_found(format!("no symbol {name} in {file}")),
    };
    match near {
        [] if known.is_empty() => fault.hint("it defines nothing; code_usages looks through a directory"),
        [] => fault.hint(format!("it defines {}; code_outline shows all", known.join(", "))),
        near => fault.hint(format!("did you mean {}?", near.join(", "))),
    }
}

/// The reason why a file could not be read as code.
pub(crate) fn unparsed(name: &str, why: Unparsed) -> Fault {
    match why {
        Unparsed::TooLarge(_) => Fault::new(FaultKind::TooLarge, format!("{name}: {why}"))
            .hint("read_file and search_content work on files of any size"),
        Unparsed::Late(_) => Fault::new(FaultKind::Timeout, format!("{name}: {why}"))
            .hint("edit_file changes a file without checking its syntax"),
        Unparsed::Stopped => Fault::new(FaultKind::Cancelled, format!("{name}: {why}")),
        Unparsed::Grammar(_) => Fault::internal(format!("{name}: {why}")),
    }
}
