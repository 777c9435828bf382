//! The set-up as types: parsed once, in `build.rs`, so that nobody below checks again.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, time::Duration};

use globset::GlobSet;
use tectum_core::{
    Closing, Judgement, Rules, World,
    security::{Durability, Links, TrackedOpens},
};
use tectum_journal::SyncPolicy;
use tectum_peers::{
    federation::{Exposure, Profiles},
    serve::ClientForms,
};
use tectum_redact::Redactor;
use tectum_shell::EnvFile;
use tectum_turns::Limits;
use tracing::level_filters::LevelFilter;

use super::{
    keys::Key,
    merged::{Layers, Merged},
    reactions::Reaction,
    servers::trust::Trust,
    telemetry::TelemetryTarget,
    value::Value,
};

/// Everything the house is set up with.
#[derive(Clone, Debug)]
pub struct Config {
    /// The served directory, in its canonical spelling.
    pub directory: PathBuf,
    /// The files that may be reached.
    pub workspace: Workspace,
    /// The calls that are allowed.
    pub permissions: Permissions,
    /// How people are asked.
    pub approval: Approval,
    /// The tools.
    pub tools: ToolSet,
    /// The language servers.
    pub diagnostics: Diagnostics,
    /// The addresses that network tools may use.
    pub network: Network,
    /// The limits of commands on this machine.
    pub sandbox: Sandbox,
    /// The way commands run.
    pub shell: Shell,
    /// The way files are written.
    pub files: Files,
    /// The listener of `tectum up`.
    pub http: Http,
    /// True if processes for the same project share one house.
    pub join: bool,
    /// The other servers.
    pub federation: Federation,
    /// The observers, which get copies of calls.
    pub observers: Observers,
    /// What is recorded of calls.
    pub journal: JournalSettings,
    /// The collector, and what is sent to it.
    pub telemetry: TelemetryTarget,
    /// The text at the end of a round, for clients of MCP.
    pub closing: Closing,
    /// What is watched for news, and how many are told.
    pub attention: AttentionSettings,
    /// The forms of results for clients of MCP.
    pub clients: ClientForms,
    /// The settings of `tectum run`.
    pub run: Run,
    /// The level of the log.
    pub log: LevelFilter,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The files of settings, whether they are there or not.
    pub files_of_settings: Vec<PathBuf>,
    /// The directory of the user's state; `None` keeps everything in memory.
    pub state: Option<PathBuf>,
    /// The folder of this user's sockets, in the runtime directory of the system.
    pub runtime: Option<PathBuf>,
    pub(super) layers: Layers,
}

/// The limits of commands on this machine, beyond the roots.
#[derive(Clone, Debug)]
pub struct Sandbox {
    /// True if they are held at all.
    pub on: bool,
    /// True if they may reach the network.
    pub network: bool,
    /// True if they may use sockets with a name in the file system.
    pub unix_sockets: bool,
    /// Other paths that they may change.
    pub write: Vec<PathBuf>,
    /// The paths that they may not open; the usual places of secrets are among them.
    pub closed: Vec<PathBuf>,
}

/// How people are asked about calls.
#[derive(Clone, Debug)]
pub struct Approval {
    /// True if the person in front of a client may be asked there.
    pub at_clients: bool,
    /// True if those who look at this house are asked.
    pub at_desk: bool,
    /// How long a question waits once it is shown.
    pub patience: Duration,
    /// How long a call waits whose client can neither ask nor be kept waiting.
    pub hold: Option<Duration>,
}

/// The calls that are allowed: a call passes only if both owners let it through.
#[derive(Clone, Debug)]
pub struct Permissions {
    /// The operator's rules, with those of the project that a person agreed to.
    pub own: Rules,
    /// The project's rules; `None` where it has none that could refuse.
    pub project: Option<Rules>,
    /// The consent that the project's allow rules have.
    pub consent: Trust,
}

impl Permissions {
    /// The judgement of the rules about a tool by its name alone, and the rule that makes it.
    pub fn judge(&self, tool: &str, world: World) -> (Judgement, String) {
        let own = self.own.judge(tool, &[], world);
        let project = self.project.as_ref().map(|rules| rules.judge(tool, &[], World::Project));
        project.filter(|project| project.0 > own.0).unwrap_or(own)
    }

