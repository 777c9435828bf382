//! `cargo xtask test`: installs what the tests need, then runs all of them. A tool that cannot be
//! installed ends the run; no test is skipped because one is missing.

use anyhow::{Context, Result};

use crate::checkout::Checkout;
use crate::step;
use crate::system::{self, CHROMIUM, GIT, STRACE};
use crate::toolbox::Toolbox;

pub fn run(checkout: &Checkout, args: &[&str]) -> Result<()> {
    let args = args.strip_prefix(&["--"]).unwrap_or(args);
    system::ensure(&[GIT, STRACE, CHROMIUM])?;
    ensure_nextest(checkout)?;
    let toolbox = Toolbox::installed(&checkout.target)?;

    let mut nextest = step::cargo(checkout);
    nextest.args(["nextest", "run"]).envs(toolbox.environment());
    // For cargo `--workspace` overrides a package that was named.
    if !args.iter().any(|arg| names_a_package(arg)) {
        nextest.arg("--workspace");
    }
    step::run(nextest.args(args))?;

    // Arguments choose among nextest's tests; documentation examples are not among them.
    if !args.is_empty() {
        eprintln!("Documentation examples run only when no nextest arguments are given.");
        return Ok(());
    }
    if checkout.sources()?.iter().any(|source| has_doctest(&source.text)) {
        step::run(step::cargo(checkout).args(["test", "--doc", "--workspace"]).envs(toolbox.environment()))?;
    }
    Ok(())
}

fn ensure_nextest(checkout: &Checkout) -> Result<()> {
    if step::works(step::cargo(checkout).args(["nextest", "--version"])) {
        return Ok(());
    }
    eprintln!("Installing cargo-nextest, which runs the tests.");
    step::run(step::cargo(checkout).args(["install", "cargo-nextest", "--locked"]))
        .context("cargo-nextest could not be installed; install it yourself and see that it is on PATH")
}

fn names_a_package(arg: &str) -> bool {
    arg.starts_with("-p") || arg == "--package" || arg.starts_with("--package=")
}

/// True if a doc comment opens a code block that rustdoc would compile. In doubt it is true: a block
/// in a language that is not listed here only costs a check by rustdoc.
fn has_doctest(text: &str) -> bool {
    const OTHER: [&str; 7] = ["text", "json", "toml", "sh", "console", "ignore", "python"];
    let mut inside = false;
    for line in text.lines() {
        let line = line.trim_start();
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(language) = doc.and_then(|doc| doc.trim().strip_prefix("```")) else { continue };
        inside = !inside;
        if inside && !OTHER.contains(&language) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rust_block_in_a_doc_comment_is_a_doctest() {
        assert!(has_doctest("/// Adds.\n/// ```\n/// assert!(true);\n/// ```\nfn add() {}"));
        assert!(has_doctest("    //! ```no_run\n    //! ```"));
        assert!(has_doctest("/// ```json\n/// {}\n/// ```\n/// ```\n/// f();\n/// ```"));
    }

    #[test]
    fn other_blocks_are_not() {
        assert!(!has_doctest("/// ```json\n/// {}\n/// ```\nfn f() {}"));
        assert!(!has_doctest("// ```\n// not documentation\n// ```"));
        assert!(!has_doctest("/// Plain words."));
    }

    #[test]
    fn a_package_asked_for_by_name_is_noticed() {
        for arg in ["-p", "-ptectum", "--package", "--package=tectum"] {
            assert!(names_a_package(arg), "{arg}");
        }
        assert!(!names_a_package("--profile"));
        assert!(!names_a_package("path_layers"));
    }
}
