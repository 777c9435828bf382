//! `code_add`: a new definition at an anchor.

use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{
    Outline,
    names::{self, Asked},
};

use super::{
    Code, Only, Opened, anchor,
    args::Addition,
    change::{Edits, Output, change},
    update::{after, not_empty},
};

/// Adds a definition.
pub(super) fn run(code: &Code, ctx: &Ctx, args: &Addition, only: Only) -> Result<Reply<Output>, Fault> {
    not_empty("new_content", &args.new_content)?;
    let asked = Asked::parse(&args.name);
    let Some(name) = asked.parts.last() else {
        return Err(Fault::invalid("name is empty: it must be that of the new definition"));
    };
    change(code, ctx, only, args.dry_run, |opened, outline| {
        let spot = anchor::find(ctx, opened, outline, args.anchor_type, args.anchor_symbol.as_deref())?;
        refuse_known(opened, outline, spot.parent, name, &args.new_content)?;
        let edits = vec![spot.filled(opened, &args.new_content)];
        let added = brought(ctx, code, opened, &edits, only, name)?;
        Ok((edits, vec![added]))
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
    let mut known = outline.children(parent).filter(|(_, symbol)| symbol.name.of(opened.text()) == name);
    let Some((index, symbol)) = known.next() else { return Ok(()) };
    // `@x.setter`, `@overload` and real overloads are several of one name on purpose.
    let several = pack.style.overloads || content.trim_start().starts_with('@');
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

/// What the edits brought, in words; an error if they did not bring the name.
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
    let called = |index: &&u32| outline.symbols[**index as usize].name.of(edited.text()) == name;
    if let Some(index) = all.iter().find(called) {
        let full = names::full_name(pack, edited.text(), &outline, *index);
        let lines = edited.lines(outline.symbols[*index as usize].whole);
        return Ok(format!("Added {full} to {} ({lines})", edited.name));
    }
    let names: Vec<&str> =
        all.iter().map(|index| outline.symbols[*index as usize].name.of(edited.text())).take(5).collect();
    let defined = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    Err(Fault::invalid(format!("new_content defines {defined}, not {name}; nothing was changed"))
        .hint("name must be that of the definition in new_content"))
}
