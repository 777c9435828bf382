//! `cargo xtask bench`: measures the binary that is shipped, never a development build.

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
    step::run(
        step::cargo(checkout)
            .args(["run", "--profile", "dist", "-p", "tectum-bench", "--", "--tectum"])
            .arg(&binary)
            .args(args),
    )
}
