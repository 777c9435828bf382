//! Tables without a command and a url: they change how the entry of that name is treated.
//!
//! The user's table has the last word about an entry of the project. A project's table may only
//! tighten what the user has.

use std::collections::BTreeMap;

use tectum_peers::spec::ServerName;

use super::{super::value::Value, Entry, Held, Place, Why, keys};

/// Tables that change an entry nobody has. In the user's own file, which holds for all projects, a
/// word about on and off alone may be about another project's server.
pub(super) fn strays(overlays: &[Entry], named: &BTreeMap<ServerName, Vec<Entry>>) -> Vec<Held> {
    let elsewhere = |overlay: &&Entry| {
        overlay.source.place == Place::Yours
            && keys::KEYS.iter().all(|key| **key == keys::ENABLED || overlay.values.get(key).is_none())
    };
    let strays = overlays.iter().filter(|overlay| !named.contains_key(&overlay.name) && !elsewhere(overlay));
    strays
        .map(|overlay| {
            let name = &overlay.name;
            Held {
                name: name.to_string(),
                origin: overlay.origin.clone(),
                why: Why::Problem,
                message: format!(
                    "[servers.{name}] has neither `command` nor `url`, and no other file has a server `{name}`"
                ),
                hint: Some("add the `command` or the `url`, or remove the table".into()),
            }
        })
        .collect()
}

/// The entry with what the tables of its name say laid on top. The tables come with the project's
/// first, as the later layer.
pub(super) fn overlaid(mut entry: Entry, overlays: &[Entry], notes: &mut Vec<String>) -> Entry {
    let own = overlays.iter().filter(|overlay| overlay.name == entry.name);
    let (projects, yours): (Vec<&Entry>, Vec<&Entry>) =
        own.partition(|overlay| overlay.source.place == Place::Project);
    let theirs = entry.source.place == Place::Project;
    if theirs {
        projects.iter().for_each(|overlay| cover(&mut entry, overlay, notes));
    }
    yours.iter().rev().for_each(|overlay| cover(&mut entry, overlay, notes));
    if !theirs {
        projects.iter().for_each(|overlay| tighten(&mut entry, overlay, notes));
    }
    entry
}

fn cover(entry: &mut Entry, overlay: &Entry, notes: &mut Vec<String>) {
    for key in keys::KEYS {
        let Some((value, origin)) = overlay.values.get(key) else { continue };
        if keys::OF_URLS.contains(key) && entry.values.get(&keys::URL).is_none() {
            notes.push(format!(
                "{origin}: `{}` has no effect on `{}`, which is started by a command",
                key.name, entry.name
            ));
            continue;
        }
        entry.values.set(key, value.clone(), origin.clone());
    }
}

fn tighten(entry: &mut Entry, overlay: &Entry, notes: &mut Vec<String>) {
    for key in keys::KEYS {
        let Some((value, origin)) = overlay.values.get(key) else { continue };
        let value = match value {
            Value::Flag(false) if **key == keys::ENABLED => value.clone(),
            Value::Word(word) if **key == keys::PERMISSION && strictness(word) > strictness_of(entry) => {
                value.clone()
            }
            Value::Word(word) if **key == keys::NEW_TOOLS && word == "ask" => value.clone(),
            Value::List(more) if **key == keys::EXCLUDE => {
                Value::List([entry.values.list(key), more].concat())
            }
            _ => {
                notes.push(format!(
                    "{origin}: `{}` of `{}` is ignored: a project's file may only switch off a server of \
                     yours, exclude its tools, ask about its new ones, or make its permission stricter",
                    key.name, entry.name
                ));
                continue;
            }
        };
        entry.values.set(key, value, origin.clone());
    }
}

fn strictness_of(entry: &Entry) -> u8 {
    strictness(entry.values.word(&keys::PERMISSION).unwrap_or(keys::PERMISSION.default))
}

fn strictness(word: &str) -> u8 {
    match word {
        "deny" => 2,
        "ask" => 1,
        _ => 0,
    }
}
