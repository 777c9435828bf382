//! The steps that every code writer shares: read, edit, parse again, and only then write.

use std::{fmt::Write, ops::Range, sync::Arc};

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Bodies, Detail, Outline, Source, Span, Symbol, Unparsed, delta, indent};

use super::{Code, Only, Opened, check, lookup::unparsed};
use crate::{
    edit::{Written, pen::Terms},
    text::{Indent, Newline, TextFile},
};

/// Problems an answer names.
const NAMED: usize = 5;

/// Ranges of a text and what takes their place, in order.
pub(super) type Edits = Vec<(Range<usize>, String)>;

/// What a writer did.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// What was done, and what to know about it.
    pub notes: Vec<String>,
    /// The file now.
    #[serde(flatten)]
    pub written: Written,
}

/// Changes the call's first file as `work` says, unless that would break its syntax. `work`
/// gives the edits and what the reply says of them, first line first.
pub(super) fn change(
    code: &Code,
    ctx: &Ctx,
    only: Only,
    dry_run: bool,
    work: impl FnOnce(&Opened, &Outline) -> Result<(Edits, Vec<String>), Fault>,
) -> Result<Reply<Output>, Fault> {
    let terms = Terms { revision: None, dry_run };
    let (written, (source, notes)) = code.pen.revise(ctx, &terms, |name, file| {
        let opened = code.opened(name.to_owned(), file.clone(), only)?;
        let outline = opened.outline(ctx, Detail::Full)?;
        let (edits, notes) = work(&opened, &outline)?;
        let after = file.edited(&edits)?;
        let source = verify(ctx, &opened, &after, &edits)?;
        Ok((after, (source, notes)))
    })?;
    if !dry_run {
        code.languages.shelf.put(source);
    }
    Ok(Reply::new(told(&notes, &written), Output { notes, written }))
}

fn told(notes: &[String], written: &Written) -> String {
    let mut text = String::new();
    for note in notes {
        let _ = writeln!(text, "{note}");
    }
    text.push_str(&written.closing());
    text
}

/// Bytes as the text of a file.
pub(super) fn decoded(name: &str, bytes: &[u8]) -> Result<TextFile, Fault> {
    TextFile::decode(bytes.to_vec()).map_err(|not_text| not_text.fault(name))
}

/// The edited file as source, if the edits brought no syntax error.
pub(super) fn verify(
    ctx: &Ctx,
    before: &Opened,
    after: &TextFile,
    edits: &Edits,
) -> Result<Arc<Source>, Fault> {
    let stop = || ctx.cancel.is_cancelled();
    let fail = |why| unparsed(&before.name, why);
    let text: Arc<str> = after.text().into();
    let source = match &edits[..] {
        // One edit: the tree is parsed again only around it.
        [(range, _)] => {
            let end = after.text().len() - (before.text().len() - range.end);
            let inserted = after.text()[range.start..end].to_owned();
            before.source.edited(range, &inserted, text, &stop)
        }
        _ => Source::new(before.source.language().clone(), text),
    };
    for (range, inserted) in edits {
        check_brackets(before, range, inserted)?;
    }
    let was = match before.source.check(&stop) {
        // What could not be checked cannot be found broken.
        Err(Unparsed::TooLarge(_) | Unparsed::Late(_)) => return Ok(Arc::new(source)),
        checked => checked.map_err(fail)?,
    };
    let is = source.check(&stop).map_err(fail)?;
    let places = places(before.file.facts().newline, edits);
    let fresh = delta::introduced((before.text(), &was), (after.text(), &is), &places);
    if fresh.is_empty() {
        return Ok(Arc::new(source));
    }
    let mut message = format!("the edit would break the syntax of {}; nothing was written:", before.name);
    for problem in fresh.iter().take(NAMED) {
        let check::SyntaxProblem { line, column, message: wrong, text } = check::place(after, problem);
        let _ = write!(message, "\n  line {line}, col {column}: {wrong}\n    {text}");
    }
    if fresh.len() > NAMED {
        let _ = write!(message, "\n  … and {} more", fresh.len() - NAMED);
    }
    Err(Fault::conflict(message)
        .hint("line numbers are those after the edit; correct what was to be written, or use edit_file"))
}

/// Refuses source with unpaired brackets in the place of source that had none, in languages
/// where a grammar cannot be relied on to notice: it recovers, and may do so silently.
fn check_brackets(before: &Opened, range: &Range<usize>, inserted: &str) -> Result<(), Fault> {
    let pack = before.source.language().pack();
    let conditional = |text: &str| text.lines().any(|line| line.trim_start().starts_with("#if"));
    let old = &before.text()[range.clone()];
    if pack.style.bodies != Bodies::Braced
        || pack.front.check.is_none()
        || conditional(old)
        || conditional(inserted)
    {
        return Ok(());
    }
    let open = indent::unpaired(pack, inserted);
    if open.is_empty() || !indent::unpaired(pack, old).is_empty() {
        return Ok(());
    }
    Err(Fault::conflict(format!(
        "the new source has brackets without their other half: {}; nothing was written",
        open.iter().map(|bracket| format!("`{bracket}`")).collect::<Vec<_>>().join(" ")
    ))
    .hint("give the whole definition, with every bracket closed"))
}

