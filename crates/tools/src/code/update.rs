//! `code_update_definition`, `py_set_signature`, `py_set_var_declaration`: new source in the
//! place of old.

use std::{ops::Range, sync::Arc};

use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Bodies, Kind, Language, Outline, Span, Symbol, indent, names};

use super::{
    Code, Only, Opened,
    args::{NewContent, NewDeclaration, NewSignature},
    change::{Edits, Output, after, change, not_empty, reindented},
    wrapped::Unwrapped,
};

/// Replaces a definition. Decorators and documentation that the new source does not bring stay.
pub(super) fn definition(
    code: &Code,
    ctx: &Ctx,
    args: NewContent,
    only: Only,
) -> Result<Reply<Output>, Fault> {
    not_empty("new_content", &args.new_content)?;
    change(code, ctx, only, args.dry_run, |opened, outline| {
        let index = opened.one(outline, &args.name, |_| true)?;
        let place = UpdatePlace { ctx, code, only, opened, outline, index, dry_run: args.dry_run };
        let symbol = place.symbol();
        let given = (symbol.name.slice(opened.text()), args.new_content.as_str());
        let Unwrapped { content, note } =
            Unwrapped::find(ctx, code, only, (opened, outline), symbol.parent, given)?;
        let extent = place.extent(&content);
        let whole = place.replaced(extent, &content);
        let new = place.brought(&whole)?;
        let decorated = symbol.whole.start < symbol.head.start;
        let documented = opened.with_doc(symbol).start < symbol.whole.start;
        let before = Span { start: symbol.whole.start, end: symbol.head.start }.slice(opened.text()).trim();
        let (stays, replaced) = if before.starts_with(['@', '#', '[']) {
            ("; its decorators stay", "; its decorators were replaced by those of the new source")
        } else {
            ("; what stands before it stays", "; what stood before it was replaced")
        };
        let (edits, about) = match (decorated && !new.decorators, new.doc) {
            (false, true) if documented => {
                let span = Span { start: symbol.doc.start, end: extent.end };
                (place.replaced(span, &content), if decorated { replaced } else { "" })
            }
            (false, _) => (whole, if decorated { replaced } else { "" }),
            (true, false) => {
                let span = Span { start: symbol.head.start, end: extent.end };
                (place.replaced(span, &content), stays)
            }
            (true, true) => (place.around_decorators(&new, extent.end), stays),
        };
        let mut notes = vec![place.updated(about)];
        notes.extend(note);
        notes.extend(reindented(&content, &place.fitted(extent, &content)));
        notes.extend(place.new_name(&edits)?);
        place.keeps_others(&edits)?;
        Ok((edits, notes))
    })
}

/// Replaces what stands before a body.
pub(super) fn signature(
    code: &Code,
    ctx: &Ctx,
    args: NewSignature,
    only: Only,
) -> Result<Reply<Output>, Fault> {
    not_empty("new_signature", &args.new_signature)?;
    let mut given = args.new_signature.trim().to_owned();
    if given.starts_with('@') {
        return Err(Fault::invalid("new_signature begins with a decorator").hint(
            "give the part from `def` or `class` to the colon; py_update_definition changes decorators",
        ));
    }
    if given.contains(" #") && !given.contains(['"', '\'']) {
        return Err(Fault::invalid("new_signature has a comment in it")
            .hint("give the part from `def` or `class` to the colon; a comment behind it stays as it is"));
    }
    change(code, ctx, only, args.dry_run, |opened, outline| {
        let fits = |symbol: &Symbol| symbol.kind.is_callable() || symbol.kind.is_type();
        let index = opened.one(outline, &args.name, fits)?;
        let symbol = &outline.symbols[index as usize];
        if symbol.head.slice(opened.text()).ends_with(':') && !given.ends_with(':') {
            given.push(':');
        }
        let place = UpdatePlace { ctx, code, only, opened, outline, index, dry_run: args.dry_run };
        // Further lines quoted with their depth in the file want the first one as deep.
        let base = opened.indent_at(symbol.head.start as usize);
        let quoted = given.lines().skip(1).all(|line| line.starts_with(base));
        let lead = if quoted { base } else { "" };
        let edits = place.replaced(symbol.head, &format!("{lead}{given}"));
        let mut notes = vec![format!("{}; its body is unchanged", place.updated("").trim_end_matches('.'))];
        notes.extend(place.new_name(&edits)?);
        Ok((edits, notes))
    })
}

