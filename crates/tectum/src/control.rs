//! The files that configure Tectum. No tool changes them: whoever could would choose the programs that
//! are started and the rules that hold.

use std::{path::Path, sync::Arc};

use tectum_core::security::ControlFiles;

use crate::{
    Config,
    client_hooks::HookShape,
    config::servers::{clients::CLIENTS, files},
};

/// The files of settings, trust and approval, those that name servers here or in a program that
/// `tectum import` knows, and our state as a whole.
pub(crate) fn control_files(config: &Config) -> Arc<ControlFiles> {
    let control = ControlFiles::default();
    control.close_files(files(config));
    control.close_files(config.run.tiers.clone());
    control.close_folders(config.state.iter().chain(&config.runtime).cloned());
    let user_file = config.files_of_settings.first().filter(|_| config.files_of_settings.len() > 1);
    let user_directory = user_file.and_then(|file| file.parent()).and_then(Path::parent);
    // Whoever could change these would switch off the judgement of a client's own tools.
    for shape in HookShape::ALL {
        let (project, home) = (config.directory.join(shape.file(false)), config.home.as_deref());
        control.close_files(home.map(|home| home.join(shape.file(true))).into_iter().chain([project]));
    }
    for client in CLIENTS {
        let spots = client.spots(&config.directory, config.home.as_deref(), user_directory);
        control.close_files(spots.into_iter().map(|spot| spot.path));
    }
    Arc::new(control)
}
