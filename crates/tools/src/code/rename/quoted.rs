//! Names in strings that are code all the same: lists of exports, and types that are named before
//! they are known. They are listed and left alone.

use tectum_syntax::{Span, Style};

use super::{
    around::encloser,
    knows::{Knows, Plainly},
    target::{File, Home, Target},
};

impl Target {
    /// True if a mention in a string may mean the target.
    pub(super) fn is_quoted_name(
        &self,
        file: &File<'_>,
        knows: &Knows,
        strings: &[Span],
        place: Span,
    ) -> bool {
        let style = &file.language.pack().style;
        let known = matches!(self.home, Home::File) && knows.plainly != Plainly::No;
        if style.exports.is_empty() || !known {
            return false;
        }
        let Some(string) = strings.iter().find(|string| string.holds(place)) else { return false };
        let named = reads_as_type(string.slice(file.text));
        named && (!self.is_value || is_exported(file.text, *string, style))
    }
}

/// True if a string stands in the list of what its file exports.
fn is_exported(text: &str, string: Span, style: &Style) -> bool {
    let before = &text[..string.start as usize];
    let Some(open) = encloser(before) else { return false };
    let line = before[..open].rsplit('\n').next().unwrap_or_default();
    line.trim_start().starts_with(style.exports)
}

/// True if a string literal holds nothing but a name or a type: `"A"`, `"list[a.A] | None"`.
fn reads_as_type(literal: &str) -> bool {
    let inner = literal.trim_matches(['"', '\'']);
    let mut after_name = false;
    for word in inner.split_inclusive(|c: char| !(c == '_' || c.is_alphanumeric())) {
        let name = word.trim_end_matches(|c: char| !(c == '_' || c.is_alphanumeric()));
        let sign = &word[name.len()..];
        // Two words with nothing but a blank between them are a sentence.
        if !name.is_empty() && after_name {
            return false;
        }
        if !matches!(sign, "" | " " | "." | "," | "|" | "[" | "]") {
            return false;
        }
        after_name = match sign {
            " " => after_name || !name.is_empty(),
            _ => false,
        };
    }
    !inner.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_from_sentences() {
        for (literal, expect) in [
            ("\"Ctx\"", true),
            ("'list[Ctx]'", true),
            ("\"Ctx | None\"", true),
            ("\"dict[str, a.Ctx]\"", true),
            ("\"a Ctx\"", false),
            ("\"the Ctx | None\"", false),
            ("\"Ctx!\"", false),
            ("\"%s Ctx\"", false),
        ] {
            assert_eq!(reads_as_type(literal), expect, "{literal}");
        }
    }
}