/// Replaces the statement that declares a variable.
pub(super) fn declaration(
    code: &Code,
    ctx: &Ctx,
    args: NewDeclaration,
    only: Only,
) -> Result<Reply<Output>, Fault> {
    not_empty("new_declaration", &args.new_declaration)?;
    change(code, ctx, only, args.dry_run, |opened, outline| {
        let index = opened.one(outline, &args.name, is_variable)?;
        let place = UpdatePlace { ctx, code, only, opened, outline, index, dry_run: args.dry_run };
        let edits = place.replaced(place.extent(&args.new_declaration), &args.new_declaration);
        let mut notes = vec![place.updated("")];
        notes.extend(place.new_name(&edits)?);
        Ok((edits, notes))
    })
}

/// True if there is a comment in new source.
fn has_comment(language: &Language, content: &str) -> bool {
    let strings = language.strings(content);
    let braced = language.pack().style.bodies == Bodies::Braced;
    let signs = [Some(language.pack().style.comment), braced.then_some("/*")];
    signs.into_iter().flatten().any(|sign| {
        let mut places = content.match_indices(sign).map(|(at, _)| Span::new(at, at + sign.len()));
        places.any(|place| !strings.iter().any(|string| string.holds(place)))
    })
}

/// True if a symbol holds a value.
pub(super) fn is_variable(symbol: &Symbol) -> bool {
    matches!(symbol.kind, Kind::Variable | Kind::Constant | Kind::Field | Kind::Typedef)
}

/// A symbol that gets new source.
struct UpdatePlace<'p> {
    ctx: &'p Ctx,
    code: &'p Code,
    only: Only,
    opened: &'p Opened,
    outline: &'p Outline,
    index: u32,
    dry_run: bool,
}

