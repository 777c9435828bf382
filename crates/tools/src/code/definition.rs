//! `code_definition` and `code_signature`: the source of a symbol, whole or up to its body.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Detail, Symbol, names};

use super::{Code, Only, Opened, args::OfSymbol, cap, lookup::LineRange};

/// Bytes of the line before a source, beside the path.
const ROW: usize = 80;

/// What a name means.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub path: String,
    /// Every symbol of that name.
    pub found: Vec<FoundDefinition>,
}

/// One symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FoundDefinition {
    /// Its full name.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// Its lines, decorators included.
    #[serde(flatten)]
    pub lines: LineRange,
    /// Its source.
    pub source: String,
    /// True when only the beginning is shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The line at which the rest begins, when it is cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_line: Option<usize>,
}

/// The part of a symbol that is asked for.
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
    let mut room = ctx.max_output.saturating_sub(cap::ROOM);
    let mut found = Vec::new();
    for index in opened.all(&outline, &args.name, fits)? {
        let symbol = &outline.symbols[index as usize];
        let lines = opened.lines(symbol.whole);
        let source = match part {
            Part::Whole => opened.quoted(opened.extent(symbol)),
            Part::Head => symbol.head.slice(opened.text()),
        };
        let shown = &source[..cap::fitting(source, room)];
        // Each has a line before it.
        room = room.saturating_sub(shown.len() + opened.name.len() + ROW);
        let cut = shown.len() < source.len();
        found.push(FoundDefinition {
            name: names::full_name(pack, opened.text(), &outline, index),
            kind: symbol.kind.label(),
            lines,
            source: shown.to_owned(),
            cut,
            next_line: cut.then(|| lines.first + shown.matches('\n').count()),
        });
    }
    let text = told(&opened, &args.name, &found);
    Ok(Reply::new(text, Output { path: opened.name, found }))
}

/// The sources, each with its place: `[a.py:3-9 method A.f]` after a single one, a comment before
/// each of several. A cut is said before and after.
fn told(opened: &Opened, name: &str, found: &[FoundDefinition]) -> String {
    let mut text = String::new();
    let path = &opened.name;
    for (number, found_one) in found.iter().enumerate() {
        let FoundDefinition { name: full, kind, lines, .. } = found_one;
        if found.len() > 1 {
            let bare = name.split('#').next().unwrap_or(name);
            let comment = opened.source.language().pack().style.comment;
            let _ = writeln!(text, "{comment} {bare}#{} of {}: {full} ({lines})", number + 1, found.len());
        }
        let LineRange { first, last } = lines;
        let more = found_one.next_line.map(|next| {
            format!("[cut: get_file_slice path={path} start_line={next} end_line={last} shows the rest]\n")
        });
        text.push_str(more.as_deref().unwrap_or_default());
        let _ = writeln!(text, "{}", found_one.source.trim_end_matches('\n'));
        if found.len() == 1 {
            let _ = writeln!(text, "[{path}:{first}-{last} {} {full}]", kind.to_lowercase());
        }
        text.push_str(more.as_deref().unwrap_or_default());
        if number + 1 < found.len() {
            text.push('\n');
        }
    }
    text.trim_end().to_owned()
}
