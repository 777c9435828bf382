//! The five layers, laid over each other: defaults, user, project, environment, flags.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    compose, environment,
    file::{Content, File, Owner, shown},
    keys::{KEYS, Key, Merge},
    model::Config,
    place::{Origin, Problem, Problems},
    servers::{self, Entry},
    value::{Base, Item, Value, Written},
};

/// What to do where there is nothing to serve.
const DIRECTORY: &str = "name a directory that is there with -C DIR, or go to one";
/// The largest file of settings that is read.
const MAX_FILE: u64 = 1 << 20;

/// Where settings may come from. Nothing is read before [`Sources::load`].
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
    /// Where the user's state lies: the token, and what is kept per project.
    pub state: Option<PathBuf>,
    /// The environment.
    pub environment: Vec<(OsString, OsString)>,
    /// What the command line set: key, text, and the flag's name.
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
        if let Some(path) = &self.user_file {
            // A relative path in the user's file means the served directory: the file serves them all.
            let name = shown(path, &directory, self.home.as_deref());
            operator.add_content(
                file_layer(path, name, Owner::Operator, here, &mut problems).unwrap_or_default(),
            );
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
            Some(content) => layer.add_content(content),
            None if let Some(given) = &self.file => {
                let name = Origin::Flag("--config".into());
                let missing = Problem::new(name, format!("there is no file {}", given.display()));
                problems.push(missing.hint("correct its path; a relative one starts where you are"));
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
        merged.servers.extend(project.servers.iter().cloned());
        problems.extend(servers::double_plain(merged.servers()));
        let files = self.user_file.iter().cloned().chain([path]).collect();
        match Config::of(directory, self, files, Layers { operator, project, merged, notes }) {
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

/// The settings of a file; `None` when there is no such file.
fn file_layer(
    path: &Path,
    name: Arc<str>,
    owner: Owner,
    base: Base<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Content> {
    match read(path, MAX_FILE) {
        Ok(text) => {
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            Some(File { name, text, owner, path }.read(base, problems))
        }
        // A link to nothing is no absent file: somebody meant rules to be there.
        Err(error) if is_absent(&error) && !path.is_symlink() => None,
        Err(error) => {
            problems.push(unreadable(name, &error));
            Some(Content::default())
        }
    }
}

/// What is wrong with a file that is there and cannot be read, and what to do about it.
pub(super) fn unreadable(name: Arc<str>, error: &io::Error) -> Problem {
    let (why, hint) = match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            ("it is a link to nothing".to_owned(), "make what it leads to, or take the link away")
        }
        io::ErrorKind::InvalidData => ("it is not text in UTF-8".to_owned(), "save it as UTF-8"),
        io::ErrorKind::PermissionDenied => {
            (error.to_string(), "let this user read it (chmod u+r), or take it away")
        }
        _ => (error.to_string(), "put a file that can be read in its place, or take it away"),
    };
    Problem::new(Origin::File { name, line: 1, column: 1 }, format!("cannot read it: {why}")).hint(hint)
}

pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[expect(clippy::disallowed_methods, reason = "our own settings, named by the operator, not an agent's path")]
pub(super) fn read(path: &Path, most: u64) -> io::Result<String> {
    use io::Read as _;

    // Opening a pipe would wait for a writer, and a repository may hold one under this name.
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let file = std::fs::File::open(path)?;
    let mut text = String::new();
    file.take(most + 1).read_to_string(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("it is larger than {most} bytes")));
    }
    Ok(text)
}

/// The settings of one source.
pub type Layer = Vec<Setting>;

/// One value of one key, and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Which key.
    pub key: &'static Key,
    /// Its value.
    pub value: Value,
    /// Where it was written; for a list, the last of the places.
    pub origin: Origin,
}

impl Setting {
    /// A setting under its present name: keys kept from earlier set-ups are translated here.
    pub fn new(key: &'static Key, value: Value, origin: Origin) -> Self {
        let (key, value) = match key.stands_for {
            Some(translate) => translate(value),
            None => (key, value),
        };
        Self { key, value, origin }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        (self.section, self.name) == (other.section, other.name)
    }
}

impl Eq for Key {}

/// The settings of both owners, and what holds of them.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// What whoever runs Tectum said: built-in values, the user's file, environment, flags.
    pub operator: Merged,
    /// What the project's own file says.
    pub project: Merged,
    /// What holds.
    pub merged: Merged,
    /// What of the project's file has no effect.
    pub notes: Vec<String>,
}

/// What several layers say together.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    settings: BTreeMap<(&'static str, &'static str), Setting>,
    servers: Vec<Entry>,
}

impl Merged {
    /// Lays one more layer on top.
    pub fn add(&mut self, layer: impl IntoIterator<Item = Setting>) {
        for setting in layer {
            match self.settings.entry((setting.key.section, setting.key.name)) {
                std::collections::btree_map::Entry::Vacant(free) => drop(free.insert(setting)),
                std::collections::btree_map::Entry::Occupied(mut held) => held.get_mut().cover(setting),
            }
        }
    }

    /// Puts a setting in the place of what was said about its key.
    pub(super) fn set(&mut self, setting: Setting) {
        self.settings.insert((setting.key.section, setting.key.name), setting);
    }

    /// All settings.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.settings.values()
    }

    /// Lays what a file said on top.
    pub fn add_content(&mut self, content: Content) {
        self.add(content.settings);
        self.servers.extend(content.servers);
    }

    /// The tables of servers: the user's, then the project's.
    pub fn servers(&self) -> &[Entry] {
        &self.servers
    }

    /// What holds for a key, if anybody said so.
    pub fn get(&self, key: &Key) -> Option<&Setting> {
        self.settings.get(&(key.section, key.name))
    }

    /// The word of a key.
    pub fn word(&self, key: &Key) -> Option<&str> {
        match &self.get(key)?.value {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The number of a key.
    pub fn number(&self, key: &Key) -> Option<u64> {
        match &self.get(key)?.value {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Whether a flag is set.
    pub fn flag(&self, key: &Key) -> bool {
        matches!(self.get(key), Some(Setting { value: Value::Flag(true), .. }))
    }

    /// The entries of a list.
    pub fn list(&self, key: &Key) -> &[Item] {
        match self.get(key) {
            Some(Setting { value: Value::List(items), .. }) => items,
            _ => &[],
        }
    }
}

impl Setting {
    fn cover(&mut self, next: Self) {
        match (&mut self.value, next.value) {
            (Value::List(held), Value::List(more)) if self.key.merge == Merge::Sum => held.extend(more),
            (held, value) => *held = value,
        }
        self.origin = next.origin;
    }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