impl UpdatePlace<'_> {
    fn symbol(&self) -> &Symbol {
        &self.outline.symbols[self.index as usize]
    }

    /// The stretch that new source replaces. The comment behind a variable is about the variable: it
    /// stays unless the new source has one of its own.
    fn extent(&self, content: &str) -> Span {
        let symbol = self.symbol();
        let stays = is_variable(symbol) && !has_comment(self.opened.source.language(), content);
        if stays { symbol.whole } else { self.opened.extent(symbol) }
    }

    /// The edit that puts new source, fitted to the place, into a span.
    fn replaced(&self, span: Span, content: &str) -> Edits {
        let opened = self.opened;
        // What is quoted as it stands is written as it stands.
        let plain = |text: &str| text.replace("\r\n", "\n").trim_end().to_owned();
        if plain(opened.quoted(span)) == plain(content) {
            return vec![(span.range(), span.slice(opened.text()).to_owned())];
        }
        let fitted = self.fitted(span, content);
        // The first line's own indentation stands before the span.
        let base = opened.indent_at(span.start as usize);
        let fitted = fitted.strip_prefix(base).unwrap_or(&fitted).to_owned();
        vec![(span.range(), fitted)]
    }

    /// New source as deep as a span.
    fn fitted(&self, span: Span, content: &str) -> String {
        let opened = self.opened;
        let base = opened.indent_at(span.start as usize);
        let unit = opened.unit(self.outline, Some(self.index));
        indent::fit(opened.source.language(), content, base, unit.as_deref())
    }

    /// New documentation and a new definition, with the old decorators between them.
    fn around_decorators(&self, new: &Brought, end: u32) -> Edits {
        let (opened, symbol) = (self.opened, self.symbol());
        let rest = (symbol.head.start as usize..end as usize, new.definition.clone());
        let old = opened.with_doc(symbol);
        if old.start < symbol.whole.start {
            return vec![(symbol.doc.range(), new.doc_text.clone()), rest];
        }
        let start = symbol.whole.start as usize;
        vec![(start..start, format!("{}\n{}", new.doc_text, opened.indent_at(start))), rest]
    }

    /// The definitions of the file after some edits, and the place of the edits in its new text.
    fn after(&self, edits: &Edits) -> Result<(Opened, Arc<Outline>, Range<usize>), Fault> {
        let (edited, outline) = after(self.ctx, self.code, self.opened, edits, self.only)?;
        let start = edits.first().map_or(0, |(range, _)| range.start);
        let end = edits.last().map_or(0, |(range, _)| range.end);
        let fresh = start..edited.text().len() - (self.opened.text().len() - end);
        Ok((edited, outline, fresh))
    }

    /// The definitions that new source brings along.
    fn brought(&self, edits: &Edits) -> Result<Brought, Fault> {
        let (edited, outline, fresh) = self.after(edits)?;
        let first = outline.symbols.iter().find(|symbol| fresh.contains(&(symbol.whole.start as usize)));
        let first = first.ok_or_else(|| self.defines_nothing())?;
        let start = first.whole.start as usize;
        // Old documentation may run into the new; what counts is that some of it is new.
        let doc = fresh.start < first.doc.end as usize && first.doc.end as usize <= start;
        Ok(Brought {
            decorators: first.whole.start < first.head.start,
            doc,
            doc_text: edited.text()[fresh.start..start].trim_end().to_owned(),
            definition: edited.text()[start..fresh.end].to_owned(),
        })
    }

    /// A note where the new source defines another name; an error where it defines none.
    fn new_name(&self, edits: &Edits) -> Result<Option<String>, Fault> {
        let (edited, outline, fresh) = self.after(edits)?;
        let start = fresh.start.min(self.symbol().whole.start as usize);
        let inside = |symbol: &&Symbol| (start..fresh.end).contains(&(symbol.whole.start as usize));
        let mut brought = outline.symbols.iter().filter(inside).peekable();
        let Some(first) = brought.peek() else { return Err(self.defines_nothing()) };
        let (now, name) = (first.name.slice(edited.text()).to_owned(), self.name());
        let renamed = !brought.any(|symbol| symbol.name.slice(edited.text()) == name);
        Ok(renamed.then(|| {
            format!("Note: it is called {now} now, not {name}; other places that use {name} were not changed")
        }))
    }

    /// Refuses new source that drops another name its statement defined.
    fn keeps_others(&self, edits: &Edits) -> Result<(), Fault> {
        let shared = super::remove::refuse_shared(self.opened, self.outline, self.index);
        let Err(fault) = shared else { return Ok(()) };
        let (edited, outline, fresh) = self.after(edits)?;
        let symbol = self.symbol();
        let mut others = self.outline.symbols.iter();
        let kept = |other: &Symbol| {
            let name = other.name.slice(self.opened.text());
            let mut new = outline.symbols.iter().filter(|new| fresh.contains(&(new.whole.start as usize)));
            new.any(|new| new.name.slice(edited.text()) == name)
        };
        let all = others.all(|other| other.whole != symbol.whole || other.name == symbol.name || kept(other));
        if all { Ok(()) } else { Err(fault) }
    }

    fn name(&self) -> &str {
        self.symbol().name.slice(self.opened.text())
    }

    fn defines_nothing(&self) -> Fault {
        Fault::invalid(format!("the new source of {} defines nothing; nothing was written", self.name()))
            .hint("give the whole definition, from its first line to its last")
    }

    fn updated(&self, about: &str) -> String {
        let opened = self.opened;
        let name = names::full_name(opened.source.language().pack(), opened.text(), self.outline, self.index);
        let verb = if self.dry_run { "Would update" } else { "Updated" };
        format!("{verb} {name} in {} (was {}){about}", opened.name, opened.lines(self.symbol().whole))
    }
}

/// The definitions that new source brings along.
struct Brought {
    /// It has decorators of its own.
    decorators: bool,
    /// It has documentation of its own before it.
    doc: bool,
    doc_text: String,
    definition: String,
}
