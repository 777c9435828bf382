//! Wiring: from a set-up to a house with its tools behind its gate.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use tectum_attend::Attention;
use tectum_core::{
    Gate, Judgement, Provider, Rule, Snapshot, Tectum, World,
    security::{Allowlist, allowlist::BuildError},
};
use tectum_journal::History;
use tectum_native::{NativeSet, NativeTool};
use tectum_shell::EnvFile;
use tectum_tools::{
    GitSettings, LanguageServers, SandboxSettings, Settings, ShellSettings, Threads, catalog,
    edit::{undo_calls, undo_calls_in_copy},
    runtime::Runtime,
};

use crate::{
    config::{Config, Origin, Permissions, Problem, Problems, ProjectEnv, keys, value::Item},
    control::control_files,
    journal,
    offered::Offered,
    rulebook, state,
};

/// Builds the house. It opens the roots and nothing else; a root that cannot be opened is
/// reported with the place it was written.
pub fn build(config: &Config) -> Result<Tectum, Problems> {
    build_hosted(config, &Runtime::default())
}

/// The same for a program with a user interface, which can attach its figures to the runtime for
/// `get_ui_performance`.
pub fn build_hosted(config: &Config, runtime: &Runtime) -> Result<Tectum, Problems> {
    let writer = journal::WriterCell::default();
    let around =
        Around { runtime: runtime.clone(), history: journal::history(config, &writer), attention: None };
    let parts = parts(config, None, around)?;
    let house = Tectum::new(Snapshot::of(&parts.providers()), parts.gate);
    rulebook::configure(&house, config);
    let journal = journal::attach(config, &house, "library", runtime);
    journal.into_iter().for_each(|journal| drop(writer.set(journal)));
    Ok(house)
}

/// The same for a process that runs one call and ends.
pub fn build_for_one_call(config: &Config) -> Result<Tectum, Problems> {
    let parts = parts(config, None, Around::default())?;
    let house = Tectum::for_one_call(Snapshot::of(&parts.providers()), parts.gate);
    rulebook::configure(&house, config);
    journal::attach(config, &house, journal::ONE_CALL, parts.catalog.runtime());
    Ok(house)
}

/// A house with the native tools that records nothing, for making calls again.
pub fn build_to_replay(config: &Config) -> Result<Tectum, Problems> {
    let parts = parts(config, None, Around::default())?;
    Ok(Tectum::for_one_call(Snapshot::of(&parts.providers()), parts.gate))
}

/// A house that takes back in a copy what calls changed in the project, as far as the project's
/// before-images go. `moved` is the directory of the project and that of the copy. It records nothing.
pub fn build_to_undo_in_copy(
    copy: &Config,
    project: &Config,
    moved: (String, String),
) -> Result<Tectum, Problems> {
    let Parts { catalog, gate, .. } = parts(copy, None, Around::default())?;
    let root = open_allowlist(project)?.primary().to_owned();
    let images = project.state.as_deref().map(|state| state::of_project(state, &root));
    let tools: Arc<dyn Provider> = Arc::new(undo_calls_in_copy(&catalog.settings, images, moved));
    Ok(Tectum::for_one_call(Snapshot::of(&[tools]), gate))
}

/// A house with the one tool that takes back the changes of many calls, for `tectum undo`. A look at what
/// would be done is not recorded.
pub fn build_to_undo(config: &Config, recorded: bool) -> Result<Tectum, Problems> {
    let Parts { catalog, gate, .. } = parts(config, None, Around::default())?;
    let tools: Arc<dyn Provider> = Arc::new(undo_calls(&catalog.settings));
    let house = Tectum::for_one_call(Snapshot::of(&[tools]), gate);
    if recorded {
        journal::attach(config, &house, "undo", catalog.runtime());
    }
    Ok(house)
}

/// The tools of our own, and the gate before them.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) catalog: Arc<Catalog>,
    /// The tools of the catalog that are offered; `None` where none of our own is.
    pub(crate) offered: Option<Offered>,
    pub(crate) gate: Gate,
}

/// All our own tools under some settings, with what they remember.
#[derive(Debug)]
pub(crate) struct Catalog {
    settings: Settings,
    tools: Arc<NativeSet>,
}

impl Catalog {
    /// The tools.
    pub(crate) fn tools(&self) -> &Arc<NativeSet> {
        &self.tools
    }

    /// What its tools look into.
    pub(crate) fn around(&self) -> Around {
        let Settings { runtime, history, attention, .. } = &self.settings;
        Around { runtime: runtime.clone(), history: history.clone(), attention: attention.clone() }
    }

