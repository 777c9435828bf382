//! One server as a file names it: values that fit their keys, with no variable filled in yet.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use tectum_peers::spec::ServerName;

use super::{
    super::{
        keys::Key,
        place::{Origin, Problem},
        value::{Item, Value},
    },
    keys,
};

/// One server as a file names it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name it goes by here.
    pub name: ServerName,
    /// The name in its file.
    pub written: String,
    /// Its place.
    pub origin: Origin,
    /// The file it stands in.
    pub source: Arc<Source>,
    /// Its settings.
    pub values: Values,
    /// Variables of ours that it gets under their own names, if they are set.
    pub forward: Vec<String>,
    /// The first thing that is wrong with it; it cannot start then.
    pub problem: Option<Problem>,
}

/// A file that names servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its path.
    pub path: PathBuf,
    /// Its name for people.
    pub name: Arc<str>,
    /// Whose word it is.
    pub place: Place,
    /// True if it is a `tectum.toml`, which we may change.
    pub ours: bool,
    /// The directory that `./program` starts from.
    pub base: PathBuf,
    /// Whose habits it follows.
    pub dialect: Dialect,
}

/// Whose word a file is, decided by where it lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The user's own.
    Yours,
    /// A file inside the project: whoever wrote the repository may have written it.
    Project,
}

/// Habits in which programs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The form that most share.
    Plain,
    /// Gemini: `$NAME` is a variable, `url` is the older transport, `timeout` is in milliseconds.
    Gemini,
}

/// Values by key, each with its place.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Values(BTreeMap<&'static str, (Value, Origin)>);

impl Entry {
    /// True if it says what the server is; one that does not changes the entry of another file.
    pub fn is_whole(&self) -> bool {
        self.values.get(&keys::COMMAND).is_some() || self.values.get(&keys::URL).is_some()
    }

    /// The program and all its arguments, as written.
    pub fn argv(&self) -> Vec<&str> {
        let texts = |key| self.values.list(key).iter().map(|item| item.text.as_str());
        texts(&keys::COMMAND).chain(texts(&keys::ARGS)).collect()
    }

    /// The type of transport in one spelling.
    pub fn kind(&self) -> &'static str {
        match self.values.word(&keys::TYPE) {
            Some("sse") => "sse",
            Some("stdio") => "stdio",
            Some(_) => "http",
            None if self.values.get(&keys::URL).is_some() => "http",
            None => "stdio",
        }
    }

    /// The names of a table, sorted: what may be shown of it.
    pub fn names(&self, key: &Key) -> Vec<&str> {
        let mut names: Vec<&str> = self.values.table(key).iter().map(|(name, _)| name.as_str()).collect();
        if *key == keys::ENV {
            names.extend(self.forward.iter().map(String::as_str));
        }
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl fmt::Debug for Values {
    /// Of a table the names only: its values may be secrets, and a log is no place for them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        for (key, (value, _)) in &self.0 {
            match value {
                Value::Table(fields) => {
                    map.entry(key, &fields.iter().map(|(name, _)| name).collect::<Vec<_>>());
                }
                Value::List(items) => {
                    map.entry(key, &items.iter().map(|item| &item.text).collect::<Vec<_>>());
                }
                value => {
                    map.entry(key, value);
                }
            }
        }
        map.finish()
    }
}

impl Values {
    /// Adds or replaces a value.
    pub fn set(&mut self, key: &'static Key, value: Value, origin: Origin) {
        self.0.insert(key.name, (value, origin));
    }

    /// Takes a value away.
    pub fn unset(&mut self, key: &Key) -> Option<(Value, Origin)> {
        self.0.remove(key.name)
    }

    /// A value and its place.
    pub fn get(&self, key: &Key) -> Option<&(Value, Origin)> {
        self.0.get(key.name)
    }

    /// True if nothing was said.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A word.
    pub fn word(&self, key: &Key) -> Option<&str> {
        match self.get(key) {
            Some((Value::Word(word), _)) => Some(word),
            _ => None,
        }
    }

    /// A flag.
    pub fn flag(&self, key: &Key) -> Option<bool> {
        match self.get(key) {
            Some((Value::Flag(flag), _)) => Some(*flag),
            _ => None,
        }
    }

    /// A number.
    pub fn number(&self, key: &Key) -> Option<u64> {
        match self.get(key) {
            Some((Value::Number(number), _)) => Some(*number),
            _ => None,
        }
    }

    /// A list; empty when absent.
    pub fn list(&self, key: &Key) -> &[Item] {
        match self.get(key) {
            Some((Value::List(items), _)) => items,
            _ => &[],
        }
    }

    /// A table; empty when absent.
    pub fn table(&self, key: &Key) -> &[(String, Item)] {
        match self.get(key) {
            Some((Value::Table(fields), _)) => fields,
            _ => &[],
        }
    }

    /// The place of a key.
    pub fn origin(&self, key: &Key) -> Option<&Origin> {
        self.get(key).map(|(_, origin)| origin)
    }
}

impl Source {
    /// A `tectum.toml`.
    pub fn ours(path: &Path, name: Arc<str>, place: Place) -> Self {
        let base = path.parent().unwrap_or(Path::new("/")).to_owned();
        Self { path: path.to_owned(), name, place, ours: true, base, dialect: Dialect::Plain }
    }
}
