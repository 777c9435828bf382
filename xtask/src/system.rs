//! The requirements on the machine itself. Debian packages are installed if their command is absent;
//! on any other system the missing commands are named and the run ends.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::step;

/// One requirement of the tests or the toolbox, and a probe for it.
#[derive(Clone, Copy)]
pub struct Need {
    name: &'static str,
    probe: &'static [&'static str],
    package: &'static str,
}

pub const GIT: Need = Need { name: "git", probe: &["git", "--version"], package: "git" };
pub const STRACE: Need = Need { name: "strace", probe: &["strace", "--version"], package: "strace" };
pub const VALGRIND: Need = Need { name: "valgrind", probe: &["valgrind", "--version"], package: "valgrind" };
/// The browser that the tests of the console drive.
pub const CHROMIUM: Need = Need { name: "chromium", probe: &["chromium", "--version"], package: "chromium" };
pub const NPM: Need = Need { name: "npm", probe: &["npm", "--version"], package: "npm" };
pub const PYTHON_VENV: Need = Need {
    name: "python3 with venv",
    // Debian ships `venv` without the `ensurepip` it needs, so the probe checks both.
    probe: &["python3", "-c", "import venv, ensurepip"],
    package: "python3-venv",
};

pub fn ensure(needs: &[Need]) -> Result<()> {
    let missing: Vec<Need> = needs.iter().copied().filter(Need::is_missing).collect();
    if missing.is_empty() {
        return Ok(());
    }

    let names = names(&missing);
    if !step::works(Command::new("apt-get").arg("--version")) {
        bail!(
            "This command needs {names}. This is no Debian system, so please install what is missing yourself."
        );
    }
    eprintln!("Installing Debian packages, because this command needs {names}.");
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    let by_hand = || format!("Please run `apt-get install {}` as root, then try again", packages.join(" "));
    step::run(apt().arg("update")).with_context(by_hand)?;
    step::run(apt().args(["install", "--yes", "--no-install-recommends"]).args(&packages))
        .with_context(by_hand)?;

    let missing: Vec<Need> = missing.into_iter().filter(Need::is_missing).collect();
    if !missing.is_empty() {
        bail!(
            "The packages are installed, yet this still fails: {}. Another program of that name may come first on PATH.",
            self::names(&missing)
        );
    }
    Ok(())
}

impl Need {
    fn is_missing(&self) -> bool {
        !step::works(Command::new(self.probe[0]).args(&self.probe[1..]))
    }
}

fn names(needs: &[Need]) -> String {
    let each = needs.iter().map(|need| format!("{} (`{}`)", need.name, need.probe.join(" ")));
    each.collect::<Vec<_>>().join(", ")
}

/// `apt-get` without questions. The variable is passed as an argument because sudo clears the environment.
fn apt() -> Command {
    let quiet = ["DEBIAN_FRONTEND=noninteractive", "apt-get"];
    let id = Command::new("id").arg("-u").output();
    let is_root = id.is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    let mut command = Command::new(if is_root { "env" } else { "sudo" });
    command.args(quiet);
    command
}
