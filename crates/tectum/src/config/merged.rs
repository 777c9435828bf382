//! Settings laid over each other: what each source says, and what holds of all of them.

use std::collections::BTreeMap;

use super::{
    keys::{Key, Merge},
    place::Origin,
    reactions::Reaction,
    servers::Entry,
    value::{Item, Value},
};

/// The settings of one source.
pub type Layer = Vec<Setting>;

/// The settings of one file.
#[derive(Debug, Default)]
pub struct FileLayer {
    /// Its settings.
    pub settings: Layer,
    /// Its servers.
    pub servers: Vec<Entry>,
    /// Its reactions to news.
    pub reactions: Vec<Reaction>,
}

/// One value of one key, and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key.
    pub key: &'static Key,
    /// Its value.
    pub value: Value,
    /// The place where it was written; for a list, the last of the places.
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
    /// The settings of whoever runs Tectum: built-in values, the user's file, environment, flags.
    pub operator: Merged,
    /// The settings of the project's own file.
    pub project: Merged,
    /// The settings that hold.
    pub merged: Merged,
    /// The settings of the project's file that have no effect.
    pub notes: Vec<String>,
}

/// The settings of several layers, merged.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    settings: BTreeMap<(&'static str, &'static str), Setting>,
    servers: Vec<Entry>,
    reactions: Vec<Reaction>,
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
    pub fn add_file(&mut self, file: FileLayer) {
        self.add(file.settings);
        self.servers.extend(file.servers);
        self.reactions.extend(file.reactions);
    }

    /// The reactions to news.
    pub fn reactions(&self) -> &[Reaction] {
        &self.reactions
    }

    /// Adds tables of servers behind those that are there.
    pub(super) fn add_servers(&mut self, servers: &[Entry]) {
        self.servers.extend_from_slice(servers);
    }

    /// The tables of servers: the user's, then the project's.
    pub fn servers(&self) -> &[Entry] {
        &self.servers
    }

    /// The setting that holds for a key, if there is one.
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

    /// True if a flag is set.
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