/// The places of the edits in the new text.
fn places(newline: Newline, edits: &Edits) -> Vec<Range<usize>> {
    let mut shift = 0isize;
    let place = |(range, inserted): &(Range<usize>, String)| {
        let wider = match newline {
            Newline::Only(crate::text::Eol::CrLf) => {
                inserted.matches('\n').count() - inserted.matches("\r\n").count()
            }
            _ => 0,
        };
        let length = inserted.len() + wider;
        let start = range.start.saturating_add_signed(shift);
        shift += length as isize - range.len() as isize;
        start..start + length
    };
    edits.iter().map(place).collect()
}

impl Opened {
    /// The blanks before the line in which an offset stands.
    pub(super) fn indent_at(&self, offset: usize) -> &str {
        let line = self.file.lines().range(self.file.lines().at(offset)).unwrap_or(0..0);
        let written = &self.text()[line];
        let blanks = &written[..written.len() - written.trim_start_matches([' ', '\t', '\x0c']).len()];
        // A form feed begins a page and indents nothing.
        &blanks[blanks.rfind('\x0c').map_or(0, |at| at + 1)..]
    }

    /// One level of indentation near a symbol: as its own body has it, else as the bodies around
    /// it do, else as any body of the file, else as the file's lines look.
    pub(super) fn unit(&self, outline: &Outline, near: Option<u32>) -> Option<String> {
        /// Bodies looked at: the first that tells is as good as any.
        const BODIES: usize = 200;
        let around = std::iter::successors(near, |at| outline.symbols[*at as usize].parent);
        let around = around.map(|at| &outline.symbols[at as usize]);
        let all = around.chain(outline.symbols.iter().take(BODIES));
        all.filter_map(|symbol| self.own_unit(symbol)).next().or_else(|| match self.file.facts().indent {
            Indent::Tabs => Some("\t".to_owned()),
            Indent::Spaces(width) => Some(" ".repeat(width)),
            Indent::Unknown | Indent::Mixed => None,
        })
    }

    /// The indentation of a symbol's body beyond the symbol's own.
    fn own_unit(&self, symbol: &Symbol) -> Option<String> {
        let inner = self.text().get(symbol.body.range())?;
        let first = inner.find(|c: char| !c.is_whitespace() && c != '{')?;
        let at = symbol.body.start as usize + first;
        let outer = self.indent_at(symbol.head.start as usize);
        let starts_line = self.file.lines().at(at) > self.file.lines().at(symbol.head.start as usize);
        let step = self.indent_at(at).strip_prefix(outer)?;
        (starts_line && !step.is_empty()).then(|| step.to_owned())
    }

    /// The beginning of an offset's line.
    pub(super) fn line_start(&self, offset: usize) -> usize {
        self.file.lines().range(self.file.lines().at(offset)).map_or(0, |line| line.start)
    }

    /// The end of an offset's line, behind its line end.
    pub(super) fn line_end(&self, offset: usize) -> usize {
        self.file.lines().range(self.file.lines().at(offset)).map_or(self.text().len(), |line| line.end)
    }

    /// A symbol with the comment behind it on its last line.
    pub(super) fn extent(&self, symbol: &Symbol) -> Span {
        let end = symbol.whole.end as usize;
        let rest = crate::text::body(&self.text()[end..self.line_end(end.saturating_sub(1)).max(end)]);
        let tail = rest.trim();
        let line = tail.starts_with(self.source.language().pack().style.comment);
        let block = tail.starts_with("/*") && tail.find("*/") == tail.len().checked_sub(2);
        let more = if line || block { rest.trim_end().len() } else { 0 };
        Span { start: symbol.whole.start, end: (end + more) as u32 }
    }

    /// The same with its documentation, where that stands before it.
    pub(super) fn with_doc(&self, symbol: &Symbol) -> Span {
        let before = !symbol.doc.is_empty() && symbol.doc.end <= symbol.whole.start;
        let Span { start, end } = self.extent(symbol);
        Span { start: if before { symbol.doc.start } else { start }, end }
    }
}

/// A note where new source did not keep its indentation.
pub(super) fn reindented(content: &str, fitted: &str) -> Option<String> {
    indent::is_changed(content, fitted)
        .then(|| "Note: the new source was re-indented to fit its place".to_owned())
}

pub(super) fn not_empty(argument: &str, content: &str) -> Result<(), Fault> {
    if content.trim().is_empty() {
        return Err(Fault::invalid(format!("{argument} is empty; nothing was changed"))
            .hint("code_remove takes a definition away"));
    }
    Ok(())
}

/// The definitions of the file after some edits, and those of them that the first edit brought.
pub(super) fn after(
    ctx: &Ctx,
    code: &Code,
    opened: &Opened,
    edits: &Edits,
    only: Only,
) -> Result<(Opened, std::sync::Arc<Outline>), Fault> {
    let file = opened.file.edited(edits)?;
    let edited = code.opened(opened.name.clone(), file, only)?;
    let outline = edited.outline(ctx, Detail::Full)?;
    Ok((edited, outline))
}
