//! A symbol's name with the names of what holds it.

use crate::{Outline, Pack};

/// The parts of a symbol's full name, outermost first.
pub fn path<'t>(text: &'t str, outline: &Outline, index: u32) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let mut at = Some(index);
    while let Some(index) = at {
        let symbol = &outline.symbols[index as usize];
        parts.push(symbol.name.slice(text));
        let mut scope = self::parts(symbol.scope.slice(text));
        scope.reverse();
        parts.append(&mut scope);
        at = symbol.parent;
    }
    parts.retain(|part| !part.is_empty());
    parts.reverse();
    parts
}

/// A symbol's full name.
pub fn full_name(pack: &Pack, text: &str, outline: &Outline, index: u32) -> String {
    path(text, outline, index).join(pack.style.separator)
}

/// Splits at `.` and `::` outside brackets; an operator's own signs do not split.
pub(super) fn parts(name: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0usize);
    let mut at = 0;
    while at < name.len() {
        let rest = &name[at..];
        if depth == 0 && rest.starts_with("operator") && !joins(name[..at].chars().next_back()) {
            break;
        }
        let step = match rest.as_bytes()[0] {
            b'<' | b'[' => {
                depth += 1;
                1
            }
            b'>' | b']' => {
                depth = depth.saturating_sub(1);
                1
            }
            b':' if depth == 0 && rest.starts_with("::") => {
                parts.push(name[start..at].trim());
                start = at + 2;
                2
            }
            b'.' if depth == 0 => {
                parts.push(name[start..at].trim());
                start = at + 1;
                1
            }
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        at += step;
    }
    parts.push(name[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

pub(super) fn joins(c: Option<char>) -> bool {
    c.is_some_and(|c| c == '_' || c.is_alphanumeric())
}
