//! `cargo xtask packs`: compiles every language's queries and compares the answers with their
//! snapshots. With `--accept` the answers become the snapshots, to be reviewed like code.

use anyhow::Result;

use crate::{checkout::Checkout, step};

pub fn run(checkout: &Checkout, accept: bool) -> Result<()> {
    let mut nextest = step::cargo(checkout);
    nextest.args(["nextest", "run", "-p", "tectum-syntax"]);
    nextest.env("INSTA_UPDATE", if accept { "always" } else { "no" });
    step::run(&mut nextest)
}
