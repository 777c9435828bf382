//! How people are asked, from the settings; and the rules they add by answering, written into their own
//! file of settings and nowhere else.

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
    let user_file = config.files_of_settings.first().filter(|_| config.files_of_settings.len() > 1);
    let rules = user_file.map(|file| {
        let (directory, home, state) = (config.directory.clone(), config.home.clone(), config.state.clone());
        Arc::new(UserRules { file: file.clone(), directory, home, state }) as Arc<dyn RuleBook>
    });
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

/// The user's own file of settings.
#[derive(Debug)]
struct UserRules {
    file: PathBuf,
    directory: PathBuf,
    home: Option<PathBuf>,
    state: Option<PathBuf>,
}

impl RuleBook for UserRules {
    fn allow(&self, rule: &str) -> Result<String, String> {
        let home = self.home.as_deref();
        let Some(project) = self.directory.to_str() else {
            return Err("the name of the project's directory cannot be written in a file of settings".into());
        };
        // Without a state there is nowhere to lock, and hardly a second program.
        let _lock = self.state.as_deref().and_then(|state| state::lock(state).ok());
        let name = shown(&self.file, &self.directory, home);
        let mut draft = Draft::open(&self.file, name, Owner::Operator).map_err(|wrong| wrong.to_string())?;
        draft.list_also(keys::ALLOW_IN.section, keys::ALLOW_IN.name, &format!("{project}={rule}"))?;
        let directory = self.file.parent().unwrap_or(Path::new("/"));
        draft.check(Base { directory, home }).map_err(|wrong| wrong.to_string())?;
        let diff = draft.diff();
        if draft.is_changed() {
            draft.save().map_err(|error| format!("{}: {error}", self.file.display()))?;
        }
        Ok(diff)
    }
}
