//! Outlines of small texts, construct by construct.

mod functions;
mod preprocessor;
mod properties;
mod spans;
mod types;

use crate::{Detail, Outline};

/// One line a symbol: depth, kind, qualified name, parameters, `;` for a declaration and `{}`
/// for a body; gaps last.
fn show(text: &str, outline: &Outline) -> String {
    let mut lines: Vec<String> = (0u32..)
        .zip(&outline.symbols)
        .map(|(index, symbol)| {
            let scope = symbol.scope.slice(text);
            let joint = if scope.is_empty() { "" } else { "::" };
            let params = if symbol.kind.is_callable() {
                format!("({})", symbol.params.slice(text))
            } else {
                String::new()
            };
            let end = match (symbol.declaration, symbol.body.is_empty()) {
                (true, _) => ";",
                (_, false) => "{}",
                _ => "",
            };
            let indent = "  ".repeat(outline.depth(index));
            format!("{indent}{} {scope}{joint}{}{params}{end}", symbol.kind.label(), symbol.name.slice(text))
        })
        .collect();
    lines.extend(outline.gaps.iter().map(|gap| format!("gap: {}", gap.why)));
    lines.join("\n")
}

fn c(text: &str, expect: &str) {
    assert_eq!(show(text, &super::outline_c(text, Detail::Outline)), expect, "in C: {text}");
}

fn cpp(text: &str, expect: &str) {
    assert_eq!(show(text, &super::outline_cpp(text, Detail::Outline)), expect, "in C++: {text}");
}

fn both(text: &str, expect: &str) {
    c(text, expect);
    cpp(text, expect);
}

fn full(text: &str, expect: &str) {
    assert_eq!(show(text, &super::outline_cpp(text, Detail::Full)), expect, "in full: {text}");
}
