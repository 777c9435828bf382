//! `code_add`: a new definition at an anchor.

use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{
    Outline, Span, Symbol,
    names::{self, Asked},
};

use super::{
    Code, Only, Opened, anchor,
    args::Addition,
    change::{Edits, Output, after, change, not_empty, reindented},
    wrapped::Unwrapped,
};

/// Adds a definition.
pub(super) fn run(code: &Code, ctx: &Ctx, args: Addition, only: Only) -> Result<Reply<Output>, Fault> {
    not_empty("new_content", &args.new_content)?;
    let asked = Asked::parse(&args.name);
    let Some(name) = asked.parts.last() else {
        return Err(Fault::invalid("name is empty: it must be that of the new definition"));
    };
    change(code, ctx, only, args.dry_run, |opened, outline| {
        let spot = anchor::find(ctx, opened, outline, args.anchor_type, args.anchor_symbol.as_deref())?;
        let given = (*name, args.new_content.as_str());
        let new = Unwrapped::find(ctx, code, only, (opened, outline), spot.parent, given)?;
        refuse_known(opened, outline, spot.parent, name, &new.content)?;
        let edits = vec![spot.filled(opened, &new.content)];
        let verb = if args.dry_run { "Would add" } else { "Added" };
        let added = brought(ctx, code, opened, &edits, only, name)?;
        let mut notes = vec![format!("{verb} {added}")];
        notes.extend(new.note);
        notes.extend(reindented(&new.content, &spot.fitted(opened, &new.content)));
        Ok((edits, notes))
    })
}

/// Refuses a name that stands in the same scope already. Overloads may share theirs.
pub(super) fn refuse_known(
    opened: &Opened,
    outline: &Outline,
    parent: Option<u32>,
    name: &str,
    content: &str,
) -> Result<(), Fault> {
    let pack = opened.source.language().pack();
    let known: Vec<(u32, &Symbol)> =
        outline.children(parent).filter(|(_, symbol)| symbol.name.slice(opened.text()) == name).collect();
    let Some((index, symbol)) = known.first().copied() else { return Ok(()) };
    let text = opened.text();
    let decorators = |symbol: &Symbol| Span { start: symbol.whole.start, end: symbol.head.start };
    // The last of those that are there may be one that only announces it.
    let announced = known.last().is_some_and(|(_, last)| names::is_announced(decorators(last).slice(text)));
    let several = pack.style.overloads || announced || names::is_part(leading(content), name);
    if several && symbol.kind.is_callable() {
        return Ok(());
    }
    let line = opened.lines(symbol.whole).first;
    let full = names::full_name(pack, opened.text(), outline, index);
    Err(Fault::conflict(format!(
        "{full} exists already in {} at line {line}; nothing was changed",
        opened.name
    ))
    .hint("code_update_definition replaces it; another name can be added"))
}

/// The decorators a content begins with, as far as they have a line each.
fn leading(content: &str) -> &str {
    let length = |line: &&str| line.trim_start().starts_with('@') || line.trim().is_empty();
    let end = content.split_inclusive('\n').take_while(length).map(str::len).sum();
    &content[..end]
}

/// The symbols that the edits brought, in words; an error if they did not bring the name.
fn brought(
    ctx: &Ctx,
    code: &Code,
    opened: &Opened,
    edits: &Edits,
    only: Only,
    name: &str,
) -> Result<String, Fault> {
    let (edited, outline) = after(ctx, code, opened, edits, only)?;
    let start = edits[0].0.start;
    let end = edited.text().len() - (opened.text().len() - edits[0].0.end);
    let fresh = |index: &u32| {
        let whole = outline.symbols[*index as usize].whole;
        start <= whole.start as usize && (whole.end as usize) <= end
    };
    let pack = edited.source.language().pack();
    let all: Vec<u32> = (0..outline.symbols.len() as u32).filter(fresh).collect();
    let called = |index: &&u32| outline.symbols[**index as usize].name.slice(edited.text()) == name;
    if let Some(index) = all.iter().find(called) {
        let full = names::full_name(pack, edited.text(), &outline, *index);
        let lines = edited.lines(outline.symbols[*index as usize].whole);
        return Ok(format!("{full} to {} ({lines})", edited.name));
    }
    let names: Vec<&str> =
        all.iter().map(|index| outline.symbols[*index as usize].name.slice(edited.text())).take(5).collect();
    let defined = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    Err(Fault::invalid(format!("new_content defines {defined}, not {name}; nothing was changed"))
        .hint("name must be that of the definition in new_content"))
}
