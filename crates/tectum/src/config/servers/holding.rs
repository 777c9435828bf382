//! Our own tables of servers as they hold: one for each name, with what the others change in it,
//! and with what `tectum enable` and `disable` keep in the user's state for this project.

use super::{
    super::{merged::Merged, place::Origin},
    Entry, Survey,
    entry::Values,
    keys,
};

/// A table as it holds.
#[derive(Clone, Debug)]
pub struct Holding {
    /// The whole entry, each value with its place.
    pub entry: Entry,
    /// The places of other tables of this name.
    pub elsewhere: Vec<Origin>,
}

/// The tables of all names that a `tectum.toml` has, as the survey found them to hold; and one for
/// each server of another file that is switched on or off in the user's state.
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
    for server in &survey.servers {
        let named = found.iter().any(|holding| holding.entry.name == server.entry.name);
        if !named && server.entry.values.origin(&keys::ENABLED) == Some(&Origin::Kept) {
            let entry = changed_in(&server.entry, server.entry.clone(), |origin| *origin == Origin::Kept);
            found.push(Holding { entry, elsewhere: Vec::new() });
        }
    }
    found
}

/// The settings of these tables that hold, if any do. An entry of another program's file is read where
/// it stands; of it only what our tables change is ours to show.
fn held_of(own: &[&Entry], used: &Entry) -> Option<Entry> {
    if used.source.ours {
        return Some(used.clone());
    }
    let ours = |origin: &Origin| {
        let written = |table: &&Entry| keys::KEYS.iter().any(|key| table.values.origin(key) == Some(origin));
        *origin == Origin::Kept || own.iter().any(written)
    };
    let entry = changed_in(used, (*own.last()?).clone(), ours);
    (!entry.values.is_empty()).then_some(entry)
}

/// The table with those values of the entry that were said at places of ours, and no other.
fn changed_in(used: &Entry, mut table: Entry, ours: impl Fn(&Origin) -> bool) -> Entry {
    table.values = Values::default();
    for key in keys::KEYS {
        let Some((value, origin)) = used.values.get(key) else { continue };
        if ours(origin) {
            table.values.set(key, value.clone(), origin.clone());
        }
    }
    table
}

/// A table that nothing came of.
fn as_written(own: &[&Entry], any: &Entry) -> Entry {
    let whole = own.iter().rev().find(|table| table.is_whole());
    whole.map_or_else(|| any.clone(), |table| (*table).clone())
}
