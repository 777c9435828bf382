//! The settings for all tools at once.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use tectum_attend::Attention;
use tectum_core::security::Durability;
use tectum_journal::History;
use tectum_shell::EnvFile;
use tectum_web::{AllowedHost, PageUrl};

use crate::{SandboxSettings, runtime::Runtime};

/// Settings shared by the native tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The promise of a successful write.
    pub durability: Durability,
    /// A cap on every tool's text, below its own, in bytes.
    pub max_output: Option<usize>,
    /// The largest file an edit or a search takes into memory, in bytes.
    pub max_file: u64,
    /// The directory for before-images of `undo_edit`; in memory only when unset.
    pub state_dir: Option<PathBuf>,
    /// Threads a search may use.
    pub threads: Threads,
    /// The tiers that work can be handed over to; without any there is no `handoff`.
    pub tiers: Vec<String>,
    /// The language servers behind `diagnostics`.
    pub servers: LanguageServers,
    /// The files that `get_git_diff` may read.
    pub git: GitSettings,
    /// True if beads are kept by `bd` or `br` where one is installed.
    pub beads_programs: bool,
    /// The figures that `get_ui_performance` reports.
    pub runtime: Runtime,
    /// The limits of commands on this machine.
    pub sandbox: SandboxSettings,
    /// The addresses for `fetch_url` and `web_search`.
    pub network: NetworkSettings,
    /// The settings that commands are run with.
    pub shell: ShellSettings,
    /// The record that `search_history` looks into; without one there is no such tool.
    pub history: Option<History>,
    /// The news that `get_attention` tells; without it there are no such tools.
    pub attention: Option<Attention>,
}

/// The addresses that are allowed beyond public ones, and the provider of searches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkSettings {
    /// Hosts that the user allows whatever their address is.
    pub allow_hosts: Vec<AllowedHost>,
    /// The SearXNG server that searches go to; DuckDuckGo without one.
    pub searxng: Option<PageUrl>,
    /// True if the environment's proxies are used.
    pub environment_proxies: bool,
}

/// The settings that `run_shell` and `run_powershell` run commands with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellSettings {
    /// The served directories; a program inside of one is no shell.
    pub roots: Vec<PathBuf>,
    /// The program that ends a command with all it started, see `tectum_child::own_guard`.
    pub guard: Option<PathBuf>,
    /// The directory in which long output is kept as a whole.
    pub spool: Option<PathBuf>,
    /// The variables that `mcp_env.toml` adds to the environment.
    pub env: EnvFile,
    /// The reason why the project's `mcp_env.toml`, or a part of it, is not used.
    pub env_held: Option<String>,
    /// The command that explains what went wrong in PowerShell.
    pub qa: Vec<String>,
}

/// The files that git may read beyond the served directories, and the way it is held to that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSettings {
    /// Git directories and object stores elsewhere that the user allows.
    pub directories: Vec<PathBuf>,
    /// True if the kernel is asked to hold git to what it may read.
    pub confined: bool,
}

impl Default for GitSettings {
    fn default() -> Self {
        Self { directories: Vec::new(), confined: true }
    }
}

/// The language servers that may be started, their programs, and their limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanguageServers {
    /// The served directories; a server starts in the first, and no program inside of one is started.
    pub roots: Vec<PathBuf>,
    /// The program that ends a server with all it started, see `tectum_lsp::own_guard`.
    pub guard: Option<PathBuf>,
    /// The most memory that each process of a server may take, in bytes.
    pub memory: u64,
    /// The time a question waits for a server that runs.
    pub wait: Duration,
    /// Commands that the operator chose, by the name of the row in the table of servers.
    pub commands: BTreeMap<String, Vec<String>>,
}

impl Default for LanguageServers {
    fn default() -> Self {
        Self {
            roots: Vec::new(),
            guard: None,
            memory: 2 << 30,
            wait: Duration::from_secs(2),
            commands: BTreeMap::new(),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            max_output: None,
            max_file: 64 * 1024 * 1024,
            state_dir: None,
            threads: Threads::default(),
            tiers: Vec::new(),
            servers: LanguageServers::default(),
            git: GitSettings::default(),
            beads_programs: true,
            runtime: Runtime::default(),
            network: NetworkSettings::default(),
            sandbox: SandboxSettings::default(),
            shell: ShellSettings::default(),
            history: None,
            attention: None,
        }
    }
}

/// The number of threads a search may use: as many as said, else one for each core, at most eight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Threads(pub Option<usize>);

impl Threads {
    /// The number. Cores are counted when a search starts, not when the server does: the
    /// system takes its time to answer.
    pub fn count(self) -> usize {
        const MOST: usize = 8;
        self.0
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(2, |cores| cores.get().min(MOST)))
    }
}
