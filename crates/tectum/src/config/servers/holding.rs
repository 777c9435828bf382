//! Our own tables of servers as they hold: one for each name, with what the others change in it.

use super::{
    super::{load::Merged, place::Origin},
    Entry, Survey,
    entry::Values,
    keys,
};

/// A table as it holds.
#[derive(Clone, Debug)]
pub struct Holding {
    /// What is said altogether, each value with its place.
    pub entry: Entry,
    /// Where other tables of this name stand.
    pub elsewhere: Vec<Origin>,
}

/// The tables of all names that a `tectum.toml` has, as the survey found them to hold.
pub fn tables(merged: &Merged, survey: &Survey) -> Vec<Holding> {
    let mut found: Vec<Holding> = Vec::new();
    for table in merged.servers() {
        if found.iter().any(|holding| holding.entry.name == table.name) {
            continue;
        }
        let own: Vec<&Entry> = merged.servers().iter().filter(|other| other.name == table.name).collect();
        let used = survey.server(table.name.as_str()).map(|server| &server.entry);
        let entry = used.and_then(|used| held_of(&own, used)).unwrap_or_else(|| as_written(&own, table));
        let elsewhere = own.iter().map(|other| other.origin.clone());
        let elsewhere = elsewhere.filter(|origin| *origin != entry.origin).collect();
        found.push(Holding { entry, elsewhere });
    }
    found
}

/// What holds of these tables, if anything does. An entry of another program's file is read where
/// it stands; of it only what our tables change is ours to show.
fn held_of(own: &[&Entry], used: &Entry) -> Option<Entry> {
    if used.source.ours {
        return Some(used.clone());
    }
    let mut entry = (*own.last()?).clone();
    entry.values = Values::default();
    for key in keys::KEYS {
        let Some((value, origin)) = used.values.get(key) else { continue };
        if own.iter().any(|table| table.values.origin(key) == Some(origin)) {
            entry.values.set(key, value.clone(), origin.clone());
        }
    }
    (!entry.values.is_empty()).then_some(entry)
}

/// A table that nothing came of.
fn as_written(own: &[&Entry], any: &Entry) -> Entry {
    let whole = own.iter().rev().find(|table| table.is_whole());
    whole.map_or_else(|| any.clone(), |table| (*table).clone())
}
