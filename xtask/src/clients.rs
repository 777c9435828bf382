//! `cargo xtask clients`: what real coding agents give their models. Installs the agents if they are
//! absent, builds the binary and passes both to `xtask/clients`, which drives them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::checkout::Checkout;
use crate::step;
use crate::system::{self, NPM};
use crate::toolbox::{NODE, Shelf, node_package, try_out};

const HELP: &str = "\
Usage: cargo xtask clients [<options>]

  --agent NAME     only this one of claude, codex, opencode, gemini, qwen; may be repeated
  --case NAME      only this one of native, context, federated, never-met, parallel, wishes, ask; may be repeated
  --http           over HTTP instead of stdio
  --tectum PATH    another binary than the one built here
  --docs           put the tables into docs/clients.md
";

/// A coding agent: its npm package, and the script of that package that installs its program.
struct Agent {
    name: &'static str,
    package: &'static str,
    version: &'static str,
    script: Option<&'static str>,
}

const AGENTS: [Agent; 5] = [
    agent("claude", "@anthropic-ai/claude-code", "2.1.326", Some("install.cjs")),
    agent("codex", "@openai/codex", "0.169.0", None),
    agent("opencode", "opencode-ai", "1.18.33", Some("postinstall.mjs")),
    agent("gemini", "@google/gemini-cli", "0.61.0", None),
    agent("qwen", "@qwen-code/qwen-code", "0.24.4", None),
];

const fn agent(
    name: &'static str,
    package: &'static str,
    version: &'static str,
    script: Option<&'static str>,
) -> Agent {
    Agent { name, package, version, script }
}

pub fn run(checkout: &Checkout, args: &[&str]) -> Result<()> {
    let (mut agents, mut tectum, mut passed) = (Vec::new(), None, Vec::new());
    let mut args = args.iter().copied();
    while let Some(option) = args.next() {
        let mut value = || args.next().with_context(|| format!("{option} needs a value"));
        match option {
            "--help" | "-h" => {
                print!("{HELP}");
                return Ok(());
            }
            "--agent" => {
                let name = value()?;
                let known = AGENTS.iter().find(|agent| agent.name == name);
                agents.push(known.with_context(|| format!("There is no agent `{name}`.\n\n{HELP}"))?);
            }
            "--tectum" => tectum = Some(std::path::absolute(value()?)?),
            "--http" => passed.push(option.into()),
            "--case" => passed.extend([option.into(), PathBuf::from(value()?)]),
            "--docs" => passed.extend([option.into(), checkout.root.join("docs/clients.md")]),
            _ => bail!("There is no option `{option}`.\n\n{HELP}"),
        }
    }
    if agents.is_empty() {
        agents.extend(&AGENTS);
    }

    let modules = installed(&checkout.target.join("toolbox"))?;
    let tectum = match tectum {
        Some(given) => given,
        None => {
            step::run(step::cargo(checkout).args(["build", "-p", "tectum"]))?;
            checkout.target.join("debug/tectum")
        }
    };
    let programs = modules.join(".bin");
    let mut command = cut_off();
    command
        .arg(checkout.root.join("xtask/clients/main.py"))
        .arg("--tectum")
        .arg(tectum)
        .arg("--out")
        .arg(checkout.target.join("clients"))
        .args(passed)
        // Leaves no compiled Python in the checkout.
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("PATH", path_with(&modules.join(node_package()?).join("bin"))?);
    for Agent { name, version, .. } in agents {
        command.arg("--agent").arg(format!("{name}={version}={}", programs.join(name).display()));
    }
    step::run(&mut command)
}

/// The directory of the installed packages.
fn installed(toolbox: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(toolbox)?;
    let mut wanted = vec![format!("{}@{NODE}", node_package()?)];
    wanted.extend(AGENTS.iter().map(|Agent { package, version, .. }| format!("{package}@{version}")));
    let shelf = Shelf::new(toolbox, "clients", wanted);
    let modules = shelf.directory.join("node_modules");
    let programs: Vec<PathBuf> = AGENTS.iter().map(|agent| modules.join(".bin").join(agent.name)).collect();
    if !shelf.holds(&programs.iter().map(PathBuf::as_path).collect::<Vec<_>>()) {
        system::ensure(&[NPM])?;
        shelf.fill_by_npm().context("The coding agents could not be installed")?;
        let node = modules.join(node_package()?).join("bin");
        for Agent { package, script, .. } in &AGENTS {
            let Some(script) = script else { continue };
            step::run(Command::new(node.join("node")).arg(script).current_dir(modules.join(package)))?;
        }
        for program in &programs {
            try_out(Command::new(program).arg("--version").env("PATH", path_with(&node)?))?;
        }
        shelf.sign()?;
    }
    Ok(modules)
}

/// Python in its own network namespace, which has a loopback and nothing else.
fn cut_off() -> Command {
    let alone = ["--net", "--map-root-user"];
    if !step::works(Command::new("unshare").args(alone).arg("true")) {
        eprintln!("This system lets nobody cut the network off, so the agents could reach it.");
        return Command::new("python3");
    }
    let mut command = Command::new("unshare");
    command.args(alone).arg("python3");
    command
}

fn path_with(first: &Path) -> Result<std::ffi::OsString> {
    let rest = std::env::var_os("PATH").unwrap_or_default();
    Ok(std::env::join_paths([first.to_owned()].into_iter().chain(std::env::split_paths(&rest)))?)
}
