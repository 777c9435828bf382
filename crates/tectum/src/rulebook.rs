//! How people are asked, from the settings; and what they change by answering or at the console, written into their
//! own file of settings and nowhere else.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use tectum_approval::{Desk, DeskSettings, RuleBook};
use tectum_core::Tectum;

use crate::{
    Config,
    config::{
        accept::Base,
        file::{Owner, shown},
        keys,
        servers::edit::Draft,
    },
    state,
};

/// Sets how the desk of a house asks.
pub(crate) fn configure(house: &Tectum, config: &Config) {
    let rules = UserSettings::of(config).map(|settings| Arc::new(settings) as Arc<dyn RuleBook>);
    Desk::of(house).configure(DeskSettings {
        at_clients: config.approval.at_clients,
        at_desk: config.approval.at_desk,
        patience: config.approval.patience,
        hold: config.approval.hold,
        sandbox: Some(held(config)),
        rules,
        ..DeskSettings::default()
    });
}

/// What holds commands, in words.
fn held(config: &Config) -> String {
    let sandbox = &config.sandbox;
    if !sandbox.on {
        return "off: commands may do all that you may".into();
    }
    let network = if sandbox.network { "the network is open" } else { "no network" };
    let sockets = if sandbox.unix_sockets { "named sockets are open" } else { "no named sockets" };
    format!("on: changes only in the roots, {network}, {sockets}")
}

/// Offers one of our own tools, or leaves it out, and returns the change of the user's settings.
pub(crate) fn switch_tool(config: &Config, tool: &str, on: bool) -> Result<String, String> {
    let nowhere = "there is nowhere to keep your own tectum.toml";
    let settings = UserSettings::of(config).ok_or_else(|| nowhere.to_owned())?;
    let diff = settings.change(|draft| {
        let (section, key) = (keys::EXCLUDE_TOOLS.section, keys::EXCLUDE_TOOLS.name);
        let changed =
            if on { draft.unlist(section, key, tool) } else { draft.list_also(section, key, tool)? };
        if changed { Ok(()) } else { Err(format!("your own settings say nothing else of `{tool}`")) }
    })?;
    Ok(diff)
}

/// The user's own file of settings.
#[derive(Debug)]
struct UserSettings {
    file: PathBuf,
    directory: PathBuf,
    home: Option<PathBuf>,
    state: Option<PathBuf>,
}

impl UserSettings {
    /// The one of these settings, if there is a place for it.
    fn of(config: &Config) -> Option<Self> {
        let file = config.files_of_settings.first().filter(|_| config.files_of_settings.len() > 1)?;
        let (directory, home, state) = (config.directory.clone(), config.home.clone(), config.state.clone());
        Some(Self { file: file.clone(), directory, home, state })
    }

    /// Changes it as a whole, if what comes of it can be read, and returns the difference.
    fn change(&self, change: impl FnOnce(&mut Draft) -> Result<(), String>) -> Result<String, String> {
        let home = self.home.as_deref();
        // Without a state there is nowhere to lock, and hardly a second program.
        let _lock = self.state.as_deref().and_then(|state| state::lock(state).ok());
        let name = shown(&self.file, &self.directory, home);
        let mut draft = Draft::open(&self.file, name, Owner::Operator).map_err(|wrong| wrong.to_string())?;
        change(&mut draft)?;
        let directory = self.file.parent().unwrap_or(Path::new("/"));
        draft.check(Base { directory, home }).map_err(|wrong| wrong.to_string())?;
        let diff = draft.diff();
        if draft.is_changed() {
            draft.save().map_err(|error| format!("{}: {error}", self.file.display()))?;
        }
        Ok(diff)
    }
}

impl RuleBook for UserSettings {
    fn allow(&self, rule: &str) -> Result<String, String> {
        let Some(project) = self.directory.to_str() else {
            return Err("the name of the project's directory cannot be written in a file of settings".into());
        };
        self.change(|draft| {
            draft.list_also(keys::ALLOW_IN.section, keys::ALLOW_IN.name, &format!("{project}={rule}"))?;
            Ok(())
        })
    }
}
