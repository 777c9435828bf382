//! The parts of a project that a person agreed to, its servers and its allow rules: exactly as they
//! were shown, and nothing else.
//!
//! What was agreed to is kept in the user's state, outside every project. The digest covers the
//! entry as it is written, before variables, so that a later change of any of it asks again.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value, json};
use tectum_state::Lasts;

use super::{Entry, Place, keys, spoken};
use crate::state;

/// The consent that a person gave to an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It is the user's own.
    Own,
    /// A person agreed to exactly this.
    Given,
    /// A person agreed to something else under this name; here is what differs.
    Changed(Vec<String>),
    /// Nobody was asked yet.
    Asked,
}

impl Trust {
    /// True if that is enough.
    pub fn suffices(&self) -> bool {
        matches!(self, Self::Own | Self::Given)
    }
}

/// The name under which consent to a project's allow rules is kept. No server can have it.
pub const RULES: &str = "permissions.allow";

/// The name under which consent to a project's `mcp_env.toml` is kept. No server can have it.
pub const ENV: &str = "mcp_env.toml";

/// The record of everything a person agreed to.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    path: PathBuf,
    records: Vec<Value>,
}

impl Ledger {
    /// The path of its file.
    pub fn path(state: &Path) -> PathBuf {
        state.join("trust.json")
    }

