//! `cargo xtask bench`: measures the binary that is shipped, never a development build. A first
//! word that is no option chooses what is measured: `cargo xtask bench code`.

use anyhow::{Result, ensure};

use crate::checkout::Checkout;
use crate::step;

pub fn run(checkout: &Checkout, args: &[&str]) -> Result<()> {
    step::run(step::cargo(checkout).args(["build", "--profile", "dist", "-p", "tectum"]))?;

    let binary = checkout.target.join("dist").join(format!("tectum{}", std::env::consts::EXE_SUFFIX));
    ensure!(
        binary.is_file(),
        "The build left no {}. Unset CARGO_BUILD_TARGET: a cross build puts its binary elsewhere.",
        binary.display()
    );
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
