//! `code_outline`: what a file defines, nested, with line ranges.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Detail, Symbol};

use super::{Code, Only, Opened, lookup::Lines};

/// Characters of documentation shown beside a symbol.
const DOC: usize = 100;

/// The outline of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub path: String,
    /// Its language.
    pub language: &'static str,
    /// What it defines, in order.
    pub symbols: Vec<Item>,
    /// What could not be parsed, and what was left out for length.
    pub notes: Vec<String>,
}

/// One symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Item {
    /// Its full name, as other calls take it.
    pub name: String,
    /// What it is.
    pub kind: &'static str,
    /// How deep it stands.
    pub depth: usize,
    /// Its lines, decorators included.
    #[serde(flatten)]
    pub lines: Lines,
    /// Only announced here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub declaration: bool,
    /// What it derives from.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub bases: Vec<String>,
}

/// Outlines the call's file.
pub(super) fn run(code: &Code, ctx: &Ctx, only: Only, detail: Detail) -> Result<Reply<Output>, Fault> {
    let opened = code.open(ctx, 0, only)?;
    let outline = opened.outline(ctx, detail)?;
    let pack = opened.source.language().pack();
    let mut text = String::new();
    let mut symbols = Vec::new();
    let mut notes = opened.gaps(&outline.gaps);
    let mut depths: Vec<usize> = Vec::with_capacity(outline.symbols.len());
    for (index, symbol) in (0u32..).zip(&outline.symbols) {
        let depth = symbol.parent.map_or(0, |parent| depths[parent as usize] + 1);
        depths.push(depth);
        if text.len() > ctx.max_output {
            let rest = outline.symbols.len() - symbols.len();
            notes.push(format!(
                "{rest} more symbols are not shown: the outline is too long; ask for definitions by name"
            ));
            break;
        }
        let lines = opened.lines(symbol.whole);
        let bases = bases(&opened, ctx, detail, index, symbol)?;
        let _ = write!(
            text,
            "{:width$}[{}] {} ({lines})",
            "",
            label(symbol),
            own_name(&opened, symbol),
            width = depth * 2
        );
        if !bases.is_empty() {
            let _ = write!(text, " extends {}", bases.join(", "));
        }
        if let Some(doc) = first_doc_line(&opened, symbol) {
            let _ = write!(text, " — {doc}");
        }
        text.push('\n');
        symbols.push(Item {
            name: tectum_syntax::names::full_name(pack, opened.text(), &outline, index),
            kind: symbol.kind.label(),
            depth,
            lines,
            declaration: symbol.declaration,
            bases,
        });
    }
    if outline.symbols.is_empty() {
        let _ = writeln!(
            text,
            "No definitions in {} ({}, {} lines)",
            opened.name,
            pack.title,
            opened.file.lines().count()
        );
    }
    notes.iter().for_each(|note| {
        let _ = writeln!(text, "Note: {note}");
    });
    let text = text.trim_end().to_owned();
    Ok(Reply::new(text, Output { path: opened.name, language: pack.title, symbols, notes }))
}

/// The word between the brackets.
pub(super) fn label(symbol: &Symbol) -> String {
    let label = symbol.kind.label();
    if symbol.is_async { format!("Async {label}") } else { label.to_owned() }
}

/// The name with the qualifier it is written with.
pub(super) fn own_name(opened: &Opened, symbol: &Symbol) -> String {
    let (scope, name) = (symbol.scope.of(opened.text()), symbol.name.of(opened.text()));
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
    Ok(bases.into_iter().map(|base| base.of(opened.text()).to_owned()).collect())
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
