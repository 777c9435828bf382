//! `cargo xtask soak`: runs the long forms of the tests whose names begin with `soak_`, on an
//! optimised build, one after the other, and prints their figures.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};

use crate::checkout::Checkout;
use crate::step;
use crate::toolbox::Toolbox;

/// The prefix of a test's line with a figure: `soak: promise | figure`.
const FIGURE: &str = "soak: ";

pub fn run(checkout: &Checkout, filters: &[&str]) -> Result<()> {
    let toolbox = Toolbox::installed(&checkout.target)?;
    let mut nextest = step::cargo(checkout);
    nextest
        .args(["nextest", "run", "--workspace", "--release", "--profile", "soak", "--no-capture"])
        .args(["-E", "test(/(^|::)soak_[^:]*$/)"])
        .args(filters)
        .env("TECTUM_SOAK", "1")
        .envs(toolbox.environment())
        .stdout(Stdio::piped());
    let mut child = nextest.spawn().context("cargo nextest could not be started")?;
    let output = child.stdout.take().context("the output of nextest was not piped")?;
    let mut figures = Vec::new();
    for line in BufReader::new(output).lines() {
        let line = line?;
        println!("{line}");
        figures.extend(line.trim().strip_prefix(FIGURE).map(str::to_owned));
    }
    let passed = child.wait()?.success();
    println!("\n| promise | figure |\n|---|---|");
    for figure in &figures {
        println!("| {figure} |");
    }
    ensure!(passed, "a soak failed; its name stands above");
    ensure!(!figures.is_empty(), "no soak printed a figure: does the filter match one?");
    Ok(())
}
