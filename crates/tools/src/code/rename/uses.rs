//! The uses of a symbol, by the same verdicts as a rename: what breaks when it is removed.

use tectum_core::{Ctx, Fault};
use tectum_syntax::{Outline, Span};

use super::{
    super::{Code, Opened},
    plan::Plan,
    target::Target,
};

/// The uses of a symbol.
#[derive(Debug)]
pub(in super::super) struct Uses {
    /// In its own file.
    pub(in super::super) own: Vec<Span>,
    /// In other files.
    pub(in super::super) others: Vec<Other>,
}

/// The uses in another file, by their lines.
#[derive(Debug)]
pub(in super::super) struct Other {
    /// The file.
    pub(in super::super) name: String,
    /// Lines that mean the symbol.
    pub(in super::super) certain: Vec<usize>,
    /// Lines that may mean it.
    pub(in super::super) uncertain: Vec<usize>,
}

/// Finds the uses of a symbol below the call's `within`th path.
pub(in super::super) fn uses(
    code: &Code,
    ctx: &Ctx,
    within: usize,
    opened: &Opened,
    outline: &Outline,
    index: u32,
) -> Result<Uses, Fault> {
    let name = outline.symbols[index as usize].name.slice(opened.text());
    let mut target = Target::find(opened, outline, index, name);
    let mut plan = Plan::make(code, ctx, within, opened, &mut target)?;
    let own = plan.files.remove(0).places.certain;
    let other = |file: super::plan::PlannedFile| {
        let mut uncertain: Vec<usize> = file.uncertain.iter().map(|place| place.line).collect();
        uncertain.dedup();
        Other { name: file.name, certain: file.lines, uncertain }
    };
    let others = plan.files.into_iter().map(other);
    let others = others.filter(|other| !other.certain.is_empty() || !other.uncertain.is_empty());
    Ok(Uses { own, others: others.collect() })
}
