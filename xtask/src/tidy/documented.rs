//! Every module begins with a comment that says what it owns and what it refuses.

use super::violation::Violation;
use crate::checkout::Source;

pub fn judge(sources: &[Source]) -> Vec<Violation> {
    let silent = sources.iter().filter(|source| is_module(&source.path) && !begins_with_words(&source.text));
    silent
        .map(|source| Violation {
            place: source.path.clone(),
            wrong: "the module does not say what it is for.".to_owned(),
            remedy: "Begin it with `//!` and one sentence: what it owns and what it refuses.".to_owned(),
        })
        .collect()
}

fn is_module(path: &str) -> bool {
    let mut parts = path.split('/');
    match parts.next() {
        Some("crates") => parts.nth(1) == Some("src"),
        Some("xtask" | "bench") => parts.next() == Some("src"),
        _ => false,
    }
}

fn begins_with_words(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("//!").is_some_and(|words| !words.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::source;

    #[track_caller]
    fn check(path: &str, text: &str, expect: usize) {
        assert_eq!(judge(&[source(path, text)]).len(), expect, "{path}: {text:?}");
    }

    #[test]
    fn a_module_with_a_first_sentence_passes() {
        check("crates/core/src/gate.rs", "//! Judges calls.\n\nuse std::fmt;", 0);
        check("xtask/src/main.rs", "//! Commands.\n#![allow(x)]", 0);
    }

    #[test]
    fn a_silent_module_is_named() {
        for path in ["crates/core/src/gate/rule.rs", "xtask/src/tidy/a.rs", "bench/src/main.rs"] {
            check(path, "use std::fmt;", 1);
            check(path, "//!", 1);
            check(path, "use std::fmt;\n//! Too late.", 1);
            check(path, "", 1);
        }
    }

    #[test]
    fn tests_need_no_preamble() {
        check("crates/tectum/tests/it/main.rs", "mod rig;", 0);
        check("crates/tools/build.rs", "fn main() {}", 0);
    }
}
