//! `get_file_summary`: what a file holds, in a few lines, whatever it is.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Bodies, Detail, Kind, Outline};

use super::{Code, Only, Opened, outline};
use crate::{
    analysis::summary::{self, plain},
    files::spelling::count,
    text::TextFile,
};

/// Characters of a whole summary: it is read instead of the file.
const MOST: usize = 4_000;
/// Names of one line; the rest is counted.
const NAMES: usize = 60;

/// A summary.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub path: String,
    /// What it is written in.
    pub language: String,
    /// How many lines it has.
    pub lines: usize,
    /// The summary.
    pub summary: String,
}

/// Sums up the call's file.
pub(super) fn run(code: &Code, ctx: &Ctx) -> Result<Reply<Output>, Fault> {
    let path = ctx.path(0)?;
    let name = path.name();
    let bytes = path.file()?.bytes(code.languages.max_file)?;
    let file = TextFile::decode(bytes).map_err(|not_text| not_text.fault(&name))?;
    let lines = file.lines().count();
    let (language, body) = match summary::of_data_file(&name, file.text()) {
        Some((language, body)) => (language.to_owned(), body),
        None => match code.opened(name.clone(), file.clone(), Only::Any) {
            Ok(opened) => (opened.source.language().pack().title.to_owned(), of_code(ctx, &opened)?),
            Err(_) => ("Text".to_owned(), plain::summarise(file.text())),
        },
    };
    let mut summary =
        format!("**{language}** — {}\n{}", count(lines as u64, "line", "lines"), body.trim_end());
    if summary.chars().count() > MOST {
        let end = summary.char_indices().nth(MOST - 40).map_or(summary.len(), |(at, _)| at);
        summary.truncate(end);
        summary.push_str("\n[cut: code_outline shows all of it]");
    }
    Ok(Reply::new(summary.clone(), Output { path: name, language, lines, summary }))
}

fn of_code(ctx: &Ctx, opened: &Opened) -> Result<String, Fault> {
    let stop = || ctx.cancel.is_cancelled();
    let mut body = String::new();
    // Errors first, then whatever could still be read.
    let problems = opened.source.check(&stop).unwrap_or_default();
    if let Some(first) = problems.first() {
        let place = super::check::place(&opened.file, first);
        let _ = writeln!(body, "syntax error at line {}: {}", place.line, place.message);
        let indented = opened.source.language().pack().style.bodies == Bodies::Indented;
        if indented {
            body.push_str(&plain::summarise(opened.text()));
        }
    }
    let Ok(outline) = opened.source.outline(Detail::Full, &stop) else {
        body.push_str(&plain::summarise(opened.text()));
        return Ok(body);
    };
    let imports = opened.source.language().imports(opened.text(), &stop).unwrap_or_default();
    let separator = opened.source.language().pack().style.separator;
    let mut modules: Vec<&str> = imports.iter().map(|import| top(&import.module, separator)).collect();
    modules.sort_unstable();
    modules.dedup();
    list(&mut body, "imports", &modules);
    let text = opened.text();
    let named = |kinds: &[Kind]| -> Vec<&str> {
        let fits = |(_, symbol): &(u32, &tectum_syntax::Symbol)| {
            kinds.contains(&symbol.kind) && symbol.scope.is_empty() && !symbol.name.is_empty()
        };
        let mut names: Vec<&str> =
            top_level(&outline).filter(fits).map(|(_, symbol)| symbol.name.slice(text)).collect();
        names.dedup();
        names
    };
    list(&mut body, "constants", &named(&[Kind::Constant]));
    for (index, symbol) in (0u32..).zip(&outline.symbols).filter(|(_, symbol)| symbol.kind.is_type()) {
        let bases = outline::bases(opened, ctx, Detail::Full, index, symbol)?;
        let bases = if bases.is_empty() { String::new() } else { format!("({})", bases.join(", ")) };
        let mut members: Vec<&str> = outline
            .children(Some(index))
            .filter(|(_, member)| member.kind.is_callable())
            .map(|(_, member)| member.name.slice(text))
            .collect();
        members.dedup();
        let word = symbol.kind.label().to_lowercase();
        let title = format!("{word} {}{bases}", outline::own_name(opened, symbol));
        if members.is_empty() {
            let _ = writeln!(body, "{title}");
        } else {
            list(&mut body, &title, &members)
        }
    }
    list(&mut body, "functions", &named(&[Kind::Function, Kind::Method]));
    list(&mut body, "macros", &named(&[Kind::Macro]));
    list(&mut body, "types", &named(&[Kind::Typedef]));
    Ok(body)
}

/// Symbols that stand in nothing but namespaces.
fn top_level(outline: &Outline) -> impl Iterator<Item = (u32, &tectum_syntax::Symbol)> {
    (0u32..).zip(&outline.symbols).filter(|(_, symbol)| {
        std::iter::successors(symbol.parent, |at| outline.symbols[*at as usize].parent)
            .all(|at| outline.symbols[at as usize].kind == Kind::Namespace)
    })
}

/// The first part of a module's name; all of a path.
fn top<'m>(module: &'m str, separator: &str) -> &'m str {
    if module.starts_with(['.', '<', '@']) || module.contains('/') {
        return module;
    }
    module.split(separator).next().unwrap_or(module)
}

fn list(body: &mut String, title: &str, names: &[&str]) {
    if names.is_empty() {
        return;
    }
    let shown = names[..names.len().min(NAMES)].join(", ");
    let more =
        if names.len() > NAMES { format!(", … {} more", names.len() - NAMES) } else { String::new() };
    let _ = writeln!(body, "{title}: {shown}{more}");
}
