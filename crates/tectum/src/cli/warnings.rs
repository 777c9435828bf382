//! Warnings about settings that hold and are perhaps not meant.

use std::path::{Path, PathBuf};

use tectum::{Config, Tectum};

use super::screen::{Screen, harmless};

/// Warns before a home or a whole file system is served: clients like to start their servers there, and
/// hardly anybody means it.
pub(super) fn tell_wide_reach(config: &Config, screen: &Screen) {
    let home = config.home.as_deref().map(tectum::state::canonical);
    let wide = |root: &&PathBuf| {
        let root = tectum::state::canonical(root);
        root == Path::new("/") || home.as_ref().is_some_and(|home| home.starts_with(&root))
    };
    let warning = |root: &PathBuf| {
        format!(
            "all of {} is served, including your personal files; to serve one project, name its directory with -C DIR",
            root.display()
        )
    };
    let warnings: Vec<String> = config.workspace.roots.iter().filter(wide).map(warning).collect();
    tell_warnings(&warnings, screen);
}

/// Tells of rules that are for no tool there is. A mistake perhaps, so the work goes on.
pub(super) fn tell_strange_rules(config: &Config, house: &Tectum, screen: &Screen) {
    tell_warnings(&strange_rules(config, house), screen);
    tell_warnings(&without_effect(config), screen);
}

/// The settings of the project's file that have no effect, and the next step.
pub(super) fn without_effect(config: &Config) -> Vec<String> {
    let rules = tectum::rules_that_wait(config).map(|rules| {
        let rules: Vec<String> =
            rules.iter().map(|rule| format!("`{}` ({})", rule.text, rule.origin)).collect();
        format!(
            "the project's allow rules have no effect until you approve them with `tectum trust`: {}",
            rules.join(", ")
        )
    });
    config.without_effect().iter().cloned().chain(rules).collect()
}

pub(super) fn tell_warnings(warnings: &[String], screen: &Screen) {
    for warning in warnings {
        screen.warn(&harmless(warning));
    }
}

/// Rules that are for no tool there is.
pub(super) fn strange_rules(config: &Config, house: &Tectum) -> Vec<String> {
    let snapshot = house.registry().snapshot();
    let tools: Vec<&str> = snapshot.tools().map(|info| &*info.name).collect();
    // A rule for a server's tool may be for one that is not known yet.
    config.permissions.strangers(&tools).into_iter().filter(|rule| !rule.contains("__")).collect()
}
