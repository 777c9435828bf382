//! The other servers, in pinned versions, installed when a case first needs them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, anyhow, bail};

pub(crate) const NODE_SERVERS: &str = "2026.8.31";
pub(crate) const RUST_MCP_FILESYSTEM: &str = "0.4.5";
const RIPGREP: &str = "15.1.0";

pub(crate) struct Peers {
    root: PathBuf,
    /// What was tried already, so that a failing installation is tried once a run.
    tried: RefCell<HashMap<PathBuf, Result<(), String>>>,
}

impl Peers {
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: root.to_owned(), tried: RefCell::default() }
    }

    /// The script of an npm server, to be run by node.
    pub(crate) fn node_server(&self, name: &str) -> Result<PathBuf> {
        let package = format!("@modelcontextprotocol/{name}");
        let script = self.root.join("npm/node_modules").join(&package).join("dist/index.js");
        self.installed(&script, || {
            let wanted = format!("{package}@{NODE_SERVERS}");
            let mut npm = gently("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--prefix"])
                .arg(self.root.join("npm"))
                .arg(wanted);
            vec![npm]
        })
    }

    pub(crate) fn rust_mcp_filesystem(&self) -> Result<PathBuf> {
        let binary = self.root.join("cargo/bin/rust-mcp-filesystem");
        self.installed(&binary, || {
            let wanted = format!("rust-mcp-filesystem@{RUST_MCP_FILESYSTEM}");
            let mut cargo = gently("cargo");
            cargo.args(["install", "--locked", "--root"]).arg(self.root.join("cargo")).arg(wanted);
            vec![cargo]
        })
    }

    /// ripgrep from the Python index, or else whatever `rg` the system has.
    pub(crate) fn ripgrep(&self) -> Result<PathBuf> {
        let venv = self.root.join("venv");
        let binary = venv.join("bin/rg");
        let installed = self.installed(&binary, || {
            let mut make = gently("python3");
            make.args(["-m", "venv"]).arg(&venv);
            let mut pip = gently(venv.join("bin/pip"));
            pip.args(["install", "--quiet"]).arg(format!("ripgrep=={RIPGREP}"));
            vec![make, pip]
        });
        let system = || Command::new("rg").arg("--version").stdout(Stdio::null()).status();
        match installed {
            Err(_) if system().is_ok_and(|status| status.success()) => Ok("rg".into()),
            other => other,
        }
    }

    fn installed(&self, file: &Path, commands: impl FnOnce() -> Vec<Command>) -> Result<PathBuf> {
        let mut tried = self.tried.borrow_mut();
        let outcome = tried.entry(file.to_owned()).or_insert_with(|| {
            if file.exists() {
                return Ok(());
            }
            commands().into_iter().try_for_each(run).map_err(|error| format!("{error:#}"))
        });
        outcome.clone().map(|()| file.to_owned()).map_err(|why| anyhow!(why))
    }
}

/// An installation shares the machine with other work.
fn gently(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new("nice");
    command.args(["-n", "5"]).arg(program);
    command
}

fn run(mut command: Command) -> Result<()> {
    eprintln!("installing: {command:?}");
    // Standard output is for results.
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    if !status.success() {
        bail!("{command:?} failed");
    }
    Ok(())
}