    /// The figures of this process that its tools report.
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.settings.runtime
    }
}

impl Parts {
    pub(crate) fn providers(&self) -> Vec<Arc<dyn Provider>> {
        self.offered.iter().map(|offered| Arc::new(offered.clone()) as Arc<dyn Provider>).collect()
    }
}

/// What tools look into that is not theirs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Around {
    /// The figures of this process.
    pub(crate) runtime: Runtime,
    /// The record of calls, if there is one.
    pub(crate) history: Option<History>,
    /// The news, in a house that has attention.
    pub(crate) attention: Option<Attention>,
}

/// Makes them as the settings say. A catalog made under equal settings is taken as it is, with what its
/// tools remember and the language servers that run.
pub(crate) fn parts(
    config: &Config,
    before: Option<&Arc<Catalog>>,
    around: Around,
) -> Result<Parts, Problems> {
    let allowlist = open_allowlist(config)?;
    // Where `tectum up` of these settings listens: perhaps this process, perhaps another one.
    tectum_web::own_listener(config.http.listen);
    let settings = Settings {
        durability: config.files.durability,
        max_output: config.tools.max_output,
        max_file: config.files.max_file,
        state_dir: config.state.as_deref().map(|state| state::of_project(state, allowlist.primary())),
        threads: Threads(config.tools.threads),
        tiers: config.tools.tiers.clone(),
        servers: LanguageServers {
            roots: served(config, &allowlist),
            guard: tectum_peers::child::own_guard().ok(),
            memory: config.diagnostics.memory,
            wait: config.diagnostics.wait,
            commands: config.diagnostics.commands.clone(),
        },
        shell: shell(config, served(config, &allowlist)),
        git: GitSettings { directories: config.workspace.git_dirs.clone(), ..GitSettings::default() },
        beads_programs: config.tools.beads_programs,
        runtime: around.runtime,
        network: config.network.clone(),
        history: around.history,
        attention: around.attention,
        sandbox: sandbox_settings(config, &allowlist),
    };
    let catalog = before.filter(|before| before.settings == settings).cloned().unwrap_or_else(|| {
        let tools = Arc::new(NativeSet::new(catalog(&settings)));
        Arc::new(Catalog { settings, tools })
    });
    let tools = &config.tools;
    let offers = |name: &str| {
        tools.include.iter().all(|include| include.is_match(name)) && !tools.exclude.is_match(name)
    };
    let offered = tools.native.then(|| Offered::filtered(&catalog.tools, offers));
    let Permissions { own, project, .. } = config.permissions.clone();
    Ok(Parts { catalog, offered, gate: Gate::tightened(own, project, Arc::new(allowlist)) })
}

/// The settings that commands run with. A project's own environment holds once a person agreed to it.
fn shell(config: &Config, roots: Vec<PathBuf>) -> ShellSettings {
    let (mut env, mut env_held) = (EnvFile::default(), None);
    match &config.shell.env {
        None => {}
        Some(ProjectEnv { read: Err(why), .. }) => {
            env_held = Some(format!("mcp_env.toml is not used: {why}"))
        }
        Some(ProjectEnv { read: Ok(read), trust, .. }) if trust.suffices() => {
            env = read.clone();
            if !read.refused.is_empty() {
                env_held = Some(format!("of mcp_env.toml is not used: {}", read.refused.join("; ")));
            }
        }
        Some(_) => {
            env_held =
                Some("mcp_env.toml is not used until a person agrees to it with `tectum trust`".into());
        }
    }
    ShellSettings {
        roots,
        guard: tectum_peers::child::own_guard().ok(),
        // Where federated servers' large results are, so that both are read as resources.
        spool: config
            .state
            .as_deref()
            .map(|state| state::of_project(state, &config.directory).join("servers/results")),
        env,
        env_held,
        qa: config.shell.qa.clone(),
    }
}

/// The allow rules of a project's file, if one of them would permit what the operator does not and no
/// person agreed to them yet: a call that reaches beyond the project, a tool of a server, or anything
/// where the operator's own default is stricter than the built-in one.
pub fn rules_that_wait(config: &Config) -> Option<&[Item]> {
    let Permissions { own, consent, .. } = &config.permissions;
    if consent.suffices() {
        return None;
    }
    let strict = own.default.as_ref().is_some_and(|(judgement, _)| *judgement != Judgement::Allow);
    let tools = catalog(&Settings::default());
    let lifts = |rule: &Rule| {
        let mut matched =
            tools.iter().map(NativeTool::info).filter(|info| rule.is_for(&info.name)).peekable();
        // What is none of our own tools may be a server's.
        matched.peek().is_none() || matched.any(|info| info.world != World::Project)
    };
    let waits = strict || own.held.iter().any(lifts);
    waits.then(|| config.of_project().list(&keys::ALLOW))
}

