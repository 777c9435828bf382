//! Documentation as plain text: docstrings without quotes, comments without their signs.

use schemars::JsonSchema;
use serde::Serialize;
use tectum_core::{Ctx, Fault, Reply};
use tectum_syntax::{Detail, Pack, Span};

use super::{Code, Only, args::OfSymbol, cap};

/// The documentation of a symbol.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Output {
    /// The file.
    pub path: String,
    /// The symbol; empty for the module.
    pub name: String,
    /// Its documentation; absent when there is none.
    pub docstring: Option<String>,
}

/// The documentation of one symbol, or of the module for `module` or an empty name.
pub(super) fn run(code: &Code, ctx: &Ctx, args: OfSymbol, only: Only) -> Result<Reply<Output>, Fault> {
    let opened = code.open(ctx, 0, only)?;
    let outline = opened.outline(ctx, Detail::Outline)?;
    let name = args.name.trim();
    let pack = opened.source.language().pack();
    // A definition that is really called `module` is meant first.
    let docs: Vec<String> = match (name, opened.all(&outline, name, |_| true)) {
        ("", _) | ("module", Err(_)) => vec![of_module(pack, opened.text())],
        (_, found) => {
            let doc = |at: &u32| plain(pack, opened.text(), outline.symbols[*at as usize].doc);
            found?.iter().map(doc).collect()
        }
    };
    let docs: Vec<String> = docs.into_iter().filter(|doc| !doc.is_empty()).collect();
    let docstring = (!docs.is_empty()).then(|| docs.join("\n\n---\n\n"));
    let text = docstring.clone().unwrap_or_else(|| "No docstring found".to_owned());
    let text = cap::capped(text, ctx.max_output, "code_definition shows the lines, get_file_slice the rest");
    Ok(Reply::new(text, Output { path: opened.name, name: args.name, docstring }))
}

/// The documentation of the file itself: a string before any other statement, or the comment the file
/// begins with.
fn of_module(pack: &Pack, text: &str) -> String {
    if let Some(module_doc) = pack.front.module_doc {
        return plain(pack, text, module_doc(text));
    }
    let after_shebang =
        if text.starts_with("#!") { text.find('\n').map_or(text.len(), |at| at + 1) } else { 0 };
    let start = after_shebang + (text[after_shebang..].len() - text[after_shebang..].trim_start().len());
    let rest = &text[start..];
    let end = if rest.starts_with("/*") {
        rest.find("*/").map_or(0, |at| at + 2)
    } else {
        let comment = |line: &&str| line.trim_start().starts_with(pack.style.comment);
        rest.split_inclusive('\n').take_while(comment).map(str::len).sum()
    };
    plain(pack, text, Span::new(start, start + end))
}

/// A symbol's documentation without quotes or comment signs.
pub(super) fn plain(pack: &Pack, text: &str, doc: Span) -> String {
    if doc.is_empty() {
        return String::new();
    }
    match pack.front.doc_text {
        Some(doc_text) => doc_text(text, doc),
        None => uncommented(doc.slice(text)),
    }
}

/// Comment lines without their signs.
fn uncommented(comment: &str) -> String {
    let line = |line: &str| {
        let line = line.trim();
        let line = line.trim_start_matches("/**").trim_start_matches("/*!").trim_start_matches("/*");
        let line = line.trim_end_matches("*/").trim_end();
        let line = line.trim_start_matches(['/', '#', '*', '!']);
        line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()
    };
    let lines: Vec<String> = comment.lines().map(line).collect();
    lines.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_go_and_words_stay() {
        for (comment, expect) in [
            ("/// One.\n/// Two.", "One.\nTwo."),
            ("/**\n * One.\n *   Two.\n */", "One.\n  Two."),
            ("# One\n#\n# Two", "One\n\nTwo"),
            ("/* One */", "One"),
            ("//! Inner", "Inner"),
        ] {
            assert_eq!(uncommented(comment), expect);
        }
    }
}
