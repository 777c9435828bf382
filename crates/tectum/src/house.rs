//! Wiring: from a set-up to a house with its tools behind its gate.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use tectum_core::{
    Gate, NativeSet, NativeTool, Provider, Snapshot, Tectum,
    security::{Allowlist, allowlist::BuildError},
};
use tectum_tools::{LanguageServers, Settings, Threads, catalog};

use crate::{
    config::{Config, Origin, Problem, Problems, keys},
    state,
};

/// Builds the house. It opens the roots and nothing else; a root that cannot be opened is
/// reported with the place it was written.
pub fn build(config: &Config) -> Result<Tectum, Problems> {
    let (providers, gate) = parts(config)?;
    Ok(Tectum::new(Snapshot::of(&providers), gate))
}

/// The same for a process that runs one call and ends.
pub fn build_for_one_call(config: &Config) -> Result<Tectum, Problems> {
    let (providers, gate) = parts(config)?;
    Ok(Tectum::for_one_call(Snapshot::of(&providers), gate))
}

/// The tools of our own, and the gate before them.
pub(crate) fn parts(config: &Config) -> Result<(Vec<Arc<dyn Provider>>, Gate), Problems> {
    let allowlist = allowlist(config).map_err(|error| placed(config, &error))?;
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
    };
    let mut providers: Vec<Arc<dyn Provider>> = Vec::new();
    if config.tools.native {
        let tools = &config.tools;
        let offered = |tool: &NativeTool| {
            let name = &*tool.info().name;
            tools.include.as_ref().is_none_or(|include| include.is_match(name))
                && !tools.exclude.is_match(name)
        };
        providers.push(Arc::new(NativeSet::new(catalog(&settings).into_iter().filter(offered).collect())));
    }
    Ok((providers, Gate::new(config.permissions.clone(), Arc::new(allowlist))))
}

/// The served directories by their true names, the primary one first.
fn served(config: &Config, allowlist: &Allowlist) -> Vec<PathBuf> {
    let primary = allowlist.primary().to_owned();
    let others = config.workspace.roots.iter().map(|root| state::canonical(root));
    let others: Vec<PathBuf> = others.filter(|root| *root != primary).collect();
    std::iter::once(primary).chain(others).collect()
}

fn allowlist(config: &Config) -> Result<Allowlist, BuildError> {
    let workspace = &config.workspace;
    let mut builder = Allowlist::builder()
        .working_directory(&config.directory)
        .deny(&workspace.deny)
        .deny(own_state(config))
        .read_only(&workspace.read_only)
        .links(workspace.symlinks)
        .tracked_opens(workspace.tracked_opens)
        .break_hard_links(workspace.break_hard_links);
    for root in &workspace.roots {
        builder = builder.base(root);
    }
    for file in &workspace.tracked {
        builder = builder.tracked(file);
    }
    builder.build()
}

/// Patterns that close our own state where a root contains it, such as a served home directory:
/// the token and the before-images of other projects lie there.
fn own_state(config: &Config) -> Vec<String> {
    let Some(state) = config.state.as_deref().map(state::canonical) else { return Vec::new() };
    let below = |root: &PathBuf| Some(state.strip_prefix(state::canonical(root)).ok()?.to_owned());
    config.workspace.roots.iter().filter_map(below).filter_map(|path| pattern(&path)).collect()
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
