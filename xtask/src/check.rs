//! `cargo xtask check`: all checks that a change must pass, quickest first. It stops at the first failure.

use anyhow::Result;

use crate::checkout::Checkout;
use crate::{step, test, tidy};

pub fn run(checkout: &Checkout) -> Result<()> {
    step::run(step::cargo(checkout).args(["fmt", "--all", "--check"]))?;
    tidy::run(checkout)?;
    step::run(step::cargo(checkout).args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))?;
    test::run(checkout, &[])
}