    /// The rules that are for none of these tools, each as a sentence.
    pub fn strangers(&self, tools: &[&str]) -> Vec<String> {
        let project = self.project.as_ref().map(|rules| rules.strangers(tools)).unwrap_or_default();
        let mut all = self.own.strangers(tools);
        all.extend(project.into_iter().filter(|rule| !all.contains(rule)).collect::<Vec<_>>());
        all
    }
}

/// What is watched for news, and how many are told.
#[derive(Clone, Debug)]
pub struct AttentionSettings {
    /// What is watched.
    pub organs: Organs,
    /// The settings of the workspace.
    pub workspace: tectum_attention::Settings,
    /// Reads of resources in a second.
    pub requests: usize,
    /// Rounds after which a to-do list that nobody changed is news.
    pub todo_rounds: u64,
    /// The calls that are made when there is news.
    pub reactions: Vec<Reaction>,
}

/// What is watched for news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Organs {
    /// Nothing.
    Off,
    /// What Tectum itself notices.
    Internal,
    /// Also every resource of other servers.
    Auto,
}

/// The files that may be reached.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The directories, the first of which relative paths start from.
    pub roots: Vec<PathBuf>,
    /// The operator's directories: his patterns and rules are read from them, whatever part of them a
    /// project's file left open.
    pub anchors: Vec<PathBuf>,
    /// Single files beyond them.
    pub tracked: Vec<PathBuf>,
    /// The access that tracking a file gives.
    pub tracked_opens: TrackedOpens,
    /// Patterns of names that are never changed, beyond the built-in ones.
    pub read_only: Vec<String>,
    /// Patterns of names that stay closed, beyond the built-in ones.
    pub deny: Vec<String>,
    /// Patterns of built-in names that are open all the same.
    pub open: Vec<String>,
    /// The treatment of links.
    pub symlinks: Links,
    /// True if a file with other hard links may be changed.
    pub break_hard_links: bool,
    /// True if a refusal names the roots.
    pub show_roots: bool,
    /// Git directories and object stores beyond them that git may read.
    pub git_dirs: Vec<PathBuf>,
}

/// The tools of ours that exist, and their bounds.
#[derive(Clone, Debug)]
pub struct ToolSet {
    /// True if our own tools are offered.
    pub native: bool,
    /// The included ones: those that every one of these matches.
    pub include: Vec<GlobSet>,
    /// Those that are left out all the same.
    pub exclude: GlobSet,
    /// A cap on every tool's text, in bytes.
    pub max_output: Option<usize>,
    /// Threads a search may use; `None` lets the tools decide.
    pub threads: Option<usize>,
    /// The tiers that work can be handed over to.
    pub tiers: Vec<String>,
    /// True if beads are kept by `bd` or `br` where one is installed.
    pub beads_programs: bool,
    /// The tools that each client is listed.
    pub profiles: Profiles,
}

/// The language servers behind `diagnostics`.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// Commands that the operator chose, by the name of their key.
    pub commands: BTreeMap<String, Vec<String>>,
    /// The most memory that each process may take, in bytes.
    pub memory: u64,
    /// The time a question waits for a server that runs.
    pub wait: Duration,
}

/// The addresses that network tools may use.
pub type Network = tectum_tools::NetworkSettings;

/// The way commands run.
#[derive(Clone, Debug)]
pub struct Shell {
    /// The command that explains what went wrong in PowerShell.
    pub qa: Vec<String>,
    /// The project's `mcp_env.toml`, if it has one.
    pub env: Option<ProjectEnv>,
}

/// A project's `mcp_env.toml`: what it sets holds once a person agreed to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectEnv {
    /// The file.
    pub path: PathBuf,
    /// Its variables, or the reason why it cannot be read.
    pub read: Result<EnvFile, String>,
    /// Its text, which is what a person agrees to.
    pub text: String,
    /// The consent that it has.
    pub trust: Trust,
}

