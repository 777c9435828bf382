//! The five layers, laid over each other: defaults, user, project, environment, flags.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    accept::Base,
    compose, environment,
    file::{File, Owner, shown},
    form::Written,
    keys::{KEYS, Key},
    merged::{FileLayer, Layers, Merged, Setting},
    model::Config,
    place::{Origin, Problem, Problems},
    servers,
    settings_text::{is_absent, read, unreadable},
    telemetry,
};

/// The advice where there is nothing to serve.
const DIRECTORY: &str = "name an existing directory with -C DIR, or change to one";
/// The largest file of settings that is read.
const MAX_FILE: u64 = 1 << 20;

/// The places that settings may come from. Nothing is read before [`Sources::load`].
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The served directory. Its own `tectum.toml` is the project's file; parents are not searched.
    pub directory: PathBuf,
    /// A file that stands in for the project's, named on the command line and so trusted.
    pub file: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The user's file.
    pub user_file: Option<PathBuf>,
    /// The directory of the user's state, with the token and what is kept per project.
    pub state: Option<PathBuf>,
    /// The folder of this user's sockets, in the runtime directory of the system.
    pub runtime: Option<PathBuf>,
    /// The environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The settings of the command line: key, text, and the flag's name.
    pub flags: Vec<(&'static Key, String, String)>,
}

impl Sources {
    /// The sources of this process for a directory.
    pub fn of_process(directory: impl Into<PathBuf>) -> Self {
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = folder("HOME");
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        Self {
            directory: directory.into(),
            file: None,
            user_file: folder("XDG_CONFIG_HOME")
                .or_else(|| below_home(".config"))
                .map(|d| d.join("tectum/tectum.toml")),
            state: folder("XDG_STATE_HOME").or_else(|| below_home(".local/state")).map(|d| d.join("tectum")),
            runtime: folder("XDG_RUNTIME_DIR").or_else(usual_runtime).map(|d| d.join("tectum")),
            environment: std::env::vars_os().collect(),
            flags: Vec::new(),
            home,
        }
    }

    /// Reads and merges every layer; the error holds all mistakes at once.
    pub fn load(&self) -> Result<Config, Problems> {
        let mut problems = Vec::new();
        let directory = self.directory(&mut problems);
        let is_served = problems.is_empty();
        let here = Base { directory: &directory, home: self.home.as_deref() };
        let (mut operator, mut project) = (Merged::default(), Merged::default());

        for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
            let written = Written::from_text(key, key.default, Origin::Default);
            operator.add(
                written
                    .accept(key, here, &mut problems)
                    .map(|value| Setting::new(key, value, Origin::Default)),
            );
        }
        operator.add(telemetry::from_standard_variables(&self.environment));
        if let Some(path) = &self.user_file {
            // A relative path in the user's file means the served directory: the file serves them all.
            let name = shown(path, &directory, self.home.as_deref());
            operator
                .add_file(file_layer(path, name, Owner::Operator, here, &mut problems).unwrap_or_default());
        }
        let (path, owner, layer) = match &self.file {
            Some(path) => (path.clone(), Owner::Operator, &mut operator),
            None => (directory.join("tectum.toml"), Owner::Project, &mut project),
        };
        let path = std::path::absolute(&path).unwrap_or(path);
        let beside = Base { directory: path.parent().unwrap_or(&directory), ..here };
        let name = shown(&path, &directory, self.home.as_deref());
        // In a folder that cannot be served no file is looked for: its own problem is told already.
        let wanted = is_served || self.file.is_some();
        match wanted.then(|| file_layer(&path, name, owner, beside, &mut problems)).flatten() {
            Some(content) => layer.add_file(content),
            None if let Some(given) = &self.file => {
                let name = Origin::Flag("--config".into());
                let missing = Problem::new(name, format!("there is no file {}", given.display()));
                problems
                    .push(missing.hint("correct the path; a relative path starts at the current directory"));
            }
            None => {}
        }
        let mut notes = Vec::new();
        operator.add(environment::read(self.environment.clone(), here, &mut problems, &mut notes));
        for (key, text, flag) in &self.flags {
            let origin = Origin::Flag(flag.clone());
            let value = Written::from_text(key, text, origin.clone()).accept(key, here, &mut problems);
            operator.add(value.map(|value| Setting::new(key, value, origin)));
        }

        let mut merged = compose::compose(&operator, &project, &mut notes);
        merged.add_servers(project.servers());
        problems.extend(servers::double_plain(merged.servers()));
        let files = self.user_file.iter().cloned().chain([path]).collect();
        match Config::from_layers(directory, self, files, Layers { operator, project, merged, notes }) {
            Ok(config) if problems.is_empty() => Ok(config),
            Ok(_) => Err(Problems(problems)),
            Err(Problems(more)) => Err(Problems(problems.into_iter().chain(more).collect())),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the operator's own directory, not an agent's path")]
    fn directory(&self, problems: &mut Vec<Problem>) -> PathBuf {
        match std::fs::canonicalize(&self.directory) {
            Ok(path) if path.is_dir() => {
                if let Err(error) = std::fs::read_dir(&path) {
                    let message = format!("cannot serve {}: {error}", path.display());
                    let hint = "let this user read and enter it (chmod u+rx), or name another with -C DIR";
                    problems.push(Problem::new(Origin::Flag("--dir".into()), message).hint(hint));
                }
                path
            }
            Ok(path) => {
                let message = format!("{} is not a directory", path.display());
                problems.push(Problem::new(Origin::Flag("--dir".into()), message).hint(DIRECTORY));
                path
            }
            Err(error) => {
                let message = format!("cannot serve {}: {error}", self.directory.display());
                problems.push(Problem::new(Origin::Flag("--dir".into()), message).hint(DIRECTORY));
                self.directory.clone()
            }
        }
    }
}

/// The runtime directory of a user, for a process whose client did not pass on its name.
fn usual_runtime() -> Option<PathBuf> {
    let usual = PathBuf::from(format!("/run/user/{}", rustix::process::geteuid().as_raw()));
    usual.is_dir().then_some(usual)
}

impl Config {
    /// The built-in set-up for a directory: no file and no environment is read, no state is kept.
    pub fn built_in(directory: impl Into<PathBuf>) -> Result<Self, Problems> {
        Sources { directory: directory.into(), ..Sources::default() }.load()
    }
}

/// The settings of a file; `None` when there is no such file.
fn file_layer(
    path: &Path,
    name: Arc<str>,
    owner: Owner,
    base: Base<'_>,
    problems: &mut Vec<Problem>,
) -> Option<FileLayer> {
    match read(path, MAX_FILE) {
        Ok(text) => {
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            Some(File { name, text, owner, path }.read(base, problems))
        }
        // A link to nothing is no absent file: somebody meant rules to be there.
        Err(error) if is_absent(&error) && !path.is_symlink() => None,
        Err(error) => {
            problems.push(unreadable(name, &error));
            Some(FileLayer::default())
        }
    }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
