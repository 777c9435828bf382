//! `code_outline`: what a file defines, nested, with line ranges.

use std::{borrow::Cow, fmt::Write, sync::Arc};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Detail, Symbol};

use super::{
    Code, Only, Opened,
    drawn::{DrawnOutline, OutlineKey},
    lookup::LineRange,
};
use crate::files::spelling::count;

/// Characters of documentation shown beside a symbol.
const DOC: usize = 100;
/// Bytes left for one more line and what is said about those that follow.
const LONGEST: usize = 1024;

/// The outline of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub path: String,
    /// Its language.
    pub language: &'static str,
    /// What it defines, in order.
    pub symbols: Vec<OutlineItem>,
    /// What could not be parsed, and what was left out for length.
    pub notes: Vec<String>,
    /// What to pass as `from_line` for the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_line: Option<usize>,
}

/// One symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OutlineItem {
    /// Its full name, as other calls take it.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// How deep it stands.
    pub depth: usize,
    /// Its lines, decorators included.
    #[serde(flatten)]
    pub lines: LineRange,
    /// Only announced here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub declaration: bool,
    /// What it derives from.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub bases: Vec<String>,
}

/// An [`Output`] as the JSON it was written down as, once for all calls that get it.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Ready(Arc<RawValue>);

/// Clients are told the form of what was written down, not that it was.
impl JsonSchema for Ready {
    fn schema_name() -> Cow<'static, str> {
        Output::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Output::json_schema(generator)
    }
}

/// Outlines the call's file. What was drawn before is sent again if the file still holds the
/// bytes it was drawn from: comparing them costs little, and misses no change as times could.
pub(super) fn run(
    code: &Code,
    ctx: &Ctx,
    only: Only,
    detail: Detail,
    from_line: usize,
) -> Result<Reply<Ready>, Fault> {
    let path = ctx.path(0)?;
    let asked = OutlineKey { path: path.name(), only, detail, room: ctx.max_output, from_line };
    if let Some(sheet) = code.drawn.get(&asked)
        && path.file()?.holds(&sheet.bytes)?
    {
        return Ok(Reply::new(sheet.text.clone(), Ready(sheet.output.clone())));
    }
    let opened = code.open(ctx, 0, only)?;
    let (text, output) = draw(ctx, &opened, detail, from_line)?;
    let output = to_raw_value(&output)
        .map_err(|error| Fault::internal(format!("an outline could not be written as JSON: {error}")))?;
    let bytes = opened.file.into_bytes();
    let sheet = Arc::new(DrawnOutline { asked, bytes, text, output: output.into() });
    code.drawn.put(sheet.clone());
    Ok(Reply::new(sheet.text.clone(), Ready(sheet.output.clone())))
}

fn draw(ctx: &Ctx, opened: &Opened, detail: Detail, from: usize) -> Result<(String, Output), Fault> {
    let outline = opened.outline(ctx, detail)?;
    let pack = opened.source.language().pack();
    let mut text = String::new();
    let mut symbols = Vec::new();
    let mut notes = opened.gaps(&outline.gaps);
    let mut next_line = None;
    let mut depths: Vec<usize> = Vec::with_capacity(outline.symbols.len());
    for (index, symbol) in (0u32..).zip(&outline.symbols) {
        let depth = symbol.parent.map_or(0, |parent| depths[parent as usize] + 1);
        depths.push(depth);
        let lines = opened.lines(symbol.whole);
        if lines.first < from {
            continue;
        }
        if text.len() + LONGEST > ctx.max_output && !symbols.is_empty() {
            let rest = outline.symbols.len() - index as usize;
            let next = lines.first;
            let note = format!("{rest} more symbols follow: code_outline with from_line={next} shows them");
            text.insert_str(0, &format!("Note: {note}\n"));
            notes.push(note);
            next_line = Some(next);
            break;
        }
        let bases = bases(opened, ctx, detail, index, symbol)?;
        let (label, name) = (label(symbol), own_name(opened, symbol));
        let _ = write!(text, "{:width$}[{label}] {name} ({lines})", "", width = depth * 2);
        if !bases.is_empty() {
            let _ = write!(text, " extends {}", bases.join(", "));
        }
        if let Some(doc) = first_doc_line(opened, symbol) {
            let _ = write!(text, " — {doc}");
        }
        text.push('\n');
        symbols.push(OutlineItem {
            name: tectum_syntax::names::full_name(pack, opened.text(), &outline, index),
            kind: symbol.kind.label(),
            depth,
            lines,
            declaration: symbol.declaration,
            bases,
        });
    }
    if outline.symbols.is_empty() {
        let (title, lines) = (pack.title, count(opened.file.lines().count() as u64, "line", "lines"));
        let _ = writeln!(text, "No definitions in {} ({title}, {lines})", opened.name);
    }
    if symbols.is_empty() && !outline.symbols.is_empty() {
        let _ = writeln!(text, "No definitions in {} from line {from} on", opened.name);
    }
    notes.iter().for_each(|note| {
        let _ = writeln!(text, "Note: {note}");
    });
    let text = text.trim_end().to_owned();
    let output = Output { path: opened.name.clone(), language: pack.title, symbols, notes, next_line };
    Ok((text, output))
}

/// The word between the brackets.
pub(super) fn label(symbol: &Symbol) -> String {
    let label = symbol.kind.label();
    if symbol.is_async { format!("Async {label}") } else { label.to_owned() }
}

/// The name with the qualifier it is written with.
pub(super) fn own_name(opened: &Opened, symbol: &Symbol) -> String {
    let (scope, name) = (symbol.scope.slice(opened.text()), symbol.name.slice(opened.text()));
    let name = if name.is_empty() { "(anonymous)" } else { name };
    let separator = opened.source.language().pack().style.separator;
    if scope.is_empty() { name.to_owned() } else { format!("{scope}{separator}{name}") }
}

pub(super) fn bases(
    opened: &Opened,
    ctx: &Ctx,
    detail: Detail,
    index: u32,
    symbol: &Symbol,
) -> Result<Vec<String>, Fault> {
    if !symbol.kind.is_type() {
        return Ok(Vec::new());
    }
    let bases = opened.source.bases(detail, index, &|| ctx.cancel.is_cancelled());
    let bases = bases.map_err(|why| super::lookup::unparsed(&opened.name, why))?;
    Ok(bases.into_iter().map(|base| base.slice(opened.text()).to_owned()).collect())
}

/// The first line of a symbol's documentation that says something.
pub(super) fn first_doc_line(opened: &Opened, symbol: &Symbol) -> Option<String> {
    let doc = super::docs::plain(opened.source.language().pack(), opened.text(), symbol.doc);
    // Some languages document in tags; what they enclose is what is said.
    let line = doc.lines().map(untagged).find(|line| !line.is_empty())?;
    let short: String = line.chars().take(DOC).collect();
    Some(if short.len() < line.len() { format!("{short}…") } else { short })
}

/// A line without a tag at its start and one at its end.
fn untagged(line: &str) -> &str {
    let line = line.trim();
    let inner = match line.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        Some((_, inner)) => inner,
        None => line,
    };
    let end = if inner.ends_with('>') { inner.rfind("</").unwrap_or(inner.len()) } else { inner.len() };
    inner[..end].trim()
}