    /// Reads it. One that cannot be believed is an error, and then nothing is trusted.
    pub fn load(state: &Path) -> Result<Self, String> {
        let path = Self::path(state);
        let text =
            tectum_state::read_private(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let Some(text) = text else { return Ok(Self { path, records: Vec::new() }) };
        match serde_json::from_str::<Value>(&text) {
            Ok(Value::Object(mut fields)) => match fields.remove("trusted") {
                Some(Value::Array(records)) => Ok(Self { path, records }),
                _ => {
                    Err(format!("{} is not a list of approvals; delete it to be asked again", path.display()))
                }
            },
            _ => Err(format!("{} is not JSON; delete it to be asked again", path.display())),
        }
    }

    /// Writes it as a whole.
    pub fn save(&self) -> std::io::Result<()> {
        let text = format!("{:#}\n", json!({ "version": 1, "trusted": self.records }));
        tectum_state::replace(&self.path, text.as_bytes(), Lasts::PowerCut)
    }

    /// Changes it as it is now, while nobody else does.
    pub fn change(state: &Path, change: impl FnOnce(&mut Self)) -> std::io::Result<()> {
        let _lock = state::lock(state)?;
        let mut ledger = Self::load(state).map_err(std::io::Error::other)?;
        change(&mut ledger);
        ledger.save()
    }

    /// Its judgement about an entry.
    pub fn judge(&self, entry: &Entry) -> Trust {
        if entry.source.place == Place::Yours {
            return Trust::Own;
        }
        self.compare(&record(entry))
    }

    /// Agrees to an entry as it stands.
    pub fn agree(&mut self, entry: &Entry) {
        self.keep(record(entry));
    }

    /// Its judgement about the allow rules or the environment that a record holds.
    pub fn compare(&self, record: &Value) -> Trust {
        match self.records.iter().find(|held| same_place(held, record)) {
            None => Trust::Asked,
            Some(held) if held["digest"] == record["digest"] => Trust::Given,
            Some(held) => Trust::Changed(changes(held, record)),
        }
    }

    /// Agrees to exactly what a record holds.
    pub fn keep(&mut self, record: Value) {
        self.records.retain(|held| !same_place(held, &record));
        self.records.push(record);
    }

    /// Takes the consent to a name in a file back; false when there was none.
    pub fn revoke(&mut self, file: &Path, written: &str) -> bool {
        let before = self.records.len();
        let file = Value::from(file.to_string_lossy());
        self.records.retain(|held| held["file"] != file || held["name"] != written);
        self.records.len() < before
    }

    /// Files below a directory that hold something trusted under a name.
    pub fn files_of(&self, written: &str, below: &Path) -> Vec<PathBuf> {
        let held = self.records.iter().filter(|held| held["name"] == written);
        let files = held.filter_map(|held| held["file"].as_str()).map(PathBuf::from);
        files.filter(|file| file.starts_with(below)).collect()
    }
}

fn same_place(one: &Value, other: &Value) -> bool {
    one["file"] == other["file"] && one["name"] == other["name"]
}

/// All that is agreed to, with secrets as digests.
fn record(entry: &Entry) -> Value {
    let table = |key| {
        let fields = entry.values.table(key).iter();
        fields.map(|(name, item)| (name.as_str(), item.text.as_str())).collect::<BTreeMap<_, _>>()
    };
    let (env, headers) = (table(&keys::ENV), table(&keys::HEADERS));
    let texts = |key| entry.values.list(key).iter().map(|item| item.text.as_str()).collect::<Vec<_>>();
    let mut forward = entry.forward.clone();
    forward.sort();
    let file = entry.source.path.to_string_lossy();
    let (url, cwd) = (entry.values.word(&keys::URL), entry.values.word(&keys::CWD));
    // A list of JSON values can be read in one way only, so two entries never share it.
    let whole = json!([
        file,
        entry.written,
        texts(&keys::COMMAND),
        texts(&keys::ARGS),
        env,
        forward,
        url,
        headers,
        cwd,
        entry.kind(),
    ]);
    let hidden = |table: &BTreeMap<&str, &str>| -> Map<String, Value> {
        table.iter().map(|(name, text)| ((*name).to_owned(), json!(digest(text)))).collect()
    };
    json!({
        "file": file,
        "name": entry.written,
        "digest": digest(&whole.to_string()),
        "command": entry.argv(),
        "environment": hidden(&env),
        "forwarded": forward,
        "url": url,
        "headers": hidden(&headers),
        "directory": cwd,
        "type": entry.kind(),
    })
}

/// The same for the allow rules of a project's file. What is digested begins with a word that no entry
/// begins with.
pub fn record_of_rules(file: &Path, rules: &[&str]) -> Value {
    let file = file.to_string_lossy();
    let whole = json!([RULES, file, rules]);
    json!({ "file": file, "name": RULES, "digest": digest(&whole.to_string()), "rules": rules })
}

/// The same for a project's `mcp_env.toml`.
pub fn record_of_env(file: &Path, text: &str) -> Value {
    let file = file.to_string_lossy();
    let whole = json!([ENV, file, text]);
    let lines: Vec<&str> = text.lines().collect();
    json!({ "file": file, "name": ENV, "digest": digest(&whole.to_string()), "lines": lines })
}

fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// The differences between what was agreed to and what stands there now, for people.
fn changes(held: &Value, now: &Value) -> Vec<String> {
    let mut told = Vec::new();
    let shown = |value: &Value| match value {
        Value::Array(words) => {
            spoken::line(&words.iter().map(|word| word.as_str().unwrap_or_default()).collect::<Vec<_>>())
        }
        Value::String(text) => spoken::quoted(text),
        _ => "nothing".into(),
    };
    for field in ["type", "command", "url", "directory", "forwarded", "rules", "lines"] {
        if held[field] != now[field] {
            told.push(format!("{field}: was {}, is {}", shown(&held[field]), shown(&now[field])));
        }
    }
    for (field, what) in [("environment", "variable"), ("headers", "header")] {
        let empty = Map::new();
        let fields = |value: &Value| value[field].as_object().unwrap_or(&empty).clone();
        let (before, after) = (fields(held), fields(now));
        for (name, value) in &after {
            let name_shown = spoken::text(name);
            match before.get(name) {
                None => told.push(format!("{what} {name_shown}: new")),
                Some(held) if held != value => told.push(format!("{what} {name_shown}: another value")),
                Some(_) => {}
            }
        }
        let gone = before.keys().filter(|name| !after.contains_key(*name));
        told.extend(gone.map(|name| format!("{what} {}: gone", spoken::text(name))));
    }
    if told.is_empty() {
        told.push("how the command is split into words".into());
    }
    told
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;
