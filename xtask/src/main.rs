//! Developer commands, one file each; this file defines their names and refuses any other.
#![allow(
    clippy::disallowed_methods,
    reason = "a developer's program: it reads the checkout it was built from and starts cargo"
)]

mod bench;
mod check;
mod checkout;
mod clients;
mod dist;
mod fuzz;
mod packs;
mod soak;
mod step;
mod system;
mod test;
mod tidy;
mod toolbox;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::checkout::Checkout;

const COMMANDS: &str = "\
Usage: cargo xtask <command>

  test [-- <nextest arguments>]   install what the tests need, then run them all
  check                           formatting, clippy, tidy and the tests
  tidy                            the rules of the house that a machine can see
  packs [--accept]                compile every query and compare every language's snapshots
  dist                            build the binary that is shipped
  bench [<arguments>]             build the shipped binary and measure it
  clients [<arguments>]           what real coding agents give their models; --help lists the arguments
  fuzz [<targets>] [--seconds N]  any bytes as paths, messages, event streams and edits, a minute each
  soak [<filters>]                the long forms of attacks and floods, and their figures
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    match words {
        [] | ["help" | "--help" | "-h"] => {
            print!("{COMMANDS}");
            Ok(())
        }
        ["test", rest @ ..] => test::run(&Checkout::read()?, rest),
        ["check"] => check::run(&Checkout::read()?),
        ["tidy"] => tidy::run(&Checkout::read()?),
        ["packs"] => packs::run(&Checkout::read()?, false),
        ["packs", "--accept"] => packs::run(&Checkout::read()?, true),
        ["dist"] => dist::run(&Checkout::read()?),
        ["bench", rest @ ..] => bench::run(&Checkout::read()?, rest),
        ["clients", rest @ ..] => clients::run(&Checkout::read()?, rest),
        ["fuzz", rest @ ..] => fuzz::run(&Checkout::read()?, rest),
        ["soak", rest @ ..] => soak::run(&Checkout::read()?, rest),
        [command @ ("check" | "tidy" | "dist"), ..] => bail!("`cargo xtask {command}` takes no arguments."),
        [command, ..] => bail!("There is no command `{command}`.\n\n{}", COMMANDS.trim_end()),
    }
}
