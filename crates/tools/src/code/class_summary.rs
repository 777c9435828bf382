//! `py_get_class_summary`: a class with its documentation and the signatures of its methods.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Detail, names};

use super::{Code, Only, args::OfSymbol, cap, docs, lookup::LineRange};

/// A class in short.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub path: String,
    /// Every class of that name.
    pub classes: Vec<ClassOutline>,
}

/// One class.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClassOutline {
    /// Its full name.
    pub name: String,
    /// Its header.
    pub header: String,
    /// Its lines.
    #[serde(flatten)]
    pub lines: LineRange,
    /// Its documentation.
    pub docstring: Option<String>,
    /// Its methods.
    pub methods: Vec<Method>,
}

/// One method.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Method {
    /// Its signature.
    pub signature: String,
    /// Its lines.
    #[serde(flatten)]
    pub lines: LineRange,
}

/// Sums up the named classes.
pub(super) fn run(code: &Code, ctx: &Ctx, args: OfSymbol, only: Only) -> Result<Reply<Output>, Fault> {
    let opened = code.open(ctx, 0, only)?;
    let outline = opened.outline(ctx, Detail::Outline)?;
    let pack = opened.source.language().pack();
    let one_line = |head: &str| head.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut classes = Vec::new();
    let mut text = String::new();
    for index in opened.all(&outline, &args.name, |symbol| symbol.kind.is_type())? {
        let symbol = &outline.symbols[index as usize];
        let docstring = Some(docs::plain(pack, opened.text(), symbol.doc)).filter(|doc| !doc.is_empty());
        let methods: Vec<Method> = outline
            .children(Some(index))
            .filter(|(_, child)| child.kind.is_callable())
            .map(|(_, child)| Method {
                signature: one_line(child.head.slice(opened.text())),
                lines: opened.lines(child.whole),
            })
            .collect();
        let (header, lines) = (one_line(symbol.head.slice(opened.text())), opened.lines(symbol.whole));
        let _ = writeln!(text, "{header} ({lines})");
        docstring.iter().flat_map(|doc| doc.lines()).for_each(|line| {
            let _ = writeln!(text, "  {line}");
        });
        for method in &methods {
            let _ = writeln!(text, "  {} ({})", method.signature, method.lines);
        }
        let name = names::full_name(pack, opened.text(), &outline, index);
        classes.push(ClassOutline { name, header, lines, docstring, methods });
    }
    let text = cap::capped(text.trim_end().to_owned(), ctx.max_output, "code_outline lists all members");
    Ok(Reply::new(text, Output { path: opened.name, classes }))
}
