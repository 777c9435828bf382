//! `cargo xtask fuzz`: runs each fuzz target for a while. A finding is written beside its target, with
//! the command that repeats it.

use anyhow::{Context, Result, bail};

use crate::checkout::Checkout;
use crate::step;

const TARGETS: [&str; 4] = ["paths", "messages", "events", "edits"];
/// The default duration of a target.
const SECONDS: u64 = 60;

pub fn run(checkout: &Checkout, args: &[&str]) -> Result<()> {
    let (targets, seconds) = wanted(args)?;
    ensure_cargo_fuzz(checkout)?;
    for target in targets {
        let mut fuzz = step::cargo(checkout);
        // Nothing here is unsafe, so only panics count; without a sanitizer a stable compiler is enough.
        fuzz.args(["fuzz", "run", "--sanitizer", "none", target, "--"]).args([
            format!("-max_total_time={seconds}"),
            "-max_len=4096".to_owned(),
            "-timeout=10".to_owned(),
        ]);
        step::run(&mut fuzz)?;
    }
    Ok(())
}

fn wanted<'a>(args: &[&'a str]) -> Result<(Vec<&'a str>, u64)> {
    let (mut targets, mut seconds) = (Vec::new(), SECONDS);
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match *word {
            "--seconds" => {
                let number = words.next().context("--seconds takes a number")?;
                seconds =
                    number.parse().with_context(|| format!("--seconds takes a number, not `{number}`"))?;
            }
            target if TARGETS.contains(&target) => targets.push(target),
            other => bail!("there is no fuzz target `{other}`; there are {}", TARGETS.join(", ")),
        }
    }
    if targets.is_empty() {
        targets.extend(TARGETS);
    }
    Ok((targets, seconds))
}

fn ensure_cargo_fuzz(checkout: &Checkout) -> Result<()> {
    if step::works(step::cargo(checkout).args(["fuzz", "--version"])) {
        return Ok(());
    }
    eprintln!("Installing cargo-fuzz, which builds and runs the targets.");
    step::run(step::cargo(checkout).args(["install", "cargo-fuzz", "--locked"]))
        .context("cargo-fuzz could not be installed; install it yourself and see that it is on PATH")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_and_time_are_chosen() {
        assert_eq!(wanted(&[]).ok(), Some((TARGETS.to_vec(), SECONDS)));
        assert_eq!(wanted(&["edits", "--seconds", "5"]).ok(), Some((vec!["edits"], 5)));
        for wrong in [&["edit"][..], &["--seconds"], &["--seconds", "soon"]] {
            assert!(wanted(wrong).is_err(), "{wrong:?}");
        }
    }
}
