//! `code_outline`: what a file defines, nested, with line ranges.

use std::{
    fmt::Write,
    sync::{Arc, Mutex, PoisonError},
};

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Detail, Source, Symbol};

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

/// Outlines that were drawn lately, by what they are of. An agent asks for the same few again
/// and again, and drawing one costs far more than sending it.
#[derive(Debug, Default)]
pub(crate) struct Drawn(Mutex<Vec<(Key, Arc<Sheet>)>>);

/// What an outline is of.
#[derive(Debug)]
struct Key {
    path: String,
    source: Arc<Source>,
    detail: Detail,
    room: usize,
}

/// A finished outline.
#[derive(Debug)]
struct Sheet {
    text: String,
    output: Arc<Output>,
}

impl Drawn {
    /// Outlines kept at a time.
    const MOST: usize = 8;
    /// Bytes of the largest text whose outline is kept: it keeps the text, too.
    const LARGEST: usize = 1024 * 1024;

    fn get(&self, wanted: &Key) -> Option<Arc<Sheet>> {
        let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = drawn.iter().position(|(key, _)| {
            Arc::ptr_eq(&key.source, &wanted.source)
                && (&key.path, key.detail, key.room) == (&wanted.path, wanted.detail, wanted.room)
        })?;
        let found = drawn.remove(at);
        let sheet = found.1.clone();
        drawn.push(found);
        Some(sheet)
    }

    fn put(&self, key: Key, sheet: Arc<Sheet>) {
        let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if drawn.len() == Self::MOST {
            drawn.remove(0);
        }
        drawn.push((key, sheet));
    }
}

/// Outlines the call's file.
pub(super) fn run(code: &Code, ctx: &Ctx, only: Only, detail: Detail) -> Result<Reply<Arc<Output>>, Fault> {
    let opened = code.open(ctx, 0, only)?;
    let key = Key { path: opened.name.clone(), source: opened.source.clone(), detail, room: ctx.max_output };
    let sheet = match code.drawn.get(&key) {
        Some(sheet) => sheet,
        None => {
            let sheet = Arc::new(draw(ctx, &opened, detail)?);
            if opened.text().len() <= Drawn::LARGEST {
                code.drawn.put(key, sheet.clone());
            }
            sheet
        }
    };
    Ok(Reply::new(sheet.text.clone(), sheet.output.clone()))
}

fn draw(ctx: &Ctx, opened: &Opened, detail: Detail) -> Result<Sheet, Fault> {
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
        let (title, lines) = (pack.title, opened.file.lines().count());
        let _ = writeln!(text, "No definitions in {} ({title}, {lines} lines)", opened.name);
    }
    notes.iter().for_each(|note| {
        let _ = writeln!(text, "Note: {note}");
    });
    let text = text.trim_end().to_owned();
    let output = Output { path: opened.name.clone(), language: pack.title, symbols, notes };
    Ok(Sheet { text, output: Arc::new(output) })
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
