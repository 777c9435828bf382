//! New source of a member that was given with the type around it, as one quotes it.

use tectum_core::{Ctx, Fault};
use tectum_syntax::{Detail, Outline};

use super::{Code, Only, Opened, change::decoded};

/// New source as it is written: without the type around it, if somebody gave that too.
pub(super) struct Unwrapped {
    /// The member's source alone.
    pub(super) content: String,
    /// The note about that.
    pub(super) note: Option<String>,
}

impl Unwrapped {
    /// Looks for the type that a new member's place is in around the member's new source.
    pub(super) fn find(
        ctx: &Ctx,
        code: &Code,
        only: Only,
        (opened, outline): (&Opened, &Outline),
        parent: Option<u32>,
        (name, content): (&str, &str),
    ) -> Result<Self, Fault> {
        let plain = Self { content: content.to_owned(), note: None };
        let around = parent.map(|at| &outline.symbols[at as usize]).filter(|around| around.kind.is_type());
        let Some(around) = around.map(|around| around.name.slice(opened.text())) else { return Ok(plain) };
        let given = code.opened(opened.name.clone(), decoded(&opened.name, content.as_bytes())?, only)?;
        let inside = given.outline(ctx, Detail::Full)?;
        let tops: Vec<_> = inside.children(None).collect();
        let &[(top, symbol)] = tops.as_slice() else { return Ok(plain) };
        if !symbol.kind.is_type() || symbol.name.slice(given.text()) != around || around == name {
            return Ok(plain);
        }
        let kind = symbol.kind.label().to_lowercase();
        let members: Vec<_> = inside.children(Some(top)).map(|(_, member)| member).collect();
        match members.as_slice() {
            [one] if one.name.slice(given.text()) == name => Ok(Self {
                content: given.quoted(given.with_doc(one)).to_owned(),
                note: Some(format!("Note: the {kind} {around} around it was left out of the new source")),
            }),
            members => {
                let names: Vec<&str> = members.iter().map(|member| member.name.slice(given.text())).collect();
                Err(Fault::invalid(format!(
                    "the new source is a {kind} {around} with {} in it, not {name}; nothing was changed",
                    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
                ))
                .hint(format!("give the source of {name} alone, or name {around} to replace all of it")))
            }
        }
    }
}
