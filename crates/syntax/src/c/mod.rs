//! The front ends of C and C++. No tree is built: a text is skimmed once, declarations are read
//! and bodies are skipped. Only the search for errors asks a grammar.

mod bases;
mod brackets;
mod branches;
mod bytes;
mod calls;
mod check;
mod declarators;
mod directives;
mod emit;
mod function;
mod groups;
mod heads;
mod imports;
mod lines;
mod mentions;
mod nested;
mod outline;
mod pieces;
mod prototypes;
mod reader;
mod recovery;
mod repair;
mod skim;
mod state;
mod token;
mod words;

use crate::{CallSite, Detail, Import, Mention, Outline, Problem, Span, Unparsed};

/// The definitions of a C source.
pub fn outline_c(text: &str, detail: Detail) -> Outline {
    outline::outline(text, false, detail)
}

/// The definitions of a C++ source.
pub fn outline_cpp(text: &str, detail: Detail) -> Outline {
    outline::outline(text, true, detail)
}

/// Every place where a word stands in a C source.
pub fn mentions_c(text: &str, word: &str) -> Vec<Mention> {
    mentions::mentions(text, word, false)
}

/// Every place where a word stands in a C++ source.
pub fn mentions_cpp(text: &str, word: &str) -> Vec<Mention> {
    mentions::mentions(text, word, true)
}

/// Inclusions, `<x>` with its brackets and `"x"` without its quotes, and what `using` takes.
pub fn imports(text: &str) -> Vec<Import> {
    imports::imports(text)
}

/// The calls in a stretch of the text.
pub fn calls(text: &str, within: Span) -> Vec<CallSite> {
    calls::calls(text, within)
}

/// The bases of a class, given its head.
pub fn bases(text: &str, head: Span) -> Vec<Span> {
    bases::bases(text, head)
}

/// True if the parameters in a caller's query, `int, const char*`, match the written ones.
pub fn params_match(given: &str, written: &str) -> bool {
    bases::params_match(given, written)
}

/// The problems that a C compiler would report.
#[cfg(feature = "lang-c")]
pub fn check_c(text: &str) -> Result<Vec<Problem>, Unparsed> {
    check::check(text, &tree_sitter_c::LANGUAGE.into(), false)
}

/// The problems that a C++ compiler would report.
#[cfg(feature = "lang-cpp")]
pub fn check_cpp(text: &str) -> Result<Vec<Problem>, Unparsed> {
    check::check(text, &tree_sitter_cpp::LANGUAGE.into(), true)
}

#[cfg(test)]
mod tests;
