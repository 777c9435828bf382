//! `code_update_definition`, `py_set_signature`, `py_set_var_declaration`: new source in the
//! place of old.

use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Detail, Kind, Outline, Span, Symbol, indent, names};

use super::{
    Code, Only, Opened,
    args::{NewContent, NewDeclaration, NewSignature},
    change::{Edits, Output, change},
};

/// Replaces a definition.
pub(super) fn definition(
    code: &Code,
    ctx: &Ctx,
    args: &NewContent,
    only: Only,
) -> Result<Reply<Output>, Fault> {
    not_empty("new_content", &args.new_content)?;
    change(code, ctx, only, args.dry_run, |opened, outline| {
        let index = opened.one(outline, &args.name, |_| true)?;
        let symbol = &outline.symbols[index as usize];
        let place = Place { opened, outline, index };
        let decorated = symbol.whole.start < symbol.head.start;
        let all = place.replaced(symbol.whole, &args.new_content);
        let (edits, about) = if !decorated {
            (all, "")
        } else if brings_decorators(ctx, code, opened, &all, only)? {
            (all, "; its decorators were replaced by those of the new source")
        } else {
            let rest = Span { start: symbol.head.start, end: symbol.whole.end };
            (place.replaced(rest, &args.new_content), "; its decorators stay")
        };
        let mut notes = vec![place.updated(about)];
        notes.extend(new_name(ctx, code, opened, &edits, only, symbol)?);
        Ok((edits, notes))
    })
}

/// Replaces what stands before a body.
pub(super) fn signature(
    code: &Code,
    ctx: &Ctx,
    args: &NewSignature,
    only: Only,
) -> Result<Reply<Output>, Fault> {
    not_empty("new_signature", &args.new_signature)?;
    let mut given = args.new_signature.trim().to_owned();
    if given.starts_with('@') {
        return Err(Fault::invalid("new_signature begins with a decorator").hint(
            "give the part from `def` or `class` to the colon; py_update_definition changes decorators",
        ));
    }
    change(code, ctx, only, args.dry_run, |opened, outline| {
        let fits = |symbol: &Symbol| symbol.kind.is_callable() || symbol.kind.is_type();
        let index = opened.one(outline, &args.name, fits)?;
        let symbol = &outline.symbols[index as usize];
        if symbol.head.of(opened.text()).ends_with(':') && !given.ends_with(':') {
            given.push(':');
        }
        let place = Place { opened, outline, index };
        let edits = place.replaced(symbol.head, &given);
        let mut notes = vec![format!("{}; its body is unchanged", place.updated("").trim_end_matches('.'))];
        notes.extend(new_name(ctx, code, opened, &edits, only, symbol)?);
        Ok((edits, notes))
    })
}

/// Replaces the statement that declares a variable.
pub(super) fn declaration(
    code: &Code,
    ctx: &Ctx,
    args: &NewDeclaration,
    only: Only,
) -> Result<Reply<Output>, Fault> {
    not_empty("new_declaration", &args.new_declaration)?;
    change(code, ctx, only, args.dry_run, |opened, outline| {
        let index = opened.one(outline, &args.name, is_variable)?;
        let symbol = &outline.symbols[index as usize];
        let place = Place { opened, outline, index };
        let edits = place.replaced(symbol.whole, &args.new_declaration);
        Ok((edits, vec![place.updated("")]))
    })
}

/// Whether a symbol holds a value.
pub(super) fn is_variable(symbol: &Symbol) -> bool {
    matches!(symbol.kind, Kind::Variable | Kind::Constant | Kind::Field | Kind::Typedef)
}

pub(super) fn not_empty(argument: &str, content: &str) -> Result<(), Fault> {
    if content.trim().is_empty() {
        return Err(Fault::invalid(format!("{argument} is empty; nothing was changed"))
            .hint("code_remove takes a definition away"));
    }
    Ok(())
}

/// A symbol that gets new source.
struct Place<'p> {
    opened: &'p Opened,
    outline: &'p Outline,
    index: u32,
}

impl Place<'_> {
    fn symbol(&self) -> &Symbol {
        &self.outline.symbols[self.index as usize]
    }

    /// The edit that puts new source, fitted to the place, into a span.
    fn replaced(&self, span: Span, content: &str) -> Edits {
        let opened = self.opened;
        let start = span.start as usize;
        let base = opened.indent_at(start);
        let unit = opened.unit(Some(self.symbol()));
        let fitted = indent::fit(opened.source.language(), content, base, unit.as_deref());
        // The first line's own indentation stands before the span.
        let fitted = fitted.strip_prefix(base).unwrap_or(&fitted).to_owned();
        vec![(span.range(), fitted)]
    }

    fn updated(&self, about: &str) -> String {
        let opened = self.opened;
        let name = names::full_name(opened.source.language().pack(), opened.text(), self.outline, self.index);
        format!("Updated {name} in {} (was {}){about}", opened.name, opened.lines(self.symbol().whole))
    }
}

/// What the file defines after some edits, and what of it the first edit brought.
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

/// Whether the first definition of the new source has decorators of its own.
fn brings_decorators(
    ctx: &Ctx,
    code: &Code,
    opened: &Opened,
    edits: &Edits,
    only: Only,
) -> Result<bool, Fault> {
    let Some((range, _)) = edits.first() else { return Ok(false) };
    let (_, outline) = after(ctx, code, opened, edits, only)?;
    let first = outline.symbols.iter().find(|symbol| symbol.whole.start as usize == range.start);
    Ok(first.is_some_and(|symbol| symbol.whole.start < symbol.head.start))
}

/// A note where the new source defines another name; an error where it defines none.
fn new_name(
    ctx: &Ctx,
    code: &Code,
    opened: &Opened,
    edits: &Edits,
    only: Only,
    old: &Symbol,
) -> Result<Option<String>, Fault> {
    let Some((range, _)) = edits.first() else { return Ok(None) };
    let (edited, outline) = after(ctx, code, opened, edits, only)?;
    let end = edited.text().len() - (opened.text().len() - range.end);
    let start = (range.start as u32).min(old.whole.start);
    let inside = |symbol: &&Symbol| symbol.whole.start >= start && (symbol.whole.start as usize) < end;
    let name = old.name.of(opened.text());
    let mut brought = outline.symbols.iter().filter(inside).peekable();
    match brought.peek() {
        None => Err(Fault::invalid(format!("the new source of {name} defines nothing; nothing was written"))
            .hint("give the whole definition, from its first line to its last")),
        Some(first) => {
            let now = first.name.of(edited.text()).to_owned();
            let renamed = !brought.any(|symbol| symbol.name.of(edited.text()) == name);
            Ok(renamed.then(|| {
                format!(
                    "Note: it is called {now} now, not {name}; other places that use {name} were not changed"
                )
            }))
        }
    }
}