/// The way files are written.
#[derive(Clone, Debug)]
pub struct Files {
    /// The promise of a finished write.
    pub durability: Durability,
    /// The largest file taken into memory, in bytes.
    pub max_file: u64,
}

/// The listener.
#[derive(Clone, Debug)]
pub struct Http {
    /// Its address.
    pub listen: SocketAddr,
    /// The callers it accepts.
    pub auth: AuthMode,
    /// True if an address that other machines reach is allowed.
    pub allow_remote: bool,
    /// Further host names that are ours.
    pub hosts: Vec<String>,
}

/// The files that name other servers, and the way their tools are offered.
#[derive(Clone, Debug)]
pub struct Federation {
    /// Files of other programs, the first of which wins.
    pub read: Vec<PathBuf>,
    /// The tools that are listed at once.
    pub exposure: Exposure,
    /// The time a first list waits for servers that were never met; `None` lets the client decide.
    pub first_wait: Option<Duration>,
}

/// The observers, which get copies of calls, and the secrets that are hidden from them.
#[derive(Clone, Debug)]
pub struct Observers {
    /// True if anybody is looked for.
    pub on: bool,
    /// Globs over the names of servers that get none.
    pub exclude: Vec<String>,
    /// True if secrets are hidden.
    pub redact: bool,
    /// Globs over names whose values are hidden, beyond the built-in ones.
    pub names: Vec<String>,
    /// Regular expressions for what is hidden, beyond the built-in ones.
    pub texts: Vec<String>,
}

impl Observers {
    /// The redactor that hides secrets in copies. Each part was checked when it was read; all together
    /// may still be too much.
    pub fn redactor(&self) -> Result<Redactor, String> {
        if self.redact { Redactor::new(&self.names, &self.texts) } else { Ok(Redactor::none()) }
    }
}

/// What is recorded of calls, and for how long.
#[derive(Clone, Debug)]
pub struct JournalSettings {
    /// Whether anything is.
    pub on: bool,
    /// When records are synced to the disk.
    pub sync: SyncPolicy,
    /// Whether there are files for people, too.
    pub seed: bool,
    /// Whether agents may read the calls of other sessions.
    pub other_sessions: bool,
    /// The most bytes.
    pub keep: u64,
    /// How long a part of it is kept.
    pub longest: Duration,
}

/// The settings of `tectum run`.
#[derive(Clone, Debug)]
pub struct Run {
    /// The model's name at its server.
    pub model: Option<String>,
    /// The address of the server's API.
    pub base_url: Option<String>,
    /// The file of tiers.
    pub tiers: Option<PathBuf>,
    /// Tokens that the model takes at once.
    pub context: usize,
    /// When a turn ends, and how much of it runs at once.
    pub limits: Limits,
    /// Tickets that are worked on at once.
    pub workers: usize,
    /// True if a person is asked before a model begins on a ticket.
    pub ask_spawn: bool,
}

/// The callers that are accepted over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthMode {
    /// Whoever shows the bearer token.
    Token,
    /// Anybody who can connect.
    None,
}

impl Config {
    /// The settings that hold, with the place of every value.
    pub fn merged(&self) -> &Merged {
        &self.layers.merged
    }

    /// True if another set-up says something else about a key, whichever of its owners.
    pub fn differs(&self, other: &Self, key: &Key) -> bool {
        self.said(key) != other.said(key)
    }

    /// What the operator and the project say about a key, and what holds.
    pub(crate) fn said(&self, key: &Key) -> [Option<&Value>; 3] {
        let Layers { operator, project, merged, .. } = &self.layers;
        [operator, project, merged].map(|layer| layer.get(key).map(|setting| &setting.value))
    }

    /// The settings of the project's own file, with or without an effect.
    pub fn of_project(&self) -> &Merged {
        &self.layers.project
    }

    /// The settings of the environment and of the project's file that have no effect, with the reasons.
    pub fn without_effect(&self) -> &[String] {
        &self.layers.notes
    }

    /// The project's own file.
    pub fn project_file(&self) -> PathBuf {
        self.directory.join("tectum.toml")
    }
}
