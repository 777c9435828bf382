//! `cargo xtask bench`: measures the shipped binary, never a development build. A first argument that
//! is not an option chooses the subject: `cargo xtask bench code`.

use anyhow::Result;

use crate::checkout::Checkout;
use crate::{dist, step};

pub fn run(checkout: &Checkout, args: &[&str]) -> Result<()> {
    if !dist::has_order(checkout) {
        dist::run(checkout)?;
    }
    let binary = dist::build(checkout)?;
    let (command, options) = match args.split_first() {
        Some((first, rest)) if !first.starts_with('-') => (*first, rest),
        _ => ("run", args),
    };
    step::run(
        step::cargo(checkout)
            .args(["run", "--profile", "dist", "-p", "tectum-bench", "--", command, "--tectum"])
            .arg(&binary)
            .args(options),
    )
}
