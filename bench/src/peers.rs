//! The other servers, in pinned versions, installed when a case first needs them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, anyhow, bail};

pub(crate) const NODE_SERVERS: &str = "2026.8.31";
pub(crate) const RUST_MCP_FILESYSTEM: &str = "0.4.5";
pub(crate) const RUST_MCP_PROXY: &str = "0.6.0";
pub(crate) const PYTHON_MCP_PROXY: &str = "0.13.0";
pub(crate) const FASTMCP: &str = "4.1.2";
pub(crate) const PYTHON_MCP: &str = "1.30.0";
pub(crate) const SERENA: &str = "2.1.0";
/// The language server for Serena; the one it would choose itself is downloaded with another Python.
const BASEDPYRIGHT: &str = "1.39.4";
const RIPGREP: &str = "15.1.0";

pub(crate) struct Peers {
    root: PathBuf,
    /// The results of earlier attempts, so that a failing installation is tried once a run.
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
        self.crate_binary("rust-mcp-filesystem", RUST_MCP_FILESYSTEM)
    }

    pub(crate) fn rust_mcp_proxy(&self) -> Result<PathBuf> {
        self.crate_binary("mcp-proxy", RUST_MCP_PROXY)
    }

    /// It needs an older SDK than FastMCP, so each has its own environment.
    pub(crate) fn python_mcp_proxy(&self) -> Result<PathBuf> {
        let wanted = [format!("mcp-proxy=={PYTHON_MCP_PROXY}"), "mcp<2".to_owned()];
        self.python("venv-mcp-proxy", "mcp-proxy", &wanted)
    }

    /// The Python that has FastMCP.
    pub(crate) fn fastmcp_python(&self) -> Result<PathBuf> {
        // The command of the package exists only if the package does.
        let wanted = [format!("fastmcp=={FASTMCP}")];
        Ok(self.python("venv-fastmcp", "fastmcp", &wanted)?.with_file_name("python"))
    }

    /// A Python with the protocol's own SDK and nothing more.
    pub(crate) fn mcp_python(&self) -> Result<PathBuf> {
        Ok(self.python("venv-mcp", "mcp", &[format!("mcp[cli]=={PYTHON_MCP}")])?.with_file_name("python"))
    }

    /// Serena, with a language server for Python beside it.
    pub(crate) fn serena(&self) -> Result<PathBuf> {
        let wanted = [format!("serena-agent=={SERENA}"), format!("basedpyright=={BASEDPYRIGHT}")];
        self.python("venv-serena", "serena", &wanted)
    }

    /// A program of an npm package, installed apart from all others. No script of a package is run.
    pub(crate) fn npm_program(&self, package: &str, version: &str, program: &str) -> Result<PathBuf> {
        let place = self.root.join("find").join(format!("{}-{version}", package.replace('/', "-")));
        self.installed(&place.join("node_modules/.bin").join(program), || {
            let mut npm = gently("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
                .arg(&place)
                .arg(format!("{package}@{version}"));
            vec![npm]
        })
    }

    /// The program of the same name of a package of the Python index.
    pub(crate) fn python_program(&self, package: &str, version: &str) -> Result<PathBuf> {
        self.python(&format!("find/{package}-{version}"), package, &[format!("{package}=={version}")])
    }

    /// ripgrep from the Python index, or else the `rg` of the system.
    pub(crate) fn ripgrep(&self) -> Result<PathBuf> {
        let installed = self.python("venv", "rg", &[format!("ripgrep=={RIPGREP}")]);
        let system = || Command::new("rg").arg("--version").stdout(Stdio::null()).status();
        match installed {
            Err(_) if system().is_ok_and(|status| status.success()) => Ok("rg".into()),
            other => other,
        }
    }

    fn crate_binary(&self, name: &str, version: &str) -> Result<PathBuf> {
        let root = self.root.join("cargo");
        self.installed(&root.join("bin").join(name), || {
            let mut cargo = gently("cargo");
            cargo.args(["install", "--locked", "--root"]).arg(&root).arg(format!("{name}@{version}"));
            vec![cargo]
        })
    }

    /// A command of packages of the Python index, installed into their own environment.
    fn python(&self, venv: &str, command: &str, wanted: &[String]) -> Result<PathBuf> {
        let venv = self.root.join(venv);
        self.installed(&venv.join("bin").join(command), || {
            let mut make = gently("python3");
            make.args(["-m", "venv"]).arg(&venv);
            let mut pip = gently(venv.join("bin/pip"));
            pip.args(["install", "--quiet"]).args(wanted);
            vec![make, pip]
        })
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

/// A command with low priority, since an installation shares the machine with other work.
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
