//! `code_imports`: what a file takes from elsewhere.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};

use super::{Code, Only, args::OfFile, cap, lookup::unparsed};

/// The imports of a file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub path: String,
    /// What it depends on: sorted, each once.
    pub dependencies: Vec<String>,
    /// Every import, in order.
    pub imports: Vec<Import>,
}

/// One imported name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Import {
    /// Its line.
    pub line: usize,
    /// The module, as written.
    pub module: String,
    /// The name taken from it.
    pub name: Option<String>,
    /// Its name in this file.
    pub local: Option<String>,
}

/// The imports of the call's file.
pub(super) fn run(code: &Code, ctx: &Ctx, _: OfFile, only: Only) -> Result<Reply<Output>, Fault> {
    let opened = code.open(ctx, 0, only)?;
    let language = opened.source.language();
    let found = language.imports(opened.text(), &|| ctx.cancel.is_cancelled());
    let found = found.map_err(|why| unparsed(&opened.name, why))?;
    let separator = language.pack().style.separator;
    let dotted = |import: &tectum_syntax::Import| match &import.name {
        Some(name) if name != "*" && separator == "." && import.module.ends_with('.') => {
            format!("{}{name}", import.module)
        }
        Some(name) if name != "*" => format!("{}{separator}{name}", import.module),
        _ => import.module.clone(),
    };
    let dependencies: BTreeSet<String> = found.iter().map(dotted).collect();
    let dependencies: Vec<String> = dependencies.into_iter().collect();
    let imports = found.into_iter().map(|import| Import {
        line: opened.file.lines().at(import.span.start as usize),
        module: import.module,
        name: import.name,
        local: import.local,
    });
    let imports = imports.collect();
    let text = if dependencies.is_empty() {
        format!("No imports in {}", opened.name)
    } else {
        dependencies.join("\n")
    };
    let text = cap::capped(text, ctx.max_output, "search_content finds one of them");
    Ok(Reply::new(text, Output { path: opened.name, dependencies, imports }))
}