/// Removes what killed processes left beneath the roots, on a thread of its own. Nobody waits for it.
pub(crate) fn sweep(config: &Config) {
    let Ok(allowlist) = allowlist(config) else { return };
    let sweep = move || match allowlist.sweep() {
        0 => {}
        removed => tracing::info!(removed, "removed temporary files of killed processes"),
    };
    // Without a thread they go when their folder is next written in.
    let _ = std::thread::Builder::new().name("sweep".into()).spawn(sweep);
}

/// The limits of commands on this machine, from the settings.
pub fn sandbox_settings(config: &Config, allowlist: &Allowlist) -> SandboxSettings {
    let sandbox = &config.sandbox;
    let roots = allowlist.base_directories().iter().chain(&sandbox.write);
    SandboxSettings {
        on: sandbox.on,
        network: sandbox.network,
        unix_sockets: sandbox.unix_sockets,
        writable: roots.cloned().collect(),
        closed: sandbox.closed.clone(),
    }
}

/// The served directories by their true names, the primary one first.
fn served(config: &Config, allowlist: &Allowlist) -> Vec<PathBuf> {
    let mut served: Vec<PathBuf> = allowlist.base_directories().to_vec();
    let others = config.workspace.roots.iter().map(|root| state::canonical(root));
    let others: Vec<PathBuf> = others.filter(|root| !served.contains(root)).collect();
    served.extend(others);
    served
}

/// The paths that calls may reach, or where it is written that cannot be opened.
pub(crate) fn open_allowlist(config: &Config) -> Result<Allowlist, Problems> {
    allowlist(config).map_err(|error| placed(config, &error))
}

fn allowlist(config: &Config) -> Result<Allowlist, BuildError> {
    let workspace = &config.workspace;
    let mut builder = Allowlist::builder()
        .deny(&workspace.deny)
        .deny(own_state(config))
        .open(&workspace.open)
        .read_only(&workspace.read_only)
        .links(workspace.symlinks)
        .tracked_opens(workspace.tracked_opens)
        .break_hard_links(workspace.break_hard_links)
        .show_roots(workspace.show_roots)
        .control_files(control_files(config));
    for root in &workspace.roots {
        builder = builder.base(root);
    }
    for root in &workspace.anchors {
        builder = builder.anchor(root);
    }
    for file in &workspace.tracked {
        builder = builder.tracked(file);
    }
    builder.build()
}

/// Patterns that close our own state where a root contains it, such as a served home directory:
/// the token, the before-images of other projects and the sockets of houses lie there.
fn own_state(config: &Config) -> Vec<String> {
    let own = config.state.iter().chain(&config.runtime).map(|own| state::canonical(own));
    let roots: Vec<PathBuf> = config.workspace.roots.iter().map(|root| state::canonical(root)).collect();
    let below = |own: PathBuf| {
        roots.iter().filter_map(|root| pattern(own.strip_prefix(root).ok()?)).collect::<Vec<_>>()
    };
    own.flat_map(below).collect()
}

/// A pattern that matches this path and what lies below it, and nothing else.
fn pattern(path: &Path) -> Option<String> {
    let mut pattern = String::new();
    for c in path.to_str()?.chars() {
        if "*?[]{}!\\".contains(c) {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    // A pattern without a slash would hold at any depth.
    Some(format!("/{pattern}/**"))
}

fn placed(config: &Config, error: &BuildError) -> Problems {
    let origin = match error {
        BuildError::Open { path, .. } => {
            let lists = [&keys::ROOTS, &keys::TRACKED].map(|key| config.merged().list(key));
            let item = lists.into_iter().flatten().find(|item| Path::new(&item.text) == path);
            item.map(|item| item.origin.clone())
        }
        BuildError::Empty | BuildError::Pattern(_) => None,
    };
    let problem = Problem::new(origin.unwrap_or(Origin::Default), error.to_string());
    Problems(vec![
        problem.hint(
            "roots must be directories and tracked files must exist; paths start at the file's directory",
        ),
    ])
}
