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
    ourselves::is_address,
    variables::is_unclosed,
};

/// One server as a file names it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name it goes by here.
    pub name: ServerName,
    /// The name in its file.
    pub written: String,
    /// Where it stands.
    pub origin: Origin,
    /// Which file that is.
    pub source: Arc<Source>,
    /// What was said about it.
    pub values: Values,
    /// Variables of ours that it gets under their own names, if they are set.
    pub forward: Vec<String>,
    /// The first thing that is wrong with it; it cannot start then.
    pub problem: Option<Problem>,
}

/// A file that names servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Where it lies.
    pub path: PathBuf,
    /// How people would name it.
    pub name: Arc<str>,
    /// Whose word it is.
    pub place: Place,
    /// Whether it is a `tectum.toml`, which we may change.
    pub ours: bool,
    /// What `./program` starts from.
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
    /// What most share.
    Plain,
    /// Gemini: `$NAME` is a variable, `url` is the older transport, `timeout` is in milliseconds.
    Gemini,
}

/// Values by key, each with its place.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Values(BTreeMap<&'static str, (Value, Origin)>);

impl Entry {
    /// Whether it says what the server is; one that does not changes the entry of another file.
    pub fn is_whole(&self) -> bool {
        self.values.get(&keys::COMMAND).is_some() || self.values.get(&keys::URL).is_some()
    }

    /// The program and all its arguments, as written.
    pub fn argv(&self) -> Vec<&str> {
        let of = |key| self.values.list(key).iter().map(|item| item.text.as_str());
        of(&keys::COMMAND).chain(of(&keys::ARGS)).collect()
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

    /// Whether nothing was said.
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

    /// Where a key stands.
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

/// A text that may hold variables, and where it stands.
pub(super) struct Templated<'v> {
    pub(super) text: &'v str,
    origin: &'v Origin,
}

/// Every text of an entry that may hold variables.
pub(super) fn texts(values: &Values) -> Vec<Templated<'_>> {
    let items = [&keys::COMMAND, &keys::ARGS].into_iter().flat_map(|key| values.list(key));
    let fields = [&keys::ENV, &keys::HEADERS].into_iter().flat_map(|key| values.table(key));
    let words = [&keys::CWD, &keys::URL].into_iter();
    let words =
        words.filter_map(|key| Some(Templated { text: values.word(key)?, origin: values.origin(key)? }));
    items
        .chain(fields.map(|(_, item)| item))
        .map(|item| Templated { text: &item.text, origin: &item.origin })
        .chain(words)
        .collect()
}

/// What contradicts itself in an entry that says what the server is.
pub fn contradictions(entry: &Entry) -> Vec<Problem> {
    let values = &entry.values;
    let mut problems = Vec::new();
    let mut say = |origin: Option<&Origin>, message: String, hint: &str| {
        let origin = origin.unwrap_or(&entry.origin).clone();
        problems.push(Problem::new(origin, format!("`servers.{}` {message}", entry.name)).hint(hint));
    };
    for (name, item) in values.table(&keys::ENV) {
        if name.is_empty() || name.contains(['=', '\0']) {
            say(
                Some(&item.origin),
                format!("has an environment variable that no system takes: {name:?}"),
                "rename it",
            );
        }
    }
    for (name, item) in values.table(&keys::HEADERS) {
        let legal = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(legal) {
            say(Some(&item.origin), format!("has a header with a name that is none: {name:?}"), "rename it");
        }
    }
    if let (Some(timeout), Some(most)) = (values.number(&keys::TIMEOUT), values.number(&keys::MAX_TIMEOUT))
        && timeout > most
    {
        say(
            values.origin(&keys::MAX_TIMEOUT),
            "has a `max_timeout` below its `timeout`".into(),
            "raise the one or lower the other",
        );
    }
    if let Some(item) = texts(values).into_iter().find(|item| is_unclosed(item.text)) {
        let hint = "close it with `}`, or write `$${` for the characters";
        say(Some(item.origin), "has a `${` that is not closed".into(), hint);
    }
    // What a variable stands for is seen when it is filled in.
    if values.word(&keys::URL).is_some_and(|url| !url.contains('$') && !is_address(url)) {
        let hint = "write it as http://host/path or https://host/path";
        say(values.origin(&keys::URL), "has a `url` that is no address".into(), hint);
    }
    let (command, url) = (values.origin(&keys::COMMAND), values.origin(&keys::URL));
    match (command, url) {
        (Some(_), Some(url)) => {
            say(Some(url), "has both a `command` and a `url`".into(), "keep the one that is meant");
        }
        (Some(_), None) if entry.kind() != "stdio" => say(
            values.origin(&keys::TYPE),
            format!("starts a command and cannot be of type {}", entry.kind()),
            "leave `type` out, or give a `url` instead of the command",
        ),
        (None, Some(_)) if entry.kind() == "stdio" => say(
            values.origin(&keys::TYPE),
            "has a `url` and cannot be of type stdio".into(),
            "leave `type` out, or give a `command` instead of the url",
        ),
        _ => {}
    }
    problems
}
