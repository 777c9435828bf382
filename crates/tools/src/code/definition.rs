//! `code_definition` and `code_signature`: the source of a symbol, whole or up to its body.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Detail, Symbol, names};

use super::{Code, Only, Opened, args::OfSymbol, lookup::Lines};

/// What a name means.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub path: String,
    /// Every symbol of that name.
    pub found: Vec<Found>,
}

/// One symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Found {
    /// Its full name.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// Its lines, decorators included.
    #[serde(flatten)]
    pub lines: Lines,
    /// Its source.
    pub source: String,
    /// True when only the beginning is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// How much of a symbol is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// From its first decorator to its end.
    Whole,
    /// From its keyword to its body.
    Head,
}

/// The source of the named symbols.
pub(super) fn run(
    code: &Code,
    ctx: &Ctx,
    args: &OfSymbol,
    only: Only,
    part: Part,
    fits: fn(&Symbol) -> bool,
) -> Result<Reply<Output>, Fault> {
    let opened = code.open(ctx, 0, only)?;
    let outline = opened.outline(ctx, Detail::Full)?;
    let pack = opened.source.language().pack();
    let mut room = ctx.max_output;
    let mut found = Vec::new();
    for index in opened.all(&outline, &args.name, fits)? {
        let symbol = &outline.symbols[index as usize];
        let lines = opened.lines(symbol.whole);
        let source = match part {
            Part::Whole => opened.quoted(opened.extent(symbol)),
            Part::Head => symbol.head.of(opened.text()),
        };
        let shown = &source[..source.floor_char_boundary(room.min(source.len()))];
        room -= shown.len();
        found.push(Found {
            name: names::full_name(pack, opened.text(), &outline, index),
            kind: symbol.kind.label(),
            lines,
            source: shown.to_owned(),
            cut: shown.len() < source.len(),
        });
    }
    let text = told(&opened, &args.name, &found);
    Ok(Reply::new(text, Output { path: opened.name, found }))
}

fn told(opened: &Opened, name: &str, found: &[Found]) -> String {
    let mut text = String::new();
    for (number, found_one) in found.iter().enumerate() {
        if found.len() > 1 {
            let bare = name.split('#').next().unwrap_or(name);
            let comment = opened.source.language().pack().style.comment;
            let Found { name, lines, .. } = found_one;
            let _ = writeln!(text, "{comment} {bare}#{} of {}: {name} ({lines})", number + 1, found.len());
        }
        text.push_str(&found_one.source);
        if found_one.cut {
            let (first, last) = (found_one.lines.first, found_one.lines.last);
            let _ = write!(text, "\n[cut: get_file_slice shows lines {first}-{last} in parts]");
        }
        if number + 1 < found.len() {
            text.push_str("\n\n");
        }
    }
    text
}
